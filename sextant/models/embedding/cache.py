"""Query vectors that are asked for again."""

from __future__ import annotations

from collections.abc import Sequence

from sextant.domain.concurrency import release_slot
from sextant.domain.versioned_cache import VersionedCache
from sextant.models.protocols import Embedder, Vectors

WARM_UP = "warm up"
"""The question that is embedded before any other: it loads the model, or shows whether its endpoint answers."""


class CachedEmbedder:
    """Keeps the vectors of the last `size` different questions; passages pass through.

    A question that several ask at the same time is computed once, for all of them, even if whoever asked first
    gives up. A failure is not kept: everyone who waits for it gets it, and the next one tries again.
    """

    def __init__(self, embedder: Embedder, size: int) -> None:
        self._embedder = embedder
        # The prefixes that a vector was made with are its version.
        self._vectors: VersionedCache[str, tuple[str, str] | None, Vectors] = VersionedCache(size)

    @property
    def name(self) -> str:
        """Name of the vector space."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Return length of one vector."""
        return self._embedder.dimension

    @property
    def is_silent(self) -> bool:
        """Return whether the model is behind an endpoint that has just not answered in time."""
        return bool(getattr(self._embedder, "is_silent", False))

    @property
    def prefixes(self) -> tuple[str, str] | None:
        """Return what is written before questions and passages; None: nothing, or nobody knows what."""
        return getattr(self._embedder, "prefixes", None)

    def use_prefixes(self, query: str, passage: str) -> None:
        """Write these, if it is a model that anything may be written for; vectors made with others are not used again."""
        if self.prefixes != (query, passage) and hasattr(self._embedder, "use_prefixes"):
            self._embedder.use_prefixes(query, passage)

    async def warm_up(self) -> None:
        """Load the embedder behind the cache."""
        await self._embedder.warm_up()

    async def embed_query(self, text: str) -> Vectors:
        """Return the question's vector, shape (dimension,) and read-only, from the cache if it is there; raises what the embedder does."""
        vector = self._vectors.at(text, self.prefixes)
        if vector is None:
            async with release_slot():
                vector, _ = await self._vectors.get(
                    text, self.prefixes, lambda _: self._embed(text)
                )
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the passages' vectors, shape (len(texts), dimension), not cached; raises what the embedder does."""
        return await self._embedder.embed_passages(texts)

    async def _embed(self, text: str) -> Vectors:
        vector = await self._embedder.embed_query(text)
        vector.flags.writeable = False
        return vector
