"""The graph in memory: relations and who states them, and the walk over passages and entities."""
