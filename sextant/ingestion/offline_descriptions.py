"""Describe a document's chunks and sections by extraction, without a model.

A term weighs its frequency and form in a chunk (`extract_terms`), times its inverse chunk frequency in the document
(tf-idf, Spärck Jones 1972). So descriptions depend on nothing but the document.
"""

from __future__ import annotations

import asyncio
import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from sextant.domain.documents import TABLES, Chunk, Modality, ParsedDocument, Section
from sextant.ingestion.graph.extraction.extract_terms import (
    NAMED,
    Term,
    extract_terms,
    sentences_of,
)
from sextant.text.characters import has_cjk, normalise, normalise_name
from sextant.text.name_linker import bare_title
from sextant.text.stopwords import ENGLISH_STOP_WORDS

KEYWORDS = 8  # of a chunk or section
TOPICS = 3  # of a section
SUMMARY_CHARS = 200
_OPENING = 1.1  # factor of a passage's first sentence in the choice of its summary
_TELLING_CHARS = 12  # the length that shorter sentences count as
_FEW = 3
_CHUNKS_AT_ONCE = 250  # about half a second
_WORD = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True, slots=True)
class DescribedDocument:
    """A document with descriptions, and the terms of its chunks."""

    parsed: ParsedDocument
    terms: Mapping[UUID, Sequence[Term]]


@dataclass(frozen=True, slots=True)
class _Summary:
    text: str
    worth: float


class _Worths:
    """The tf-idf weights of one document's terms, by normalised name."""

    def __init__(self, terms: Mapping[UUID, Sequence[Term]]) -> None:
        holders = Counter(
            name
            for terms_of_chunk in terms.values()
            for name in {normalise_name(one.name) for one in terms_of_chunk}
        )
        self._rarity = {name: math.log(1 + len(terms) / number) for name, number in holders.items()}
        self.spelled: dict[str, str] = {}

    def of(self, term: Term) -> tuple[str, float]:
        """Return a term's normalised name and its weight."""
        name = normalise_name(term.name)
        self.spelled.setdefault(name, term.name)
        return name, term.weight * self._rarity[name]

    def best(self, worths: Mapping[str, float], number: int) -> tuple[str, ...]:
        """Return the terms with the largest weights in their first spelling; ties in the order of the text."""
        ranked = sorted(worths, key=lambda name: -worths[name])
        return tuple(self.spelled[name] for name in ranked[:number])


def describe(
    parsed: ParsedDocument, terms: Mapping[UUID, Sequence[Term]] | None = None
) -> DescribedDocument:
    """Add extracted descriptions to chunks and sections; existing ones stay.

    Chunks get `summary` (the sentence with the largest weight), `keywords`, `entities` (names and codes among
    their terms), `topics` (keywords of their section), `topic_labels` (titles above them without
    their numbers, and topics), `tags` (language, format, tables and images) and `neighbours` (the
    chunks before and after in their section). Sections get `summary`, `keywords` and `tags` from the
    chunks in them and below.

    Args:
        parsed: the document.
        terms: the terms of its chunks, if known.
    """
    if terms is None:
        terms = _extract(parsed.chunks)
    worths = _Worths(terms)
    by_chunk = {chunk_id: dict(map(worths.of, found)) for chunk_id, found in terms.items()}
    summaries = {one.id: _summary(one, terms[one.id], by_chunk[one.id]) for one in parsed.chunks}
    above = _lines_of(parsed.sections)
    by_section = _sum_weights(parsed.chunks, by_chunk, above)
    topics = {chunk_id: worths.best(found, TOPICS) for chunk_id, found in by_section.items()}
    kind, neighbours = _kind(parsed), _neighbours(parsed.chunks)
    chunks = tuple(
        replace(
            chunk,
            summary=chunk.summary or summaries[chunk.id].text,
            keywords=chunk.keywords or _keywords(chunk, worths.best(by_chunk[chunk.id], KEYWORDS)),
            entities=chunk.entities or _names(terms[chunk.id]),
            topics=chunk.topics or topics.get(chunk.section_id, ()),
            topic_labels=chunk.topic_labels or _labels(chunk, topics.get(chunk.section_id, ())),
            tags=chunk.tags or _tags(kind, chunk.modality),
            neighbours=chunk.neighbours or neighbours[chunk.id],
        )
        for chunk in parsed.chunks
    )
    keywords = {chunk_id: worths.best(found, KEYWORDS) for chunk_id, found in by_section.items()}
    sections = _sections(parsed, chunks, summaries, keywords, above)
    return DescribedDocument(replace(parsed, chunks=chunks, sections=sections), terms)


async def describe_in_parts(parsed: ParsedDocument) -> DescribedDocument:
    """Describe a document in a thread, in parts, so that a cancelled call ends soon."""
    terms = dict[UUID, Sequence[Term]]()
    for start in range(0, len(parsed.chunks), _CHUNKS_AT_ONCE):
        terms |= await asyncio.to_thread(_extract, parsed.chunks[start : start + _CHUNKS_AT_ONCE])
    return await asyncio.to_thread(describe, parsed, terms)


def _extract(chunks: Iterable[Chunk]) -> dict[UUID, Sequence[Term]]:
    return {chunk.id: extract_terms(chunk.text) for chunk in chunks}


def _sum_weights(
    chunks: Sequence[Chunk],
    by_chunk: Mapping[UUID, Mapping[str, float]],
    above: Mapping[UUID, Sequence[UUID]],
) -> dict[UUID, Counter[str]]:
    """Return the weight of each term in a section and below."""
    sums: defaultdict[UUID, Counter[str]] = defaultdict(Counter)
    for chunk in chunks:
        for section in above.get(chunk.section_id, ()):
            sums[section].update(by_chunk[chunk.id])
    return sums


