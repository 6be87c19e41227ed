"""What was computed of a table, written in sentences, each with the place that it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sextant.tables.cells.computing import (
    Operation,
    Result,
    compute,
    difference,
    format_number,
    in_order,
    matching,
    percentage,
    sum_of,
    total_of,
)
from sextant.tables.cells.table import Column
from sextant.tables.cells.values import ValueKind
from sextant.tables.question.ranks import Rank
from sextant.tables.results.row_names import RowNames, said_of
from sextant.tables.results.sentences import OF_DATES
from sextant.text.simplified import plain_of

# More equal or matching rows than these are counted, not listed.
_LISTED = 10
_ROW = re.compile(r"r(\d+)")


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

    @property
    def row(self) -> int | None:
        """Return the row, from 0, that it is about; None of a column or the whole table."""
        found = _ROW.match(self.place)
        return int(found[1]) - 1 if found else None


class Writer(RowNames):
    """Says in sentences what one computation over a table came to."""

    def findings(self) -> Iterator[Finding]:
        """Yield the sentences, those that others rest on first."""
        asked = self._asked
        rows = matching(self._table, asked.conditions)
        if not rows:
            yield Finding(self._texts["none"].format(conditions=self._conditions()), "", "0")
        elif asked.operation is Operation.VALUE:
            yield from self._values(rows)
        elif asked.operation is Operation.DISTINCT:
            yield from self._distinct(rows)
        elif asked.operation is Operation.DIFFERENCE:
            yield from self._columns_apart(rows[0]) if asked.also else self._apart(rows)
        elif asked.operation is Operation.SHARE:
            yield from self._share(rows)
        elif asked.operation is Operation.ACROSS:
            yield from self._across(rows[0])
        elif asked.grouped and asked.operation is Operation.COUNT:
            yield from self._counted_groups(rows)
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
            yield self._counted(rows, column)
            return
        result = compute(asked.operation, column, rows)
        if result is None or column is None:
            return
        if result.at:
            yield from self._outermost(result, column)
            return
        text = said_of(len(result.rows), self._texts[asked.operation]).format(
            scope=self._scope(),
            column=column.name,
            value=result.shown,
            count=len(result.rows),
            about=self._texts["about"] if result.rounded else "",
            left_out=self._left_out(result),
        )
        yield Finding(text, f"c{column.index + 1}", result.shown)

    def _counted(self, rows: Sequence[int], column: Column | None) -> Finding:
        """Return how many rows there are, or different values of a column."""
        counted = rows if column is None else self._first_of_each(rows, column.index)
        conditions = self._asked.conditions
        # Where each matching row has a value of its own, it is the rows that are told.
        values = column is not None and (len(counted) < len(rows) or not conditions)
        text = "distinct" if values else "matching" if conditions else Operation.COUNT
        value = str(len(counted))
        told = said_of(len(counted), self._texts[text]).format(
            scope=self._scope(),
            value=value,
            column="" if column is None else column.name,
            conditions=self._conditions(),
        )
        return Finding(told, "" if column is None else f"c{column.index + 1}", value)

    def _ranked(self, rows: Sequence[int], rank: Rank) -> Iterator[Finding]:
        column = self._columns[self._asked.column or 0]
        found = in_order(self._asked.operation, column, rows, rank.last, only=rank.only)
        for row in found[: max(rank.last, _LISTED)]:
            yield self._value(row, column)

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
            yield from self._besides(row, self._row(row))
        yield from self._more(len(result.at))

    def _besides(self, row: int, called: str) -> Iterator[Finding]:
        """Yield what else is asked of a row."""
        for column in self._asked.also:
            shown = self._table.rows[row][column].strip()
            text = self._texts[Operation.VALUE].format(
                row=called, column=self._table.name(column), value=shown
            )
            if shown:
                yield Finding(text, _cell(row, column), shown, self._label(row))

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
            if shown:
                yield Finding(text, _cell(row, column), shown, named, listed)
            yield from self._besides(row, named)
        yield from self._more(len(rows))

    def _distinct(self, rows: Sequence[int]) -> Iterator[Finding]:
        column = self._asked.column or 0
        found = self._first_of_each(rows, column)
        for row in found[:_LISTED]:
            value = self._table.rows[row][column].strip()
            text = self._texts["valued"].format(column=self._table.name(column), value=value)
            yield Finding(text, _cell(row, column), value, value)
        yield from self._more(len(found), column)

    def _apart(self, rows: Sequence[int]) -> Iterator[Finding]:
        """Yield how far two rows are apart, and the value of each; nothing where more rows are named."""
        column = self._columns[self._asked.column or 0]
        values = [column.values[row] for row in rows]
        measured = all(value.kind is ValueKind.NUMBER for value in values)
        if len(rows) != len("ab") or not measured or column.unit is None:
            return
        apart = format_number(difference(*values), column)
        pairs = [
            self._texts["pair"].format(row=self._row(row), value=column.values[row].text.strip())
            for row in rows
        ]
        told = self._texts[Operation.DIFFERENCE].format(
            column=column.name, value=apart, rows=self._texts["and"].join(pairs)
        )
        yield Finding(told, f"c{column.index + 1}", apart)
        for row in rows:
            yield self._value(row, column)

    def _value(self, row: int, column: Column) -> Finding:
        """Return what a cell holds, as one of several."""
        shown = column.values[row].text.strip()
        text = self._texts[Operation.VALUE].format(
            row=self._row(row), column=column.name, value=shown
        )
        return Finding(text, _cell(row, column.index), shown, self._label(row), listed=True)

    def _columns_apart(self, row: int) -> Iterator[Finding]:
        """Yield how far two columns are apart in one row, and the value of each; nothing where a cell has none."""
        places = (self._asked.column or 0, *self._asked.also)
        one, other = (self._columns[at] for at in places)
        values = [one.values[row], other.values[row]]
        if one.unit is None or one.unit != other.unit:
            return
        if any(value.kind is not ValueKind.NUMBER for value in values):
            return
        apart, joint = format_number(difference(*values), one), self._texts["and"]
        pairs = [
            self._texts["pair"].format(row=at.name, value=at.values[row].text.strip())
            for at in (one, other)
        ]
        told = self._texts["columns_apart"].format(
            row=self._row(row), value=apart, rows=joint.join(pairs)
        )
        yield Finding(told, f"c{one.index + 1}", apart)
        for column in (one, other):
            yield self._value(row, column)

    def _across(self, row: int) -> Iterator[Finding]:
        """Yield what several columns of one row add up to; nothing where a cell has no number."""
        columns = [self._columns[at] for at in (self._asked.column or 0, *self._asked.also)]
        if any(one.values[row].kind is not ValueKind.NUMBER for one in columns):
            return
        added = format_number(sum_of([one.values[row] for one in columns]), columns[0])
        pairs = [(one.name, one.values[row].text.strip()) for one in columns]
        cells = [self._texts["pair"].format(row=name, value=shown) for name, shown in pairs]
        told = self._texts[Operation.ACROSS].format(
            row=self._label(row), value=added, cells=self._texts["and"].join(cells)
        )
        yield Finding(told, f"c{columns[0].index + 1}", added, self._label(row))

    def _share(self, rows: Sequence[int]) -> Iterator[Finding]:
        """Yield what part of all rows these are, or of all that a column adds up to; nothing where some are below zero."""
        everything, at = matching(self._table, ()), self._asked.column
        if at is None:
            part, whole = Decimal(len(rows)), Decimal(len(everything))
            shown = [f"{one:,f}" for one in (part, whole)]
        else:
            column = self._columns[at]
            lowest = min((column.values[row].number for row in everything), default=Decimal(0))
            if column.unit is None or lowest < 0:
                return
            part, whole = (total_of(column, some) for some in (rows, everything))
            shown = [format_number(one, column) for one in (part, whole)]
        if whole <= 0:
            return
        share, rounded = percentage(part, whole)
        told = self._texts["share_of_rows" if at is None else Operation.SHARE].format(
            conditions=self._conditions(),
            column="" if at is None else self._table.name(at),
            part=shown[0],
            value=shown[1],
            about=self._texts["about"] if rounded else "",
            share=share,
        )
        yield Finding(told, "" if at is None else f"c{at + 1}", share)

    def _counted_groups(self, rows: Sequence[int]) -> Iterator[Finding]:
        """Yield how many rows, or different values of a column, there are for each value of another."""
        subject, column = self._asked.subject or 0, self._asked.column
        groups = self._by_value(rows, subject)
        for name, members in list(groups.items())[:_LISTED]:
            counted = members if column is None else self._first_of_each(members, column)
            text = self._texts["grouped_rows" if column is None else "grouped_count"]
            told = said_of(len(counted), text).format(
                scope=self._scope(),
                row=name,
                value=len(counted),
                column="" if column is None else self._table.name(column),
            )
            yield Finding(told, f"c{subject + 1}", str(len(counted)), name)
        yield from self._more(len(groups), subject)

    def _by_value(self, rows: Sequence[int], column: int) -> dict[str, list[int]]:
        """Return the rows of each value, by its first spelling: Norbolt and NORBOLT are one."""
        groups = dict[str, list[int]]()
        for row in rows:
            if name := self._table.rows[row][column].strip():
                groups.setdefault(plain_of(name), []).append(row)
        return {self._table.rows[own[0]][column].strip(): own for own in groups.values()}

    def _groups(self, rows: Sequence[int]) -> Iterator[Finding]:
        """Yield what comes out for each value of another column, or for which of them the most or least."""
        asked = self._asked
        if asked.subject is None or asked.column is None:
            return
        column, results = self._columns[asked.column], list[tuple[str, Result]]()
        for name, members in self._by_value(rows, asked.subject).items():
            if result := compute(asked.operation, column, members):
                results.append((name, result))
        if asked.overall is not None:
            yield from self._overall(results, column, asked.subject, asked.overall)
            return
        for name, result in results[:_LISTED]:
            if result.at:
                yield self._most_of(name, result, column)
                continue
            text = self._texts["grouped"].format(
                row=name,
                value=result.shown,
                column=column.name,
                operation=self._names[asked.operation],
            )
            yield Finding(text, f"c{column.index + 1}", result.shown, name)
        yield from self._more(len(results))

    def _overall(
        self,
        results: Sequence[tuple[str, Result]],
        column: Column,
        subject: int,
        overall: Operation,
    ) -> Iterator[Finding]:
        """Yield the groups with the largest or smallest result."""
        choose = max if overall is Operation.MAX else min
        best = choose(
            (result.number for _, result in results if result.number is not None), default=None
        )
        for name, result in results:
            if result.number == best:
                text = self._texts["overall"].format(
                    scope=self._scope(),
                    subject=self._table.name(subject),
                    overall=self._names[overall],
                    row=name,
                    value=result.shown,
                    column=column.name,
                    operation=self._names[self._asked.operation],
                )
                yield Finding(text, f"c{column.index + 1}", result.shown, name)

    def _most_of(self, group: str, result: Result, column: Column) -> Finding:
        """Return the largest or smallest of a group, and whose it is."""
        row, subject = result.at[0], self._asked.subject
        words = (one.index for one in self._columns if one.kind is ValueKind.TEXT)
        label = next((self._table.rows[row][at].strip() for at in words if at != subject), "")
        text = self._texts["grouped_most"].format(
            row=group,
            operation=self._names[result.operation],
            column=column.name,
            value=" ".join(filter(None, [result.shown, label and f"({label})"])),
        )
        return Finding(text, _cell(row, column.index), result.shown, group)

    def _more(self, found: int, column: int | None = None) -> Iterator[Finding]:
        if found > _LISTED:
            count = str(found - _LISTED)
            more = said_of(
                found - _LISTED, self._texts["more" if column is None else "more_values"]
            )
            name = "" if column is None else self._table.name(column)
            yield Finding(more.format(count=count, column=name), "", count)

    def _first_of_each(self, rows: Sequence[int], column: int) -> list[int]:
        return [own[0] for own in self._by_value(rows, column).values()]


def _cell(row: int, column: int) -> str:
    return f"r{row + 1}c{column + 1}"
