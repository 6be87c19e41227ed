"""Store the knowledge graph in PostgreSQL, and project it to a graph database."""
