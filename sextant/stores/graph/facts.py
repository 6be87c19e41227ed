"""Read and write facts that the user asserts, and that a generated passage may state instead.

A relation that the user asserts has one piece of evidence, which counts once: either the assertion
itself, or a passage of a document with `sextant.domain.graph.FACTS_OF` in its metadata. The
statements are in `sql/queries/graph_facts.sql`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.rows import dict_row

from sextant.stores.graph.arrays import NIL
from sextant.stores.graph.evidence import RelationRow
from sextant.stores.graph.graph_writer import GraphWriter
from sextant.stores.graph.ids import relation_id
from sextant.stores.graph.transfer import GraphTransaction
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("graph_facts")


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
    return {row["id"]: Profile(**row) for row in await _rows(graph, "profiles", ids=[*ids])}


async def other_names(
    graph: GraphTransaction, ids: Collection[UUID]
) -> defaultdict[UUID, list[tuple[str, str]]]:
    """Return the user's further names of entities, each as (normalised, spelling), in this order."""
    names = defaultdict[UUID, list[tuple[str, str]]](list)
    for row in await _rows(graph, "aliases", ids=[*ids]):
        names[row["id"]].append((row["norm"], row["name"]))
    return names


async def facts_documents(
    graph: GraphTransaction, sources: Sequence[str]
) -> dict[str, FactsDocument]:
    """Return the documents of these names that state facts of an entity, by name."""
    rows = await _rows(graph, "documents", sources=[*sources])
    return {row["source"]: FactsDocument(**row) for row in rows}


async def find_user_statements(
    graph: GraphTransaction, ids: Collection[UUID], documents: Collection[UUID]
) -> list[UserStatement]:
    """Return the user's relations of these entities that no passage outside `documents` states."""
    rows = await _rows(graph, "own_word", ids=[*ids], documents=[*documents])
    return [UserStatement(**row) for row in rows]


async def passages_stating(
    graph: GraphTransaction, relations: Collection[UUID]
) -> dict[UUID, UUID]:
    """Return the passage that states each relation in the user's stead, by relation."""
    rows = await _rows(graph, "passages_stating", relations=[*relations])
    return {row["relation_id"]: row["chunk_id"] for row in rows}


async def subjects_naming(graph: GraphTransaction, ids: Collection[UUID]) -> list[UUID]:
    """Return the entities whose passages name these as objects of their relations."""
    return [row["source_id"] for row in await _rows(graph, "subjects_naming", ids=[*ids])]


async def replace_user_statements(writer: GraphWriter, stated: Sequence[RelationRow]) -> None:
    """Replace the user's assertions by the passages that state them.

    `stated` has been added to the writer. If a passage was deleted meanwhile, the assertion stays.
    """
    if stated:
        await writer.derive()
        relations = [relation_id(row.source_id, row.target_id, row.relation_type) for row in stated]
        chunks = [row.chunk_id for row in stated]
        await writer.note(_SQL["replace_own_word"], relations=relations, chunks=chunks)


async def _rows(graph: GraphTransaction, query: str, **values: object) -> list[dict[str, Any]]:
    cursor = graph.connection.cursor(row_factory=dict_row)
    await cursor.execute(_SQL[query], {"scope_id": graph.scope_id, "nil": NIL, **values})
    return await cursor.fetchall()
