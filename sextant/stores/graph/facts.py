"""The user's own word of entities, which a passage may state in their stead.

A relation that the user gives without a passage has one piece of evidence. It is their word alone, or stands
with the passage that tells of it (of a document with `sextant.domain.graph.FACTS_OF` in its metadata), and counts
once. The statements are those of `sql/queries/graph_facts.sql`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.rows import dict_row

from sextant.stores.graph.evidence import RelationRow
from sextant.stores.graph.ids import NIL, relation_id
from sextant.stores.graph.transfer import GraphTransaction
from sextant.stores.graph.writing import GraphWriter
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("graph_facts")


class Profile(NamedTuple):
    """An entity as the user calls it, else as texts do; `external_id` and `description` are the user's."""

    id: UUID
    name: str
    external_id: str
    description: str
    degree: int


class UserStatement(NamedTuple):
    """A relation by the user's own word."""

    source_id: UUID
    target_id: UUID
    relation_type: str
    weight: float
    description: str


class FactsDocument(NamedTuple):
    """A document that tells of an entity; `passages` are the user's ids of them."""

    id: UUID
    source: str
    passages: Sequence[str]


async def profiles(graph: GraphTransaction, ids: Collection[UUID]) -> dict[UUID, Profile]:
    """Return the profiles of entities by id; those that are gone have none."""
    return {row["id"]: Profile(**row) for row in await _rows(graph, "profiles", ids=[*ids])}


async def other_names(
    graph: GraphTransaction, ids: Collection[UUID]
) -> defaultdict[UUID, list[tuple[str, str]]]:
    """Return what else the user calls entities: each name normalised, and as it is spelled; in that order."""
    found = defaultdict[UUID, list[tuple[str, str]]](list)
    for row in await _rows(graph, "aliases", ids=[*ids]):
        found[row["id"]].append((row["norm"], row["name"]))
    return found


async def facts_documents(
    graph: GraphTransaction, sources: Sequence[str]
) -> dict[str, FactsDocument]:
    """Return those of these documents that tell of an entity, by name."""
    rows = await _rows(graph, "documents", sources=[*sources])
    return {row["source"]: FactsDocument(**row) for row in rows}


async def find_user_statements(
    graph: GraphTransaction, ids: Collection[UUID], documents: Collection[UUID]
) -> list[UserStatement]:
    """Return what the user says that these entities are to others, and no passage but of these documents states."""
    rows = await _rows(graph, "own_word", ids=[*ids], documents=[*documents])
    return [UserStatement(**row) for row in rows]


async def passages_stating(
    graph: GraphTransaction, relations: Collection[UUID]
) -> dict[UUID, UUID]:
    """Return those of these relations that a passage states in the user's stead, with the passage."""
    rows = await _rows(graph, "passages_stating", relations=[*relations])
    return {row["relation_id"]: row["chunk_id"] for row in rows}


async def subjects_naming(graph: GraphTransaction, ids: Collection[UUID]) -> list[UUID]:
    """Return the entities whose passages name these as what they are something to."""
    return [row["source_id"] for row in await _rows(graph, "subjects_naming", ids=[*ids])]


async def replace_user_statements(writer: GraphWriter, stated: Sequence[RelationRow]) -> None:
    """Let what passages state, and the writer was given, stand there alone, and not by the user's word beside.

    Of a passage that is gone by now nothing is taken: the user's word stands.
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
