"""One name, one entity: which entities are the same, by keys, aliases, definitions, vectors, a model."""
