"""Read the graph from the record in PostgreSQL, with one statement for each request."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np
from psycopg.rows import DictRow, dict_row

from sextant.domain.graph import CO_OCCURS, Community, Entity, Relation
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import NIL
from sextant.stores.graph.evidence import entity_id, name_digest
from sextant.stores.graph.protocol import (
    EVERY_ENTITY,
    HUB_DEGREE,
    EntityFilter,
    EntityHit,
    Hop,
    Vector,
    community_of,
    entity_of,
)
from sextant.stores.postgresql.database import Database, fetch_rows
from sextant.stores.postgresql.queries import Embedded, load_queries, read_embedded
from sextant.stores.scopes import entity_index, find_scope, id_array, read_rows
from sextant.text.characters import clean_text, normalise_name

_SQL = load_queries("graph_reads")


class PostgresGraph:
    """A `GraphStore` over the tables of the record."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._settings = database.settings.retrieval
        self._timeout = f"{self._settings.lane_timeout * 1000:.0f}"

    async def entities_by_alias(self, scope: Scope, names: Sequence[str]) -> list[EntityHit]:
        """See `GraphStore`."""
        norms = [normalise_name(clean_text(name)) for name in names]
        rows = await self._rows(
            scope,
            "by_alias",
            ids=[entity_id(scope, norm) for norm in norms],
            keys=[name_digest(norm) for norm in norms],
            norms=norms,
        )
        return [EntityHit(entity_of(row), 1.0) for row in rows]

    async def entities_by_words(
        self, scope: Scope, words: Sequence[str], k: int, only: EntityFilter = EVERY_ENTITY
    ) -> list[EntityHit]:
        """See `GraphStore`."""
        question = clean_text(" ".join(words))
        rows = await self._rows(scope, "by_words", question=question, k=max(0, k), **only.bounds())
        return [EntityHit(entity_of(row), row["score"]) for row in rows]

    async def entities_by_vector(
        self, scope: Scope, vector: Vector, k: int, only: EntityFilter = EVERY_ENTITY
    ) -> list[EntityHit]:
        """See `GraphStore`."""
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if only != EVERY_ENTITY:
            among = {"vector": query, "k": max(0, k), **only.bounds()}
            rows = await self._rows(scope, "by_vector_among", **among)
            return [EntityHit(entity_of(row), row["score"]) for row in rows]
        wide = str(min(1000, max(self._settings.entity_ef_search, k)))
        async with self._database.transaction(scope.user_id) as connection:
            await connection.execute(_SQL["options"], {"timeout": self._timeout})
            found = await find_scope(connection, scope)
            if found is None or k < 1:
                return []
            scope_id = found.scope_id
            options = {"ef_search": wide, "index": f"sextant.{entity_index(scope_id)}"}
            row = await (await connection.execute(_SQL["vector_options"], options)).fetchone()
            indexed = row is not None and row[0]
            values = {"scope_id": scope_id, "vector": query, "k": k}
            search = _SQL["by_vector_index" if indexed else "by_vector"]
            rows = await fetch_rows(connection, dict_row, search, values, binary=True)
            if indexed and len(rows) < k:
                await connection.execute(_SQL["exactly"])
                search = _SQL["by_vector"]
                rows = await fetch_rows(connection, dict_row, search, values, binary=True)
        return [EntityHit(entity_of(row), row["score"]) for row in rows]

    async def get_entities(
        self, scope: Scope, ids: Sequence[UUID], only: EntityFilter = EVERY_ENTITY
    ) -> list[Entity]:
        """See `GraphStore`."""
        rows = await self._rows(scope, "entities", ids=id_array(ids), **only.bounds())
        return [entity_of(row) for row in rows]

    async def top_entities(self, scope: Scope, k: int) -> list[Entity]:
        """Return the `k` entities with the most relations, then mentions."""
        return [entity_of(row) for row in await self._rows(scope, "top_entities", k=max(0, k))]

    async def get_relations(self, scope: Scope, ids: Sequence[UUID]) -> list[Relation]:
        """Return relations in the order of `ids`, each once; unknown ids are skipped."""
        wanted = list(dict.fromkeys(ids))
        rows = await self._rows(scope, "relations", ids=wanted, nil=NIL, co_occurs=CO_OCCURS)
        return [Relation(**{**row, "chunk_ids": tuple(row["chunk_ids"])}) for row in rows]

    async def neighbourhood(
        self, scope: Scope, ids: Sequence[UUID], *, depth: int = 1, per_node: int = 10
    ) -> list[Hop]:
        """See `GraphStore`."""
        rows = await self._rows(
            scope,
            "neighbourhood",
            ids=list(ids),
            depth=depth,
            per_node=per_node,
            hub_degree=HUB_DEGREE,
        )
        return [Hop(**row) for row in rows]

    async def communities(self, scope: Scope, level: int | None = None) -> list[Community]:
        """Return communities with reports, coarsest level first; level 0 is the coarsest."""
        return [_community(row) for row in await self._rows(scope, "communities", level=level)]

    async def reports(self, scope: Scope) -> tuple[list[Community], Embedded]:
        """Return every community as in `communities`, and the vectors of their reports."""
        rows = await self._rows(scope, "reports")
        vectors = read_embedded([row["vector"] for row in rows if row["vector"] is not None])
        return [_community(row) for row in rows], vectors

    async def _rows(self, scope: Scope, query: str, **values: object) -> list[DictRow]:
        return await read_rows(self._database, scope, _SQL[query], **values)


def _community(row: DictRow) -> Community:
    return community_of(row, row["findings"], row["entity_ids"] or ())
