"""What import and export ask of a graph: rows by the user's own ids, and all evidence page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.rows import dict_row

from domain.scope import Scope
from stores.database import Database
from stores.graph.ids import NIL
from stores.graph.writing import GraphWriter
from stores.pools import Connection
from stores.queries import load_queries
from stores.scopes import find_scope

_SQL = load_queries("graph_transfer")
_PAGE = 1000

Row = dict[str, Any]


class Known(NamedTuple):
    """An entity that is there already."""

    id: UUID
    external_id: str | None
    name: str


async def entities_by_external_id(
    writer: GraphWriter, external_ids: Sequence[str]
) -> dict[str, Known]:
    """The entities that have these ids of the user's own."""
    rows = await _rows(
        writer.connection, "entities_by_external_id", writer.scope_id, external_ids=[*external_ids]
    )
    return {row["external_id"]: Known(**row) for row in rows}


async def known_entities(writer: GraphWriter, ids: Sequence[UUID]) -> dict[UUID, Known]:
    """Those of these entities that are there."""
    rows = await _rows(writer.connection, "owners", writer.scope_id, ids=[*ids])
    return {row["id"]: Known(**row) for row in rows}


async def chunks_by_external_id(
    writer: GraphWriter, external_ids: Sequence[str]
) -> dict[str, UUID]:
    """The chunks that have these ids of the user's own."""
    rows = await _rows(
        writer.connection, "chunks_by_external_id", writer.scope_id, external_ids=[*external_ids]
    )
    return {row["external_id"]: row["id"] for row in rows}


class GraphPages:
    """The evidence of one scope for an export; each call is a transaction of its own."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self._database = database
        self._scope = scope

    async def chunks(self, document_id: UUID) -> list[Row]:
        """A document's chunks in order: id, external_id (else the id), title, text."""
        return await self._ask("chunks", document_id=document_id)

    async def mentions(self, document_id: UUID) -> list[Row]:
        """What users and models say that a document's chunks mention."""
        return await self._ask("mentions", document_id=document_id)

    async def relations(self, document_id: UUID) -> list[Row]:
        """What a document's chunks state about entities that they so mention."""
        return await self._ask("relations", document_id=document_id)

    def asserted_entities(self) -> AsyncIterator[list[Row]]:
        """Entities by the user's own word, in pages."""
        return self._pages("asserted_entities", "entity_id")

    def asserted_relations(self) -> AsyncIterator[list[Row]]:
        """Relations by the user's own word, in pages."""
        return self._pages("asserted_relations", "relation_id")

    async def names(self, ids: Sequence[UUID]) -> dict[UUID, str]:
        """The user's own id of each entity, else its name."""
        return {row["entity_id"]: row["name"] for row in await self._ask("names", ids=[*ids])}

    async def _pages(self, query: str, key: str) -> AsyncIterator[list[Row]]:
        last = NIL
        while rows := await self._ask(query, last=last, limit=_PAGE, nil=NIL):
            yield rows
            last = rows[-1][key]

    async def _ask(self, query: str, **values: object) -> list[Row]:
        async with self._database.transaction(self._scope.user_id) as connection:
            found = await find_scope(connection, self._scope)
            if found is None:
                return []
            return await _rows(connection, query, found.scope_id, **values)


async def _rows(connection: Connection, query: str, scope_id: int, **values: object) -> list[Row]:
    cursor = connection.cursor(row_factory=dict_row)
    await cursor.execute(_SQL[query], {"scope_id": scope_id, **values})
    return await cursor.fetchall()
