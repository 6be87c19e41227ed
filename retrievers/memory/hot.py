"""The knowledge bases that are searched often, in memory; PostgreSQL stays the truth.

A search goes by what is in memory and asks for the scope's stamp meanwhile, or together with the texts of
what it found, so being sure costs no trip of its own; had something changed, it is done again in
PostgreSQL, which answers until the scope has been packed anew.

Also here: what ranking asks of chunks, in memory, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sextant.domain.scope import Scope
from sextant.domain.system import give_back
from sextant.domain.versioned_cache import Fits
from sextant.models.protocols import Vectors
from sextant.retrievers.content import LazyHits
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.retrievers.index.vectors.rounded import Rounded
from sextant.retrievers.memory.packed import PackedScope, Packing
from sextant.retrievers.memory.scope_memory import (
    HotTexts,
    PackedRows,
    PackedTexts,
    ScopeMemory,
    ScopeRowCache,
)
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.metadata import ChunkMetadata, metadata_from_json, read_packed_metadata
from sextant.stores.chunks.snapshot import ScopeSnapshot, open_snapshot, read_chunks_stamp
from sextant.stores.graph.arrays import Ids
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.values import Nearest, Scored
from sextant.stores.stamps.stamp_lines import StampAnswer

# Rows at a time: some ten milliseconds of the server, two of the event loop.
_TRAIT_AT_ONCE = 2048


class PackedTraits(PackedRows):
    """The traits of all chunks of a scope: some 0.4 KB a chunk."""

    def of(self, ids: Sequence[str]) -> list[ChunkMetadata] | None:
        """Return the traits of these chunks in their order; None if one of them is not here."""
        found = self.rows.of(ids)
        if len(found) < len(ids):
            return None
        return [metadata_from_json(row) for row in found.values()]


class HotTraits(ScopeRowCache[PackedTraits]):
    """The traits of the scopes searched most."""

    def __init__(self, database: Database, memory: ScopeMemory) -> None:
        super().__init__(
            database, memory, PackedTraits, partial(read_packed_metadata, database), _TRAIT_AT_ONCE
        )


# Compared in a thread from so many vectors on: 1 ms. The way to a thread and back takes 0.1 to 0.3.
_MANY = 50_000
# Bytes a chunk, times its vector and its text: row, vector and its steps, text, and two bytes for each gram
# (docs/speed.md).
_EACH, _VECTOR, _TIMES = 170, 1.25, 2


class ScopeCache:
    """The scopes searched most, as far as `retrieval.hot_memory` goes.

    Packing happens in slices in a thread, one scope at a time, and nobody waits for it.

    Args:
        database: where they are.
        memory: what they share with others; of their own without.
        indexes: of the graph modes, whose vectors are used where they are of the same chunks.
    """

    def __init__(
        self,
        database: Database,
        memory: ScopeMemory | None = None,
        indexes: ScopeIndexes | None = None,
    ) -> None:
        self._database = database
        self._indexes = indexes
        self._chunks = ChunkStore(database)
        self.memory = memory or ScopeMemory(database.settings.retrieval.hot_memory)
        self.texts = HotTexts(database, self.memory)

    def of(self, scope: Scope) -> CachedScope | None:
        """Return the scope in memory as it was packed, to be asked if it `is_current`; counts as a search."""
        packed = self.memory.part(PackedScope, scope, partial(self._read, scope))
        return CachedScope(scope, packed, self, self._chunks) if packed is not None else None

    async def is_current(
        self, scope: Scope, packed: PackedScope, answer: StampAnswer | None = None
    ) -> bool:
        """Return whether nothing has changed since it was packed; what has is let go.

        False if PostgreSQL does not answer in time: who then searches there learns why.

        Args:
            scope: whose it is.
            packed: what is in memory.
            answer: of a stamp that was asked for before it was searched.
        """
        if answer is None:
            now: str | None = await read_chunks_stamp(self._database, scope)
        else:
            stamp = await answer.receive()
            now = stamp.passages if stamp else None
        if now == packed.stamp:
            return True
        self.memory.release(scope, packed)
        return False

    @property
    def sizes(self) -> dict[Scope, float]:
        """Return bytes of each scope in memory."""
        return self.memory.sizes_of(PackedScope)

    async def _read(self, scope: Scope, fits: Fits) -> PackedScope | None:
        async with open_snapshot(self._database, scope) as found:
            if found is None or not found.complete or not found.chunks:
                return None
            if not fits(_estimate(found)):
                return None
            packing = Packing(found.stamp, found.chunks)
            async for block in found.blocks():
                await asyncio.to_thread(packing.add, block)
            del block
        packed = await asyncio.to_thread(packing.packed)
        del packing
        if packed is not None:
            packed = self._share_vectors(scope, packed)
        await asyncio.to_thread(give_back)
        return packed

    def _share_vectors(self, scope: Scope, packed: PackedScope) -> PackedScope:
        """Return it with the vectors of the scope's index, if that is of the same chunks: they are held once."""
        known = self._indexes.kept(scope) if self._indexes else None
        if known is None:
            return packed
        stamp, index = known
        rounded = index.passages.rounded
        same = stamp.passages == packed.stamp and np.array_equal(index.chunk_ids.halves, packed.ids)
        return (
            packed if rounded is None or not same else replace(packed, rounded=rounded.unsifted())
        )


