"""Decide which names are one entity: by keys, aliases, definitions and a chat model."""
