"""The knowledge bases that are searched often, in memory; PostgreSQL stays the truth.

A search goes by what is in memory and asks for the scope's stamp meanwhile, or together with what else it
reads, so being sure costs no trip of its own; had something changed, it is done again in
PostgreSQL, which answers until the scope has been read anew.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np

from sextant.domain.retrieval import PassageContent, of_entity
from sextant.domain.scope import Scope
from sextant.domain.system import give_back
from sextant.domain.versioned_cache import Fits, VersionedCache
from sextant.models.protocols import Vectors
from sextant.retrievers.index.chunk_index import (
    ChunkIndex,
    ChunkIndexBuilder,
    JsonRows,
    JsonRowsBuilder,
    estimate_bytes,
)
from sextant.retrievers.index.scope_index import ScopeIndex, ScopeIndexes
from sextant.retrievers.index.vectors.rounded import Rounded
from sextant.retrievers.lazy_hits import LazyHits
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.snapshot import open_snapshot, read_chunks_stamp
from sextant.stores.graph.arrays import IdTable
from sextant.stores.graph.protocol import entity_of
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.values import Scored, read_scored
from sextant.stores.stamps.stamp_lines import Stamp, StampAnswer

# Seconds after which goes what nobody asks for.
_IDLE = 600.0
# Compared in a thread from so many vectors on: 1 ms. The way to a thread and back takes 0.1 to 0.3.
_MANY = 50_000
# Entities at a time: some milliseconds of the server, and one of the event loop.
_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class EntityContents:
    """What results tell of all entities of an index, as it was at its stamp."""

    stamp: Stamp
    rows: JsonRows

    def at(self, rows: Sequence[int]) -> dict[int, PassageContent]:
        """Return the contents of some entities by row; without those that have none."""
        return {row: _entity(written) for row in rows if (written := self.rows.at(row))}

    @property
    def nbytes(self) -> int:
        """Return the bytes that they take."""
        return self.rows.nbytes


def _entity(written: Sequence[Any]) -> PassageContent:
    content = PassageContent(*written)
    content.metadata["aliases"] = tuple(content.metadata["aliases"])
    return content


@dataclass(frozen=True, slots=True)
class ScopeTexts:
    """The contents of all passages and entities of an index."""

    passages: ChunkIndex
    entities: EntityContents


ScopePart = ChunkIndex | EntityContents
Part = TypeVar("Part", ChunkIndex, EntityContents)
ScopeMemory = VersionedCache[tuple[type[ScopePart], Scope], Hashable, ScopePart]


class ScopeCache:
    """The scopes searched most, as far as `retrieval.hot_memory` goes.

    Reading happens in slices in a thread, one scope at a time, and nobody waits for it.

    Args:
        database: where they are.
        indexes: of the graph modes, whose vectors are used where they are of the same chunks.
        most: bytes; 0: nothing is kept; None: as the settings say.
        clock: seconds, of any origin.
    """

    def __init__(
        self,
        database: Database,
        indexes: ScopeIndexes | None = None,
        *,
        most: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._indexes = indexes
        self._chunks = ChunkStore(database)
        bound = database.settings.retrieval.hot_memory if most is None else most
        self.memory: ScopeMemory = VersionedCache(
            bound, lambda part: part.nbytes, idle=_IDLE, clock=clock
        )
        if indexes is not None:
            indexes.share_vectors(self._vectors_of)

    def of(self, scope: Scope) -> CachedScope | None:
        """Return the scope in memory as it was read, to be asked if it `is_current`; counts as a search."""
        index = self._part(ChunkIndex, scope, partial(self._read, scope))
        return CachedScope(scope, index, self, self._chunks) if index is not None else None

    def texts(self, scope: Scope, stamp: Stamp, index: ScopeIndex) -> ScopeTexts | None:
        """Return the texts of all that an index can find, if they are at hand; counts as a question.

        Args:
            scope: whose.
            stamp: of the index, which is that of the texts: whether it is of now is to be asked.
            index: whose passages and entities.
        """
        if self._indexes is None:
            return None
        read = partial(self._read_entities, self._indexes, scope, stamp, index.entities)
        passages = self._part_at(ChunkIndex, scope, stamp.passages, partial(self._read, scope))
        entities = self._part_at(EntityContents, scope, stamp, read)
        return ScopeTexts(passages, entities) if passages and entities else None

    async def is_current(
        self, scope: Scope, index: ChunkIndex, answer: StampAnswer | None = None
    ) -> bool:
        """Return whether nothing has changed since it was read; what has is let go.

        False if PostgreSQL does not answer in time: who then searches there learns why.

        Args:
            scope: whose it is.
            index: what is in memory.
            answer: of a stamp that was asked for before it was searched.
        """
        if answer is None:
            now: str | None = await read_chunks_stamp(self._database, scope)
        else:
            stamp = await answer.receive()
            now = stamp.passages if stamp else None
        if now == index.stamp:
            return True
        self.memory.drop((ChunkIndex, scope), index)
        return False

    @property
    def sizes(self) -> dict[Scope, float]:
        """Return the bytes that the chunks of each scope in memory take."""
        return {
            scope: size for (kind, scope), size in self.memory.sizes.items() if kind is ChunkIndex
        }

    def _part(
        self, kind: type[Part], scope: Scope, make: Callable[[Fits], Awaitable[Part | None]]
    ) -> Part | None:
        """Return this part of a scope; where there is none and it is asked for often, have it made."""

        async def made(fits: Fits) -> tuple[Hashable, ScopePart] | None:
            part = await make(fits)
            return None if part is None else (part.stamp, part)

        return cast("Part | None", self.memory.get_or_schedule((kind, scope), made))

    def _part_at(
        self,
        kind: type[Part],
        scope: Scope,
        stamp: Hashable,
        make: Callable[[Fits], Awaitable[Part | None]],
    ) -> Part | None:
        """Return this part of a scope as of a stamp; one that is of another goes, and is made again."""
        part = self._part(kind, scope, make)
        if part is None or part.stamp == stamp:
            return part
        self.memory.drop((kind, scope), part)
        self._part(kind, scope, make)
        return None

    async def _read(self, scope: Scope, fits: Fits) -> ChunkIndex | None:
        async with open_snapshot(self._database, scope) as found:
            if found is None or not found.complete or not found.chunks:
                return None
            if not fits(estimate_bytes(found)):
                return None
            builder = ChunkIndexBuilder(found.stamp, found.chunks)
            async for block in found.blocks():
                await asyncio.to_thread(builder.add, block)
            del block
        index = await asyncio.to_thread(builder.build)
        if index is not None:
            index = self._with_shared_vectors(scope, index)
        del builder
        await asyncio.to_thread(give_back)
        return index

    def _with_shared_vectors(self, scope: Scope, index: ChunkIndex) -> ChunkIndex:
        """Return the chunks with the vectors of the scope's graph modes, if these are of the same chunks: they are held once."""
        known = self._indexes.kept(scope) if self._indexes else None
        if known is None or known[0].passages != index.stamp:
            return index
        passages = known[1].passages
        if passages.rounded is None or not np.array_equal(passages.ids.halves, index.ids.halves):
            return index
        return replace(index, rounded=passages.rounded.unsifted())

    def _vectors_of(self, scope: Scope, stamp: str, ids: IdTable) -> Rounded | None:
        """Return the vectors of the chunks with these ids, as of a stamp, if they are in memory."""
        index = self.memory.at((ChunkIndex, scope), stamp)
        if not isinstance(index, ChunkIndex):
            return None
        return index.rounded if np.array_equal(index.ids.halves, ids.halves) else None

    @staticmethod
    async def _read_entities(
        indexes: ScopeIndexes, scope: Scope, stamp: Stamp, ids: IdTable, fits: Fits
    ) -> EntityContents | None:
        """Return all of them, unless they take too much room or something has changed since the index was read."""
        builder, whole = JsonRowsBuilder(), indexes.whole(stamp)
        for start in range(0, len(ids), _AT_ONCE):
            wanted = ids.texts_of(range(start, min(start + _AT_ONCE, len(ids))))
            await asyncio.to_thread(
                builder.add, _in_order(wanted, await whole.contents(scope, wanted))
            )
            if not fits(builder.estimate(len(ids))):
                return None
        if await indexes.stamp(scope) != stamp:
            return None
        return EntityContents(stamp, builder.build())


