"""Ingest documents: parse, chunk, describe, embed, and build the graph, by jobs that resume."""
