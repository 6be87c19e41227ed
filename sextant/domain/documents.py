"""Documents as they are stored: file → section tree → chunks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from sextant.domain import CAMEL_CASE
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, Warned
from sextant.text.characters import clean_text

LONGEST_FILENAME = 255  # characters; NAME_MAX of the usual file systems
# Control characters, and marks that turn the direction of reading.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Modality(StrEnum):
    """The kind of a chunk's content."""

    TEXT = "text"
    TABLE = "table"
    IMAGE = "image"
    SCAN = "scan"  # text read by OCR
    SCANNED_TABLE = "scanned_table"


TABLES = frozenset({Modality.TABLE, Modality.SCANNED_TABLE})
READ_BY_OCR = frozenset({Modality.SCAN, Modality.SCANNED_TABLE})


class HeadingSource(StrEnum):
    """The source of a section's heading."""

    OUTLINE = "outline"
    STYLE = "style"
    INFERRED = "inferred"
    GIVEN = "given"  # the user named it, in an import
    ROOT = "root"


@dataclass(frozen=True, slots=True)
class Section:
    """A node of a document's section tree.

    `start` and `end` are character offsets into the document's text and cover the heading, the
    section's own text and all its children. `path` lists the titles from the root's child down to
    this section (empty for the root). The root section (level 0) covers the whole document.
    """

    id: UUID
    parent_id: UUID | None
    title: str
    level: int
    ordinal: int
    start: int
    end: int
    path: tuple[str, ...] = ()
    heading_source: HeadingSource = HeadingSource.INFERRED
    page: int | None = None
    summary: str = ""
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrieval unit. Invariant: `document.text[start:end] == text`; lies in exactly one section.

    `context` is text that is embedded and searched with the chunk but is not part of it: the
    header row of a table whose later rows this chunk holds, for example.
    """

    id: UUID
    section_id: UUID
    ordinal: int
    start: int
    end: int
    text: str
    page: int | None = None
    section_path: tuple[str, ...] = ()
    modality: Modality = Modality.TEXT
    context: str = ""
    token_count: int = 0
    title: str = ""
    summary: str = ""
    tags: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    topic_labels: tuple[str, ...] = ()
    neighbours: tuple[UUID, ...] = ()
    external_id: str | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a file's text its document holds, in characters without white space.

    Attributes:
        stored: by kind: heading, text, table, note, field, margin (heads and feet of pages), caption.
        left_out: by reason, such as "struck through".
        not_read: numbers of unreadable parts by kind, such as "chart".
        found: letters and digits by a second count of the file, independent of its parser; None for formats without
            such a count.
        missing: characters of `found` that are neither stored nor left out.
    """

    __pydantic_config__ = CAMEL_CASE

    stored: Mapping[str, int]
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    not_read: Mapping[str, int] = field(default_factory=dict[str, int])
    found: int | None = None
    missing: int = 0


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file inside another one, which becomes a document of its own."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A parsed file: one text, its section tree and its chunks, all by offset.

    `boxes` give the positions of the text on the file's pages (`sextant.domain.page_boxes`); empty without pages.
    """

    title: str
    text: str
    language: str
    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]
    page_count: int | None = None
    warnings: tuple[CodedWarning, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    boxes: bytes = b""
    coverage: Coverage | None = None
    attachments: tuple[AttachedFile, ...] = ()


class DocumentStatus(StrEnum):
    """The state of a document.

    Search sees the chunks of the last complete version; only a document's first version becomes visible batch by
    batch.
    """

    PENDING = "pending"
    INGESTING = "ingesting"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Document:
    """A stored document; `source` is the name by which a changed file replaces its old version.

    `error` says why the ingestion of a `failed` document failed; `copies` are the names of further files with the
    same bytes; `coverage` is None if the document was imported or not read yet; `parent_id` is the e-mail that it is
    attached to.
    """

    id: UUID
    source: str
    filename: str
    title: str
    media_type: str
    sha256: str
    size_bytes: int
    status: DocumentStatus
    language: str = ""
    page_count: int | None = None
    chunk_count: int = 0
    external_id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    created_at: datetime | None = None
    updated_at: datetime | None = None
    error: str | None = None
    copies: tuple[str, ...] = ()
    coverage: Coverage | None = None
    parent_id: UUID | None = None


class JobStage(StrEnum):
    """Stages of one document's ingestion, in order."""

    QUEUED = "queued"
    PARSE = "parse"
    OCR = "ocr"
    EMBED = "embed"
    PUBLISH = "publish"
    GRAPH = "graph"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    """The durable record of one document's ingestion.

    Attributes:
        version: the document's version that the job ingests. A newer upload of the same source closes the job, and
            the store then refuses writes of the old worker.
        worker: the worker that has claimed the job; None: none has.
        released: how many of the `attempts` ended because the worker was stopped or a dependency was down.
        warnings: parts of the document that are missing though the job is done.
    """

    id: UUID
    scope: Scope
    document_id: UUID
    version: int
    filename: str
    stage: JobStage
    done: int
    total: int
    attempts: int
    error_code: str | None = None
    error: str | None = None
    worker: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    released: int = 0
    warnings: tuple[CodedWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class Backlog:
    """The numbers of a user's ingestion jobs: waiting, urgent among these, running."""

    user_id: str
    waiting: int
    urgent: int
    running: int


@dataclass(frozen=True, slots=True)
class GraphInfo(Warned):
    """A knowledge base as `sextant graphs` lists it.

    `under_way`: documents whose first ingestion has not ended. `pending`: a worker must still bring its graph up to
    date; `unattended`: no worker runs. `warnings`: parts of the graph that were not brought up to date the last time.
    """

    graph_id: str
    documents: int
    chunks: int
    created_at: datetime | None = None
    under_way: int = 0
    pending: bool = False
    unattended: bool = False


MOST_LEVELS = 100
"""How deep lists and objects may nest: orjson writes 254 levels, Python's json some hundreds."""


def printable_name(sent: str) -> str:
    """Return a client's file name without unprintable characters, shortened; may be empty."""
    name = _UNPRINTABLE.sub("", clean_text(sent)).strip()
    if len(name) > LONGEST_FILENAME:
        suffix = PurePosixPath(name).suffix[:10]
        name = name[: LONGEST_FILENAME - len(suffix)] + suffix
    return name


def storable(value: object, levels: int = MOST_LEVELS) -> object:
    """Return `value` as PostgreSQL's `jsonb` can hold it, keys included.

    NaN and infinity become null, numbers beyond 64 bits text.

    Raises:
        ValueError: it nests deeper than `levels`.
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    # `jsonb` gives large numbers back as whole ones, which orjson writes up to 64 bits only.
    if isinstance(value, int | float) and abs(value) >= 2**63:
        return str(value)
    if not isinstance(value, Mapping | list | tuple | set | frozenset):
        return value
    if levels == 0:
        raise ValueError(f"must not nest deeper than {MOST_LEVELS} levels")
    if isinstance(value, Mapping):
        return {clean_text(str(key)): storable(one, levels - 1) for key, one in value.items()}
    return [storable(one, levels - 1) for one in value]
