"""Tables as data: cells with types, a place for each, and exact arithmetic over their columns."""
