"""Stored chunks: with fields of their documents, as search hits, and as texts to index."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from sextant.domain.documents import Modality

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
class ChunkHit:
    """A chunk that a search found; the search defines the scale of `score`."""

    chunk: StoredChunk
    score: float


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
