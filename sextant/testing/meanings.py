"""An embedding model whose cosines a test chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sextant.models.protocols import Vectors


class AngleEmbedder:
    """Places each text at the angle whose cosine to the question is given."""

    dimension = 2

    def __init__(self, name: str, cosines: Mapping[str, float], otherwise: float = 0.0) -> None:
        self.name = name
        self._cosines = cosines
        self._otherwise = otherwise

    async def warm_up(self) -> None:
        """Nothing to load."""

    async def embed_query(self, text: str) -> Vectors:  # noqa: ARG002
        """Return the same for every question."""
        return np.asarray([1.0, 0.0], np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text, at its cosine."""
        cosines = np.asarray([self._cosines.get(text, self._otherwise) for text in texts])
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)
