"""Store communities: their members and hierarchy, and their reports, by community id.

Also here: list the communities of a graph page by page, with reports and without members.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from psycopg.rows import class_row, dict_row, scalar_row, tuple_row
from psycopg.types.json import Jsonb

from sextant.domain import CAMEL_CASE
from sextant.domain.graph import Finding
from sextant.domain.scope import Scope, key_of
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.graph.arrays import Ids
from sextant.stores.graph.graph_writer import hold_graph
from sextant.stores.graph.protocol import read_findings
from sextant.stores.postgresql.database import Database, exclusive_lock, fetch_rows
from sextant.stores.postgresql.queries import columns_of, load_queries
from sextant.stores.scopes import find_scope, of_scope, read_rows, rows_of

_HIERARCHY_SQL = load_queries("graph_hierarchy")

# Communities of a graph with at most this many passages are updated after every change.
_MAX_EAGER_PASSAGES = 5_000

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
        return exclusive_lock(self._database, _HIERARCHY_SQL["try_alone"], key_of(scope))

    async def is_due(self, scope: Scope, share: float = 0.0) -> bool:
        """Return whether communities or reports need an update.

        Args:
            scope: the knowledge base.
            share: the share of new passages that a large graph needs; removals always suffice.
        """
        query, values = _HIERARCHY_SQL["is_due"], {"share": share, "patient": _MAX_EAGER_PASSAGES}
        return any(await rows_of(self._database, scope, scalar_row, query, **values))

    async def moment(self, scope: Scope) -> Moment:
        """Return the current moment; call it before reading the graph, and pass it to `write`."""
        query, key = of_scope(_HIERARCHY_SQL["moment"]), key_of(scope)
        [moment] = await self._database.fetch(scope.user_id, class_row(Moment), query, key)
        return moment

    async def read(self, scope: Scope) -> tuple[Follows | None, list[StoredCommunity]]:
        """Return the stored communities of one snapshot, ordered by level and id."""
        async with self._database.transaction(scope.user_id, snapshot=True) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return None, []
            key = {"scope_id": found.scope_id}
            follows = await fetch_rows(
                connection, class_row(Follows), _HIERARCHY_SQL["follows"], key
            )
            rows = await (await connection.execute(_HIERARCHY_SQL["communities"], key)).fetchall()
            blocks = await (
                await connection.execute(_HIERARCHY_SQL["members"], key, binary=True)
            ).fetchall()
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
            await connection.execute(_HIERARCHY_SQL["remove"], key | {"ids": list(gone)})
            async with connection.cursor() as cursor:
                await cursor.executemany(
                    _HIERARCHY_SQL["place"],
                    [key | columns_of(one) | {"dirty": bool(one.members)} for one in changes],
                )
                await cursor.execute(
                    _HIERARCHY_SQL["clear_members"], key | {"ids": [one.id for one in changed]}
                )
                await cursor.executemany(
                    _HIERARCHY_SQL["add_members"],
                    [key | {"id": one.id, "members": list(one.members or ())} for one in changed],
                )
                ids = [*gone, *(one.id for one in changes)]
                await cursor.execute(_HIERARCHY_SQL["note_projection"], key | {"ids": ids})
            await connection.execute(
                _HIERARCHY_SQL["follow"], key | asdict(follows) | asdict(moment)
            )


def _read_communities(
    rows: Sequence[tuple[UUID, int, UUID | None]], block: bytes
) -> list[StoredCommunity]:
    pairs = np.frombuffer(block, _PAIR)
    communities = pairs["community"].astype(np.uint64)
    entities = pairs["entity"].astype(np.uint64)
    # The first row differs from its own complement, so a community begins there.
    changed = np.diff(communities, axis=0, prepend=~communities[:1]) != 0
    starts = np.flatnonzero(changed.any(axis=1))
    parts = zip(communities[starts], np.split(entities, starts[1:]), strict=False)
    members = {UUID(int=int(high) << 64 | int(low)): part for (high, low), part in parts}
    no_members = np.empty((0, 2), np.uint64)
    return [
        StoredCommunity(community_id, level, parent_id, members.get(community_id, no_members))
        for community_id, level, parent_id in rows
    ]


_STORE_SQL = load_queries("graph_communities")


@dataclass(frozen=True, slots=True)
class ReportText:
    """The text of a community's report to embed."""

    id: UUID
    text: str


@dataclass(frozen=True, slots=True)
class KnownReport:
    """A stored report without its text; `cited` are passages, all else as in `StoredReport`."""

    id: UUID
    writer: str
    evidence: UUID
    cited: Sequence[UUID]
    content: Sequence[UUID]
    sources: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class StoredReport:
    """The report of a community.

    Attributes:
        rating: from 0 to 10.
        writer: the chat model's name; empty for a report assembled from sentences.
        note: why the report is not what was requested; empty if it is.
        evidence: a hash of its material.
        content: hashes of the names, relations and passages that it may mention.
        sources: hashes of all that it was made from.
    """

    id: UUID
    title: str
    summary: str
    findings: tuple[Finding, ...]
    rating: float
    writer: str = ""
    note: str = ""
    evidence: UUID | None = None
    content: Sequence[UUID] = ()
    sources: Sequence[UUID] = ()

    @property
    def cited(self) -> tuple[UUID, ...]:
        """Return the passages that its findings rest on."""
        chunk_ids = (chunk_id for finding in self.findings for chunk_id in finding.chunk_ids)
        return tuple(dict.fromkeys(chunk_ids))


