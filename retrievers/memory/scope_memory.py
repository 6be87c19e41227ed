"""What searches need of the scopes that are asked most, in memory, as far as so many bytes go.

The contents of passages and entities among it, as JSON by id: a question then needs nothing of PostgreSQL but the
scope's stamp, which can be read while it is ranked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt
import orjson

from sextant.domain.scope import Scope
from sextant.domain.system import give_back
from sextant.domain.versioned_cache import Fits, VersionedCache
from sextant.retrievers.content import PassageContent, of_entity, of_passage
from sextant.retrievers.index.scope_index import ScopeIndex, ScopeIndexes
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.snapshot import read_chunks_stamp
from sextant.stores.graph.arrays import IdTable, halves_of_texts, index_of
from sextant.stores.graph.protocol import entity_of
from sextant.stores.postgresql.database import Database
from sextant.stores.stamps.stamp_lines import Stamp

# Seconds after which goes what nobody asks for.
_IDLE = 600.0


class ScopePart(Protocol):
    """A part of what is known of a scope, as it was at its stamp."""

    @property
    def stamp(self) -> Hashable:
        """Return what tells whether the scope has changed since."""
        ...

    @property
    def nbytes(self) -> int:
        """Return the bytes that it takes."""
        ...


Part = TypeVar("Part", bound=ScopePart)


class ScopeMemory(VersionedCache[tuple[type[ScopePart], Scope], Hashable, ScopePart]):
    """Of each scope the parts that are asked for often; one object bounds all of them.

    Args:
        most: bytes; 0: nothing is kept.
        clock: seconds, of any origin.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(most, lambda part: part.nbytes, idle=_IDLE, clock=clock)

    def part(
        self, kind: type[Part], scope: Scope, make: Callable[[Fits], Awaitable[Part | None]]
    ) -> Part | None:
        """Return this part of a scope; where there is none and it is asked for often, have it made.

        Whether it is of now is to be asked of its stamp.
        """

        async def made(fits: Fits) -> tuple[Hashable, ScopePart] | None:
            part = await make(fits)
            return None if part is None else (part.stamp, part)

        return cast("Part | None", self.get_or_schedule((kind, scope), made))

    def part_at(
        self,
        kind: type[Part],
        scope: Scope,
        stamp: Hashable,
        make: Callable[[Fits], Awaitable[Part | None]],
    ) -> Part | None:
        """Return this part of a scope as of a stamp; one that is of another goes, and is made again."""
        part = self.part(kind, scope, make)
        if part is None or part.stamp == stamp:
            return part
        self.release(scope, part)
        self.part(kind, scope, make)
        return None

    def release(self, scope: Scope, part: ScopePart) -> None:
        """Let go of a part that is no longer so; it is made again once that takes a small share of the time."""
        self.drop((type(part), scope), part)

    def sizes_of(self, kind: type[ScopePart]) -> dict[Scope, float]:
        """Return the bytes of each scope's part of a kind."""
        return {scope: size for (id_, scope), size in self.sizes.items() if id_ is kind}


Row = Mapping[str, Any]

# Rows at a time: some milliseconds of the server, and one of the event loop.
_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class JsonRows:
    """JSON values by id.

    Attributes:
        ids: of the values.
        joined: the values, one after the other.
        ends: where each ends, after the 0 where the first begins.
    """

    ids: IdTable
    joined: bytes
    ends: npt.NDArray[np.int64]

    def of(self, wanted: Sequence[str]) -> dict[str, Any]:
        """Return the values of some ids, in their order; without those that are not there."""
        rows = index_of(self.ids.halves, halves_of_texts(wanted)).tolist()
        found = self.at([row for row in rows if row >= 0])
        return {id_: found[row] for id_, row in zip(wanted, rows, strict=True) if row in found}

    def at(self, rows: Sequence[int]) -> dict[int, Any]:
        """Return the values of some rows of `ids`, in their order; without rows that have none."""
        first = np.array(rows, np.intp)
        spans = zip(rows, self.ends[first].tolist(), self.ends[first + 1].tolist(), strict=True)
        return {
            row: orjson.loads(self.joined[start:end]) for row, start, end in spans if end > start
        }

    def written(self, row: int) -> bytes:
        """Return the value of one row as JSON; empty where it has none."""
        return self.joined[self.ends[row] : self.ends[row + 1]]

    @property
    def nbytes(self) -> int:
        """Return bytes of memory, without the ids, which are somebody else's."""
        return len(self.joined) + self.ends.nbytes


