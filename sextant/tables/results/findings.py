"""Sentences about a table that were computed, each with the place that it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sextant.tables.cells.arithmetic import Condition, Operation, matching
from sextant.tables.cells.table import DataTable
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.linker import names_column
from sextant.tables.query.parsing import clauses_of, parse_queries
from sextant.tables.query.places import find_numbered_columns, find_numbered_row
from sextant.tables.query.query import Order, TableQuery
from sextant.tables.results.sentences import TEXTS
from sextant.tables.results.written import ComputedFinding, Writer
from sextant.text.characters import plain_of

# What a column of dates is called that holds the date of its row, and none of something else.
_OF_DAYS = re.compile(r"^(?:date|day|month|year)$|^(?:日期|年份?|月份?|年度|时间)$")
_SENTENCE = re.compile(r"(?<=[?？])\s*")
_MOST_COLUMNS = 20  # columns of numbers that are summed up unasked


@dataclass(frozen=True, slots=True)
class Computed:
    """What a question asks for, and the sums, means and outermost values of number columns."""

    asked: list[ComputedFinding]
    statistics: list[ComputedFinding]


def compute_findings(question: str, table: DataTable, language: str, about: str = "") -> Computed:
    """Compute what `question` asks of `table`, as far as it is certain what that is.

    CPU-bound, a second for 100,000 cells.

    Args:
        question: in Chinese or English.
        table: the table.
        language: `zh` or `en`, of the sentences.
        about: its caption.
    """
    parsed = _parse(question, table, about)
    if not parsed:  # a question that follows may be of something else: 它由什么分泌？
        each = [part for part in _SENTENCE.split(question) if part]
        parsed = [one for part in each if len(each) > 1 for one in _parse(part, table, about)]
    numeric = [column.index for column in table.columns if column.kind is ValueKind.NUMBER]
    always = [query for at in numeric[:_MOST_COLUMNS] for query in _summaries(at)]

    def run(queries: Sequence[TableQuery]) -> list[ComputedFinding]:
        return [finding for one in queries for finding in Writer(table, one, language).findings()]

    return Computed(
        run(parsed) if parsed else _describe_row(question, table, language), run(always)
    )


def _parse(question: str, table: DataTable, about: str) -> list[TableQuery]:
    """Return what the clauses of a question ask for, where each stands alone; else what the whole asks for."""
    each = [parse_queries(clause, table, about) for clause in clauses_of(question)]
    if each and all(each):
        return [one for some in each for one in some]
    return parse_queries(question, table, about)


def _summaries(column: int) -> Iterator[TableQuery]:
    """Yield the sum, mean, largest and smallest of a column."""
    yield from (TableQuery((column,), one) for one in (Operation.SUM, Operation.MEAN))
    yield from (TableQuery(order_by=Order(column, end), limit=1) for end in (True, False))


def queries_for(question: str, table: DataTable, about: str = "") -> list[TableQuery]:
    """Return what a question asks of a table that a search has found, [] where that is not sure.

    More must speak for it than for a table that comes with the question: what is computed is computed of a column
    that the question names, or of the rows that keep its bounds. A row that is named by words alone is for the search
    to find.

    Args:
        question: in Chinese or English.
        table: the table.
        about: the names of its document and sections.
    """
    found = parse_queries(question, table, about)
    return found if all(_is_named(one, question, table) for one in found) else []


def run_queries(
    queries: Sequence[TableQuery], table: DataTable, language: str, *, is_list: bool
) -> list[ComputedFinding]:
    """Return what queries come to over a table that a search has found; rows that are listed are counted first.

    Args:
        queries: as `queries_for` has read them.
        table: the table.
        language: `zh` or `en`, of the sentences.
        is_list: all rows that are so are asked for.
    """
    found = list[ComputedFinding]()
    for query in queries:
        rows = matching(table, query.where)
        if query.aggregate is None and query.order_by is None:
            bounded = any(one.bounds for one in query.where)
            telling = any(table.columns[one.column].repeats for one in query.where)
            if not (bounded or (rows and telling and is_list)):
                return []
        parts = [*_count_rows(query, len(rows)), query]
        found += [one for part in parts for one in Writer(table, part, language).findings()]
    return found


def _count_rows(query: TableQuery, rows: int) -> list[TableQuery]:
    if query.aggregate is Operation.DISTINCT:
        return [TableQuery(query.select, Operation.COUNT)]
    is_list = query.aggregate is None and query.order_by is None and rows > 1
    return [TableQuery((), Operation.COUNT, query.where)] if is_list else []


def _is_named(query: TableQuery, question: str, table: DataTable) -> bool:
    """Return whether a question names what is computed and what is bounded."""
    computes = query.aggregate is not None or query.order_by is not None
    column = query.column if computes else None
    conditions = query.where if computes or query.is_guessed else ()
    return (column is None or names_column(question, table.names[column])) and all(
        _names(question, table, one) for one in conditions
    )


def _names(question: str, table: DataTable, condition: Condition) -> bool:
    """Return whether a question names what a condition is on; words and dates are of what they are."""
    name = table.names[condition.column]
    return bool(condition.words or _OF_DAYS.search(plain_of(name)) or names_column(question, name))


def _describe_row(question: str, table: DataTable, language: str) -> list[ComputedFinding]:
    """Return the cells of the row that a question asks for by its number, of the columns that it names so."""
    index = find_numbered_row(question, table)
    if index is None:
        return []
    named = {column for _, column in find_numbered_columns(question, table)}
    texts, cells = TEXTS[language], table.rows[index]
    row = texts["row"].format(row=index + 1)
    return [
        ComputedFinding(
            texts[Operation.VALUE].format(row=row, column=name, value=cell),
            f"r{index + 1}c{column}",
            cell,
        )
        for column, (name, cell) in enumerate(zip(table.names, cells, strict=True), start=1)
        if cell and (not named or column - 1 in named)
    ][:_MOST_COLUMNS]
