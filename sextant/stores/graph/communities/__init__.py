"""Communities of a graph: who is in which, and the report on each."""
