"""Something of every chunk of a knowledge base that is searched in memory, kept beside it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from sextant.domain.scope import Scope
from sextant.retrievers.memory.json_rows import JsonRows, read_rows
from sextant.retrievers.memory.packed import PackedScope
from sextant.retrievers.memory.room import Fits, MemoryBoundedCache
from sextant.stores.chunks.snapshot import read_chunks_stamp
from sextant.stores.graph.arrays import IdTable
from sextant.stores.postgresql.database import Database


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
    """What of it the scopes searched most have in memory, in the room of what they are searched in.

    Args:
        database: where it is.
        room: bounds it.
        kind: how it is kept.
        read: what is told of some chunks of a scope as JSON, and the bytes of each.
        at_once: so many chunks are read in one trip.
    """

    def __init__(
        self, database: Database, room: MemoryBoundedCache, kind: type[P], read: Read, at_once: int
    ) -> None:
        self._database = database
        self._room = room
        self._kind = kind
        self._read = read
        self._at_once = at_once

    def of(self, scope: Scope, packed: PackedScope) -> P | None:
        """Return what is told of a scope in memory, if it is at hand and of its moment; counts as a search."""
        known = self._room.ask(self._kind, scope, partial(self._make, scope, packed))
        if known is None or known.stamp == packed.stamp:
            return known
        self._room.drop(scope, known)
        return None

    async def _make(self, scope: Scope, packed: PackedScope, fits: Fits) -> P | None:
        """Return all of it, unless it takes too much room or the scope has changed since it was packed."""
        read = partial(self._read, scope)
        rows = await read_rows(IdTable(packed.ids), read, fits, self._at_once)
        if rows is None or await read_chunks_stamp(self._database, scope) != packed.stamp:
            return None
        return self._kind(packed.stamp, rows)
