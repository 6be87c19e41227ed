"""The knowledge graph in PostgreSQL, and as a projection in a graph database."""
