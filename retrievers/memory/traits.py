"""What ranking asks of chunks, in memory, beside the knowledge bases that are searched there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from retrievers.memory.hot import HotScope
from retrievers.memory.json_rows import JsonRows, read_rows
from retrievers.memory.room import Fits, Room
from stores.database import Database
from stores.graph.arrays import IdTable
from stores.packing import stamp_of_chunks
from stores.traits import Traits, trait_rows


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
        return [_traits(**row) for row in found.values()]


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
        read = partial(trait_rows, self._database, hot.scope)
        rows = await read_rows(IdTable(hot.packed.ids), read, dict, fits)
        stamp = hot.packed.stamp
        if rows is None or await stamp_of_chunks(self._database, hot.scope) != stamp:
            return None
        return PackedTraits(stamp, rows)


def _traits(created_at: str, **row: str | list[str]) -> Traits:
    return Traits(created_at=datetime.fromisoformat(created_at), **row)  # type: ignore[arg-type]
