"""Vectors of entities: which are missing, and where they go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.sql import SQL, Identifier, Literal

from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.graph.writing import hold_graph
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import entity_index, find_scope, rows_of

_SQL = load_queries("graph_vectors")
_EXACT_FACTOR = 5
# pgvector indexes at most this many dimensions of a `vector`.
_LONGEST_INDEXED = 2000


@dataclass(frozen=True, slots=True)
class EntityText:
    """What to embed of an entity: its name and description; the hash says which text that was."""

    id: UUID
    text: str
    text_hash: UUID


class EntityVectors:
    """The vectors of a database's entities; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def to_embed(
        self, scope: Scope, limit: int = 256, *, most: int = 2**31 - 1
    ) -> list[EntityText]:
        """Return some entities that have no vector, or one of a text that has changed; none when all have.

        Args:
            scope: whose entities.
            limit: how many at once.
            most: so many entities of the scope may have a vector, those with most relations first.
        """
        values = {"limit": limit, "most": most}
        return await rows_of(
            self._database, scope, class_row(EntityText), _SQL["to_embed"], **values
        )

    async def count_to_embed(self, scope: Scope, *, most: int = 2**31 - 1) -> int:
        """Return how many entities `to_embed` gives, by the same arguments, until all have their vectors."""
        query, values = _SQL["count_to_embed"], {"most": most}
        return sum(await rows_of(self._database, scope, scalar_row, query, **values))

    async def store(self, scope: Scope, texts: Sequence[EntityText], vectors: Vectors) -> None:
        """Store vectors, shape (len(texts), dimension), L2-normalised, of texts that have not changed."""
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
        """Give a scope with very many vectors an HNSW index; True if it got one.

        That is five times `retrieval.exact_below` or more: an exact scan of fewer takes some 10 ms and
        misses nothing, and the index costs 2 ms a vector. Reading and writing go on meanwhile.
        """
        own = self._database.settings.retrieval
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return False
            name = entity_index(found.scope_id)
            limits = {
                "scope_id": found.scope_id,
                "exact_below": _EXACT_FACTOR * own.exact_below,
                "longest": _LONGEST_INDEXED,
                "index": f"sextant.{name}",
            }
            row = await (await connection.execute(_SQL["large"], limits)).fetchone()
            if row is None or not row[0]:
                return False
        index = Identifier(name)
        graph = {"m": own.entity_m, "ef_construction": own.entity_ef_construction}
        numbers = {key: Literal(one) for key, one in {**graph, "scope_id": found.scope_id}.items()}
        async with self._database.owner() as owner:
            await owner.set_autocommit(True)
            try:
                await owner.execute(SQL(_SQL["create_index"]).format(index=index, **numbers))
            except BaseException:
                await owner.execute(SQL(_SQL["drop_index"]).format(index=index))
                raise
        return True
