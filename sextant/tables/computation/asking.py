"""What a question asks of a table, by rule: an operation, its column, and the rows that count.

It prefers to see nothing over seeing something else: what a question adds that is not understood
(ranks, shares, growth, negation) means that nothing is computed.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sextant.tables.cells.computing import Condition, Operation
from sextant.tables.cells.table import DataTable
from sextant.tables.computation.across import without_periods
from sextant.tables.computation.asked import Asked, QuestionParts
from sextant.tables.computation.choosing import computation_of
from sextant.tables.computation.relating import relation_of, without_relating
from sextant.tables.question.bands import rows_of_band
from sextant.tables.question.bounding import (
    take_bounds,
    take_comparisons,
    take_dates,
    take_denials,
    take_none,
)
from sextant.tables.question.ranks import rank_in
from sextant.tables.question.reading import Reading, take_names
from sextant.tables.question.rest import marks_left, names_someone, unborne
from sextant.tables.question.speaking import lists
from sextant.tables.question.wording import EITHER, FROM_NOW, GROUPED, NOT_OURS, OPERATIONS
from sextant.text.number_words import in_digits
from sextant.text.simplified import plain_of

# Between "how many" and the name of a column; the name, taken out, and what is between it and 多少家.
_COUNTED_BEHIND = re.compile(r"(?:\s*[a-z]+){0,2}\s*|不同的?|种不同的?")
_COUNTED_AHEAD = re.compile(r"\0+\s*(?:一共|总共|共|总计)?(?:包含|包括|[有是])?\s*")
# Between "each" and the name of the column whose values are the groups.
_GROUPED_BEHIND = re.compile(
    r"\s*(?:(?:of )?(?:the |our )?(?:different )?)?|[个家名位款种类项座级]?(?:不同的?)?"
)


def asked_of(question: str, table: DataTable, about: str = "") -> Asked | None:
    """Return what `question` asks of `table`, None if nothing is sure.

    Args:
        question: in Chinese or English.
        table: the table.
        about: the names of its document and sections, or its caption.
    """
    reading, columns = Reading(in_digits(plain_of(question))), table.columns
    words = take_denials(reading, take_names(reading, question, table))
    numbers = [
        *take_comparisons(reading, columns),
        *take_none(reading, columns),
        *take_dates(reading, columns),
        *take_bounds(reading, columns),
    ]
    if rank := rank_in(reading.text):
        reading.take(rank.start, rank.end)
    # A number in the range of a row is no bound on another column.
    if FROM_NOW.search(plain_of(question)) or rows_of_band(table, question):
        return None
    if any(one.denied for one in words) and not _of_several(question, reading.text):
        return None
    either = len({c.column for c in words} | set(numbers)) > 1 and EITHER.search(reading.text)
    read = _parts(reading, question, table, about, (*words, *numbers))
    if (relation := relation_of(read)) and not (reading.lost or rank):
        return replace(relation, rest=without_relating(reading.text))
    if reading.lost or either or NOT_OURS.search(reading.text):
        return None
    if names_someone(question, reading.text, table):
        return None
    asked = computation_of(read, rank)
    return asked and replace(asked, guessed=reading.guessed, rest=reading.text)


def _parts(
    reading: Reading,
    question: str,
    table: DataTable,
    about: str,
    conditions: tuple[Condition, ...],
) -> QuestionParts:
    """Return what the question is made of, when all that it names is taken out of it."""
    unread = unborne(without_periods(reading.text), table, about)
    return QuestionParts(
        reading.text,
        table.columns,
        sorted(reading.columns, key=lambda place: place[0]),
        conditions,
        _counted(reading),
        lists(question),
        _group(reading),
        not (unread or marks_left(question, reading.text)),
    )


def _counted(reading: Reading) -> frozenset[int]:
    """Return the columns whose names stand beside "how many": "how many different suppliers", 供应商有多少家."""
    asked = OPERATIONS[Operation.COUNT].search(reading.text)
    if asked is None:
        return frozenset()
    return frozenset(
        column
        for place, column in reading.columns
        if _COUNTED_BEHIND.fullmatch(reading.text[asked.end() : place])
        or _COUNTED_AHEAD.fullmatch(reading.text[place : asked.start()])
    )


def _group(reading: Reading) -> int | None:
    """Return the column whose name stands behind "each": "per location", 每个供应商."""
    ends = [match.end() for match in GROUPED.finditer(reading.text)]
    return next(
        (
            column
            for place, column in sorted(reading.columns)
            for end in ends
            if end <= place and _GROUPED_BEHIND.fullmatch(reading.text[end:place])
        ),
        None,
    )


def _of_several(question: str, text: str) -> bool:
    """Return whether a question asks for rows or for something computed of them, and not of one that it names."""
    return lists(question) or any(form.search(text) for form in OPERATIONS.values())
