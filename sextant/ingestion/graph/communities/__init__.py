"""Groups of entities that belong together, at every level, and a report on each."""
