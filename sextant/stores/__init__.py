"""PostgreSQL, and a copy of the graph in Neo4j: what is kept, whose it is, and how it is found again."""
