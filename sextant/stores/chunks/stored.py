"""Stored chunks: with fields of their documents, as search hits, and as texts to index.

Also here: read what relates to a chunk; read whole tables of documents after a search found one
of their passages; check quotations of an answer against the stored documents.

Everything here raises `DatabaseUnavailable` if the server does not answer within `retrieval.lane_timeout`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from sextant.domain.answers import Quoted
from sextant.domain.documents import Modality
from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import id_array, read_rows
from sextant.tables.cells.stored import TablePart

_SQL = load_queries("chunk_metadata")


@dataclass(frozen=True, slots=True)
class ChunkMetadata:
    """A chunk without its text, as ranking sees it.

    Attributes:
        titles: the titles above it, the document's first.
        labels: its topics, keywords, entities and tags, one a line.
        neighbours: ids of the adjacent chunks in its section.
    """

    id: str
    titles: Sequence[str]
    labels: str
    modality: str
    created_at: datetime
    neighbours: Sequence[str]


async def read_metadata(
    database: Database, scope: Scope, ids: Iterable[str]
) -> list[ChunkMetadata]:
    """Return the metadata of the chunks with these ids, in this order; unknown ids are skipped."""
    rows = await read_rows(database, scope, _SQL["metadata"], ids=id_array(ids))
    return [ChunkMetadata(**row) for row in rows]


_STORED_SQL = load_queries("neighbours")


@dataclass(frozen=True, slots=True)
class ChunkEntity:
    """An entity that a chunk mentions."""

    name: str
    type: str


async def entities_of(
    database: Database, scope: Scope, ids: Sequence[UUID], limit: int = 10
) -> dict[UUID, tuple[ChunkEntity, ...]]:
    """Return the entities that each chunk mentions, rarest first, at most `limit` of each.

    Chunks that mention nothing are left out.
    """
    query = _STORED_SQL["entities"]
    rows = await read_rows(database, scope, query, ids=id_array(ids), most=limit)
    return {row["id"]: tuple(map(ChunkEntity, row["names"], row["types"])) for row in rows}


@dataclass(frozen=True, slots=True)
class Mention:
    """What a passage tells of an entity; `is_imported`: the user said so, without a passage if the ids are nil."""

    entity_id: UUID
    is_imported: bool
    in_table: bool
    document_id: UUID
    chunk_id: UUID
    description: str


# Passages that tell of a few entities; those of a name that more tell of need no person's decision.
_MOST_MENTIONS = 2_000


async def read_mentions(database: Database, scope: Scope, ids: Sequence[UUID]) -> list[Mention]:
    """Return what is told of entities, in the order of documents and passages."""
    query = _STORED_SQL["mentions"]
    rows = await read_rows(database, scope, query, ids=id_array(ids), most=_MOST_MENTIONS)
    return [Mention(**row) for row in rows]


@dataclass(frozen=True, slots=True)
class FullForm:
    """A name that a passage defines an abbreviation by."""

    short_id: UUID
    entity_id: UUID
    name: str
    entity_type: str
    description: str
    document_id: UUID
    chunk_id: UUID


async def read_full_forms(database: Database, scope: Scope, ids: Sequence[UUID]) -> list[FullForm]:
    """Return the names that passages define these entities by, in the order of documents and passages."""
    query = _STORED_SQL["spelled_out"]
    rows = await read_rows(database, scope, query, ids=id_array(ids), most=_MOST_MENTIONS)
    return [FullForm(**row) for row in rows]


async def load_linked_chunks(
    database: Database, scope: Scope, ids: Sequence[UUID], limit: int = 3
) -> dict[UUID, tuple[UUID, ...]]:
    """Return for each chunk those that share its most specific entities, best first, at most `limit`."""
    query, linked = _STORED_SQL["linked"], defaultdict[UUID, list[UUID]](list)
    for row in await read_rows(database, scope, query, ids=id_array(ids), most=limit):
        linked[row["id"]].append(row["chunk_id"])
    return {chunk_id: tuple(others) for chunk_id, others in linked.items()}


async def neighbour_chunks(
    database: Database, scope: Scope, chunk_id: UUID, limit: int
) -> dict[UUID, str]:
    """Return the neighbours of a chunk in its document, nearest first, each with its relation to it.

    The relation is `previous` or `next` in reading order, `section` for the same section, or `parent`
    for a chunk directly in the section above. An unknown chunk has no neighbours.
    """
    rows = await read_rows(database, scope, _STORED_SQL["beside"], id=chunk_id, most=limit)
    return {row["id"]: row["relation"] for row in rows}


# Sections with more table passages than this are not read; tables of `limits.table_cells` have fewer.
_MAX_PARTS = 10_000


class TableStore:
    """Read the passages that make up a table; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def parts(self, scope: Scope, chunk_id: str) -> list[TablePart]:
        """Return all table passages in the section of this chunk, in reading order.

        The list is empty if there are more than 10,000, or while the document is being stored.
        """
        query = load_queries("tables")["parts"]
        rows = await read_rows(self._database, scope, query, id=chunk_id, most=_MAX_PARTS + 1)
        return [] if len(rows) > _MAX_PARTS else [TablePart(**row) for row in rows]


class QuoteStore:
    """Compare quotations with the live versions of documents; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def check_quotes(self, scope: Scope, quotes: Sequence[Quoted]) -> list[bool]:
        """Return for each quote, in order, whether its document has exactly this text at its position.

        A quote of a document that was deleted or is not in the scope is false.
        """
        rows = await read_rows(
            self._database,
            scope,
            load_queries("quotes")["still_there"],
            ids=[quote.document_id for quote in quotes],
            starts=[quote.start for quote in quotes],
            quotes=[quote.text for quote in quotes],
        )
        return [row["holds"] for row in rows]


_TUPLES = frozenset(
    {"section_path", "tags", "topics", "keywords", "entities", "topic_labels", "neighbours"}
)
_COLUMNS = {"start": "start_offset", "end": "end_offset"}


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with the fields of its document that results show.

    `start` and `end` are character offsets into the document's text. `source` is the name under which
    the document was added and `document_title` its title; `title` is the chunk's.
    """

    id: UUID
    document_id: UUID
    source: str
    filename: str
    document_title: str
    section_id: UUID
    ordinal: int
    start: int
    end: int
    text: str
    page: int | None
    section_path: tuple[str, ...]
    modality: Modality
    context: str
    token_count: int
    title: str
    summary: str
    tags: tuple[str, ...]
    topics: tuple[str, ...]
    keywords: tuple[str, ...]
    entities: tuple[str, ...]
    topic_labels: tuple[str, ...]
    neighbours: tuple[UUID, ...]
    external_id: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class IndexPassage:
    """A chunk as an in-memory index needs it; `searched` is the text by which it is found."""

    id: UUID
    document_id: UUID
    searched: str


_FIELDS = [(field.name, _COLUMNS.get(field.name, field.name)) for field in fields(StoredChunk)]


def read_stored_chunk(row: dict[str, Any]) -> StoredChunk:
    """Return the chunk of a row of `found_chunks`."""
    values: dict[str, Any] = {
        name: tuple(row[column]) if name in _TUPLES else row[column] for name, column in _FIELDS
    }
    values["modality"] = Modality(row["modality"])
    return StoredChunk(**values)
