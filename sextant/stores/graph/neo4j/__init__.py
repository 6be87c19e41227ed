"""Project the graph to Neo4j, and read it there."""