async def read_rows(
    ids: IdTable,
    read: Callable[[Sequence[str]], Awaitable[tuple[bytes, Sequence[int]]]],
    fits: Fits,
    at_once: int = _AT_ONCE,
) -> JsonRows | None:
    """Return the values of all ids; None as soon as they seem to have no room.

    Args:
        ids: of all.
        read: the values of some, one after the other, and the bytes of each.
        fits: whether so many bytes find room.
        at_once: of how many it is read at a time.
    """
    joined, sizes = bytearray(), list[int]()
    for start in range(0, len(ids), at_once):
        rows, octets = await read(ids.texts_of(range(start, min(start + at_once, len(ids)))))
        joined += rows
        sizes += octets
        if not fits(len(joined) * len(ids) // len(sizes)):
            return None
    return JsonRows(ids, bytes(joined), np.cumsum([0, *sizes]))


async def rows_as_json(
    read: Callable[[Sequence[str]], Awaitable[list[dict[str, Any]]]],
    to_stored: Callable[[Row], object],
    wanted: Sequence[str],
) -> tuple[bytes, list[int]]:
    """Return the value of each id wanted, nothing where there is no row, and the bytes of each.

    Args:
        read: rows of some, each with its `id`.
        to_stored: what is kept of a row, as JSON has it.
        wanted: the ids.
    """
    return await asyncio.to_thread(_encode_rows, wanted, await read(wanted), to_stored)


def _encode_rows(
    wanted: Sequence[str], rows: Sequence[Row], to_stored: Callable[[Row], object]
) -> tuple[bytes, list[int]]:
    written = {row["id"]: orjson.dumps(to_stored(row)) for row in rows}
    values = [written.get(id_, b"") for id_ in wanted]
    return b"".join(values), [len(id_) for id_ in values]


@dataclass(frozen=True, slots=True)
class ContentRows:
    """Contents by id, each as JSON.

    `listed` names what of the metadata is a tuple.
    """

    rows: JsonRows
    listed: str

    def of(self, wanted: Sequence[str]) -> dict[str, PassageContent]:
        """Return the contents of some ids; without those that are not there."""
        return {id_: self._content(*row) for id_, row in self.rows.of(wanted).items()}

    def at(self, rows: Sequence[int]) -> dict[int, PassageContent]:
        """Return the contents of some rows of the index."""
        return {id_: self._content(*row) for id_, row in self.rows.at(rows).items()}

    def one(self, row: int) -> PassageContent | None:
        """Return the content of one row; None where it is not there."""
        written = self.rows.written(row)
        return self._content(*orjson.loads(written)) if written else None

    def _content(
        self, text: str, document: str | None, external: str | None, metadata: dict[str, Any]
    ) -> PassageContent:
        metadata[self.listed] = tuple(metadata[self.listed])
        return PassageContent(text, document, external, metadata)

    @property
    def nbytes(self) -> int:
        """Return bytes of memory, without the ids, which are the index's."""
        return self.rows.nbytes


@dataclass(frozen=True, slots=True)
class PackedRows:
    """What is told of all chunks of a scope, as it was at its stamp."""

    stamp: str
    rows: JsonRows

    @property
    def nbytes(self) -> int:
        """Return bytes of memory."""
        return self.rows.nbytes


P = TypeVar("P", bound=PackedRows)
Read = Callable[[Scope, Sequence[str]], Awaitable[tuple[bytes, Sequence[int]]]]


class ScopeRowCache(Generic[P]):
    """What of it the scopes searched most have in memory, in the memory of what they are searched in.

    Args:
        database: where it is.
        memory: bounds it.
        kind: how it is kept.
        read: what is told of some chunks of a scope as JSON, and the bytes of each.
        at_once: so many chunks are read in one trip.
    """

    def __init__(
        self, database: Database, memory: ScopeMemory, kind: type[P], read: Read, at_once: int
    ) -> None:
        self._database = database
        self._memory = memory
        self._kind = kind
        self._read = read
        self._at_once = at_once

    def of(self, scope: Scope, stamp: str, ids: IdTable) -> P | None:
        """Return what is told of a scope's chunks, if it is at hand and of this stamp; counts as a search."""
        return self._memory.part_at(
            self._kind, scope, stamp, partial(self._make, scope, stamp, ids)
        )

    async def _make(self, scope: Scope, stamp: str, ids: IdTable, fits: Fits) -> P | None:
        """Return all of it, unless it takes too much room or the scope has changed since the stamp."""
        rows = await read_rows(ids, partial(self._read, scope), fits, self._at_once)
        if rows is None or await read_chunks_stamp(self._database, scope) != stamp:
            return None
        await asyncio.to_thread(give_back)
        return self._kind(stamp, rows)


# Chunks at a time: some five milliseconds of the server, two of a thread.
_CHUNKS_AT_ONCE = 512


class PackedTexts(PackedRows):
    """The contents of all chunks of a scope: its text and some 0.4 KB a chunk."""

    def of(self, ids: Sequence[str]) -> dict[str, PassageContent]:
        """Return the contents of some chunks; without those that are not there."""
        return ContentRows(self.rows, "section_path").of(ids)

    def at(self, row: int) -> PassageContent | None:
        """Return the content of the chunk of a row; None where it is not there."""
        return ContentRows(self.rows, "section_path").one(row)


class HotTexts(ScopeRowCache[PackedTexts]):
    """The texts of the scopes searched most."""

    def __init__(self, database: Database, memory: ScopeMemory) -> None:
        chunks = ChunkStore(database)

        async def read(scope: Scope, ids: Sequence[str]) -> tuple[bytes, list[int]]:
            return await rows_as_json(partial(chunks.contents, scope), passage_as_json, ids)

        super().__init__(database, memory, PackedTexts, read, _CHUNKS_AT_ONCE)


@dataclass(frozen=True, slots=True)
class EntityContents:
    """The contents of all entities of an index, as it was at its stamp."""

    stamp: Stamp
    rows: ContentRows

    @property
    def nbytes(self) -> int:
        """Return bytes of memory."""
        return self.rows.nbytes


@dataclass(frozen=True, slots=True)
class ScopeTexts:
    """The contents of all passages and entities of an index; those of passages are what searches of chunks have, too."""

    passages: PackedTexts
    entities: ContentRows


class Texts:
    """The texts of the scopes asked most, in memory that they share with others.

    Args:
        database: where passages are.
        indexes: whose passages and entities they are; it knows where a graph is.
        memory: bounds them.
    """

    def __init__(self, database: Database, indexes: ScopeIndexes, memory: ScopeMemory) -> None:
        self._passages = HotTexts(database, memory)
        self._indexes = indexes
        self._memory = memory

    def of(self, scope: Scope, stamp: Stamp, index: ScopeIndex) -> ScopeTexts | None:
        """Return the texts of all that an index can find, if they are at hand; counts as a question.

        Args:
            scope: whose.
            stamp: of the index, which is that of the texts: whether it is of now is to be asked.
            index: whose passages and entities.
        """
        read = partial(self._read_entities, scope, stamp, index.entities)
        passages = self._passages.of(scope, stamp.passages, index.chunk_ids)
        entities = self._memory.part_at(EntityContents, scope, stamp, read)
        if passages is None or entities is None:
            return None
        return ScopeTexts(passages, entities.rows)

    async def _read_entities(
        self, scope: Scope, stamp: Stamp, ids: IdTable, fits: Fits
    ) -> EntityContents | None:
        """Return all of them, unless they take too much room or something has changed since the index was read."""
        graph = partial(rows_as_json, partial(self._indexes.whole(stamp).contents, scope), _entity)
        rows = await read_rows(ids, graph, fits)
        if rows is None or await self._indexes.stamp(scope) != stamp:
            return None
        return EntityContents(stamp, ContentRows(rows, "aliases"))


def passage_as_json(row: Row) -> object:
    """Return a passage's row as `ContentRows` has it."""
    return tuple(of_passage(row))


def _entity(row: Row) -> object:
    return tuple(of_entity(entity_of(row)))
