"""Entity resolution: compare names, and record merges and distinctions."""
