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

from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, Warned
from sextant.domain.wire import CAMEL_CASE
from sextant.text.characters import clean_text

LONGEST_FILENAME = 255  # characters; NAME_MAX of the usual file systems
# Control characters, and marks that turn the direction of reading.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Modality(StrEnum):
    """What a chunk holds."""

    TEXT = "text"
    TABLE = "table"
    IMAGE = "image"
    SCAN = "scan"  # text read by OCR


class HeadingSource(StrEnum):
    """How a section's heading was recognised."""

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
        left_out: by the reason why, such as "struck through".
        not_read: numbers of parts that could not be read, by kind, such as "chart".
        found: the letters and digits that a second count of the file found, which its parser has no part in; None
            where its format has none.
        missing: those of them that are neither stored nor left out for a reason.
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
    """What a parser makes of a file: one text, its section tree and its chunks, all by offset.

    `boxes` say where the text stands on the file's pages (`sextant.domain.page_boxes`); empty where it has none.
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
    """Where a document stands.

    Only chunks of the last complete version are visible to search, except that a document's first
    version becomes visible batch by batch.
    """

    PENDING = "pending"
    INGESTING = "ingesting"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Document:
    """A stored document; `source` is the name by which a changed file replaces its old version.

    `error` is the reason why a document with the status `failed` could not be taken in; `copies` are the
    names of further files with the same bytes; `coverage` is unknown of what was imported or never read; `parent_id`
    is the e-mail that it is attached to.
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
    """The durable record of one document's ingestion: how far it is and why it stopped.

    `version` is the document's version that this job ingests; a newer upload of the same source
    closes the job, and the store then refuses what the old worker still writes. `worker` is who has
    claimed it, None while nobody has. Of the `attempts`, `released` were given up in good order: the
    worker was stopped, or something that the work needs was gone. `warnings`: what of the document was
    not taken in though the job is done.
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
    """A user's ingestion jobs that wait for a worker, those of them that are urgent, and those that run."""

    user_id: str
    waiting: int
    urgent: int
    running: int


@dataclass(frozen=True, slots=True)
class GraphInfo(Warned):
    """A knowledge base as `sextant graphs` lists it.

    `pending`: its graph is still to follow its documents, which a worker does; `unattended`: no worker runs.
    `warnings`: what of the graph did not follow the last time.
    """

    graph_id: str
    documents: int
    chunks: int
    created_at: datetime | None = None
    pending: bool = False
    unattended: bool = False


MOST_LEVELS = 100
"""How deep lists and objects may nest: orjson writes 254 levels, Python's json some hundreds."""

_LARGEST = 2**63
"""`jsonb` gives large numbers back as whole ones, which orjson writes up to 64 bits only."""


def printable_name(sent: str) -> str:
    """Return a stranger's name for a file as it can be stored and shown; may be empty."""
    name = _UNPRINTABLE.sub("", clean_text(sent)).strip()
    if len(name) > LONGEST_FILENAME:
        suffix = PurePosixPath(name).suffix[:10]
        name = name[: LONGEST_FILENAME - len(suffix)] + suffix
    return name


def storable(value: object, levels: int = MOST_LEVELS) -> object:
    """Return `value` as PostgreSQL's `jsonb` can hold it, keys included.

    Numbers that are none become null, those beyond 64 bits their text.

    Raises:
        ValueError: it nests deeper than `levels`.
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int | float) and abs(value) >= _LARGEST:
        return str(value)
    if not isinstance(value, Mapping | list):
        return value
    if levels == 0:
        raise ValueError(f"must not nest deeper than {MOST_LEVELS} levels")
    if isinstance(value, list):
        return [storable(one, levels - 1) for one in value]
    return {clean_text(str(key)): storable(one, levels - 1) for key, one in value.items()}
