"""The graph of a knowledge base, written: evidence in, everything else derived."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Rollback
from psycopg.rows import class_row, scalar_row

from sextant.domain.graph import Community
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import GraphArrays, GraphRows, Ids, read_arrays, read_order
from sextant.stores.graph.evidence import Added, GraphEvidence
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.resolution.merges import SQL as MERGE_SQL
from sextant.stores.graph.resolution.merges import Merge, merge, unmerge
from sextant.stores.graph.transfer import GraphReading
from sextant.stores.graph.writing import GraphWriter, writing
from sextant.stores.postgresql.binary import Embedded
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import find_scope, hold_scope, lock_scope, rows_of

_SQL = load_queries("graph")


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """The size of a graph: entities and relations that readers see, mentions, communities."""

    entities: int
    relations: int
    mentions: int
    communities: int


class GraphRecord:
    """The graphs of a database; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @asynccontextmanager
    async def writing(self, scope: Scope, *, bare: bool = True) -> AsyncIterator[GraphWriter]:
        """Provide one transaction of one writer; the knowledge base is made when it is new.

        Add as many batches as you like: what follows from them is derived once, at the end, and
        nothing of it is seen before.

        Args:
            scope: whose graph.
            bare: make a new knowledge base even if no evidence comes into it.
        """
        async with self._database.transaction(scope.user_id) as connection:
            found = await hold_scope(connection, scope)
            made = found or await lock_scope(connection, scope)
            async with writing(connection, made.scope_id) as writer:
                yield writer
            if not (bare or found or writer.version):
                raise Rollback

    @asynccontextmanager
    async def reading(self, scope: Scope) -> AsyncIterator[GraphReading]:
        """Provide one transaction of a reader; a graph that is not there is empty."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            yield GraphReading(connection, found.scope_id if found else 0)

    async def add(self, scope: Scope, evidence: GraphEvidence) -> Added:
        """Store one batch of evidence and derive what follows; storing it again changes nothing."""
        async with self.writing(scope) as writer:
            await writer.add(evidence)
        return writer.added

    async def merge(self, scope: Scope, merges: Sequence[Merge]) -> int:
        """Make entities one, by decision; returns how many decisions were new.

        Raises:
            OptionInvalid: an entity is to be merged into itself.
        """
        async with self.writing(scope) as writer:
            return await merge(writer, merges)

    async def unmerge(self, scope: Scope, from_ids: Sequence[UUID]) -> int:
        """Take merges of these entities back; returns how many had been merged."""
        async with self.writing(scope) as writer:
            return await unmerge(writer, from_ids)

    async def merges(self, scope: Scope) -> list[Merge]:
        """Return the decisions in force, oldest first."""
        return await rows_of(self._database, scope, class_row(Merge), MERGE_SQL["merges"])

    async def empty(self, scope: Scope) -> None:
        """Take everything out of a graph: evidence, decisions, vectors and communities."""
        async with self.writing(scope) as writer:
            await writer.execute(_SQL["empty"])
            if writer.projected:
                await writer.execute(_SQL["note_emptied"])
            await writer.execute(_SQL["bump"])

    async def project(self, scope: Scope, *, projected: bool = True) -> None:
        """From now on note changes in `graph_outbox`, for a graph database that keeps a copy."""
        async with self.writing(scope) as writer:
            await writer.execute(_SQL["project"], projected=projected)

    async def counts(self, scope: Scope) -> GraphCounts:
        """Return how large the graph is; all 0 for one that is not there."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            cursor = connection.cursor(row_factory=class_row(GraphCounts))
            await cursor.execute(_SQL["counts"], {"scope_id": found.scope_id if found else 0})
            counts = await cursor.fetchone()
        assert counts is not None  # noqa: S101 - counting gives a row
        return counts

    async def version(self, scope: Scope) -> int:
        """Return how often the graph has changed; 0 for one that is not there."""
        return sum(await rows_of(self._database, scope, scalar_row, _SQL["version"]))

    async def reports(self, scope: Scope) -> tuple[list[Community], Embedded]:
        """Return every community that has a report, and the vectors that reports have."""
        return await PostgresGraph(self._database).reports(scope)

    async def contents(self, scope: Scope, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return what results show of entities, as rows (`sextant.stores.graph.rows.entity_of`)."""
        return await PostgresGraph(self._database).contents(scope, ids)

    async def arrays(self, scope: Scope, graph: GraphRows | None = None) -> GraphArrays:
        """Return the whole graph, all of one moment; 100,000 entities with 600,000 relations take seconds.

        `graph`: entities and relations of a copy, to which the evidence is added.
        """
        async with self._database.transaction(scope.user_id, snapshot=True) as connection:
            found = await find_scope(connection, scope)
            scope_id = found.scope_id if found else 0
            cursor = await connection.execute(_SQL["version"], {"scope_id": scope_id})
            row = await cursor.fetchone()
            return await read_arrays(connection, scope_id, row[0] if row else 0, graph)

    async def reading_order(self, scope: Scope) -> Ids:
        """Return the ids of all chunks, documents by name and each from its beginning: the same when stored anew."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            return await read_order(connection, found.scope_id if found else 0)
