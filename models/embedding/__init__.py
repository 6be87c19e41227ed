"""Embedding models: the packaged one, any of sentence-transformers, or an endpoint's."""