@dataclass(frozen=True, slots=True)
class CachedScope:
    """A scope in memory, searched as a `ChunkStore` is.

    Whoever searches it must see to it that it `is_current` afterwards, and else search the store.
    `texts` and `answer`: the contents of its chunks, and the stamp, as `with_texts` gives them.
    """

    scope: Scope
    packed: PackedScope
    scopes: ScopeCache
    chunks: ChunkStore
    texts: PackedTexts | None = None
    answer: StampAnswer | None = None

    @contextmanager
    def with_texts(self) -> Iterator[CachedScope]:
        """Provide this scope with the contents of its chunks, if they are in memory, too; counts as a search.

        Nothing is then left to ask for but the stamp, which is asked for while it is searched.
        """
        texts = self.scopes.texts.of(self.scope, self.packed.stamp, self.packed.table)
        if texts is None:
            yield self
        else:
            with self.chunks.request_stamp(self.scope) as answer:
                yield CachedScope(self.scope, self.packed, self.scopes, self.chunks, texts, answer)

    async def nearest(self, scope: Scope, vector: Vectors, k: int) -> Nearest:
        """As `ChunkStore.nearest`, exact in scopes of every size."""
        near = None
        if scope == self.scope and self._few:
            near = self.packed.nearest(vector, k)
        elif scope == self.scope:
            near = await asyncio.to_thread(self.packed.nearest, vector, k)
        return await self.chunks.nearest(scope, vector, k) if near is None else self._found(*near)

    def nearest_at_once(self, vector: Vectors, k: int) -> LazyHits | None:
        """As `nearest` in this scope, without waiting; None where the search is long enough to need a thread."""
        near = self.packed.nearest(vector, k) if self._few else None
        return None if near is None else self._hits(*near)

    async def keyword_arrays(self, scope: Scope, keywords: Sequence[str], k: int) -> Nearest:
        """As `ChunkStore.holding`."""
        if scope != self.scope:
            return await self.chunks.keyword_arrays(scope, keywords, k)
        return self._found(*self.packed.keyword_arrays(keywords, k))

    def holding_at_once(self, keywords: Sequence[str], k: int) -> LazyHits:
        """As `holding` in this scope, without waiting."""
        return self._hits(*self.packed.keyword_arrays(keywords, k))

    @property
    def _few(self) -> bool:
        return len(self.packed.ids) < _MANY

    def _found(self, rows: list[int], scores: list[float]) -> Nearest:
        return Nearest(self.packed.ids[rows], np.array(scores, np.float32))

    def _hits(self, rows: list[int], scores: list[float]) -> LazyHits:
        """Return the chunks of some rows, with their contents, if these are in memory."""
        texts = self.texts
        content_at = None if texts is None else lambda index: texts.at(rows[index])
        return LazyHits.of(Scored(self.packed.written_ids(rows), scores), content_at)

    async def is_current(self) -> bool:
        """Return whether nothing of the scope has changed since it was packed; at most one round trip."""
        return await self.scopes.is_current(self.scope, self.packed, self.answer)


def find_vectors(memory: ScopeMemory, scope: Scope, stamp: str, ids: Ids) -> Rounded | None:
    """Return the vectors of the chunks with these ids, as of a stamp, if searches of chunks have them in memory."""
    known = memory.peek((PackedScope, scope))
    packed = known[1] if known is not None else None
    if not isinstance(packed, PackedScope) or packed.stamp != stamp:
        return None
    return packed.rounded if np.array_equal(packed.ids, ids) else None


def _estimate(found: ScopeSnapshot) -> int:
    each = int(_VECTOR * found.vector_octets) + _EACH
    return found.chunks * each + found.octets * _TIMES
