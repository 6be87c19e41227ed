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
from retrievers.memory.room import Fits, Room
from retrievers.memory.trimming import give_back
from stores.chunks import ChunkStore
from stores.graph.arrays import IdTable, halves_of_texts, places_of
from stores.graph.record import GraphRecord
from stores.stamps import Stamp

T = TypeVar("T")

Row = Mapping[str, Any]

# Rows at a time: some milliseconds of the server, and one of the event loop.
_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows by id, each as the JSON that it is told in: a dictionary of it would take four times as much.

    Attributes:
        ids: of the rows.
        told: the rows, one after the other.
        ends: where each ends, after the 0 where the first begins.
    """

    ids: IdTable
    told: bytes
    ends: npt.NDArray[np.int64]

    def of(self, wanted: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The rows of some ids; without those that are not there."""
        places = places_of(self.ids.halves, halves_of_texts(wanted))
        starts, ends = self.ends[places], self.ends[places + 1]
        told = memoryview(self.told)
        return {
            own: orjson.loads(told[start:end])
            for own, start, end, place in zip(
                wanted, starts.tolist(), ends.tolist(), places.tolist(), strict=True
            )
            if place >= 0 and end > start
        }

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
        passages = await _rows(index.chunk_ids, partial(self._chunks.told, scope), fits)
        if passages is None:
            return None
        beside = lambda size: fits(passages.nbytes + size)  # noqa: E731
        entities = await _rows(index.entities, partial(self._record.told, scope), beside)
        if entities is None or await self._chunks.stamp(scope) != stamp:
            return None
        await asyncio.to_thread(give_back)
        return ScopeTexts(stamp, passages, entities)


async def _rows(
    ids: IdTable, tell: Callable[[Sequence[str]], Awaitable[list[dict[str, Any]]]], fits: Fits
) -> Rows | None:
    """The rows of all ids; None as soon as they seem to have no room."""
    told, sizes = bytearray(), list[int]()
    for start in range(0, len(ids), _AT_ONCE):
        wanted = ids.texts_of(range(start, min(start + _AT_ONCE, len(ids))))
        own = await asyncio.to_thread(_written, wanted, await tell(wanted))
        told += b"".join(own)
        sizes += map(len, own)
        if not fits(len(told) * len(ids) // len(sizes)):
            return None
    return Rows(ids, bytes(told), np.cumsum([0, *sizes]))


def _written(wanted: Sequence[str], rows: Sequence[Row]) -> list[bytes]:
    """The row of each id wanted; nothing where there is none."""
    written = {row["id"]: orjson.dumps(row) for row in rows}
    return [written.get(own, b"") for own in wanted]
