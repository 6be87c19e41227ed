"""The first import of a graph by the user's own word: all that follows from it, worked out here."""
