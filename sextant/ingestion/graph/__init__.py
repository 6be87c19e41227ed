"""What a document says about the knowledge graph: terms, titles, links, without any model."""
