"""A whole knowledge base as the lines that would import it again.

Exported is what users and models said. What an offline extractor finds in the text, an import finds
again by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

from domain.documents import Document, DocumentStatus
from domain.graph import CO_OCCURS
from domain.scope import Scope
from domain.text import normalise_name
from ingestion.transfer.lines import (
    ChunkLine,
    DocumentLine,
    EntityLine,
    Line,
    Mentioned,
    RelationLine,
)
from stores.database import Database
from stores.documents import DocumentStore
from stores.graph.ids import entity_id
from stores.graph.transfer import GraphPages, Row

_WHOLE = 2**31 - 1  # characters; more than a text of PostgreSQL holds


async def export_graph(database: Database, scope: Scope) -> AsyncIterator[dict[str, Any]]:
    """The lines of docs/import.md, one dict each: documents with their chunks, entities, relations.

    Each document is read in a transaction of its own, so that a slow reader holds up nobody; one
    that is changed meanwhile comes as it was or as it is.

    Raises:
        GraphNotFound: there is no such knowledge base.
    """
    documents = DocumentStore(database)
    await documents.require_graph(scope)
    pages = GraphPages(database, scope)
    for document in await documents.list(scope):
        if document.status is DocumentStatus.READY:
            for line in await _document(documents, pages, scope, document):
                yield line.wire()
    async for rows in pages.asserted_entities():
        for row in rows:
            yield _entity(row).wire()
    async for rows in pages.asserted_relations():
        names = await pages.names(_ends(rows))
        for row in rows:
            if row["source_id"] in names and row["target_id"] in names:
                yield _relation(row, names).wire()


async def _document(
    documents: DocumentStore, pages: GraphPages, scope: Scope, document: Document
) -> list[Line]:
    """A document's line, its chunks', and those of relations that a triple cannot say."""
    rows = await pages.chunks(document.id)
    stated = await pages.relations(document.id)
    names = await pages.names(_ends(stated))
    mentions = defaultdict[UUID, list[Row]](list)
    spelled = dict[tuple[UUID, UUID], str]()
    for row in await pages.mentions(document.id):
        # A name alone means the first entity of that name; homonyms come with their relations.
        if row["entity_id"] == entity_id(scope, row["name"]):
            mentions[row["chunk_id"]].append(row)
            spelled[row["chunk_id"], row["entity_id"]] = row["name"]
    triples, relations = _parted(stated, spelled)
    text = await documents.text(scope, document.id, 0, _WHOLE)
    own_id = document.external_id or document.source
    lines: list[Line] = [DocumentLine.stored(own_id, document.title, text, document.metadata)]
    places = {row["id"]: row["external_id"] for row in rows}
    lines += [_chunk(own_id, row, mentions[row["id"]], triples[row["id"]]) for row in rows]
    lines += [_relation(row, names, places[row["chunk_id"]]) for row in relations]
    return lines


def _parted(
    stated: Sequence[Row], spelled: dict[tuple[UUID, UUID], str]
) -> tuple[dict[UUID, list[tuple[str, str, str]]], list[Row]]:
    """Relations that a triple says completely, by chunk, and the others."""
    triples, others = defaultdict[UUID, list[tuple[str, str, str]]](list), list[Row]()
    for row in stated:
        if row["relation_type"] == CO_OCCURS:
            continue
        chunk = row["chunk_id"]
        source = spelled.get((chunk, row["source_id"]))
        target = spelled.get((chunk, row["target_id"]))
        if source and target and row["weight"] == 1 and not row["description"]:
            triples[chunk].append((source, row["relation_type"], target))
        else:
            others.append(row)
    return triples, others


def _chunk(
    document: str, row: Row, mentions: Sequence[Row], triples: list[tuple[str, str, str]]
) -> ChunkLine:
    return ChunkLine(
        id=row["external_id"],
        document_id=document,
        title=row["title"],
        text=row["text"],
        entities=[_mentioned(one) for one in mentions],
        triples=triples,
    )


def _mentioned(row: Row) -> str | Mentioned:
    if row["entity_type"] == "TERM" and not row["description"]:
        return str(row["name"])
    return Mentioned(
        name=row["name"], entity_type=row["entity_type"], description=row["description"]
    )


def _entity(row: Row) -> EntityLine:
    norm = normalise_name(row["name"])
    return EntityLine(
        id=row["external_id"],
        name=row["name"],
        entity_type=row["entity_type"],
        description=row["description"],
        aliases=[one for one in row["aliases"] if normalise_name(one) != norm],
    )


def _relation(row: Row, names: dict[UUID, str], chunk: str | None = None) -> RelationLine:
    return RelationLine(
        source=names[row["source_id"]],
        target=names[row["target_id"]],
        relation_type=row["relation_type"],
        description=row["description"],
        weight=row["weight"],
        chunk_ids=[chunk] if chunk else [],
    )


def _ends(rows: Sequence[Row]) -> list[UUID]:
    return list({row[end] for row in rows for end in ("source_id", "target_id")})
