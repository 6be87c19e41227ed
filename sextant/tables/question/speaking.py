"""Whether a question may ask for something computed of a table, and what else it speaks of: cheap, of no table."""

from __future__ import annotations

import re

from sextant.tables.question.comparisons import COMPARING, bounds_in
from sextant.tables.question.dates import ANY_YEAR, dates_in
from sextant.tables.question.ranks import rank_in
from sextant.tables.question.wording import (
    APART,
    BESIDE,
    DATED,
    GROUPED,
    HAVING,
    IMPLIED,
    LISTING,
    OPERATIONS,
    ROWS,
    SHARE,
)
from sextant.text.simplified import plain_of

_UNIT_BEHIND = re.compile(r"^\s?(?:[a-z%]{1,3}\b|euros?\b|dollars?\b|[元块圆圓人个個台件])")


def computes(question: str) -> bool:
    """Return whether a question may ask for something computed, of whatever table: cheap, and often wrong."""
    text = plain_of(question)
    forms = (*OPERATIONS.values(), *DATED.values(), COMPARING, LISTING, HAVING, APART)
    if any(form.search(text) for form in forms):
        return True
    return bool(bounds_in(text) or dates_in(text, ANY_YEAR) or rank_in(text))


def lists(question: str) -> bool:
    """Return whether a question asks for all rows that are so."""
    return LISTING.search(plain_of(question)) is not None


def without_asking(question: str, *, dated: bool, year: int | None = None) -> str:
    """Return what a question speaks of, without the words that ask for something computed, and its bounds.

    Args:
        question: the question.
        dated: whether the table has dates that bounds by dates may be about.
        year: of which year dates are that name none; None: they are no bounds.
    """
    text = plain_of(question)
    for start, end in sorted({span for span, *_ in dates_in(text, year) if dated}, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    for start, end in sorted({span for span, *_ in bounds_in(text)}, reverse=True):
        text = f"{text[:start]} {_UNIT_BEHIND.sub('', text[end:])}"
    if rank := rank_in(text):
        text = f"{text[: rank.start]} {text[rank.end :]}"
    implied = (asks for asks, _ in IMPLIED)
    apart = (APART, BESIDE) if APART.search(text) else ()
    operations = (*OPERATIONS.values(), *DATED.values())
    for form in (*apart, SHARE, *operations, *implied, GROUPED, ROWS, COMPARING):
        text = form.sub(" ", text)
    return text
