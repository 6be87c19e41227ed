"""Write the graph of a knowledge base: evidence is added, everything else is derived from it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from psycopg import Rollback
from psycopg.rows import class_row, scalar_row
from psycopg.sql import SQL, Identifier, Literal

from sextant.domain.graph import Community
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.graph.arrays import GraphArrays, GraphRows, Ids, read_arrays, read_order
from sextant.stores.graph.graph_writer import GraphWriter, hold_graph, writing
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.transfer import GraphReading
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import Embedded, load_queries
from sextant.stores.scopes import entity_index, find_scope, hold_scope, lock_scope, rows_of

_SQL = load_queries("graph_vectors")


@dataclass(frozen=True, slots=True)
class EntityText:
    """The text of an entity to embed, its name and description, with a hash of it."""

    id: UUID
    text: str
    text_hash: UUID


class EntityVectors:
    """Read and write vectors of entities; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def to_embed(
        self, scope: Scope, limit: int = 256, *, max_vectors: int = 2**31 - 1
    ) -> list[EntityText]:
        """Return up to `limit` entities without a vector, or whose text has changed since.

        Args:
            scope: the knowledge base.
            limit: the number of entities returned at once.
            max_vectors: the number of entities of the scope that get vectors, by number of relations.
        """
        values = {"limit": limit, "most": max_vectors}
        return await rows_of(
            self._database, scope, class_row(EntityText), _SQL["to_embed"], **values
        )

    async def count_to_embed(self, scope: Scope, *, max_vectors: int = 2**31 - 1) -> int:
        """Count the entities that `to_embed` returns in all."""
        query, values = _SQL["count_to_embed"], {"most": max_vectors}
        return sum(await rows_of(self._database, scope, scalar_row, query, **values))

    async def store(self, scope: Scope, texts: Sequence[EntityText], vectors: Vectors) -> None:
        """Store vectors, shape (len(texts), dimension), L2-normalised; skip entities whose text has changed."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await hold_graph(connection, scope)
            if found is None:
                return
            ids = [text.id for text in texts]
            key = {"scope_id": found.scope_id, "ids": ids}
            values = {"hashes": [text.text_hash for text in texts], "vectors": list(vectors)}
            await connection.execute(_SQL["add_vectors"], key | values)
            await connection.execute(_SQL["note_projection"], key)

    async def index_if_large(self, scope: Scope) -> bool:
        """Build an HNSW index for a scope with very many vectors; return whether it was built.

        The limit is five times `retrieval.exact_below`: below it an exact scan is fast and misses
        nothing, and the index is expensive to build. Reads and writes continue meanwhile.
        """
        settings = self._database.settings.retrieval
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return False
            name = entity_index(found.scope_id)
            limits = {
                "scope_id": found.scope_id,
                "exact_below": 5 * settings.exact_below,
                # pgvector indexes at most this many dimensions of a `vector`.
                "longest": 2000,
                "index": f"sextant.{name}",
            }
            row = await (await connection.execute(_SQL["large"], limits)).fetchone()
            if row is None or not row[0]:
                return False
        index = Identifier(name)
        graph = {"m": settings.entity_m, "ef_construction": settings.entity_ef_construction}
        numbers = {key: Literal(one) for key, one in {**graph, "scope_id": found.scope_id}.items()}
        async with self._database.owner() as owner:
            await owner.set_autocommit(True)
            try:
                await owner.execute(SQL(_SQL["create_index"]).format(index=index, **numbers))
            except BaseException:
                await owner.execute(SQL(_SQL["drop_index"]).format(index=index))
                raise
        return True


_RECORD_SQL = load_queries("graph")


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """The numbers of visible entities and relations, mentions and communities of a graph."""

    entities: int = 0
    relations: int = 0
    mentions: int = 0
    communities: int = 0


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

    async def project(self, scope: Scope) -> None:
        """Start noting changes in `graph_outbox`, for a copy in a graph database."""
        async with self.writing(scope) as writer:
            await writer.execute(_RECORD_SQL["project"])

    async def counts(self, scope: Scope) -> GraphCounts:
        """Return the size of the graph; all 0 for an unknown one."""
        query, factory = _RECORD_SQL["counts"], class_row(GraphCounts)
        counts = await rows_of(self._database, scope, factory, query)
        return counts[0] if counts else GraphCounts()

    async def version(self, scope: Scope) -> int:
        """Return the version of the graph, which every change increases; 0 for an unknown one."""
        return sum(await rows_of(self._database, scope, scalar_row, _RECORD_SQL["version"]))

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
            cursor = await connection.execute(_RECORD_SQL["version"], {"scope_id": scope_id})
            row = await cursor.fetchone()
            return await read_arrays(connection, scope_id, row[0] if row else 0, graph)

    async def reading_order(self, scope: Scope) -> Ids:
        """Return the ids of all chunks by document name and reading order, which re-ingestion keeps."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            return await read_order(connection, found.scope_id if found else 0)
