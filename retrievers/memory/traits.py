"""What ranking asks of chunks, in memory, beside the knowledge bases that are searched there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from retrievers.memory.hot import HotScope
from retrievers.memory.json_rows import JsonRows, read_rows
from retrievers.memory.room import Fits, Room
from stores.chunks.packing import stamp_of_chunks
from stores.chunks.traits import Traits, told_traits, traits_from
from stores.graph.arrays import IdTable
from stores.postgresql.database import Database

# Rows at a time: some ten milliseconds of the server, two of the event loop.
_AT_ONCE = 2048


@dataclass(frozen=True, slots=True)
class PackedTraits:
    """The traits of all chunks of a scope, as it was at its stamp: some 0.4 KB a chunk."""

    stamp: str
    rows: JsonRows

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self.rows.nbytes

    def of(self, ids: Sequence[str]) -> list[Traits] | None:
        """The traits of these chunks in their order; None if one of them is not here."""
        found = self.rows.of(ids)
        if len(found) < len(ids):
            return None
        return [traits_from(row) for row in found.values()]


class HotTraits:
    """The traits of the scopes searched most, in the room of what they are searched in.

    Args:
        database: where they are.
        room: bounds them.
    """

    def __init__(self, database: Database, room: Room) -> None:
        self._database = database
        self._room = room

    def of(self, hot: HotScope) -> PackedTraits | None:
        """The traits of a scope in memory, if they are at hand and of its moment; counts as a search."""
        known = self._room.ask(PackedTraits, hot.scope, partial(self._read, hot))
        if known is None or known.stamp == hot.packed.stamp:
            return known
        self._room.drop(hot.scope, known)
        return None

    async def _read(self, hot: HotScope, fits: Fits) -> PackedTraits | None:
        """All of them, unless they take too much room or the scope has changed since it was packed."""
        read = partial(told_traits, self._database, hot.scope)
        rows = await read_rows(IdTable(hot.packed.ids), read, fits, _AT_ONCE)
        stamp = hot.packed.stamp
        if rows is None or await stamp_of_chunks(self._database, hot.scope) != stamp:
            return None
        return PackedTraits(stamp, rows)
