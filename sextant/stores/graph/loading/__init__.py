"""Load the first import of a graph in bulk."""
