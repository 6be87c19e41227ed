"""What agents call, whoever's protocol brings the call, and the results as text that a model reads.

Both keep within what a chat host takes. The answer to a question is `answer_result` of what `Sextant.query` returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from pydantic import BaseModel

from sextant.domain.answers import Trust
from sextant.domain.documents import Modality
from sextant.facade import Sextant
from sextant.retrievers.chunk_search.hits import SearchHit
from sextant.server.answers import run_search
from sextant.server.mcp.results import (
    Answered,
    FoundPage,
    FoundPassage,
    Previewed,
    RelatedPassage,
    RelatedPassages,
    related_items,
)
from sextant.server.schemas.answers import SearchBody, SourceOut
from sextant.text.characters import count_noun, estimate_tokens

# What Claude Code takes of one tool's result; other hosts take as much or more.
MOST_TOKENS = 25_000
# `estimate_tokens` may be short by 28 % for a single passage, 8 % over many; lines around them count too.
_SAFE_TOKENS = MOST_TOKENS * 4 // 5

R = TypeVar("R", bound=BaseModel)


def fitting(results: Sequence[R]) -> tuple[R, ...]:
    """Return the first of `results` that are together within a host's limit; always the first one."""
    chosen, left = list[R](), _SAFE_TOKENS
    for one in results:
        left -= estimate_tokens(one.model_dump_json(by_alias=True))
        if left < 0 and chosen:
            break
        chosen.append(one)
    return tuple(chosen)


def omission_text(shown: int, found: int) -> str | None:
    """Return what to tell when not all fit."""
    if shown == found:
        return None
    return (
        f"Only the first {shown} of {found} passages fit here: narrow the query, add filters, "
        "or ask for fewer."
    )


def shorten_text(found: Previewed) -> Previewed:
    """Return the preview with as much of what surrounds the passage as fits; the passage itself stays whole.

    What is nearest to the passage stays.
    """
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
    """Return a page of passages, as many as a host takes.

    Raises:
        What `run_search` raises.
    """
    page = await run_search(rag, body)
    results = fitting(page.results)
    hint = omission_text(len(results), len(page.results))
    structured = page.model_dump() | {"results": results, "graph_id": body.graph_id, "hint": hint}
    if hint:
        structured["next_cursor"] = None  # it would pass over what was left out
    return FoundPage(**structured)


async def find_related(rag: Sextant, chunk_id: str, graph_id: str, limit: int) -> RelatedPassages:
    """Return the passages around one, as many as a host takes.

    Raises:
        GraphNotFound, ChunkNotFound, OptionInvalid: the request is at fault.
    """
    chunks = await rag.chunks(graph_id)
    around = [related_items(one) for one in await chunks.reading.related(chunk_id, limit)]
    results = fitting(around)
    return RelatedPassages(
        graph_id=graph_id,
        chunk_id=chunk_id,
        results=results,
        hint=omission_text(len(results), len(around)),
    )


def search_text(found: FoundPage) -> str:
    """Return a page of passages."""
    head = f"{count_noun(len(found.results), 'passage')}, of {found.total} found, in {found.graph_id!r}."
    more = found.next_cursor and f"There are more: cursor {found.next_cursor}"
    hits = [_hit(rank, hit) for rank, hit in enumerate(found.results, start=1)]
    return _lines([head, *hits, *_notes(found.warnings), more, found.hint])


def format_related(found: RelatedPassages) -> str:
    """Related passages."""
    head = f"{count_noun(len(found.results), 'passage')} related to {found.chunk_id}."
    return _lines([head, *map(_format_relation, found.results), found.hint])


def preview_text(found: Previewed) -> str:
    """Return a passage in its place; what surrounds it stands in the order of the document."""
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
    """Return the answer, then its sources by their markers, and which knowledge base was chosen for the caller."""
    support = "" if found.declined or not found.citations else _TRUST[found.trust]
    sources = map(_source, found.sources)
    base = f"Asked {found.graph_id!r}, the only knowledge base there is." if chosen else ""
    return _lines([found.answer, *sources, support, base, *_notes(found.warnings), found.hint])


def _hit(rank: int, hit: SearchHit) -> str:
    heading = " › ".join((hit.filename, *hit.parent_section_path))
    page = f", page {hit.page}" if hit.page is not None else ""
    page += ", read by OCR" if hit.modality == Modality.SCAN else ""
    around = [f"  {near.relation} {near.chunk_id}: {near.text}" for near in hit.neighbors or ()]
    return "\n".join(
        [
            f"[{rank}] {heading}{page}, score {hit.score:.3f}, chunk {hit.chunk_id}",
            hit.text,
            *around,
        ]
    )


def _format_relation(one: RelatedPassage) -> str:
    why = f", shares {', '.join(one.shared_entities)}" if one.shared_entities else ""
    return f"{one.relation}{why}: {_passage_location(one)}\n{one.text}"


def _passage_location(passage: FoundPassage) -> str:
    path = " › ".join((passage.filename, *passage.parent_section_path))
    page = f", page {passage.page}" if passage.page is not None else ""
    return f"{path}{page}, chunk {passage.chunk_id}"


def _source(one: SourceOut) -> str:
    path = " › ".join((one.filename, *one.section_path))
    page = f", page {one.page}" if one.page is not None else ""
    page += ", read by OCR" if one.ocr else ""
    return f"[{one.marker}] {path}{page}, chunk {one.chunk_id}"


def _notes(warnings: Iterable[str]) -> list[str]:
    return [f"Note: {warning}" for warning in warnings]


def _lines(parts: Iterable[str | None]) -> str:
    return "\n\n".join(part for part in parts if part)
