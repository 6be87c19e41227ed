"""Embedders that several tests share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from langchain_core.embeddings import Embeddings

from sextant.domain.errors import ModelUnavailable
from sextant.models.protocols import Vectors
from sextant.testing.hash_embedder import HashEmbedder, hash_vector


class LangChainHash(Embeddings):
    """`HashEmbedder` with LangChain's interface.

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


class AngleEmbedder:
    """Map each text to a vector with a given cosine to the question."""

    dimension = 2

    def __init__(self, name: str, cosines: Mapping[str, float], otherwise: float = 0.0) -> None:
        self.name = name
        self._cosines = cosines
        self._otherwise = otherwise

    async def warm_up(self) -> None:
        """Do nothing, since there is nothing to load."""

    async def embed_query(self, text: str) -> Vectors:
        """Return the same vector for every question."""
        return np.asarray([1.0, 0.0], np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return a vector for each text, with its cosine to the question."""
        cosines = np.asarray([self._cosines.get(text, self._otherwise) for text in texts])
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)


class BrokenEmbedder(HashEmbedder):
    """An embedder whose model does not answer, for a vector space that may already be in use."""

    async def warm_up(self) -> None:
        """Raise `ModelUnavailable`, as every call does."""
        raise ModelUnavailable("The embedding model does not answer.")

    async def embed_query(self, text: str) -> Vectors:
        """Return raises `ModelUnavailable`."""
        raise ModelUnavailable("The embedding model does not answer.")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return raises `ModelUnavailable`."""
        raise ModelUnavailable("The embedding model does not answer.")
