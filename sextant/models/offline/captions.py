"""The line above a table: it says what the table is of, and its rows say what is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import Span, is_row, quotable_spans

# The rows of a table that has its head right below a line, and how many of them an answer may have.
_BELOW = re.compile(r"[^\n|]*\n\s*\|[^\n]*\n\|[ :|-]+\n((?:\|[^\n]*(?:\n|$))+)")
_ROWS_BELOW = 8
_ENDS_SENTENCE = re.compile(r"[.。!！?？]\W*$")


def with_rows_told(items: Sequence[RetrievedItem], spans: Sequence[Span]) -> list[Span]:
    """Return `spans` with the rows of a small table for its caption where that is first; none beside a row of its table."""
    if not spans:
        return []
    first, *others = spans
    told = [*_told_by(items, first), *others]
    kept = [
        span
        for place, span in enumerate(told)
        if not place or not _is_told_below(items, span, told)
    ]
    return list(dict.fromkeys(kept))


def _told_by(items: Sequence[RetrievedItem], span: Span) -> list[Span]:
    """Return the sentence itself; if it is the caption of a small table, the rows of that."""
    source, *_ = span
    if (below := _rows_below(items, span)) is None:
        return [span]
    spans = quotable_spans(items[source].text)
    rows = [(source, *row) for row in spans if below[0] <= row[0] < below[1]]
    return rows if 0 < len(rows) <= _ROWS_BELOW else [span]


def _is_told_below(items: Sequence[RetrievedItem], span: Span, others: Sequence[Span]) -> bool:
    """Return whether it is no sentence, and one of the others is a row of the table below it."""
    source, start, end = span
    below = _rows_below(items, span)
    if below is None or _ENDS_SENTENCE.search(items[source].text[start:end]):
        return False
    return any(other == source and below[0] <= at < below[1] for other, at, _ in others)


def _rows_below(items: Sequence[RetrievedItem], span: Span) -> tuple[int, int] | None:
    """Return where the rows of the table right below a line are; None where there is none, or it is a row itself."""
    source, start, end = span
    text = items[source].text
    below = None if is_row(text[start:end]) else _BELOW.match(text, end)
    return below and below.span(1)
