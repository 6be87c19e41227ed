"""Export a knowledge base as lines that import it again.

Evidence of users and models is exported. An import finds again what extraction without a model found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

from sextant.domain.documents import LONGEST_FILENAME, Document, DocumentStatus, Modality
from sextant.domain.scope import Scope
from sextant.ingestion.progress import runs_of
from sextant.ingestion.transfer.lines import (
    LONGEST_TITLE,
    ChunkLine,
    DecisionLine,
    DocumentLine,
    EntityLine,
    Line,
    MentionedEntity,
    RelationLine,
    SectionLine,
)
from sextant.stores.documents.document_reader import DocumentReader
from sextant.stores.graph.evidence import entity_id
from sextant.stores.graph.transfer import ExportedContent, GraphPages, Row
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases


async def export_graph(database: Database, scope: Scope) -> AsyncIterator[dict[str, Any]]:
    """Yield the lines of docs/import.md as dicts: documents with their chunks, entities, relations, decisions.

    Documents are read in several transactions, so that a slow reader blocks nobody; one that changes meanwhile
    is exported as it was or as it is.

    Raises:
        GraphNotFound: there is no such knowledge base.
    """
    await KnowledgeBases(database).require(scope)
    pages = GraphPages(database, scope)
    stored = [
        one
        for one in await DocumentReader(database).list(scope)
        if one.status is DocumentStatus.READY
    ]
    graph = (_entities(pages), _relations(pages), _decisions(pages))
    for part in (_documents(scope, pages, stored), *graph):
        async for line in part:
            yield line.wire()


async def _documents(
    scope: Scope, pages: GraphPages, documents: Sequence[Document]
) -> AsyncIterator[Line]:
    export_ids = document_ids(documents)
    # 1,000 passages in one transaction.
    for some in runs_of(documents, lambda one: one.chunk_count, 1000):
        contents = await pages.contents([one.id for one in some])
        names = await pages.names(_ends(row for one in contents.values() for row in one.relations))
        for document in some:
            if content := contents.get(document.id):
                for line in _document(scope, document, export_ids[document.id], content, names):
                    yield line


async def _entities(pages: GraphPages) -> AsyncIterator[Line]:
    async for rows in pages.list_asserted_entities():
        for row in rows:
            yield EntityLine(
                id=row["external_id"],
                name=row["name"],
                entity_type=row["entity_type"],
                description=row["description"],
                aliases=[alias for alias in row["aliases"] if alias != row["name"]],
            )


async def _relations(pages: GraphPages) -> AsyncIterator[Line]:
    async for rows in pages.list_asserted_relations():
        names = await pages.names(_ends(rows))
        for row in _keep_named(rows, names):
            yield _relation(row, names)


async def _decisions(pages: GraphPages) -> AsyncIterator[Line]:
    rows = await pages.decisions()
    names = await pages.names(_ends(rows))
    for row in _keep_named(rows, names):
        ends = [names[row["source_id"]], names[row["target_id"]]]
        # The order of two different entities has no meaning.
        source, target = ends if row["same"] else sorted(ends)
        yield DecisionLine(source=source, target=target, same=row["same"], reason=row["reason"])


def _keep_named(rows: Sequence[Row], names: dict[UUID, str]) -> list[Row]:
    """Return the rows whose ends both have a name; an entity without one has no evidence left."""
    return [row for row in rows if row["source_id"] in names and row["target_id"] in names]


def document_ids(documents: Sequence[Document]) -> dict[UUID, str]:
    """Return the ids of documents in an export: the external id, else the name of the file.

    If several files have one name, the later ones get a part of the hash of their path, which reveals no path.
    """
    taken = {one.external_id for one in documents if one.external_id}
    ids = dict[UUID, str]()
    for one in documents:
        name = one.external_id or one.filename
        if not one.external_id and name in taken:
            name = f"{name}~{sha256(one.source.encode()).hexdigest()[:12]}"
        taken.add(name)
        ids[one.id] = name
    return ids


def _document(
    scope: Scope,
    document: Document,
    export_id: str,
    content: ExportedContent,
    names: dict[UUID, str],
) -> list[Line]:
    """Return the lines of a document, its chunks, and the relations that a triple cannot express."""
    mentions = defaultdict[UUID, list[Row]](list)
    spelled = dict[tuple[UUID, UUID], str]()
    for row in content.mentions:
        # A name means the first entity of that name; homonyms are exported with their relations.
        if row["entity_id"] == entity_id(scope, row["name"]):
            mentions[row["chunk_id"]].append(row)
            spelled[row["chunk_id"], row["entity_id"]] = row["name"]
    triples, relations = _split_relations(content.relations, spelled)
    lines: list[Line] = [
        DocumentLine.stored(
            document.metadata,
            id=export_id,
            title=document.title[:LONGEST_TITLE],
            text=content.text,
            filename=document.filename[:LONGEST_FILENAME],
            page_count=document.page_count,
            sections=[_section(row) for row in content.sections],
        )
    ]
    sections = {row["id"]: index for index, row in enumerate(content.sections)}
    for row in content.chunks:
        index = sections.get(row["section_id"])
        lines.append(
            ChunkLine(
                id=row["external_id"],
                document_id=export_id,
                title=row["title"][:LONGEST_TITLE],
                text=row["text"],
                entities=[_mention_line(one) for one in mentions[row["id"]]],
                triples=sorted(triples[row["id"]]),
                start=row["start"],
                section=index,
                page=row["page"],
                modality=None if row["modality"] == Modality.TEXT else row["modality"],
                context=row["context"],
            )
        )
    external_ids = {row["id"]: row["external_id"] for row in content.chunks}
    lines += [
        _relation(row, names, external_ids[row["chunk_id"]])
        for row in relations
        if row["chunk_id"] in external_ids
    ]
    return lines


def _split_relations(
    stated: Sequence[Row], spelled: dict[tuple[UUID, UUID], str]
) -> tuple[dict[UUID, list[tuple[str, str, str]]], list[Row]]:
    """Return the relations that are triples, by chunk, and the others."""
    triples, others = defaultdict[UUID, list[tuple[str, str, str]]](list), list[Row]()
    for row in stated:
        chunk = row["chunk_id"]
        source = spelled.get((chunk, row["source_id"]))
        target = spelled.get((chunk, row["target_id"]))
        if source and target and row["weight"] == 1 and not row["description"]:
            triples[chunk].append((source, row["relation_type"], target))
        else:
            others.append(row)
    return triples, others


def _section(row: Row) -> SectionLine:
    names = ("title", "level", "start", "end", "heading_source", "page")
    values = {name: row[name] for name in names}
    return SectionLine(**values | {"title": row["title"][:LONGEST_TITLE]})


def _mention_line(row: Row) -> str | MentionedEntity:
    if row["entity_type"] == "TERM" and not row["description"]:
        return str(row["name"])
    return MentionedEntity(
        name=row["name"], entity_type=row["entity_type"], description=row["description"]
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


def _ends(rows: Iterable[Row]) -> set[UUID]:
    return {row[end] for row in rows for end in ("source_id", "target_id")}
