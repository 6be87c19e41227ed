"""Lists, code and small tables with the line that introduces them: neither says it all without the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import FENCE, NUMBERED, Span, is_row, quotable_spans
from sextant.models.offline.wording import Paraphrases, terms
from sextant.text.characters import plain_of

# A longer list, or a table of more rows, is left as it is.
_MOST_ITEMS, _MOST_ROWS = 12, 8
_MARK = re.compile(rf"[ \t]*(?:[-*+•·]\s+|{NUMBERED})(?=\S)")
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_INTRODUCES = re.compile(r"[:：][*_]*\s*$")
_RULE = re.compile(r"\s*\|[ :|-]+$")


def complete_lists(
    question: str, items: Sequence[RetrievedItem], spans: Sequence[Span]
) -> list[Span]:
    """Return `spans` with the whole list, code or small table that the first of them introduces.

    Of a table only the rows that have something of the question which the line does not say, where there are any.
    """
    if not spans:
        return []
    source, start, end = spans[0]
    text = items[source].text
    below: Sequence[tuple[int, int]] = list(_read_below(text, start, end))
    if not below:
        return list(spans)
    first = [] if is_row(text[slice(*below[0])]) else [spans[0]]
    if not first:
        below = _choose_rows(question, text, text[start:end], below)
    completed = [*first, *((source, *span) for span in below)]
    last = max(span[1] for span in below)
    others = [one for one in spans[1:] if one[0] != source or not start <= one[1] < last]
    return [*completed, *others]


def _choose_rows(
    question: str, text: str, caption: str, rows: Sequence[tuple[int, int]]
) -> Sequence[tuple[int, int]]:
    wanted = frozenset(terms(plain_of(question))) - Paraphrases(question).read_terms(caption)
    shared = [len(wanted & Paraphrases(question).read_terms(text[slice(*row)])) for row in rows]
    most = max(shared, default=0)
    return [row for row, count in zip(rows, shared, strict=True) if count == most]


def _read_below(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what a line introduces: items of a list, lines of code, or rows; nothing for a row or an item."""
    if is_row(text[start:end]) or text[end:].partition("\n")[0].strip(" *_"):
        return
    lines = list(_LINE.finditer(text, end))
    if not lines:
        return
    if lines[0][0].lstrip().startswith("|"):
        yield from _read_rows(text, lines)
    elif not _INTRODUCES.search(text[start:end]):
        return
    elif lines[0][0].lstrip().startswith(FENCE):
        yield from _read_code(lines)
    else:
        yield from _read_items(lines)


def _read_rows(text: str, lines: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    rows = list[re.Match[str]]()
    for line in lines:
        if not line[0].lstrip().startswith("|"):
            break
        rows.append(line)
    if len(rows) > 2 and _RULE.match(rows[1][0]) and len(rows) - 2 <= _MOST_ROWS:
        last = rows[-1].end()
        yield from (
            span for span in quotable_spans(text) if rows[2].start() <= span[0] and span[1] <= last
        )


def _read_code(lines: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Yield the lines up to the closing fence; none where there is none, or they are many."""
    for count, line in enumerate(lines[1 : _MOST_ITEMS + 2]):
        if line[0].lstrip().startswith(FENCE):
            yield from (_strip(one) for one in lines[1 : 1 + count])
            return


def _read_items(lines: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Yield the items of a list without their marks; lines indented below an item belong to it."""
    found = list[tuple[int, int]]()
    for line in lines:
        mark = _MARK.match(line[0])
        if mark:
            found.append((line.start() + mark.end(), _strip(line)[1]))
        elif found and line[0][0].isspace():
            found[-1] = (found[-1][0], _strip(line)[1])
        else:
            break
    yield from found if len(found) <= _MOST_ITEMS else ()


def _strip(line: re.Match[str]) -> tuple[int, int]:
    text = line[0]
    start = line.start() + len(text) - len(text.lstrip())
    return start, start + len(text.strip())
