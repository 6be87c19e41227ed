"""Build the knowledge graph: extraction, resolution of names, communities and reports."""
