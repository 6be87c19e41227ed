"""The first import of a graph, loaded in bulk: what the database would derive is computed here."""
