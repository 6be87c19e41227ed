"""Read a graph for import and export: rows by external ids, and all evidence page by page.

Also here: facts that the user asserts, or that a generated passage states instead, in a document with
`sextant.domain.graph.FACTS_OF` in its metadata (`sql/queries/graph_facts.sql`). Such a relation counts once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from psycopg.rows import dict_row

from sextant.domain.graph import CO_OCCURS
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import NIL
from sextant.stores.graph.evidence import RelationRow, name_digest, relation_id
from sextant.stores.graph.graph_writer import GraphWriter
from sextant.stores.postgresql.database import Database, fetch_rows
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import Connection
from sextant.stores.scopes import find_scope, rows_of

_SQL = load_queries("graph_transfer")

Row = dict[str, Any]


class GraphReading(NamedTuple):
    """A graph that is only read; `scope_id` is 0 if there is none."""

    connection: Connection
    scope_id: int


GraphTransaction = GraphWriter | GraphReading


class KnownEntity(NamedTuple):
    """An entity that exists already."""

    id: UUID
    external_id: str | None
    name: str
    entity_type: str = "TERM"
    description: str = ""


async def entities_by_external_id(
    graph: GraphTransaction, external_ids: Sequence[str]
) -> dict[str, KnownEntity]:
    """Return the entities with these external ids, by external id."""
    rows = await _rows(graph, _SQL["entities_by_external_id"], external_ids=[*external_ids])
    return {row["external_id"]: KnownEntity(**row) for row in rows}


async def find_known_entities(graph: GraphTransaction, ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return the names of those of these entities that exist; "" for merged ones."""
    rows = await _rows(graph, _SQL["known"], ids=[*ids])
    return {row["id"]: row["name"] for row in rows}


async def find_stated_mentions(
    graph: GraphTransaction, pairs: Sequence[tuple[UUID, UUID | None]]
) -> set[tuple[UUID, UUID]]:
    """Return the pairs (entity, chunk) in which the user asserts the mention."""
    entities, chunks = [entity for entity, _ in pairs], [chunk for _, chunk in pairs]
    key = {"entities": entities, "chunks": chunks}
    rows = await _rows(graph, _SQL["stated_mentions"], **key)
    return {(row["entity_id"], row["chunk_id"]) for row in rows}


async def find_user_entities(
    graph: GraphTransaction, ids: Sequence[UUID]
) -> dict[UUID, KnownEntity]:
    """Return those of these entities that the user has asserted."""
    rows = await _rows(graph, _SQL["owners"], ids=[*ids])
    return {row["id"]: KnownEntity(**row) for row in rows}


async def find_entities_by_name(
    graph: GraphTransaction, norms: Sequence[str]
) -> list[tuple[str, UUID, str]]:
    """Return the entities to which the user gives one of these normalised names, as (norm, id, name)."""
    key = {"norms": [*norms], "keys": [name_digest(norm) for norm in norms]}
    rows = await _rows(graph, _SQL["bearers"], **key)
    return [(row["norm"], row["id"], row["name"]) for row in rows]


async def chunks_by_external_id(
    graph: GraphTransaction, external_ids: Sequence[str]
) -> dict[str, UUID]:
    """Return the chunks with these external ids, by external id."""
    rows = await _rows(graph, _SQL["chunks_by_external_id"], external_ids=[*external_ids])
    return {row["external_id"]: row["id"] for row in rows}


async def find_merged_entities(graph: GraphTransaction, ids: Sequence[UUID]) -> dict[UUID, UUID]:
    """Return the root of each of these entities that has been merged, by entity."""
    rows = await _rows(graph, _SQL["merged"], ids=[*ids])
    return {row["id"]: row["root_id"] for row in rows}


@dataclass(frozen=True, slots=True)
class ExportedContent:
    """The content of one document for an export; rows are those of `sql/queries/graph_transfer.sql`."""

    text: str
    sections: Sequence[Row]
    chunks: Sequence[Row]
    mentions: Sequence[Row]
    relations: Sequence[Row]


