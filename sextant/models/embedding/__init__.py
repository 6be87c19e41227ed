"""Embedding models: the packaged one, any of sentence-transformers, or an endpoint's."""

from sextant.models.embedding.choice import build_embedder

__all__ = ["build_embedder"]
