"""Results of the tools for agents, over MCP and LangChain: typed, with the ids for the next call, and as text.

Both stay within the size that chat hosts accept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from sextant.domain.answers import Answer, Citation, Effort, Source, Trust
from sextant.domain.documents import READ_BY_OCR
from sextant.domain.warnings import CodedWarning
from sextant.facade import Sextant
from sextant.facade.chunk_reader import NeighbourChunk, Preview
from sextant.retrievers.chunk_search.search import ChunkSearchResponse
from sextant.server.answers import run_search
from sextant.server.schemas.answers import SearchBody, on_wire
from sextant.server.schemas.documents import SectionBody
from sextant.server.schemas.wire import Wire
from sextant.stores.chunks.stored import ChunkEntity, StoredChunk
from sextant.text.characters import count_noun, estimate_tokens


class FoundPage(ChunkSearchResponse):
    """A page of passages; `hint` says what was left out to stay within the size."""

    graph_id: str
    hint: str | None = None


class FoundPassage(Wire):
    """A passage and its position."""

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
    """A passage near another one: `previous`, `next`, `section`, `parent`, or only `linked`.

    `sharedEntities` are mentioned by both, the rarest first.
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


class PassageSection(SectionBody):
    """The section that a passage lies in; `path` holds the titles from the root down to it."""

    path: tuple[str, ...]


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
    """An answer with its citations; `trust`: how well it is supported, `grounded`: every sentence is.

    `declined`: the documents do not answer, and cited passages are only the nearest. `notFound`: questions of a report
    that the documents do not answer.
    """

    graph_id: str
    answer: str
    mode: str
    trust: Trust
    grounded: bool
    declined: bool
    citations: tuple[Citation, ...]
    sources: tuple[Source, ...]
    attempts: int
    model: str
    effort: Effort = "medium"
    not_found: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    coded_warnings: tuple[CodedWarning, ...] = ()
    hint: str | None = None
    debug: dict[str, Any] | None = None


def resource_of(document_id: object, chunk_id: object) -> str:
    """Return the URI of a passage as a resource."""
    return f"kb://doc/{document_id}#{chunk_id}"


def passage_of(chunk: StoredChunk) -> FoundPassage:
    """Return the result for a stored chunk."""
    return FoundPassage.from_domain(chunk, **_of_passage(chunk))


def related_result(one: NeighbourChunk) -> RelatedPassage:
    """Return the result for a related chunk."""
    shown = _of_passage(one.chunk)
    return RelatedPassage.from_domain(
        one.chunk, **shown, relation=one.relation, shared_entities=one.shared
    )


def preview_result(graph_id: str, found: Preview) -> Previewed:
    """Return the result for a preview."""
    section = found.section
    return Previewed.from_domain(
        found,
        graph_id=graph_id,
        passage=passage_of(found.chunk),
        section=section and PassageSection.of_section(section),
        previous_chunk_id=found.previous_id and str(found.previous_id),
        next_chunk_id=found.next_id and str(found.next_id),
    )


def answer_result(graph_id: str, found: Answer, *, debug: bool) -> Answered:
    """Return the result for an answer; `debug` adds times, token usage and the graph context."""
    structured = {
        "timings": dict(found.timings),
        "usage": on_wire(found.usage),
        "graphContext": dict(found.graph_context),
    }
    return Answered.from_domain(found, graph_id=graph_id, debug=structured if debug else None)


def _of_passage(chunk: StoredChunk) -> dict[str, Any]:
    return {
        "chunk_id": str(chunk.id),
        "document_id": str(chunk.document_id),
        "semantic_title": chunk.title or chunk.document_title,
        "section_id": str(chunk.section_id),
        "parent_section_path": chunk.section_path,
        "resource": resource_of(chunk.document_id, chunk.id),
    }


MOST_TOKENS = 25_000  # Claude Code's limit for one result; other hosts accept as much or more
# A margin, since `estimate_tokens` may be 28 % too low for one passage and 8 % for many.
_SAFE_TOKENS = MOST_TOKENS * 4 // 5

R = TypeVar("R", bound=BaseModel)


def limit_size(results: Sequence[R]) -> tuple[R, ...]:
    """Return the first of `results` that together fit the size limit, at least one."""
    chosen, left = list[R](), _SAFE_TOKENS
    for one in results:
        left -= estimate_tokens(one.model_dump_json(by_alias=True))
        if left < 0 and chosen:
            break
        chosen.append(one)
    return tuple(chosen)


def omission_text(shown: int, found: int) -> str | None:
    """Return the hint that not all passages fit; None if they do."""
    if shown == found:
        return None
    return (
        f"Only the first {shown} of {found} passages fit here: narrow the query, add filters, "
        "or ask for fewer."
    )


def shorten_text(found: Previewed) -> Previewed:
    """Return the preview with as much of the surrounding text as fits, the nearest; the passage stays whole."""
    bare = found.model_copy(update={"before": "", "after": ""})
    budget = _SAFE_TOKENS - estimate_tokens(bare.model_dump_json(by_alias=True))
    needed = estimate_tokens(found.before) + estimate_tokens(found.after)
    if needed <= budget:
        return found
    share = max(0.0, budget / needed)
    before, after = int(len(found.before) * share), int(len(found.after) * share)
    return found.model_copy(
        update={
            "before": found.before[len(found.before) - before :],
            "after": found.after[:after],
            "hint": "Not all of the text around the passage fits here: ask for less, or preview the "
            "passages before and after it.",
        }
    )


