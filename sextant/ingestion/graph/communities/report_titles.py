"""Titles of reports that no model writes: where most of a community comes from, or what leads it.

A community whose best passages stand mostly in one document is called by the document, by the section
if one holds most of them, and by its leading names ("Employee Handbook › Leave: parental leave, HR").
One that is spread over documents is called by its two leading names, each with what a passage or its
type says it is ("Captain Apache (acid western film), Alexander Singer (director) and 54 more").
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from sextant.domain.graph import UNTYPED
from sextant.ingestion.graph.extraction.entity_types import find_kind
from sextant.stores.chunks.stored import StoredChunk
from sextant.text.characters import normalise
from sextant.text.sentences import sentence_spans

_LONGEST = 120  # characters, as in the lines below
_LONGEST_NAME = 60
_LONGEST_HEADING = 50
_NAMES = 2  # entities that a title lists
_MOSTLY = 0.5  # share of the weight of the best passages
_JOINT = {"zh": "、", "en": ", "}
_COLON = {"zh": "：", "en": ": "}
_WITHIN = " › "
# A name of numbers, like that of a log by its date, says nothing.
_LETTERS = re.compile(r"[^\W\d_]{2}")


def title_of(
    names: Sequence[str],
    types: Sequence[str],
    chunks: Sequence[StoredChunk],
    telling: Sequence[float],
    *,
    language: str,
    members: int,
) -> str:
    """Return a title in `language`, at most 120 characters.

    Args:
        names: distinct ones of the members, those that lead first.
        types: of those.
        chunks: the passages that say most.
        telling: how much each says.
        language: `zh` or `en`.
        members: how many there are in all.
    """
    section = _main_section(chunks, telling)
    if section:
        known = normalise(section)
        added = [one for one in names if normalise(one) not in known][:_NAMES]
        return _cut(_COLON[language].join(filter(None, [section, _JOINT[language].join(added)])))
    shown = len(names) if members <= _NAMES + 1 else _NAMES
    led = [
        _with_kind(name, kind, chunks, language)
        for name, kind in zip(names[:shown], types, strict=False)
    ]
    rest = members - len(led)
    joined = _JOINT[language].join(led)
    if rest < 1:
        return _cut(joined)
    return _cut(f"{joined}等{members}项" if language == "zh" else f"{joined} and {rest} more")


def _main_section(chunks: Sequence[StoredChunk], telling: Sequence[float]) -> str:
    """Return the document, and the section, that most of what is said comes from; empty for none."""
    document = _most(
        ((one.document_id, one), weight) for one, weight in _weigh_chunks(chunks, telling)
    )
    if document is None or len({one.document_id for one in chunks}) == len(chunks) > 1:
        return ""
    title = document.document_title.strip() or document.filename.rpartition(".")[0]
    if not _LETTERS.search(title):
        return ""
    sections = [
        (one, weight)
        for one, weight in _weigh_chunks(chunks, telling)
        if one.document_id == document.document_id
    ]
    section = _most(((_heading(one, title), one), weight) for one, weight in sections)
    heading = _heading(section, title) if section else ""
    return _WITHIN.join(filter(None, [title[:_LONGEST_NAME], heading]))


def _weigh_chunks(
    chunks: Sequence[StoredChunk], telling: Sequence[float]
) -> Iterable[tuple[StoredChunk, float]]:
    return zip(chunks, telling, strict=False)


def _most(rows: Iterable[tuple[tuple[object, StoredChunk], float]]) -> StoredChunk | None:
    """Return the first passage of the key that has more than half of the weight."""
    weights: dict[object, float] = defaultdict(float)
    first: dict[object, StoredChunk] = {}
    for (key, chunk), weight in rows:
        weights[key] += weight
        first.setdefault(key, chunk)
    if not weights:
        return None
    best = max(weights, key=lambda key: weights[key])
    return first[best] if weights[best] > _MOSTLY * sum(weights.values()) else None


def _heading(chunk: StoredChunk, title: str) -> str:
    """Return the innermost heading over a passage that is not the document's title."""
    headings = [part for part in chunk.section_path if normalise(part) != normalise(title)]
    return headings[-1][:_LONGEST_HEADING] if headings else ""


def _with_kind(name: str, entity_type: str, chunks: Sequence[StoredChunk], language: str) -> str:
    kind = next(_kinds(name, chunks), "")
    if not kind and entity_type != UNTYPED:
        kind = entity_type.replace("_", " ").lower()
    if not kind:
        return name
    return f"{name}（{kind}）" if language == "zh" else f"{name} ({kind})"


def _kinds(name: str, chunks: Sequence[StoredChunk]) -> Iterator[str]:
    """Yield what passages say `name` is, in sentences that begin with it."""
    for chunk in chunks:
        for start, end in sentence_spans(chunk.text):
            begin = end - len(chunk.text[start:end].lstrip("#>*•·|- \t"))
            behind = begin + len(name)
            if not chunk.text.startswith(name, begin) or chunk.text[behind:end][:1] in {":", "："}:
                continue  # of something else, or it speaks
            kind = find_kind(chunk.text, behind, end)
            if kind is not None:
                yield kind.text


def _cut(title: str) -> str:
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1].rstrip()}…"
