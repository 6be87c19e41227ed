"""What the rest of the system asks of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns text into L2-normalised float32 vectors, off the event loop.

    `name` identifies the vector space: vectors of two embedders are comparable if and only if their
    names are equal. Prefixes that a model wants ("query: ", "passage: ") are the embedder's own matter.
    """

    @property
    def name(self) -> str:
        """Return stable name of the vector space, stored beside the vectors."""
        ...

    @property
    def dimension(self) -> int:
        """Return length of one vector; some embedders know it only after `warm_up` or a first vector."""
        ...

    async def warm_up(self) -> None:
        """Load the model, or ask the endpoint once; afterwards `dimension` is known."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """Return one question as a vector of shape (dimension,); recent questions come from a cache."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return passages as a matrix of shape (len(texts), dimension), in order."""
        ...


class Reranker(Protocol):
    """Scores passages against a question; higher is better, on the model's own scale."""

    @property
    def name(self) -> str:
        """Return the model's name."""
        ...

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, in order."""
        ...
