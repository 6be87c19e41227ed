"""Write the graph of a knowledge base: evidence is added, everything else is derived from it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from psycopg import Rollback
from psycopg.rows import class_row, scalar_row

from sextant.domain.graph import Community
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import GraphArrays, GraphRows, Ids, read_arrays, read_order
from sextant.stores.graph.evidence import Added, GraphEvidence
from sextant.stores.graph.graph_writer import GraphWriter, writing
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.resolution.decisions import SQL as MERGE_SQL
from sextant.stores.graph.resolution.decisions import Merge, merge, unmerge
from sextant.stores.graph.transfer import GraphReading
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.values import Embedded
from sextant.stores.scopes import find_scope, hold_scope, lock_scope, rows_of

_SQL = load_queries("graph")


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """The numbers of visible entities and relations, mentions and communities of a graph."""

    entities: int
    relations: int
    mentions: int
    communities: int


class GraphRecord:
    """Write graphs and read them whole; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @asynccontextmanager
    async def writing(self, scope: Scope, *, bare: bool = True) -> AsyncIterator[GraphWriter]:
        """Open a transaction of the graph's only writer; create the knowledge base if it is new.

        Any number of batches may be added. Everything else is derived once, at the end, and becomes
        visible then.

        Args:
            scope: the knowledge base.
            bare: create a new knowledge base even if no evidence is added.
        """
        async with self._database.transaction(scope.user_id) as connection:
            found = await hold_scope(connection, scope)
            row = found or await lock_scope(connection, scope)
            async with writing(connection, row.scope_id) as writer:
                yield writer
            if not (bare or found or writer.version):
                raise Rollback

    @asynccontextmanager
    async def reading(self, scope: Scope) -> AsyncIterator[GraphReading]:
        """Open a reader's transaction; an unknown graph is empty."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            yield GraphReading(connection, found.scope_id if found else 0)

    async def add(self, scope: Scope, evidence: GraphEvidence) -> Added:
        """Store one batch of evidence and update the graph; storing it again changes nothing."""
        async with self.writing(scope) as writer:
            await writer.add(evidence)
        return writer.added

    async def merge(self, scope: Scope, merges: Sequence[Merge]) -> int:
        """Merge entities by decision; return the number of new decisions.

        Raises:
            OptionInvalid: an entity is to be merged into itself.
        """
        async with self.writing(scope) as writer:
            return await merge(writer, merges)

    async def unmerge(self, scope: Scope, from_ids: Sequence[UUID]) -> int:
        """Undo merges of these entities; return how many had been merged."""
        async with self.writing(scope) as writer:
            return await unmerge(writer, from_ids)

    async def merges(self, scope: Scope) -> list[Merge]:
        """Return the current merges, oldest first."""
        return await rows_of(self._database, scope, class_row(Merge), MERGE_SQL["merges"])

    async def empty(self, scope: Scope) -> None:
        """Delete everything of a graph: evidence, decisions, vectors and communities."""
        async with self.writing(scope) as writer:
            await writer.execute(_SQL["empty"])
            if writer.projected:
                await writer.execute(_SQL["note_emptied"])
            await writer.execute(_SQL["bump"])

    async def project(self, scope: Scope, *, projected: bool = True) -> None:
        """Start or stop noting changes in `graph_outbox`, for a copy in a graph database."""
        async with self.writing(scope) as writer:
            await writer.execute(_SQL["project"], projected=projected)

    async def counts(self, scope: Scope) -> GraphCounts:
        """Return the size of the graph; all 0 for an unknown one."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            cursor = connection.cursor(row_factory=class_row(GraphCounts))
            await cursor.execute(_SQL["counts"], {"scope_id": found.scope_id if found else 0})
            counts = await cursor.fetchone()
        assert counts is not None  # noqa: S101 - counting gives a row
        return counts

    async def version(self, scope: Scope) -> int:
        """Return the version of the graph, which every change increases; 0 for an unknown one."""
        return sum(await rows_of(self._database, scope, scalar_row, _SQL["version"]))

    async def reports(self, scope: Scope) -> tuple[list[Community], Embedded]:
        """Return every community with a report, and the vectors of reports."""
        return await PostgresGraph(self._database).reports(scope)

    async def arrays(self, scope: Scope, graph: GraphRows | None = None) -> GraphArrays:
        """Return the whole graph as of one moment; a large graph takes seconds.

        `graph`: entities and relations of a copy, to which the evidence is added.
        """
        async with self._database.transaction(scope.user_id, snapshot=True) as connection:
            found = await find_scope(connection, scope)
            scope_id = found.scope_id if found else 0
            cursor = await connection.execute(_SQL["version"], {"scope_id": scope_id})
            row = await cursor.fetchone()
            return await read_arrays(connection, scope_id, row[0] if row else 0, graph)

    async def reading_order(self, scope: Scope) -> Ids:
        """Return the ids of all chunks by document name and reading order, which re-ingestion keeps."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            return await read_order(connection, found.scope_id if found else 0)
