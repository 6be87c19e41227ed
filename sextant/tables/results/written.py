"""Run a query over a table and write the result as sentences, each with the cell or column that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sextant.tables.cells.arithmetic import (
    Operation,
    Result,
    compute,
    difference,
    first_of_each,
    format_number,
    group_rows,
    in_order,
    matching,
    percentage,
    relate,
    total_of,
)
from sextant.tables.cells.table import Column, DataTable
from sextant.tables.cells.values import ValueKind, read_value
from sextant.tables.query.query import Order, TableQuery
from sextant.tables.query.statements import FinancialStatement
from sextant.tables.results.wording import OF_DATES, FindingWording

_MAX_LISTED = 10  # further rows are counted, not listed
_ROW = re.compile(r"r(\d+)")


@dataclass(frozen=True, slots=True)
class ComputedFinding:
    """A computed statement.

    Attributes:
        text: the sentence.
        place: the cell (`r3c2`) or column (`c2`) that it cites; "" for the whole table.
        value: the value at that place, as shown.
        about: what to search documents for, too.
        listed: the sentence only lists a row that matches.
    """

    text: str
    place: str
    value: str
    about: str = ""
    listed: bool = False

    @property
    def row(self) -> int | None:
        """Return the row, from 0, that it cites; None for a column or the whole table."""
        found = _ROW.match(self.place)
        return int(found[1]) - 1 if found else None


class Writer:
    """Writes the result of one query as sentences.

    Args:
        table: the table.
        query: over it.
        language: `zh` or `en`, of the sentences.
    """

    def __init__(self, table: DataTable, query: TableQuery, language: str) -> None:
        self._table, self._query, self._columns = table, query, table.columns
        self._words = FindingWording(table, query, language)

    def findings(self) -> Iterator[ComputedFinding]:
        """Yield the sentences, those that others rest on first."""
        query, operation = self._query, self._query.aggregate
        rows = matching(self._table, query.where)
        column = None if query.column is None else self._columns[query.column]
        if query.operands and operation is not None:
            yield from self._of_operands(query.operands, operation)
        elif not rows:
            yield ComputedFinding(self._words.text("none"), "", "0")
        elif query.group_by is not None:
            yield from self._groups(rows, query.group_by, column)
        elif query.order_by is not None and column is not None:
            yield from self._order_rows(rows, column, query.order_by)
        elif operation is Operation.SHARE:
            yield from self._share(rows, column)
        elif operation is Operation.COUNT:
            yield self._count_rows(rows, column)
        elif column is not None:
            yield from self._of_column(rows, column, operation)

    def _of_column(
        self, rows: Sequence[int], column: Column, operation: Operation | None
    ) -> Iterator[ComputedFinding]:
        if operation is None:
            yield from self._cells(rows, column.index)
        elif operation is Operation.DISTINCT:
            yield from self._distinct(rows, column.index)
        elif operation is Operation.DIFFERENCE:
            yield from self._difference(rows)
        else:
            yield from self._compute(rows, column, operation)

    # Rows.

    def _cells(self, rows: Sequence[int], column: int) -> Iterator[ComputedFinding]:
        is_listed = column == self._query.subject
        for row in rows[:_MAX_LISTED]:
            shown = self._table.rows[row][column].strip()
            named = shown if is_listed else self._words.name_in_question(row, one_of=len(rows))
            if shown and is_listed:
                yield ComputedFinding(
                    self._words.text("listed", row=named),
                    _cell(row, column),
                    shown,
                    named,
                    listed=True,
                )
            elif shown:
                yield self._cell_finding(row, column, named, named)
            yield from self._other_columns(row, named, self._query.select[1:])
        yield from self._more(len(rows))

    def _order_rows(
        self, rows: Sequence[int], column: Column, order: Order
    ) -> Iterator[ComputedFinding]:
        query = self._query
        if query.limit != 1 or query.offset:
            last = (query.limit or len(rows)) + query.offset
            found = in_order(order.operation, column, rows, last, only=query.offset > 0)
            yield from (self._value(row, column) for row in found[: max(last, _MAX_LISTED)])
            return
        result = compute(order.operation, column, rows)
        if result is None:
            return
        is_date = column.kind is ValueKind.DATE
        text = OF_DATES[order.operation] if is_date else order.operation
        for row in result.at[:_MAX_LISTED]:
            shown, named = column.values[row].text.strip(), self._words.name(row)
            sentence = self._words.text(text, column=column.name, row=named, value=shown)
            yield ComputedFinding(sentence, _cell(row, column.index), shown, self._words.label(row))
            yield from self._other_columns(row, named, query.select)
        yield from self._more(len(result.at))

    def _other_columns(
        self, row: int, named: str, columns: Sequence[int]
    ) -> Iterator[ComputedFinding]:
        """Yield further columns of a row."""
        for column in columns:
            if self._table.rows[row][column].strip():
                yield self._cell_finding(row, column, named, self._words.label(row))

    def _cell_finding(
        self, row: int, column: int, named: str, about: str, *, listed: bool = False
    ) -> ComputedFinding:
        shown = self._table.rows[row][column].strip()
        sentence = self._words.text(
            Operation.VALUE, row=named, column=self._table.name(column), value=shown
        )
        return ComputedFinding(sentence, _cell(row, column), shown, about, listed)

    def _value(self, row: int, column: Column) -> ComputedFinding:
        """Return the value of a cell, as one of several."""
        named, label = self._words.name(row), self._words.label(row)
        return self._cell_finding(row, column.index, named, label, listed=True)

    def _distinct(self, rows: Sequence[int], column: int) -> Iterator[ComputedFinding]:
        found, name = first_of_each(self._table, rows, column), self._table.name(column)
        for row in found[:_MAX_LISTED]:
            value = self._table.rows[row][column].strip()
            yield ComputedFinding(
                self._words.text("valued", column=name, value=value),
                _cell(row, column),
                value,
                value,
            )
        yield from self._more(len(found), name)

    def _more(self, found: int, column: str = "") -> Iterator[ComputedFinding]:
        if found > _MAX_LISTED:
            count = found - _MAX_LISTED
            text = self._words.text(
                "more_values" if column else "more", of=count, count=count, column=column
            )
            yield ComputedFinding(text, "", str(count))

    # Numbers.

    def _compute(
        self, rows: Sequence[int], column: Column, operation: Operation
    ) -> Iterator[ComputedFinding]:
        result = compute(operation, column, rows)
        if result is None:
            return
        count, left = len(result.rows), result.left_out
        sentence = self._words.text(
            operation,
            of=count,
            column=column.name,
            value=result.shown,
            count=count,
            about=self._words.about(rounded=result.rounded),
            left_out=self._words.text("left_out", of=left, count=left) if left else "",
        )
        yield ComputedFinding(sentence, f"c{column.index + 1}", result.shown)

    def _count_rows(self, rows: Sequence[int], column: Column | None) -> ComputedFinding:
        """Return the number of rows, or of different values of a column."""
        counted = rows if column is None else first_of_each(self._table, rows, column.index)
        # If every matching row has a different value, the rows are counted.
        values = column is not None and (len(counted) < len(rows) or not self._query.where)
        text = "distinct" if values else "matching" if self._query.where else Operation.COUNT
        name, value = "" if column is None else column.name, str(len(counted))
        sentence = self._words.text(
            text, of=len(counted), value=value, column=name, count=len(rows)
        )
        return ComputedFinding(sentence, "" if column is None else f"c{column.index + 1}", value)

    def _difference(self, rows: Sequence[int]) -> Iterator[ComputedFinding]:
        """Yield how far two rows, or two columns of one row, are apart; nothing without numbers of one unit."""
        columns = [self._columns[at] for at in self._query.select]
        first, across = columns[0], len(columns) > 1
        cells = [(row, one) for one in columns for row in rows]
        values = [one.values[row] for row, one in cells]
        is_comparable = first.unit is not None and {one.unit for one in columns} == {first.unit}
        if (
            len(cells) != 2
            or not is_comparable
            or any(one.kind is not ValueKind.NUMBER for one in values)
        ):
            return
        shown = format_number(difference(*values), first)
        pairs = self._words.join(
            self._words.text(
                "pair",
                row=one.name if across else self._words.name(row),
                value=one.values[row].text.strip(),
            )
            for row, one in cells
        )
        sentence = self._words.text(
            "columns_apart" if across else Operation.DIFFERENCE,
            row=self._words.name(rows[0]),
            column=first.name,
            value=shown,
            cells=pairs,
        )
        yield ComputedFinding(sentence, f"c{first.index + 1}", shown)
        yield from (self._value(row, one) for row, one in cells)

    def _of_operands(
        self, operands: Sequence[tuple[int, int]], operation: Operation
    ) -> Iterator[ComputedFinding]:
        """Yield the result over some cells of a statement; nothing if a cell has no number or another unit."""
        values = [read_value(self._table.rows[row][column]) for row, column in operands]
        result = relate(values, operation)
        if result is None:
            return
        shown, rounded = result
        statement = FinancialStatement(self._table)
        is_row = len({row for row, _ in operands}) == 1
        called = [
            statement.column_of(cell) if is_row else self._table.rows[cell[0]][0].strip()
            for cell in operands
        ]
        label = (
            self._table.rows[operands[0][0]][0].strip()
            if is_row
            else statement.title(operands[0][1])
        )
        pairs = [
            self._words.text("pair", row=name, value=value.text.strip())
            for name, value in zip(called, values, strict=True)
        ]
        sentence = self._words.text(
            f"cells_{operation}",
            row=label,
            value=shown,
            about=self._words.about(rounded=rounded),
            cells=self._words.join(pairs),
        )
        yield ComputedFinding(sentence, f"c{operands[0][1] + 1}", shown, label if is_row else "")

    def _share(self, rows: Sequence[int], column: Column | None) -> Iterator[ComputedFinding]:
        """Yield the share of rows in all rows or in the sum of a column; nothing if a number is negative."""
        everything = matching(self._table, ())
        if column is None:
            part, whole = Decimal(len(rows)), Decimal(len(everything))
            shown = [f"{one:,f}" for one in (part, whole)]
        else:
            lowest = min((column.values[row].number for row in everything), default=Decimal(0))
            if column.unit is None or lowest < 0:
                return
            part, whole = (total_of(column, some) for some in (rows, everything))
            shown = [format_number(one, column) for one in (part, whole)]
        if whole <= 0:
            return
        share, rounded = percentage(part, whole)
        sentence = self._words.text(
            "share_of_rows" if column is None else Operation.SHARE,
            column="" if column is None else column.name,
            part=shown[0],
            value=shown[1],
            about=self._words.about(rounded=rounded),
            share=share,
        )
        yield ComputedFinding(sentence, "" if column is None else f"c{column.index + 1}", share)

    # Groups.

    def _groups(
        self, rows: Sequence[int], group: int, column: Column | None
    ) -> Iterator[ComputedFinding]:
        """Yield the result for each value of a column, or the values with the largest or smallest result."""
        query, groups = self._query, group_rows(self._table, rows, group)
        if query.aggregate is Operation.COUNT:
            for name, members in list(groups.items())[:_MAX_LISTED]:
                counted = (
                    members if column is None else first_of_each(self._table, members, column.index)
                )
                text = "grouped_rows" if column is None else "grouped_count"
                of = "" if column is None else column.name
                sentence = self._words.text(
                    text, of=len(counted), row=name, value=len(counted), column=of
                )
                yield ComputedFinding(sentence, f"c{group + 1}", str(len(counted)), name)
            yield from self._more(len(groups), self._table.name(group))
            return
        if column is None or query.aggregate is None:
            return
        found = (
            (name, compute(query.aggregate, column, members)) for name, members in groups.items()
        )
        results = [(name, result) for name, result in found if result]
        if query.order_by is not None:
            yield from self._outermost_groups(results, column, group, query.order_by)
            return
        for name, result in results[:_MAX_LISTED]:
            shown, reference = result.shown, f"c{column.index + 1}"
            if result.at:
                reference = _cell(result.at[0], column.index)
                words = (
                    one.index
                    for one in self._columns
                    if one.kind is ValueKind.TEXT and one.index != group
                )
                label = next((self._table.rows[result.at[0]][at].strip() for at in words), "")
                shown = f"{shown} ({label})" if label else shown
            operation = self._words.operations[result.operation]
            text = "grouped_most" if result.at else "grouped"
            sentence = self._words.text(
                text, row=name, operation=operation, column=column.name, value=shown
            )
            yield ComputedFinding(sentence, reference, result.shown, name)
        yield from self._more(len(results))

    def _outermost_groups(
        self, results: Sequence[tuple[str, Result]], column: Column, group: int, order: Order
    ) -> Iterator[ComputedFinding]:
        numbers = [result.number for _, result in results if result.number is not None]
        best = (max if order.descending else min)(numbers, default=None)
        for name, result in results:
            if result.number == best:
                sentence = self._words.text(
                    "overall",
                    subject=self._table.name(group),
                    overall=self._words.operations[order.operation],
                    row=name,
                    value=result.shown,
                    column=column.name,
                    operation=self._words.operations[result.operation],
                )
                yield ComputedFinding(sentence, f"c{column.index + 1}", result.shown, name)


def _cell(row: int, column: int) -> str:
    return f"r{row + 1}c{column + 1}"
