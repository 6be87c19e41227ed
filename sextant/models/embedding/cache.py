"""Query vectors that are asked for again."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from sextant.domain.fair_semaphore import release_slot
from sextant.models.protocols import Embedder, Vectors

WARM_UP = "warm up"
"""The question that is embedded before any other: it loads the model, or shows whether its endpoint answers."""

_Key = tuple[asyncio.AbstractEventLoop, str]


class CachedEmbedder:
    """Keeps the vectors of the last `size` different questions; passages pass through.

    A question that several tasks of one event loop ask at the same time is computed once, by the first of
    them; if that one is cancelled, by the next. A failure is not kept: everyone who waits for it gets it,
    and the next one tries again.
    """

    def __init__(self, embedder: Embedder, size: int) -> None:
        self._embedder = embedder
        self._size = size
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._pending: dict[_Key, asyncio.Future[Vectors]] = {}

    @property
    def name(self) -> str:
        """Name of the vector space."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Return length of one vector."""
        return self._embedder.dimension

    @property
    def prefixes(self) -> tuple[str, str] | None:
        """Return what is written before questions and passages; None: nothing, or nobody knows what."""
        return getattr(self._embedder, "prefixes", None)

    def use_prefixes(self, query: str, passage: str) -> None:
        """Write these, if it is a model that anything may be written for; forget vectors made with others."""
        if self.prefixes != (query, passage) and hasattr(self._embedder, "use_prefixes"):
            self._embedder.use_prefixes(query, passage)
            self._vectors.clear()

    async def warm_up(self) -> None:
        """Load the embedder behind the cache."""
        await self._embedder.warm_up()

    def known(self, text: str) -> Vectors | None:
        """Return the question's vector, shape (dimension,) and read-only, if it is in the cache; else None."""
        vector = self._vectors.get(text)
        if vector is not None:
            self._vectors.move_to_end(text)
        return vector

    async def embed_query(self, text: str) -> Vectors:
        """Return the question's vector, shape (dimension,) and read-only, from the cache if it is there; raises what the embedder does."""
        key = (asyncio.get_running_loop(), text)
        while (vector := self.known(text)) is None:
            pending = self._pending.get(key)
            if pending is None:
                return await self._computed(key)
            async with release_slot():
                await asyncio.wait([pending])
            if not pending.cancelled():
                return pending.result()
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the passages' vectors, shape (len(texts), dimension), not cached; raises what the embedder does."""
        return await self._embedder.embed_passages(texts)

    async def _computed(self, key: _Key) -> Vectors:
        """Compute it for all who ask meanwhile."""
        loop, text = key
        done = self._pending[key] = loop.create_future()
        async with release_slot():
            try:
                vector = await self._embedder.embed_query(text)
            except asyncio.CancelledError:
                done.cancel()
                raise
            except BaseException as failure:
                done.set_exception(failure)
                done.exception()  # nobody else need have asked
                raise
            else:
                vector.flags.writeable = False
                self._keep(text, vector)
                done.set_result(vector)
            finally:
                del self._pending[key]
        return vector

    def _keep(self, text: str, vector: Vectors) -> None:
        self._vectors[text] = vector
        while len(self._vectors) > self._size:
            self._vectors.popitem(last=False)
