"""Find entities without vectors, and store and index the vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.sql import SQL, Identifier, Literal

from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.graph.graph_writer import hold_graph
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import entity_index, find_scope, rows_of

_SQL = load_queries("graph_vectors")
_EXACT_FACTOR = 5
# pgvector indexes at most this many dimensions of a `vector`.
_MAX_INDEXED_DIMENSIONS = 2000


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
            key = {"scope_id": found.scope_id}
            rows = [
                {**key, "id": text.id, "text_hash": text.text_hash, "vector": vector}
                for text, vector in sorted(
                    zip(texts, vectors, strict=True), key=lambda pair: pair[0].id
                )
            ]
            async with connection.cursor() as cursor:
                await cursor.executemany(_SQL["add_vector"], rows)
            ids = [text.id for text in texts]
            await connection.execute(_SQL["note_projection"], {**key, "ids": ids})

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
                "exact_below": _EXACT_FACTOR * settings.exact_below,
                "longest": _MAX_INDEXED_DIMENSIONS,
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
