"""Who is in which community, and which version of the graph that reflects; `store.py` has the reports."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt
from psycopg.rows import class_row, scalar_row

from sextant.domain.scope import Scope
from sextant.stores.graph.writing import hold_graph
from sextant.stores.postgresql.alone import alone
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.pools import Connection
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import find_scope, key_of, of_scope, rows_of

_SQL = load_queries("graph_hierarchy")
_MOMENT = of_scope(_SQL["moment"])

# Passages up to which communities follow every change: reading such a graph takes 0.3 s of CPU.
_LARGE = 5_000

Ids = npt.NDArray[np.uint64]  # shape (n, 2): the halves of a uuid, high first
_PAIR = np.dtype([("community", (">u8", 2)), ("entity", (">u8", 2))])


@dataclass(frozen=True, slots=True)
class Follows:
    """The graph `version` that communities reflect; `edges` and `modularity` of the last full run."""

    version: int
    edges: int
    modularity: float


@dataclass(frozen=True, slots=True)
class Moment:
    """When a graph was about to be read, and how many passages its complete documents had by then."""

    at: datetime
    passages: int


@dataclass(frozen=True, slots=True)
class StoredCommunity:
    """A community as it is stored; level 0 is the coarsest."""

    id: UUID
    level: int
    parent_id: UUID | None
    members: Ids


@dataclass(frozen=True, slots=True)
class Change:
    """A community that is new, or whose place in the hierarchy or entities (`members`) have changed."""

    id: UUID
    level: int
    parent_id: UUID | None
    members: Sequence[UUID] | None


class HierarchyStore:
    """The hierarchies of a database's graphs; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def alone(self, scope: Scope) -> AbstractAsyncContextManager[None]:
        """Hold the lock under which one process at a time updates this graph's communities; raises as `alone` does."""
        return alone(self._database, _SQL["try_alone"], key_of(scope))

    async def is_due(self, scope: Scope, share: float = 0.0) -> bool:
        """Return whether the graph has changed since the communities followed it, or a report waits.

        Args:
            scope: whose graph.
            share: of a large graph, how much of it must be new; what has gone is always enough.
        """
        query, values = _SQL["is_due"], {"share": share, "patient": _LARGE}
        return any(await rows_of(self._database, scope, scalar_row, query, **values))

    async def moment(self, scope: Scope) -> Moment:
        """Return the present moment: ask for it before reading the graph, and pass it to `write` with the result."""
        async with self._database.transaction(scope.user_id) as connection:
            cursor = connection.cursor(row_factory=class_row(Moment))
            [moment] = await (await cursor.execute(_MOMENT, key_of(scope))).fetchall()
            return moment

    async def read(self, scope: Scope) -> tuple[Follows | None, list[StoredCommunity]]:
        """Return the stored communities as of one moment, ordered by level and id."""
        async with self._database.transaction(scope.user_id, snapshot=True) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return None, []
            key = {"scope_id": found.scope_id}
            cursor = connection.cursor(row_factory=class_row(Follows))
            follows = await (await cursor.execute(_SQL["follows"], key)).fetchone()
            rows = await (await connection.execute(_SQL["communities"], key)).fetchall()
            blocks = await (await connection.execute(_SQL["members"], key, binary=True)).fetchall()
        return follows, await asyncio.to_thread(
            _read_communities, rows, b"".join(row[0] for row in blocks)
        )

    async def write(
        self,
        scope: Scope,
        changes: Sequence[Change],
        gone: Sequence[UUID],
        follows: Follows,
        moment: Moment,
    ) -> None:
        """Store changes in one transaction; communities whose members have changed become dirty.

        A report stays until another is written; a new community has none and is not shown until then.
        """
        async with self._database.transaction(scope.user_id) as connection:
            found = await hold_graph(connection, scope)
            if found is None:
                return
            key: dict[str, Any] = {"scope_id": found.scope_id, "user_id": scope.user_id}
            await _write(connection, key, changes, list(gone))
            await connection.execute(_SQL["follow"], key | asdict(follows) | asdict(moment))


async def _write(
    connection: Connection,
    key: dict[str, Any],
    changes: Sequence[Change],
    gone: list[UUID],
) -> None:
    places = [
        {"id": one.id, "level": one.level, "parent_id": one.parent_id, "dirty": bool(one.members)}
        for one in changes
    ]
    members = [{"id": one.id, "members": list(one.members)} for one in changes if one.members]
    await connection.execute(_SQL["remove"], key | {"ids": gone})
    async with connection.cursor() as cursor:
        await cursor.executemany(_SQL["place"], [key | values for values in places])
        await cursor.execute(
            _SQL["clear_members"], key | {"ids": [values["id"] for values in members]}
        )
        await cursor.executemany(_SQL["add_members"], [key | values for values in members])
        ids = [*gone, *(one.id for one in changes)]
        await cursor.execute(_SQL["note_projection"], key | {"ids": ids})


def _read_communities(
    rows: Sequence[tuple[UUID, int, UUID | None]], block: bytes
) -> list[StoredCommunity]:
    pairs = np.frombuffer(block, _PAIR)
    communities = pairs["community"].astype(np.uint64)
    entities = pairs["entity"].astype(np.uint64)
    starts = np.flatnonzero((np.diff(communities, axis=0) != 0).any(axis=1)) + 1
    parts = np.split(entities, starts) if len(pairs) else []
    firsts = communities[np.concatenate([[0], starts])] if len(pairs) else []
    members = {
        UUID(int=int(high) << 64 | int(low)): part
        for (high, low), part in zip(firsts, parts, strict=True)
    }
    nobody = np.empty((0, 2), np.uint64)
    return [
        StoredCommunity(own, level, parent_id, members.get(own, nobody))
        for own, level, parent_id in rows
    ]
