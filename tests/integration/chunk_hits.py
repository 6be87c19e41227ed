"""Searches of a chunk store with the chunks that they find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sextant.domain.questions import ChunkFilters
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.postgresql.queries import Scored


@dataclass(frozen=True, slots=True)
class ChunkHit:
    """A chunk that a search found, and its score."""

    chunk: StoredChunk
    score: float


async def _hits(chunks: ChunkStore, scope: Scope, found: Scored) -> list[ChunkHit]:
    scores = dict(zip(found.ids, found.scores, strict=True))
    stored = await chunks.get(scope, list(map(UUID, found.ids)))
    return [ChunkHit(chunk, scores[str(chunk.id)]) for chunk in stored]


async def vector_hits(
    chunks: ChunkStore, scope: Scope, vector: Vectors, k: int, filters: ChunkFilters | None = None
) -> list[ChunkHit]:
    """Return the nearest chunks."""
    return await _hits(chunks, scope, await chunks.nearest(scope, vector, k, filters))


async def keyword_hits(
    chunks: ChunkStore,
    scope: Scope,
    keywords: Sequence[str],
    k: int,
    filters: ChunkFilters | None = None,
) -> list[ChunkHit]:
    """Return the chunks that contain most of some keywords."""
    return await _hits(chunks, scope, await chunks.keyword_matches(scope, keywords, k, filters))
