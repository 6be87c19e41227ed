"""Store the members and the hierarchy of communities; `community_store.py` has the reports."""

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

from sextant.domain.scope import Scope, key_of
from sextant.stores.graph.graph_writer import hold_graph
from sextant.stores.postgresql.database import Database, exclusive_lock, fetch_rows
from sextant.stores.postgresql.queries import columns_of, load_queries
from sextant.stores.scopes import find_scope, of_scope, rows_of

_SQL = load_queries("graph_hierarchy")

# Communities of a graph with at most this many passages are updated after every change.
_MAX_EAGER_PASSAGES = 5_000

Ids = npt.NDArray[np.uint64]  # shape (n, 2): the halves of a uuid, high first
_PAIR = np.dtype([("community", (">u8", 2)), ("entity", (">u8", 2))])


@dataclass(frozen=True, slots=True)
class Follows:
    """The graph `version` that communities reflect; `edges` and `modularity` are of the last full run."""

    version: int
    edges: int
    modularity: float


@dataclass(frozen=True, slots=True)
class Moment:
    """The time before a graph is read, and the number of passages of its complete documents then."""

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
    """A community that is new or changed; `members` is None if only its place in the hierarchy changed."""

    id: UUID
    level: int
    parent_id: UUID | None
    members: Sequence[UUID] | None


class HierarchyStore:
    """The hierarchies of a database's graphs; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def alone(self, scope: Scope) -> AbstractAsyncContextManager[None]:
        """Hold the lock under which one process at a time updates these communities; raises as `exclusive_lock` does."""
        return exclusive_lock(self._database, _SQL["try_alone"], key_of(scope))

    async def is_due(self, scope: Scope, share: float = 0.0) -> bool:
        """Return whether communities or reports need an update.

        Args:
            scope: the knowledge base.
            share: the share of new passages that a large graph needs; removals always suffice.
        """
        query, values = _SQL["is_due"], {"share": share, "patient": _MAX_EAGER_PASSAGES}
        return any(await rows_of(self._database, scope, scalar_row, query, **values))

    async def moment(self, scope: Scope) -> Moment:
        """Return the current moment; call it before reading the graph, and pass it to `write`."""
        query, key = of_scope(_SQL["moment"]), key_of(scope)
        [moment] = await self._database.fetch(scope.user_id, class_row(Moment), query, key)
        return moment

    async def read(self, scope: Scope) -> tuple[Follows | None, list[StoredCommunity]]:
        """Return the stored communities of one snapshot, ordered by level and id."""
        async with self._database.transaction(scope.user_id, snapshot=True) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return None, []
            key = {"scope_id": found.scope_id}
            follows = await fetch_rows(connection, class_row(Follows), _SQL["follows"], key)
            rows = await (await connection.execute(_SQL["communities"], key)).fetchall()
            blocks = await (await connection.execute(_SQL["members"], key, binary=True)).fetchall()
        return next(iter(follows), None), await asyncio.to_thread(
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
        """Store changes in one transaction; communities with changed members become dirty.

        A report stays until it is rewritten; a new community is not shown until it has one.
        """
        async with self._database.transaction(scope.user_id) as connection:
            found = await hold_graph(connection, scope)
            if found is None:
                return
            key: dict[str, Any] = {"scope_id": found.scope_id, "user_id": scope.user_id}
            changed = [one for one in changes if one.members]
            await connection.execute(_SQL["remove"], key | {"ids": list(gone)})
            async with connection.cursor() as cursor:
                await cursor.executemany(
                    _SQL["place"],
                    [key | columns_of(one) | {"dirty": bool(one.members)} for one in changes],
                )
                await cursor.execute(
                    _SQL["clear_members"], key | {"ids": [one.id for one in changed]}
                )
                await cursor.executemany(
                    _SQL["add_members"],
                    [key | {"id": one.id, "members": list(one.members or ())} for one in changed],
                )
                ids = [*gone, *(one.id for one in changes)]
                await cursor.execute(_SQL["note_projection"], key | {"ids": ids})
            await connection.execute(_SQL["follow"], key | asdict(follows) | asdict(moment))


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
    no_members = np.empty((0, 2), np.uint64)
    return [
        StoredCommunity(community_id, level, parent_id, members.get(community_id, no_members))
        for community_id, level, parent_id in rows
    ]
