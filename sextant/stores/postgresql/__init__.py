"""The connection to PostgreSQL: pools, the schema and its named queries, whole copies."""
