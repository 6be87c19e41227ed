"""Commands over the knowledge graph: its size, its entities, its communities."""
