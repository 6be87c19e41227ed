"""What the rest of the system asks of a model.

Also here: work in batches, a few at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

Item = TypeVar("Item")
Result = TypeVar("Result")


async def in_batches(
    work: Callable[[Sequence[Item]], Awaitable[Result]],
    items: Sequence[Item],
    *,
    size: int,
    at_once: int,
) -> list[Result]:
    """Return what `work` makes of each batch of `items`, in order.

    The first batch that fails stops the others, and its error is raised; so does a cancellation.

    Args:
        work: takes up to `size` items.
        items: in order.
        size: of a batch, at least 1.
        at_once: batches under way at a time.
    """
    gate = asyncio.Semaphore(at_once)

    async def one(start: int) -> Result:
        async with gate:
            return await work(items[start : start + size])

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(start)) for start in range(0, len(items), size)]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


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


def find_cached_vector(embedder: Embedder, text: str) -> Vectors | None:
    """Return the question's vector, shape (dimension,), if the embedder has a `known` that gives it without waiting; else None."""
    known: Callable[[str], Vectors | None] | None = getattr(embedder, "known", None)
    return None if known is None else known(text)


class Reranker(Protocol):
    """Scores passages against a question; higher is better, on the model's own scale."""

    @property
    def name(self) -> str:
        """Return the model's name."""
        ...

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, in order."""
        ...