def _in_order(
    wanted: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> Iterator[PassageContent | None]:
    """Return the content of each entity wanted; None of one that is not there."""
    contents = {row["id"]: of_entity(entity_of(row)) for row in rows}
    return map(contents.get, wanted)


@dataclass(frozen=True, slots=True)
class CachedScope:
    """A scope in memory.

    Whoever searches it must see to it that it `is_current` afterwards, and else search the store.
    `answer`: the stamp, as `requesting_stamp` gives it.
    """

    scope: Scope
    index: ChunkIndex
    cache: ScopeCache
    chunks: ChunkStore
    answer: StampAnswer | None = None

    @contextmanager
    def requesting_stamp(self) -> Iterator[CachedScope]:
        """Provide this scope, and ask for its stamp while it is searched: nothing else is left to ask for."""
        with self.chunks.request_stamp(self.scope) as answer:
            yield replace(self, answer=answer)

    async def nearest(self, vector: Vectors, k: int) -> LazyHits:
        """As `ChunkStore.nearest`, exact in scopes of every size."""
        if len(self.index.ids) < _MANY:
            near = self.index.nearest(vector, k)
        else:
            near = await asyncio.to_thread(self.index.nearest, vector, k)
        if near is not None:
            return self._hits(*near)
        return LazyHits.of(read_scored(await self.chunks.nearest(self.scope, vector, k)))

    def matching(self, keywords: Sequence[str], k: int) -> LazyHits:
        """As `ChunkStore.keyword_matches`."""
        return self._hits(*self.index.matching(keywords, k))

    def _hits(self, rows: list[int], scores: list[float]) -> LazyHits:
        """Return the chunks of some rows, with their contents."""
        found = Scored(self.index.ids.texts_of(rows), scores)
        return LazyHits.of(found, lambda index: self.index.content_at(rows[index]))

    async def is_current(self) -> bool:
        """Return whether nothing of the scope has changed since it was read; at most one round trip."""
        return await self.cache.is_current(self.scope, self.index, self.answer)
