"""Sentences that a graph rests on, and where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.graph.resolution.deciding import MentioningPassage
from sextant.text.sentences import sentence_spans

STATES = "states"
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class EntityQuote:
    """A sentence of a passage that mentions an entity or states a relation.

    `sentence` is in one line and of at most 300 characters; `start` and `end` are where all of it stands, as
    character offsets into the document's text; `kind` says who vouches for it, of a relation `states`.
    """

    sentence: str
    filename: str
    page: int | None
    section_path: tuple[str, ...]
    kind: str
    chunk_id: UUID
    document_id: UUID
    start: int
    end: int


def mentioning(found: MentioningPassage) -> EntityQuote:
    """Return the sentence of a mention; of a passage that is only titled so, the first."""
    spans = _spans(found.text)
    start, end = next((span for span in spans if span[0] <= found.start < span[1]), spans[0])
    return EntityQuote(
        _in_one_line(found.text[start:end]),
        found.filename,
        found.page,
        tuple(found.section_path),
        found.kind,
        found.chunk_id,
        found.document_id,
        found.offset + start,
        found.offset + end,
    )


def stating(chunk: StoredChunk, names: Iterable[str]) -> EntityQuote:
    """Return the sentence that names most of a relation's ends, the first of several."""
    wanted = [name.casefold() for name in names]

    def named(span: tuple[int, int]) -> int:
        sentence = chunk.text[slice(*span)].casefold()
        return sum(name in sentence for name in wanted)

    start, end = max(_spans(chunk.text), key=named)
    return EntityQuote(
        _in_one_line(chunk.text[start:end]),
        chunk.filename,
        chunk.page,
        chunk.section_path,
        STATES,
        chunk.id,
        chunk.document_id,
        chunk.start + start,
        chunk.start + end,
    )


def _spans(text: str) -> list[tuple[int, int]]:
    return list(sentence_spans(text)) or [(0, len(text))]


def _in_one_line(sentence: str) -> str:
    return " ".join(sentence.split())[:_LONGEST]
