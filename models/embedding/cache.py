"""Query vectors that are asked for again."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from domain.places import away
from models.protocols import Embedder, Vectors


class CachedEmbedder:
    """Keeps the vectors of the last `size` different questions; passages pass through.

    A question that several tasks of one event loop ask at the same time is computed once. A failure
    is not kept: everyone who waits for it gets it, and the next one tries again.
    """

    def __init__(self, embedder: Embedder, size: int) -> None:
        self._embedder = embedder
        self._size = size
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._pending: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Task[Vectors]] = {}

    @property
    def name(self) -> str:
        """Name of the vector space."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Length of one vector."""
        return self._embedder.dimension

    async def warm_up(self) -> None:
        """Load the embedder behind the cache."""
        await self._embedder.warm_up()

    async def embed_query(self, text: str) -> Vectors:
        """The question's vector, read-only, from the cache if it is there."""
        vector = self._vectors.get(text)
        if vector is not None:
            self._vectors.move_to_end(text)
            return vector
        return await self._computed_once(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """The passages' vectors, not cached."""
        return await self._embedder.embed_passages(texts)

    async def _computed_once(self, text: str) -> Vectors:
        key = (asyncio.get_running_loop(), text)
        task = self._pending.get(key)
        if task is None:
            task = self._pending[key] = asyncio.create_task(self._compute(text))
            task.add_done_callback(lambda _: self._pending.pop(key, None))
        # Each is away for itself: in the task, one that waits to come back would keep the others waiting.
        async with away():
            # Shielded: one asker who goes away must not cancel what others wait for.
            return await asyncio.shield(task)

    async def _compute(self, text: str) -> Vectors:
        vector = await self._embedder.embed_query(text)
        vector.flags.writeable = False
        self._vectors[text] = vector
        while len(self._vectors) > self._size:
            self._vectors.popitem(last=False)
        return vector
