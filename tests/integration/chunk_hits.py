"""Searches of a chunk store with the chunks that they find."""

from __future__ import annotations

from collections.abc import Sequence

from sextant.domain.questions import ChunkFilters
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors
from sextant.stores.chunks.stored import ChunkHit


async def vector_hits(
    chunks: ChunkStore, scope: Scope, vector: Vectors, k: int, filters: ChunkFilters | None = None
) -> list[ChunkHit]:
    """Return the nearest chunks."""
    return await chunks.hits(scope, await chunks.nearest(scope, vector, k, filters))


async def keyword_hits(
    chunks: ChunkStore,
    scope: Scope,
    keywords: Sequence[str],
    k: int,
    filters: ChunkFilters | None = None,
) -> list[ChunkHit]:
    """Return the chunks that contain most of some keywords."""
    return await chunks.hits(scope, await chunks.keyword_matches(scope, keywords, k, filters))
