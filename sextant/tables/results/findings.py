"""Sentences about a table that were computed, each with the place that it rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sextant.tables.cells.computing import Condition, Operation, matching
from sextant.tables.cells.table import DataTable
from sextant.tables.cells.values import ValueKind
from sextant.tables.computation.asked import Asked
from sextant.tables.computation.asking import asked_of
from sextant.tables.question.by_place import columns_by_place, row_asked_for
from sextant.tables.question.clauses import clauses_in, each_of
from sextant.tables.question.meaning import is_by_period
from sextant.tables.question.reading import names_column
from sextant.tables.question.rest import restricts
from sextant.tables.question.speaking import lists, without_asking
from sextant.tables.results.sentences import TEXTS
from sextant.tables.results.written import Finding, Writer
from sextant.text.simplified import plain_of

# What a column of dates is called that holds the date of its row, and none of something else.
_OF_DAYS = re.compile(r"^(?:date|day|month|year)$|^(?:日期|年份?|月份?|年度|时间)$")
# Columns of numbers that are summed up unasked.
_MOST_COLUMNS = 20

Clause = tuple[str, Asked]
"""A question that asks for one computation, and which."""


@dataclass(frozen=True, slots=True)
class Computed:
    """What a question asks for, and the sums, means and outermost values of number columns."""

    asked: list[Finding]
    statistics: list[Finding]


def compute_findings(question: str, table: DataTable, language: str, about: str = "") -> Computed:
    """Compute what `question` asks of `table`, as far as rules say for certain what that is.

    CPU-bound, a second for 100,000 cells.

    Args:
        question: in Chinese or English.
        table: the table.
        language: `zh` or `en`, of the sentences.
        about: its caption.
    """
    asked = [one for _, one in _joined(question, table, about)]
    numeric = [column.index for column in table.columns if column.kind is ValueKind.NUMBER]
    always = [
        Asked(operation, index)
        for index in numeric[:_MOST_COLUMNS]
        for operation in (Operation.SUM, Operation.MEAN, Operation.MAX, Operation.MIN)
    ]

    def written(computations: Sequence[Asked]) -> list[Finding]:
        return [
            finding for one in computations for finding in Writer(table, one, language).findings()
        ]

    told = written(asked) if asked else _row_told(question, table, language)
    return Computed(told, written(always))


def clauses_for(question: str, table: DataTable, about: str = "") -> list[Clause]:
    """Return what `question` asks of a table; [] where that lacks a column of it, which another may have.

    Args:
        question: in Chinese or English.
        table: the table.
        about: the names of its document and sections.
    """
    clauses = _clauses(question, table, about)
    named = all(_is_of_named(asked, question, table) for _, asked in clauses)
    return clauses if named else []


def findings_unasked(
    clauses: Sequence[Clause], table: DataTable, language: str, about: str = ""
) -> list[Finding]:
    """Return what a question asks of a table that it was not asked about, but that a search has found.

    So more must speak for it than for a table that comes with the question: what is computed is
    computed of a column that the question names, or of the rows that keep its bounds. A row that is
    named by words alone is for the search to find, several are listed where all are asked for. Those that are
    listed are counted first.

    Args:
        clauses: the question, as `clauses_for` has read it.
        table: the table.
        language: `zh` or `en`, of the sentences.
        about: the names of its document and sections.
    """
    found = [_unasked(clause, table, language, about) for clause in clauses]
    return [one for told in found for one in told] if all(found) else []


def _joined(question: str, table: DataTable, about: str) -> list[Clause]:
    """Return what the clauses of a question ask for, where each stands alone; else what the whole asks for."""
    each = [_sure(clause, table, about) for clause in clauses_in(question)]
    if each and all(each):
        return [one for found in each for one in found]
    return _sure(question, table, about)


def _sure(question: str, table: DataTable, about: str) -> list[Clause]:
    """Return the clauses of `_joined` for one clause; [] where something that was not understood may keep rows out."""
    found = _clauses(question, table, about)
    return [] if any(_partly(asked, table, about) for _, asked in found) else found


def _clauses(question: str, table: DataTable, about: str = "") -> list[Clause]:
    """Return each computation that a question asks for, [] where one of them is not sure."""
    asked = [(part, asked_of(part, table, about)) for part in each_of(question)]
    sure = [(part, one) for part, one in asked if one]
    return sure if len(sure) == len(asked) else []


def _is_of_named(asked: Asked, question: str, table: DataTable) -> bool:
    """Return whether it is computed of a column that the question names, or of the rows."""
    column = None if asked.operation is Operation.VALUE else asked.column
    return column is None or names_column(question, table.names[column])


def _unasked(clause: Clause, table: DataTable, language: str, about: str) -> list[Finding]:
    """Return what `findings_unasked` finds of one clause."""
    question, asked = clause
    if _partly(asked, table, about):
        return []
    if asked.guessed and not all(_is_named(question, table, one) for one in asked.conditions):
        return []
    bounded = any(condition.bounds for condition in asked.conditions)
    if asked.operation is Operation.VALUE:
        rows = matching(table, asked.conditions)
        telling = any(table.columns[condition.column].repeats for condition in asked.conditions)
        if not (bounded or (rows and telling and lists(question))):
            return []
        counted = [Asked(Operation.COUNT, None, asked.conditions)] * (len(rows) > 1)
    else:
        named = all(_is_named(question, table, one) for one in asked.conditions)
        if not (named and _is_of_named(asked, question, table)):
            return []
        distinct = asked.operation is Operation.DISTINCT
        counted = [Asked(Operation.COUNT, asked.column)] * distinct
    return [
        finding for one in (*counted, asked) for finding in Writer(table, one, language).findings()
    ]


def _partly(asked: Asked, table: DataTable, about: str = "") -> bool:
    """Return whether something that was not understood may keep rows out, or parts them by month or day."""
    if is_by_period(asked.column, table.columns, asked.rest):
        return True
    dated = any(column.kind is ValueKind.DATE for column in table.columns)
    return restricts(without_asking(asked.rest, dated=dated), table, about)


def _is_named(question: str, table: DataTable, condition: Condition) -> bool:
    """Return whether a question names what a condition is on; words and dates are of what they are."""
    name = table.names[condition.column]
    return bool(condition.words or _OF_DAYS.search(plain_of(name)) or names_column(question, name))


def _row_told(question: str, table: DataTable, language: str) -> list[Finding]:
    """Return the cells of the row that `question` asks for by its number, if it does; of the columns that it names so."""
    place = row_asked_for(question, table)
    if place is None:
        return []
    named = {column for _, column in columns_by_place(question, table)}
    texts, cells = TEXTS[language], table.rows[place]
    row = texts["row"].format(row=place + 1)
    return [
        Finding(
            texts[Operation.VALUE].format(row=row, column=name, value=cell),
            f"r{place + 1}c{column}",
            cell,
        )
        for column, (name, cell) in enumerate(zip(table.names, cells, strict=True), start=1)
        if cell and (not named or column - 1 in named)
    ][:_MOST_COLUMNS]