class GraphPages:
    """Read the evidence of one scope for an export; each call is its own transaction."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self._database = database
        self._scope = scope
        self._names: dict[UUID, str] = {}

    async def contents(self, document_ids: Sequence[UUID]) -> dict[UUID, ExportedContent]:
        """Return the contents of documents as of one moment; deleted ones are left out."""
        async with self._database.transaction(self._scope.user_id, snapshot=True) as connection:
            found = await find_scope(connection, self._scope)
            if found is None:
                return {}
            graph = GraphReading(connection, found.scope_id)
            key = {"document_ids": [*document_ids], "co_occurs": CO_OCCURS}
            texts = await _rows(graph, _SQL["texts"], **key)
            parts = [
                _by_document(await _rows(graph, _SQL[query], **key))
                for query in ("sections", "chunks", "mentions", "relations")
            ]
        return {
            row["id"]: ExportedContent(row["text"], *(part.get(row["id"], ()) for part in parts))
            for row in texts
        }

    def list_asserted_entities(self) -> AsyncIterator[list[Row]]:
        """Yield the entities that the user asserts, in pages."""
        return self._pages("asserted_entities", "entity_id")

    def list_asserted_relations(self) -> AsyncIterator[list[Row]]:
        """Yield the relations that the user asserts, in pages."""
        return self._pages("asserted_relations", "relation_id")

    async def decisions(self) -> list[Row]:
        """Return the user's decisions about pairs of entities: `same`, or not."""
        return await self._ask("decisions")

    async def names(self, ids: Iterable[UUID]) -> dict[UUID, str]:
        """Return the external id of each entity, else its name; cached, since the look-up is expensive."""
        wanted = set(ids)
        if missing := wanted - self._names.keys():
            rows = await self._ask("names", ids=list(missing))
            self._names |= {row["entity_id"]: row["name"] for row in rows}
        return {id_: self._names[id_] for id_ in wanted if id_ in self._names}

    async def _pages(self, query: str, key: str) -> AsyncIterator[list[Row]]:
        last = NIL
        while rows := await self._ask(query, last=last, limit=1000, nil=NIL):
            yield rows
            last = rows[-1][key]

    async def _ask(self, query: str, **values: object) -> list[Row]:
        return await rows_of(self._database, self._scope, dict_row, _SQL[query], **values)


def _by_document(rows: Sequence[Row]) -> dict[UUID, list[Row]]:
    grouped = defaultdict[UUID, list[Row]](list)
    for row in rows:
        grouped[row["document_id"]].append(row)
    return grouped


async def _rows(graph: GraphTransaction, query: LiteralString, **values: object) -> list[Row]:
    key = {"scope_id": graph.scope_id, "nil": NIL, **values}
    return await fetch_rows(graph.connection, dict_row, query, key)


_FACTS_SQL = load_queries("graph_facts")


class Profile(NamedTuple):
    """An entity under the user's name for it, else that of texts; `external_id` and `description` are the user's."""

    id: UUID
    name: str
    external_id: str
    description: str
    degree: int


class UserStatement(NamedTuple):
    """A relation that the user asserts."""

    source_id: UUID
    target_id: UUID
    relation_type: str
    weight: float
    description: str


class FactsDocument(NamedTuple):
    """A document that states facts of an entity; `passages` are its passages' external ids."""

    id: UUID
    source: str
    passages: Sequence[str]


async def profiles(graph: GraphTransaction, ids: Collection[UUID]) -> dict[UUID, Profile]:
    """Return the profiles of entities by id; deleted ones are left out."""
    return {
        row["id"]: Profile(**row) for row in await _rows(graph, _FACTS_SQL["profiles"], ids=[*ids])
    }


async def other_names(
    graph: GraphTransaction, ids: Collection[UUID]
) -> defaultdict[UUID, list[tuple[str, str]]]:
    """Return the user's further names of entities, each as (normalised, spelling), in this order."""
    names = defaultdict[UUID, list[tuple[str, str]]](list)
    for row in await _rows(graph, _FACTS_SQL["aliases"], ids=[*ids]):
        names[row["id"]].append((row["norm"], row["name"]))
    return names


async def facts_documents(
    graph: GraphTransaction, sources: Sequence[str]
) -> dict[str, FactsDocument]:
    """Return the documents of these names that state facts of an entity, by name."""
    rows = await _rows(graph, _FACTS_SQL["documents"], sources=[*sources])
    return {row["source"]: FactsDocument(**row) for row in rows}


async def find_user_statements(
    graph: GraphTransaction, ids: Collection[UUID], documents: Collection[UUID]
) -> list[UserStatement]:
    """Return the user's relations of these entities that no passage outside `documents` states."""
    rows = await _rows(graph, _FACTS_SQL["own_word"], ids=[*ids], documents=[*documents])
    return [UserStatement(**row) for row in rows]


async def passages_stating(
    graph: GraphTransaction, relations: Collection[UUID]
) -> dict[UUID, UUID]:
    """Return the passage that states each relation in the user's stead, by relation."""
    rows = await _rows(graph, _FACTS_SQL["passages_stating"], relations=[*relations])
    return {row["relation_id"]: row["chunk_id"] for row in rows}


async def subjects_naming(graph: GraphTransaction, ids: Collection[UUID]) -> list[UUID]:
    """Return the entities whose passages name these as objects of their relations."""
    return [
        row["source_id"] for row in await _rows(graph, _FACTS_SQL["subjects_naming"], ids=[*ids])
    ]


async def replace_user_statements(writer: GraphWriter, stated: Sequence[RelationRow]) -> None:
    """Replace the user's assertions by the passages that state them.

    `stated` has been added to the writer. If a passage was deleted meanwhile, the assertion stays.
    """
    if stated:
        await writer.derive()
        relations = [relation_id(row.source_id, row.target_id, row.relation_type) for row in stated]
        chunks = [row.chunk_id for row in stated]
        await writer.note(_FACTS_SQL["replace_own_word"], relations=relations, chunks=chunks)
