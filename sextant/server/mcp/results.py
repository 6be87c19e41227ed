"""What the tools return: typed, in camelCase, with the ids that the next call takes."""

from __future__ import annotations

from typing import Any

from sextant.domain.answers import Answer, Citation, Effort, Trust
from sextant.facade.knowledge.chunk_reader import NeighbourChunk, Preview
from sextant.retrievers.chunk_search.hits import ChunkEntity
from sextant.retrievers.chunk_search.search import ChunkSearchResponse
from sextant.server.schemas.answers import SourceOut, on_wire
from sextant.server.schemas.wire import WarningBody, Wire
from sextant.stores.chunks.stored import StoredChunk


class FoundPage(ChunkSearchResponse):
    """A page of passages; `hint` says what was left out to keep the result readable."""

    graph_id: str
    hint: str | None = None


class FoundPassage(Wire):
    """A passage and where it stands."""

    chunk_id: str
    document_id: str
    external_id: str | None
    filename: str
    document_title: str
    text: str
    semantic_title: str
    summary: str
    topics: tuple[str, ...]
    keywords: tuple[str, ...]
    section_id: str
    parent_section_path: tuple[str, ...]
    page: int | None
    start: int
    end: int
    resource: str


class RelatedPassage(FoundPassage):
    """A passage beside another one: `previous`, `next`, `section`, `parent`, or only `linked`.

    `sharedEntities` are those that both mention, the rarest first.
    """

    relation: str
    shared_entities: tuple[str, ...] = ()


class RelatedPassages(Wire):
    """The passages related to one, the nearest first."""

    graph_id: str
    chunk_id: str
    results: tuple[RelatedPassage, ...]
    hint: str | None = None
    debug: dict[str, Any] | None = None


class PassageSection(Wire):
    """The section that a passage lies in."""

    section_id: str
    parent_section_id: str | None
    title: str
    path: tuple[str, ...]
    level: int
    summary: str
    tags: tuple[str, ...]
    keywords: tuple[str, ...]
    page: int | None
    start: int
    end: int


class Previewed(Wire):
    """A passage, its section, and the document's text right before and after it."""

    graph_id: str
    passage: FoundPassage
    section: PassageSection | None
    entities: tuple[ChunkEntity, ...]
    before: str
    after: str
    previous_chunk_id: str | None
    next_chunk_id: str | None
    hint: str | None = None
    debug: dict[str, Any] | None = None


class Answered(Wire):
    """An answer with its citations; `trust`: what stands behind its sentences, `grounded`: every one is supported.

    `declined`: the documents do not say, and what is cited is only the nearest. `notFound`: the questions of a report that
    they do not answer.
    """

    graph_id: str
    answer: str
    mode: str
    trust: Trust
    grounded: bool
    declined: bool
    citations: tuple[Citation, ...]
    sources: tuple[SourceOut, ...]
    attempts: int
    model: str
    effort: Effort = "medium"
    not_found: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    coded_warnings: tuple[WarningBody, ...] = ()
    hint: str | None = None
    debug: dict[str, Any] | None = None


def resource_of(document_id: object, chunk_id: object) -> str:
    """Return the address under which a passage can be read as a resource."""
    return f"kb://doc/{document_id}#{chunk_id}"


def passage_of(chunk: StoredChunk) -> FoundPassage:
    """Return a stored chunk as the tools show it."""
    return FoundPassage.shown(chunk, **_of_passage(chunk))


def related_items(one: NeighbourChunk) -> RelatedPassage:
    """Return a related chunk as the tools show it."""
    shown = _of_passage(one.chunk)
    return RelatedPassage.shown(
        one.chunk, **shown, relation=one.relation, shared_entities=one.shared
    )


def preview_text(graph_id: str, found: Preview) -> Previewed:
    """Return a preview as the tools show it."""
    section = found.section
    return Previewed.shown(
        found,
        graph_id=graph_id,
        passage=passage_of(found.chunk),
        section=section
        and PassageSection.shown(
            section,
            section_id=str(section.id),
            parent_section_id=section.parent_id and str(section.parent_id),
        ),
        previous_chunk_id=found.previous_id and str(found.previous_id),
        next_chunk_id=found.next_id and str(found.next_id),
    )


def answer_result(graph_id: str, found: Answer, *, debug: bool) -> Answered:
    """Return an answer as the tools show it; `debug` adds times, the model's cost and the graph's part."""
    structured = {
        "timings": dict(found.timings),
        "usage": on_wire(found.usage),
        "graphContext": dict(found.graph_context),
    }
    return Answered.shown(
        found,
        graph_id=graph_id,
        sources=on_wire(found.sources),
        debug=structured if debug else None,
    )


def _of_passage(chunk: StoredChunk) -> dict[str, Any]:
    return {
        "chunk_id": str(chunk.id),
        "document_id": str(chunk.document_id),
        "semantic_title": chunk.title or chunk.document_title,
        "section_id": str(chunk.section_id),
        "parent_section_path": chunk.section_path,
        "resource": resource_of(chunk.document_id, chunk.id),
    }
