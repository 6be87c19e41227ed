"""Store documents, chunks and graphs in PostgreSQL, with a copy of graphs in Neo4j."""
