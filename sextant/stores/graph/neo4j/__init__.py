"""The graph's copy in Neo4j: its driver, its queries, and the projection that keeps it up to date."""
