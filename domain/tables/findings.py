"""Sentences about a table that were computed, each with the place that it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from domain.tables.asking import Asked, asked_of, lists, repeats, without_asking
from domain.tables.by_place import row_asked_for
from domain.tables.computing import Condition, Operation, Result, compute, in_order, matching
from domain.tables.reading import names_column
from domain.tables.rest import restricts
from domain.tables.sentences import OF_DATES, OF_ONE, OPERATION_NAMES, TEXTS
from domain.tables.table import Column, DataTable
from domain.tables.values import ValueKind
from domain.tables.wording import Rank, each_of
from domain.text import normalise

# More equal or matching rows than these are counted, not listed.
_LISTED = 10
# What a column of dates is called that holds the date of its row, and none of something else.
_OF_DAYS = re.compile(r"^(?:date|day|month|year)$|^(?:日期|年份?|月份?|年度|时间)$")
# Columns of numbers that are summed up unasked.
_MOST_COLUMNS = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """A computed statement. `place` is a cell (`r3c2`), a column (`c2`) or "" for the whole table.

    `value` is what it says of that place, as shown; `about` what else to search documents for; `listed`:
    it only says of a row that it is one of those asked for.
    """

    text: str
    place: str
    value: str
    about: str = ""
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Computed:
    """What a question asks for, and the sums, means and outermost values of number columns."""

    asked: list[Finding]
    statistics: list[Finding]


def compute_findings(question: str, table: DataTable, language: str) -> Computed:
    """Compute what `question` asks of `table`, as far as rules say for certain what that is.

    CPU-bound, a second for 100,000 cells.

    Args:
        question: in Chinese or English.
        table: the table.
        language: `zh` or `en`, of the sentences.
    """
    columns = table.columns()
    asked = [one for part in each_of(question) if (one := asked_of(part, table, columns))]
    if len(asked) < len(each_of(question)) or any(_partly(one, table, columns) for one in asked):
        asked = []
    numeric = [column.index for column in columns if column.kind is ValueKind.NUMBER]
    always = [
        Asked(operation, index)
        for index in numeric[:_MOST_COLUMNS]
        for operation in (Operation.SUM, Operation.MEAN, Operation.MAX, Operation.MIN)
    ]

    def written(computations: Sequence[Asked]) -> list[Finding]:
        return [
            finding
            for one in computations
            for finding in _Writer(table, columns, one, language).findings()
        ]

    told = written(asked) if asked else _row_told(question, table, language)
    return Computed(told, written(always))


def findings_unasked(
    question: str, table: DataTable, language: str, about: str = ""
) -> list[Finding]:
    """What `question` asks of a table that it was not asked about, but that a search has found.

    So more must speak for it than for a table that comes with the question: what is computed is
    computed of a column that the question names, or of the rows that keep its bounds. A row that is
    named by words alone is for the search to find, several are listed where all are asked for. Those that are
    listed are counted first.

    Args:
        question: in Chinese or English.
        table: the table.
        language: `zh` or `en`, of the sentences.
        about: the names of its document and sections.
    """
    columns = table.columns()
    found = [_unasked(part, table, columns, language, about) for part in each_of(question)]
    return [one for part in found for one in part] if all(found) else []


def _unasked(
    question: str, table: DataTable, columns: Sequence[Column], language: str, about: str
) -> list[Finding]:
    """The same of one computation."""
    asked = asked_of(question, table, columns)
    if asked is None:
        return []
    if _partly(asked, table, columns, about):
        return []
    if asked.guessed and not all(_is_named(question, table, one) for one in asked.conditions):
        return []
    bounded = any(condition.bounds for condition in asked.conditions)
    if asked.operation is Operation.VALUE:
        rows = matching(table, asked.conditions)
        telling = any(repeats(columns[condition.column]) for condition in asked.conditions)
        if not (bounded or (rows and telling and lists(question))):
            return []
        counted = [Asked(Operation.COUNT, None, asked.conditions)] * (len(rows) > 1)
    else:
        named = asked.column is None or names_column(question, table.names[asked.column])
        if not named or not all(_is_named(question, table, one) for one in asked.conditions):
            return []
        counted = []
    return [
        finding
        for one in (*counted, asked)
        for finding in _Writer(table, columns, one, language).findings()
    ]


def _partly(asked: Asked, table: DataTable, columns: Sequence[Column], about: str = "") -> bool:
    """Whether something that was not understood may keep rows out."""
    dated = any(column.kind is ValueKind.DATE for column in columns)
    return restricts(without_asking(asked.rest, dated=dated), table, about)


def _is_named(question: str, table: DataTable, condition: Condition) -> bool:
    """Whether a question names what a condition is on; words and dates are of what they are."""
    name = table.names[condition.column]
    return bool(condition.words or _OF_DAYS.search(normalise(name)) or names_column(question, name))


def _row_told(question: str, table: DataTable, language: str) -> list[Finding]:
    """The cells of the row that `question` asks for by its number, if it does."""
    place = row_asked_for(question, table)
    if place is None:
        return []
    texts, cells = TEXTS[language], table.rows[place]
    row = texts["row"].format(row=place + 1)
    return [
        Finding(
            texts[Operation.VALUE].format(row=row, column=name, value=cell),
            f"r{place + 1}c{column}",
            cell,
        )
        for column, (name, cell) in enumerate(zip(table.names, cells, strict=True), start=1)
        if cell
    ][:_MOST_COLUMNS]


class _Writer:
    def __init__(
        self, table: DataTable, columns: Sequence[Column], asked: Asked, language: str
    ) -> None:
        self._table = table
        self._columns = columns
        self._asked = asked
        self._texts = TEXTS[language]
        self._names = OPERATION_NAMES[language]

    def findings(self) -> Iterator[Finding]:
        asked = self._asked
        rows = matching(self._table, asked.conditions)
        if not rows:
            yield Finding(self._texts["none"].format(conditions=self._conditions()), "", "0")
        elif asked.operation is Operation.VALUE:
            yield from self._values(rows)
        elif asked.rank is not None:
            yield from self._ranked(rows, asked.rank)
        elif asked.grouped:
            yield from self._groups(rows)
        else:
            yield from self._computed(rows)

    def _computed(self, rows: Sequence[int]) -> Iterator[Finding]:
        asked = self._asked
        column = None if asked.column is None else self._columns[asked.column]
        if asked.operation is Operation.COUNT:
            several = column is not None
            if column is not None:
                first = self._first_of_each(rows, column.index)
                several = len(first) < len(rows) or not asked.conditions
                rows = first
            bounded = "matching" if asked.conditions else Operation.COUNT
            text = self._texts["distinct" if several else bounded]
            value = str(len(rows))
            name = column.name if column is not None else ""
            place = f"c{column.index + 1}" if column is not None else ""
            conditions = self._conditions()
            told = _of(len(rows), text).format(
                scope=self._scope(), value=value, column=name, conditions=conditions
            )
            yield Finding(told, place, value)
            return
        result = compute(asked.operation, column, rows)
        if result is None or column is None:
            return
        if result.at:
            yield from self._outermost(result, column)
        else:
            text = _of(len(result.rows), self._texts[asked.operation]).format(
                scope=self._scope(),
                column=column.name,
                value=result.shown,
                count=len(result.rows),
                about=self._texts["about"] if result.rounded else "",
                left_out=self._left_out(result),
            )
            yield Finding(text, f"c{column.index + 1}", result.shown)

    def _ranked(self, rows: Sequence[int], rank: Rank) -> Iterator[Finding]:
        column = self._columns[self._asked.column or 0]
        found = in_order(self._asked.operation, column, rows, rank.last, only=rank.only)
        for row in found[: max(rank.last, _LISTED)]:
            shown = column.values[row].text.strip()
            text = self._texts[Operation.VALUE].format(
                row=self._row(row), column=column.name, value=shown
            )
            yield Finding(text, _cell(row, column.index), shown, self._label(row), listed=True)

    def _outermost(self, result: Result, column: Column) -> Iterator[Finding]:
        text_of: str = self._texts[
            result.operation if column.kind is ValueKind.NUMBER else OF_DATES[result.operation]
        ]
        for row in result.at[:_LISTED]:
            shown = column.values[row].text.strip()
            text = text_of.format(
                scope=self._scope(), column=column.name, row=self._row(row), value=shown
            )
            yield Finding(text, _cell(row, column.index), shown, self._label(row))
        yield from self._more(len(result.at))

    def _values(self, rows: Sequence[int]) -> Iterator[Finding]:
        column = self._asked.column or 0
        listed = column == self._asked.subject
        for row in rows[:_LISTED]:
            shown = self._table.rows[row][column].strip()
            named = shown if listed else self._named(row, one_of=len(rows))
            text = self._texts["listed" if listed else Operation.VALUE].format(
                row=named,
                column=self._table.name(column),
                value=shown,
                conditions=self._conditions(),
            )
            yield Finding(text, _cell(row, column), shown, named, listed)
        yield from self._more(len(rows))

    def _groups(self, rows: Sequence[int]) -> Iterator[Finding]:
        asked = self._asked
        if asked.subject is None or asked.column is None:
            return
        column, results = self._columns[asked.column], list[tuple[str, Result]]()
        groups = dict[str, list[int]]()
        for row in rows:
            groups.setdefault(self._table.rows[row][asked.subject].strip(), []).append(row)
        for name, members in groups.items():
            if name and (result := compute(asked.operation, column, members)):
                results.append((name, result))
        place = f"c{column.index + 1}"
        common = {"column": column.name, "operation": self._names[asked.operation]}
        if asked.overall is None:
            for name, result in results[:_LISTED]:
                text = self._texts["grouped"].format(row=name, value=result.shown, **common)
                yield Finding(text, place, result.shown, name)
            yield from self._more(len(results))
            return
        choose = max if asked.overall is Operation.MAX else min
        best = choose(
            (result.number for _, result in results if result.number is not None), default=None
        )
        for name, result in results:
            if result.number == best:
                text = self._texts["overall"].format(
                    scope=self._scope(),
                    subject=self._table.name(asked.subject),
                    overall=self._names[asked.overall],
                    row=name,
                    value=result.shown,
                    **common,
                )
                yield Finding(text, place, result.shown, name)

    def _more(self, found: int) -> Iterator[Finding]:
        if found > _LISTED:
            count = str(found - _LISTED)
            more = _of(found - _LISTED, self._texts["more"])
            yield Finding(more.format(count=count), "", count)

    def _first_of_each(self, rows: Sequence[int], column: int) -> list[int]:
        first = dict[str, int]()
        for row in rows:
            if text := self._table.rows[row][column].strip():
                first.setdefault(text, row)
        return list(first.values())

    def _named(self, row: int, one_of: int) -> str:
        """A row by what the question calls it, and by more when it calls others the same."""
        bound = [c.column for c in self._asked.conditions if c.words]
        parts = [self._table.rows[row][column].strip() for column in bound]
        if one_of > 1 or not parts:
            parts.append(self._row(row))
        return " ".join(dict.fromkeys(parts))

    def _row(self, row: int) -> str:
        return self._label(row) or self._texts["row"].format(row=row + 1)

    def _label(self, row: int) -> str:
        subject = self._asked.subject
        if subject is None:
            words = (column for column in self._columns if column.kind is ValueKind.TEXT)
            subject = next((column.index for column in words), None)
        return "" if subject is None else self._table.rows[row][subject].strip()

    def _scope(self) -> str:
        if not self._asked.conditions:
            return ""
        return self._texts["scope"].format(conditions=self._conditions())

    def _conditions(self) -> str:
        return self._texts["and"].join(map(self._condition, self._asked.conditions))

    def _condition(self, condition: Condition) -> str:
        name = self._table.name(condition.column)
        if condition.other is not None:
            return f"{name} {condition.comparison.value} {self._table.name(condition.other)}"
        if condition.number is None:
            return f"{name} = {self._texts['or'].join(sorted(condition.words))}"
        if self._columns[condition.column].kind is ValueKind.DATE:
            return f"{name} {condition.comparison.value} {date.fromordinal(int(condition.number))}"
        return f"{name} {condition.comparison.value} {condition.number:,f}"

    def _left_out(self, result: Result) -> str:
        if not result.left_out:
            return ""
        return _of(result.left_out, self._texts["left_out"]).format(count=result.left_out)


def _cell(row: int, column: int) -> str:
    return f"r{row + 1}c{column + 1}"


def _of(number: int, text: str) -> str:
    """`text` as it is said of so many."""
    return OF_ONE.get(text, text) if number == 1 else text