async def find_passages(rag: Sextant, body: SearchBody) -> FoundPage:
    """Return a page of passages, as many as fit.

    Raises:
        SextantError: as `run_search`.
    """
    page = await run_search(rag, body)
    results = limit_size(page.results)
    hint = omission_text(len(results), len(page.results))
    structured = page.model_dump() | {"results": results, "graph_id": body.graph_id, "hint": hint}
    if hint:
        structured["next_cursor"] = None  # the next page would skip what was left out
    return FoundPage(**structured)


async def find_related(rag: Sextant, chunk_id: str, graph_id: str, limit: int) -> RelatedPassages:
    """Return the passages around one, as many as fit.

    Raises:
        GraphNotFound, ChunkNotFound, OptionInvalid: the request is at fault.
    """
    chunks = await rag.chunks(graph_id)
    around = [related_result(one) for one in await chunks.reading.related(chunk_id, limit)]
    results = limit_size(around)
    return RelatedPassages(
        graph_id=graph_id,
        chunk_id=chunk_id,
        results=results,
        hint=omission_text(len(results), len(around)),
    )


def search_text(found: FoundPage) -> str:
    """Return a page of passages as text."""
    head = f"{count_noun(len(found.results), 'passage')}, of {found.total} found, in {found.graph_id!r}."
    more = found.next_cursor and f"There are more: cursor {found.next_cursor}"
    hits = []
    for rank, hit in enumerate(found.results, start=1):
        is_scan = hit.modality in READ_BY_OCR
        where = _location(hit.filename, hit.parent_section_path, hit.page, ocr=is_scan)
        near = [f"  {near.relation} {near.chunk_id}: {near.text}" for near in hit.neighbors or ()]
        hits.append(
            "\n".join(
                [f"[{rank}] {where}, score {hit.score:.3f}, chunk {hit.chunk_id}", hit.text, *near]
            )
        )
    return _lines([head, *hits, *_notes(found.warnings), more, found.hint])


def related_text(found: RelatedPassages) -> str:
    """Return related passages as text."""
    head = f"{count_noun(len(found.results), 'passage')} related to {found.chunk_id}."
    return _lines([head, *map(_relation_text, found.results), found.hint])


def preview_text(found: Previewed) -> str:
    """Return a preview as text, in the order of the document."""
    section = found.section
    summary = f"The section: {section.summary}" if section and section.summary else None
    near = f"previous: {found.previous_chunk_id or 'none'}, next: {found.next_chunk_id or 'none'}"
    names = ", ".join(f"{one.name} ({one.type})" for one in found.entities)
    return _lines(
        [
            _passage_location(found.passage),
            summary,
            found.before and f"… {found.before.strip()}",
            f">>> {found.passage.text} <<<",
            found.after and f"{found.after.strip()} …",
            names and f"Mentions: {names}",
            near,
            found.hint,
        ]
    )


_TRUST = {
    Trust.QUOTED: "Quoted word for word; nobody has judged whether it answers.",
    Trust.SUPPORTED: "",
    Trust.PARTIAL: "Not every sentence is supported.",
    Trust.UNSUPPORTED: "No sentence is supported.",
}


def answer_text(found: Answered, *, chosen: bool = False) -> str:
    """Return an answer as text, with its sources, and with the knowledge base if it was chosen for the caller."""
    support = "" if found.declined or not found.citations else _TRUST[found.trust]
    sources = map(_source, found.sources)
    base = f"Asked {found.graph_id!r}, the only knowledge base there is." if chosen else ""
    return _lines([found.answer, *sources, support, base, *_notes(found.warnings), found.hint])


def _relation_text(one: RelatedPassage) -> str:
    why = f", shares {', '.join(one.shared_entities)}" if one.shared_entities else ""
    return f"{one.relation}{why}: {_passage_location(one)}\n{one.text}"


def _passage_location(passage: FoundPassage) -> str:
    where = _location(passage.filename, passage.parent_section_path, passage.page)
    return f"{where}, chunk {passage.chunk_id}"


def _source(one: Source) -> str:
    where = _location(one.filename, one.section_path, one.page, ocr=one.ocr)
    return f"[{one.marker}] {where}, chunk {one.chunk_id}"


def _location(
    filename: str, section_path: Sequence[str], page: int | None, *, ocr: bool = False
) -> str:
    """Return where a passage stands: the file, its sections and the page."""
    place = " › ".join((filename, *section_path))
    return f"{place}{'' if page is None else f', page {page}'}{', read by OCR' if ocr else ''}"


def _notes(warnings: Iterable[str]) -> list[str]:
    return [f"Note: {warning}" for warning in warnings]


def _lines(parts: Iterable[str | None]) -> str:
    return "\n\n".join(part for part in parts if part)