class CommunityStore:
    """The reports of a database's graphs; every call sees one scope.

    Who is in which community is `HierarchyStore`'s to write; `PostgresGraph.communities` reads both.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def dirty(self, scope: Scope) -> list[UUID]:
        """Return the communities whose members have changed since their report was written."""
        return await rows_of(self._database, scope, scalar_row, _STORE_SQL["dirty"])

    async def known(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, KnownReport]:
        """Return the stored reports of these communities, by community, without their texts."""
        query, factory = _STORE_SQL["known"], class_row(KnownReport)
        known = await rows_of(self._database, scope, factory, query, ids=list(ids))
        return {report.id: report for report in known}

    async def parts(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, list[StoredReport]]:
        """Return the reports of the communities directly inside each of these."""
        parts: dict[UUID, list[StoredReport]] = {}
        for row in await rows_of(
            self._database, scope, dict_row, _STORE_SQL["parts"], ids=list(ids)
        ):
            parts.setdefault(row.pop("parent_id"), []).append(
                StoredReport(**row | {"findings": read_findings(row["findings"])})
            )
        return parts

    async def origin(self, scope: Scope, community_id: UUID) -> tuple[str, str]:
        """Return the writer and the note of a report."""
        query = _STORE_SQL["origin"]
        rows = await rows_of(self._database, scope, tuple_row, query, id=community_id)
        return (rows[0][0], rows[0][1]) if rows else ("", "")

    async def reopen(self, scope: Scope, writer: str) -> None:
        """Mark every report that is not by `writer` as dirty, so that it is rewritten."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await hold_graph(connection, scope)
            if found is not None:
                key = {"scope_id": found.scope_id, "writer": writer}
                await connection.execute(_STORE_SQL["reopen"], key)

    async def write(self, scope: Scope, version: int, reports: Sequence[StoredReport]) -> None:
        """Store reports as of this version of the graph; communities that changed since stay dirty."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await hold_graph(connection, scope)
            if found is None:
                return
            key = {"scope_id": found.scope_id, "version": version}
            rows = [
                key
                | columns_of(one)
                | {"findings": _findings(one), "hash": one.evidence}
                | {"told": [*one.content], "sources": [*one.sources]}
                for one in reports
            ]
            async with connection.cursor() as cursor:
                await cursor.executemany(_STORE_SQL["write"], rows)
            ids = [one.id for one in reports]
            await connection.execute(_STORE_SQL["note_projection"], key | {"ids": ids})

    async def settle(self, scope: Scope, version: int, ids: Sequence[UUID]) -> None:
        """Confirm that the reports of these communities are still correct as of this version of the graph."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await hold_graph(connection, scope)
            if found is not None and ids:
                key = {"scope_id": found.scope_id, "version": version, "ids": list(ids)}
                await connection.execute(_STORE_SQL["settle"], key)

    async def to_embed(self, scope: Scope, limit: int = 256) -> list[ReportText]:
        """Return up to `limit` reports without vectors."""
        return await rows_of(
            self._database, scope, class_row(ReportText), _STORE_SQL["to_embed"], limit=limit
        )

    async def store_vectors(
        self, scope: Scope, reports: Sequence[ReportText], vectors: Vectors
    ) -> None:
        """Store vectors, shape (len(reports), dimension); skip reports whose text has changed."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await hold_graph(connection, scope)
            if found is None:
                return
            key = {"scope_id": found.scope_id}
            rows = [
                {**key, "id": report.id, "text": report.text, "vector": vector}
                for report, vector in zip(reports, vectors, strict=True)
            ]
            async with connection.cursor() as cursor:
                await cursor.executemany(_STORE_SQL["add_vector"], rows)
            ids = [report.id for report in reports]
            await connection.execute(_STORE_SQL["note_projection"], {**key, "ids": ids})


def _findings(report: StoredReport) -> Jsonb:
    return Jsonb(
        [
            {"text": finding.text, "chunk_ids": [str(chunk) for chunk in finding.chunk_ids]}
            for finding in report.findings
        ]
    )


_PAGES_SQL = load_queries("graph_community_pages")


@dataclass(frozen=True, slots=True)
class ListedCommunity:
    """A community with its report; `size` counts its entities, `rating` is 0 to 10."""

    __pydantic_config__ = CAMEL_CASE

    id: UUID
    level: int
    parent_id: UUID | None
    title: str
    summary: str
    findings: tuple[Finding, ...]
    rating: float
    size: int


@dataclass(frozen=True, slots=True)
class CommunityCursor:
    """The position of a community in the list, ordered by level, descending rating and id."""

    level: int
    rating: float
    id: UUID


class CommunityPages:
    """Read communities page by page; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self,
        scope: Scope,
        limit: int,
        *,
        level: int | None = None,
        parent_id: UUID | None = None,
        after: CommunityCursor | None = None,
    ) -> list[ListedCommunity]:
        """Return the next communities after a cursor: of a level (0 is the coarsest), or directly inside one."""
        return await self._rows(
            scope,
            "page",
            limit=limit,
            level=level,
            parent_id=parent_id,
            after_level=after.level if after else None,
            after_rating=after.rating if after else None,
            after_id=after.id if after else None,
        )

    async def holding(self, scope: Scope, entity_id: UUID) -> list[ListedCommunity]:
        """Return the communities that contain an entity, coarsest first."""
        return await self._rows(scope, "holding", entity_id=entity_id)

    async def _rows(self, scope: Scope, query: str, **values: object) -> list[ListedCommunity]:
        rows = await read_rows(self._database, scope, _PAGES_SQL[query], **values)
        return [
            ListedCommunity(**row | {"findings": read_findings(row["findings"])}) for row in rows
        ]