def _lines_of(sections: Iterable[Section]) -> dict[UUID, tuple[UUID, ...]]:
    """Return each section with its ancestors, itself first; `sections` has parents before children."""
    above: dict[UUID, tuple[UUID, ...]] = {}
    for section in sections:
        higher = above.get(section.parent_id, ()) if section.parent_id else ()
        above[section.id] = (section.id, *higher)
    return above


def _summary(chunk: Chunk, terms: Sequence[Term], worths: Mapping[str, float]) -> _Summary:
    """Return the sentence with the largest weight for its length; of a table its columns."""
    spans = sentences_of(chunk.text)
    if not spans:
        return _Summary("", 0.0)
    if chunk.modality in TABLES:
        return _Summary(short(_columns(chunk.text[slice(*spans[0])])), 0.0)
    weights = [0.0] * len(spans)
    begins = [start for start, _ in spans]
    for term in terms:
        worth = worths[normalise_name(term.name)]
        for index in {bisect_right(begins, span.start) - 1 for span in term.spans}:
            weights[index] += worth
    rates = [
        worth / math.sqrt(max(end - start, _TELLING_CHARS))
        for worth, (start, end) in zip(weights, spans, strict=True)
    ]
    rates[0] *= _OPENING
    best = max(range(len(spans)), key=lambda index: (rates[index], -index))
    return _Summary(short(chunk.text[slice(*spans[best])]), rates[best])


def _columns(line: str) -> str:
    """Return a table's first line without its bars: `| item | price |` is `item · price`."""
    return " · ".join(cell for part in line.split("|") if (cell := part.strip()))


def short(sentence: str, chars: int = SUMMARY_CHARS) -> str:
    """Return a text on one line, with a mark where it was cut."""
    line = " ".join(sentence.split())
    return line if len(line) <= chars else line[: chars - 1].rstrip() + "…"


def _keywords(chunk: Chunk, terms: tuple[str, ...]) -> tuple[str, ...]:
    """Return the terms; English prose without names and repeated phrases has few, so its words join them."""
    if len(terms) >= _FEW or has_cjk(chunk.text):
        return terms
    counted = Counter(normalise(word) for word in _WORD.findall(chunk.text))
    words = [word for word, _ in counted.most_common() if word not in ENGLISH_STOP_WORDS]
    known = " ".join(map(normalise, terms))
    return (*terms, *[word for word in words if word not in known][: KEYWORDS - len(terms)])


def _fill_terms(terms: tuple[str, ...], words: Iterable[str]) -> tuple[str, ...]:
    """Return the terms; few of them are followed by keywords of the chunks."""
    more = words if len(terms) < _FEW else ()
    return tuple(dict.fromkeys((*terms, *more)))[:KEYWORDS]


def _names(terms: Sequence[Term]) -> tuple[str, ...]:
    return tuple(one.name for one in terms if any(span.weight >= NAMED for span in one.spans))


def _labels(chunk: Chunk, topics: Sequence[str]) -> tuple[str, ...]:
    titles = (bare_title(title) for title in chunk.section_path)
    return tuple(dict.fromkeys([*filter(None, titles), *topics]))


def _kind(parsed: ParsedDocument) -> tuple[str, ...]:
    """Return the tags of the whole document: those of the user, the language and the format."""
    given = parsed.metadata.get("tags", ())
    kinds = [given] if isinstance(given, str) else given if isinstance(given, list | tuple) else []
    words = [*kinds, parsed.language, parsed.metadata.get("format", "")]
    return tuple(dict.fromkeys(word for word in words if isinstance(word, str) and word))


def _tags(kind: Sequence[str], modality: Modality) -> tuple[str, ...]:
    form = () if modality is Modality.TEXT else (modality.value,)
    return tuple(dict.fromkeys((*kind, *form)))


def _neighbours(chunks: Sequence[Chunk]) -> dict[UUID, tuple[UUID, ...]]:
    """Return the chunk before and the one after each in its section."""
    rows: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for chunk in sorted(chunks, key=lambda one: one.ordinal):
        rows[chunk.section_id].append(chunk.id)
    neighbours: dict[UUID, tuple[UUID, ...]] = {}
    for row in rows.values():
        for index, current in enumerate(row):
            neighbours[current] = (*row[max(index - 1, 0) : index], *row[index + 1 : index + 2])
    return neighbours


def _sections(
    parsed: ParsedDocument,
    chunks: Sequence[Chunk],
    summaries: Mapping[UUID, _Summary],
    keywords: Mapping[UUID, tuple[str, ...]],
    above: Mapping[UUID, Sequence[UUID]],
) -> tuple[Section, ...]:
    """Return sections with the most telling summary of their chunks, the tags that these have, and their keywords."""
    best: dict[UUID, _Summary] = {}
    tags: defaultdict[UUID, dict[str, None]] = defaultdict(dict)
    words: defaultdict[UUID, dict[str, None]] = defaultdict(dict)
    for chunk in chunks:
        summary = summaries[chunk.id]
        for section in above.get(chunk.section_id, ()):
            tags[section].update(dict.fromkeys(chunk.tags))
            words[section].update(dict.fromkeys(chunk.keywords))
            if section not in best or summary.worth > best[section].worth:
                best[section] = summary
    return tuple(
        replace(
            section,
            summary=section.summary or (best[section.id].text if section.id in best else ""),
            tags=section.tags or tuple(tags[section.id]),
            keywords=section.keywords
            or _fill_terms(keywords.get(section.id, ()), words[section.id]),
        )
        for section in parsed.sections
    )
