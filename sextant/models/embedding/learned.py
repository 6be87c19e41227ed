"""The length of vectors, where only the model itself knows it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from sextant.models.protocols import Vectors


class LearnedDimension(ABC):
    """An embedder that knows the length of its vectors once it has made one."""

    _dimension: int | None = None

    @property
    def dimension(self) -> int:
        """Return length of one vector, known after `warm_up` or the first vector.

        Raises:
            RuntimeError: it is not known yet.
        """
        if self._dimension is None:
            raise RuntimeError("the dimension is known after warm_up() or the first embedding")
        return self._dimension

    async def warm_up(self) -> None:
        """Learn the dimension from one short text.

        Raises:
            ModelUnavailable: there is no vector to be had.
        """
        if self._dimension is None:
            await self.embed_query("dimension")

    @abstractmethod
    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, shape (dimension,); sets the dimension."""

    async def _no_vectors(self) -> Vectors:
        """Return those of no texts."""
        await self.warm_up()
        return np.empty((0, self.dimension), np.float32)
