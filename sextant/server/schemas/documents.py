"""Documents over the wire: uploaded, listed, and how far their ingestion is.

Also here: the section tree of a document over the wire.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from sextant.domain.documents import (
    LONGEST_FILENAME,
    Coverage,
    Document,
    DocumentStatus,
    JobStage,
    Section,
    storable,
)
from sextant.domain.page_boxes import PageBox
from sextant.domain.scope import DEFAULT_GRAPH
from sextant.domain.warnings import word_warnings
from sextant.server.schemas.wire import Cursor, GraphName, Problem, Wire
from sextant.stores.work.queue import UploadStatus
from sextant.text.characters import clean_text


class SectionBody(Wire):
    """A section; `start` and `end` are offsets into the document's text, in characters."""

    section_id: UUID
    parent_section_id: UUID | None
    title: str
    summary: str
    tags: tuple[str, ...]
    keywords: tuple[str, ...]
    level: int
    page: int | None
    start: int
    end: int

    @classmethod
    def of_section(cls, section: Section) -> Self:
        """Return the body for a section."""
        return cls.shown(section, section_id=section.id, parent_section_id=section.parent_id)


class StructureBody(Wire):
    """The sections in reading order, each after the one it lies in; the first is the whole document."""

    document_id: UUID
    graph_id: str
    sections: tuple[SectionBody, ...]


_LONGEST_SLICE = 20_000  # characters

Metadata = Annotated[
    dict[str, Any],
    AfterValidator(storable),
    Field(description="Your own, of any shape; comes back with the document."),
]
ExternalId = Annotated[
    str, AfterValidator(clean_text), StringConstraints(min_length=1, max_length=200)
]


class UploadOptions(Wire):
    """What may be said of an upload; `externalId` of one file only.

    A document of the same `externalId` is replaced. One of the same file name is replaced with `replace`; else
    both are kept.
    """

    graph_id: GraphName = DEFAULT_GRAPH
    external_id: ExternalId | None = Field(None, description="Your own id of the document.")
    metadata: Metadata = Field(default_factory=dict)
    replace: bool = Field(
        default=False,
        description="Whether it takes the place of a document of the same file name.",
    )

    @property
    def replaces(self) -> bool:
        """Return whether the upload takes the place of one of its name."""
        return self.replace or self.external_id is not None


class TextUpload(UploadOptions):
    """A document as text. A later one of the same `externalId` takes its place."""

    text: str = Field(min_length=1, description="Plain text, or Markdown if the title ends in .md.")
    title: str = Field("text", min_length=1, max_length=LONGEST_FILENAME)


class UploadedBody(Wire):
    """What became of a file: a document, or the reason why it cannot be one.

    `unchanged`: the knowledge base has these bytes already, so there is no job. `sameAs`: the other
    name by which it has them. `sameNameAs`: another document of this file name, which is kept beside it.
    """

    filename: str
    document_id: UUID | None = None
    job_id: UUID | None = None
    unchanged: bool = False
    same_as: str | None = None
    same_name_as: UUID | None = None
    problem: Problem | None = None


class UploadBody(Wire):
    """The files of an upload, in order; workers ingest them."""

    graph_id: str
    documents: tuple[UploadedBody, ...]


class JobBody(Wire):
    """The newest ingestion of a document.

    `done` of `total` chunks are through the stage; 0 of 0 where nothing counts. `notBefore`: a
    dependency was gone, and this is when it is tried again. `unattended`: it waits, and no worker runs that
    could take it. `warnings`: what of the document was not
    taken in though it is done, such as images that nobody looked at, in the language of `Accept-Language`
    (`zh`, else English); `warningCodes` has their codes in the same order, null for a sentence that has none.
    """

    job_id: UUID
    stage: JobStage
    done: int
    total: int
    attempts: int
    error_code: str | None = None
    error: str | None = None
    not_before: datetime | None = None
    unattended: bool = False
    warnings: tuple[str, ...] = ()
    warning_codes: tuple[str | None, ...] = ()

    @classmethod
    def of(cls, status: UploadStatus, language: str) -> JobBody | None:
        """Return the body for the job of a document; None where there never was a job."""
        if status.job_id is None or status.stage is None:
            return None
        counts = {name: getattr(status, name) or 0 for name in ("done", "total", "attempts")}
        warnings = word_warnings(status.warnings, language)
        codes = tuple(warning.code or None for warning in status.warnings)
        return cls.shown(status, **counts, warnings=warnings, warning_codes=codes)


class ProgressBody(Wire):
    """Where a document stands."""

    document_id: UUID
    graph_id: str
    filename: str
    status: DocumentStatus
    chunk_count: int
    job: JobBody | None

    @classmethod
    def of(cls, status: UploadStatus, language: str) -> ProgressBody:
        """Return the body for how far a document is."""
        return cls.shown(status, job=JobBody.of(status, language))


class DocumentBody(Wire):
    """A stored document; `error` says why one that is `failed` could not be taken in.

    `copies`: the names of other files with the same bytes. Deleting the document leaves it to the first of them.
    `coverage`: null until it is read, and of one that was imported as chunks.
    `parentId`: the e-mail that it is attached to, and is deleted with.
    """

    document_id: UUID
    graph_id: str
    external_id: str | None
    source: str
    filename: str
    title: str
    media_type: str
    sha256: str
    size_bytes: int
    status: DocumentStatus
    language: str
    page_count: int | None
    chunk_count: int
    metadata: dict[str, Any]
    created_at: datetime | None
    updated_at: datetime | None
    error: str | None
    copies: tuple[str, ...] = ()
    coverage: Coverage | None = None
    parent_id: UUID | None = None
    job: JobBody | None = None

    @classmethod
    def of(
        cls, graph_id: str, document: Document, status: UploadStatus | None, language: str
    ) -> DocumentBody:
        """Return the body for a document."""
        job = JobBody.of(status, language) if status else None
        return cls.shown(document, document_id=document.id, graph_id=graph_id, job=job)


class DocumentsQuery(Wire):
    """Which page of which knowledge base."""

    graph_id: GraphName = DEFAULT_GRAPH
    limit: int = Field(100, ge=1, le=500, description="Documents on a page.")
    cursor: Cursor = None


class DocumentPage(Wire):
    """A page of documents, oldest first."""

    documents: tuple[DocumentBody, ...]
    next_cursor: str | None


class SliceQuery(Wire):
    """Characters of a document's text, as citations count them."""

    start: int = Field(0, ge=0, le=2_000_000_000)
    end: int | None = Field(
        None, ge=0, le=2_000_000_000, description=f"At most {_LONGEST_SLICE:,} after `start`."
    )

    @property
    def bounds(self) -> tuple[int, int]:
        """Start and end of what is read."""
        most = self.start + _LONGEST_SLICE
        return self.start, most if self.end is None else min(self.end, most)


class BoxesBody(Wire):
    """Where a part of a document's text stands on the pages of its file: a box for each line, in reading order.

    Empty where the file has no pages or does not show that part, and of documents ingested before boxes were stored.
    """

    document_id: UUID
    start: int
    end: int
    boxes: tuple[PageBox, ...]


class SliceBody(Wire):
    """A part of a document's text; `end` is where it really ends."""

    document_id: UUID
    start: int
    end: int
    text: str
