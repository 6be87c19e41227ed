"""What results tell of passages and entities, in memory, for the scopes that the graph modes are asked most.

A question then needs nothing of PostgreSQL but the scope's stamp, which can be read while it is ranked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import orjson

from domain.scope import Scope
from retrievers.index.scope_index import ScopeIndex
from retrievers.lanes.telling import Told, of_entity, of_passage
from retrievers.memory.room import Fits, Room
from retrievers.memory.trimming import give_back
from stores.chunks import ChunkStore
from stores.graph.arrays import IdTable, halves_of_texts, places_of
from stores.graph.record import GraphRecord
from stores.graph.rows import entity_of
from stores.stamps import Stamp

T = TypeVar("T")

Row = Mapping[str, Any]

# Rows at a time: some milliseconds of the server, and one of the event loop.
_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Rows:
    """What is told by id, each as JSON: Python's own objects would take several times as much.

    Attributes:
        ids: of what is told.
        told: one after the other.
        ends: where each ends, after the 0 where the first begins.
        listed: what of the metadata is a tuple.
    """

    ids: IdTable
    told: bytes
    ends: npt.NDArray[np.int64]
    listed: str

    def of(self, wanted: Sequence[str]) -> dict[str, Told]:
        """What is told of some ids; without those that are not there."""
        places = places_of(self.ids.halves, halves_of_texts(wanted))
        starts, ends = self.ends[places].tolist(), self.ends[places + 1].tolist()
        found = {}
        for own, place, start, end in zip(wanted, places.tolist(), starts, ends, strict=True):
            if place >= 0 and end > start:
                told = Told(*orjson.loads(self.told[start:end]))
                told.metadata[self.listed] = tuple(told.metadata[self.listed])
                found[own] = told
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of memory, without the ids, which are the index's."""
        return len(self.told) + self.ends.nbytes


@dataclass(frozen=True, slots=True)
class ScopeTexts:
    """What results tell of all passages and entities of an index, as it was at its stamp."""

    stamp: Stamp
    passages: Rows
    entities: Rows

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self.passages.nbytes + self.entities.nbytes


class Texts:
    """The texts of the scopes asked most, in a room that they share with others.

    Args:
        chunks, record: where passages and entities are.
        room: bounds them.
    """

    def __init__(self, chunks: ChunkStore, record: GraphRecord, room: Room) -> None:
        self._chunks = chunks
        self._record = record
        self._room = room

    def of(self, scope: Scope, stamp: Stamp, index: ScopeIndex) -> ScopeTexts | None:
        """The texts of all that an index can find, if they are at hand; counts as a question.

        Args:
            scope: whose.
            stamp: of the index, which is that of the texts: whether it is of now is to be asked.
            index: what is to be told.
        """
        texts = self._room.ask(ScopeTexts, scope, partial(self._read, scope, stamp, index))
        if texts is None or texts.stamp == stamp:
            return texts
        self._room.drop(scope, texts)
        return None

    async def _read(
        self, scope: Scope, stamp: Stamp, index: ScopeIndex, fits: Fits
    ) -> ScopeTexts | None:
        """All of them, unless they take too much room or something has changed since the index was read."""
        rows = await _rows(index.chunk_ids, partial(self._chunks.told, scope), of_passage, fits)
        if rows is None:
            return None
        passages = Rows(index.chunk_ids, *rows, "section_path")
        beside = lambda size: fits(passages.nbytes + size)  # noqa: E731
        rows = await _rows(index.entities, partial(self._record.told, scope), _of_entity, beside)
        if rows is None or await self._chunks.stamp(scope) != stamp:
            return None
        await asyncio.to_thread(give_back)
        return ScopeTexts(stamp, passages, Rows(index.entities, *rows, "aliases"))


async def _rows(
    ids: IdTable,
    read: Callable[[Sequence[str]], Awaitable[list[dict[str, Any]]]],
    tell: Callable[[Row], Told],
    fits: Fits,
) -> tuple[bytes, npt.NDArray[np.int64]] | None:
    """What is told of all ids, and where each ends; None as soon as it seems to have no room."""
    told, sizes = bytearray(), list[int]()
    for start in range(0, len(ids), _AT_ONCE):
        wanted = ids.texts_of(range(start, min(start + _AT_ONCE, len(ids))))
        own = await asyncio.to_thread(_written, wanted, await read(wanted), tell)
        told += b"".join(own)
        sizes += map(len, own)
        if not fits(len(told) * len(ids) // len(sizes)):
            return None
    return bytes(told), np.cumsum([0, *sizes])


def _written(
    wanted: Sequence[str], rows: Sequence[Row], tell: Callable[[Row], Told]
) -> list[bytes]:
    """What is told of each id wanted; nothing where there is no row."""
    written = {row["id"]: orjson.dumps(tuple(tell(row))) for row in rows}
    return [written.get(own, b"") for own in wanted]


def _of_entity(row: Row) -> Told:
    return of_entity(entity_of(row))
