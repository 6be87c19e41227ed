"""One knowledge base as its owner looks at it: its chunks, entities, communities and graph."""
