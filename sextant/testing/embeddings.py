"""LangChain's embedding interface without a model, for tests of its vector stores."""

from __future__ import annotations

from langchain_core.embeddings import Embeddings

from sextant.testing.hash_embedder import hash_vector


class LangChainHash(Embeddings):
    """`HashEmbedder` as LangChain calls it.

    Args:
        dimension: length of a vector, at least 8.
    """

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of passages."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one question."""
        return [float(value) for value in hash_vector(text, self.dimension)]
