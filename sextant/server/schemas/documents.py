"""JSON of documents: uploads, lists, the progress of ingestion, sections and texts."""

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
from sextant.stores.queue import UploadStatus
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
        return cls.from_domain(section, section_id=section.id, parent_section_id=section.parent_id)


class StructureBody(Wire):
    """The sections in reading order, each after its parent; the first is the whole document."""

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
    """Options of an upload; `externalId` is for a single file.

    A document of the same `externalId` is replaced. One of the same file name is replaced if `replace` is true; else
    both stay.
    """

    graph_id: GraphName = DEFAULT_GRAPH
    external_id: ExternalId | None = None
    """Your own id of the document."""
    metadata: Metadata = Field(default_factory=dict)
    replace: bool = False
    """Whether it takes the place of a document of the same file name."""

    @property
    def replaces(self) -> bool:
        """Return whether the upload replaces a document of its name."""
        return self.replace or self.external_id is not None


class TextUpload(UploadOptions):
    """A document as text. A later one of the same `externalId` replaces it."""

    text: str = Field(min_length=1)
    """Plain text, or Markdown if the title ends in .md."""
    title: str = Field("text", min_length=1, max_length=LONGEST_FILENAME)


class UploadedBody(Wire):
    """The result for one file: a document, or the problem.

    `unchanged`: the knowledge base has these bytes already, so there is no job. `sameAs`: the name under which it has
    them. `sameNameAs`: another document of this file name, which stays.
    """

    filename: str
    document_id: UUID | None = None
    job_id: UUID | None = None
    unchanged: bool = False
    same_as: str | None = None
    same_name_as: UUID | None = None
    problem: Problem | None = None


class UploadBody(Wire):
    """The results for the files of an upload, in order; workers ingest them."""

    graph_id: str
    documents: tuple[UploadedBody, ...]


class JobBody(Wire):
    """The newest ingestion of a document.

    `done` of `total` chunks have passed the stage; both are 0 in stages without chunks. `notBefore`: the next try
    after a dependency was down. `unattended`: it waits and no worker runs. `warnings`: missing parts of an ingested
    document, such as images without a description, in the language of `Accept-Language` (`zh`, else English);
    `warningCodes` has their codes in the same order, null for an old warning without one.
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
        return cls.from_domain(status, **counts, warnings=warnings, warning_codes=codes)


class ProgressBody(Wire):
    """The status of a document."""

    document_id: UUID
    graph_id: str
    filename: str
    status: DocumentStatus
    chunk_count: int
    job: JobBody | None

    @classmethod
    def of(cls, status: UploadStatus, language: str) -> ProgressBody:
        """Return the body for how far a document is."""
        return cls.from_domain(status, job=JobBody.of(status, language))


class DocumentBody(Wire):
    """A stored document; `error` says why the ingestion of a `failed` one failed.

    `copies`: the names of other files with the same bytes; deleting the document keeps it under the first of them.
    `coverage`: null until the document is read, and for one imported as chunks. `parentId`: the e-mail that it is
    attached to and deleted with.
    """

    document_id: UUID = Field(validation_alias="id")
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
        return cls.from_domain(document, graph_id=graph_id, job=job)


class DocumentsQuery(Wire):
    """A page of a knowledge base's documents."""

    graph_id: GraphName = DEFAULT_GRAPH
    name: Annotated[str, AfterValidator(clean_text)] = Field("", max_length=200)
    """Only documents whose file name has this, in any case."""
    limit: int = Field(100, ge=1, le=500)
    """Documents on a page."""
    cursor: Cursor = None


class DocumentPage(Wire):
    """A page of documents, oldest first."""

    documents: tuple[DocumentBody, ...]
    next_cursor: str | None


class SliceQuery(Wire):
    """A span of a document's text, in characters as citations count them."""

    start: int = Field(0, ge=0, le=2_000_000_000)
    end: int | None = Field(
        None, ge=0, le=2_000_000_000, description=f"At most {_LONGEST_SLICE:,} after `start`."
    )

    @property
    def bounds(self) -> tuple[int, int]:
        """Return start and end of the span."""
        most = self.start + _LONGEST_SLICE
        return self.start, most if self.end is None else min(self.end, most)


class BoxesBody(Wire):
    """The positions of a span of text on the pages of the file: a box for each line, in reading order.

    Empty if the file has no pages or does not show the span, and for documents ingested before boxes were stored.
    """

    document_id: UUID
    start: int
    end: int
    boxes: tuple[PageBox, ...]


class SliceBody(Wire):
    """A part of a document's text with its actual end."""

    document_id: UUID
    start: int
    end: int
    text: str
