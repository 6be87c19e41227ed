"""Run a query over a table and write the result as sentences, each with the cell or column that it cites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

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
from sextant.tables.cells.values import CellValue, ValueKind, read_value
from sextant.tables.query.query import Order, TableQuery
from sextant.tables.query.statements import FinancialStatement
from sextant.tables.results.wording import OF_DATES, FindingWording

_MAX_LISTED = 10  # further rows are counted, not listed


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
        row, is_cell, _ = self.place.removeprefix("r").partition("c")
        return int(row) - 1 if row and is_cell else None


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
            yield self._say("none", "", "0")
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
            return self._cells(rows, column.index)
        if operation is Operation.DISTINCT:
            return self._distinct(rows, column.index)
        if operation is Operation.DIFFERENCE:
            return self._difference(rows)
        return self._compute(rows, column, operation)

    def _say(
        self,
        key: str,
        cited: str,
        value: str,
        *,
        item: str = "",
        listed: bool = False,
        **words: Any,  # noqa: ANN401 - what the sentence names
    ) -> ComputedFinding:
        """Return the sentence `key` about a value, with the cell or column that it cites."""
        sentence = self._words.text(key, **{"value": value, **words})
        return ComputedFinding(sentence, cited, value, item, listed)

    # Rows.

    def _cells(self, rows: Sequence[int], column: int) -> Iterator[ComputedFinding]:
        is_listed = column == self._query.subject
        for row in rows[:_MAX_LISTED]:
            shown = self._table.rows[row][column].strip()
            named = shown if is_listed else self._words.name_in_question(row, one_of=len(rows))
            if shown and is_listed:
                cited = _cell(row, column)
                yield self._say("listed", cited, shown, row=named, item=named, listed=True)
            else:
                yield from self._columns_of(row, [column], named, named)
            yield from self._columns_of(row, self._query.select[1:], named)
        yield from self._more(len(rows))

    def _order_rows(
        self, rows: Sequence[int], column: Column, order: Order
    ) -> Iterator[ComputedFinding]:
        query = self._query
        if query.limit != 1 or query.offset:
            last = (query.limit or len(rows)) + query.offset
            found = in_order(order.operation, column, rows, last, only=query.offset > 0)
            for row in found[: max(last, _MAX_LISTED)]:
                yield self._value(row, column)
            return
        result = compute(order.operation, column, rows)
        if result is None:
            return
        is_date = column.kind is ValueKind.DATE
        text = OF_DATES[order.operation] if is_date else order.operation
        for row in result.at[:_MAX_LISTED]:
            shown, named = column.values[row].text.strip(), self._words.name(row)
            cited, label = _cell(row, column.index), self._words.label(row)
            yield self._say(text, cited, shown, item=label, column=column.name, row=named)
            yield from self._columns_of(row, query.select, named)
        yield from self._more(len(result.at))

    def _columns_of(
        self, row: int, columns: Sequence[int], named: str, item: str | None = None
    ) -> Iterator[ComputedFinding]:
        """Yield the filled cells of a row in some columns."""
        item = self._words.label(row) if item is None else item
        for column in columns:
            if shown := self._table.rows[row][column].strip():
                name, cited = self._table.name(column), _cell(row, column)
                yield self._say(Operation.VALUE, cited, shown, item=item, row=named, column=name)

    def _value(self, row: int, column: Column) -> ComputedFinding:
        """Return the value of a cell, as one of several."""
        shown, cited = self._table.rows[row][column.index].strip(), _cell(row, column.index)
        named, label = self._words.name(row), self._words.label(row)
        words = {"row": named, "column": column.name}
        return self._say(Operation.VALUE, cited, shown, item=label, listed=True, **words)

    def _distinct(self, rows: Sequence[int], column: int) -> Iterator[ComputedFinding]:
        found, name = first_of_each(self._table, rows, column), self._table.name(column)
        for row in found[:_MAX_LISTED]:
            value = self._table.rows[row][column].strip()
            yield self._say("valued", _cell(row, column), value, item=value, column=name)
        yield from self._more(len(found), name)

    def _more(self, found: int, column: str = "") -> Iterator[ComputedFinding]:
        if found > _MAX_LISTED:
            count, text = found - _MAX_LISTED, "more_values" if column else "more"
            yield self._say(text, "", str(count), of=count, count=count, column=column)

    # Numbers.

    def _compute(
        self, rows: Sequence[int], column: Column, operation: Operation
    ) -> Iterator[ComputedFinding]:
        result = compute(operation, column, rows)
        if result is None:
            return
        count, left = len(result.rows), result.left_out
        yield self._say(
            operation,
            _whole(column),
            result.shown,
            of=count,
            column=column.name,
            count=count,
            about=self._words.about(rounded=result.rounded),
            left_out=self._words.text("left_out", of=left, count=left) if left else "",
        )

    def _count_rows(self, rows: Sequence[int], column: Column | None) -> ComputedFinding:
        """Return the number of rows, or of different values of a column."""
        counted = self._each_once(rows, column)
        # If every matching row has a different value, the rows are counted.
        values = column is not None and (len(counted) < len(rows) or not self._query.where)
        text = "distinct" if values else "matching" if self._query.where else Operation.COUNT
        name, count = "" if column is None else column.name, len(counted)
        return self._say(text, _whole(column), str(count), of=count, column=name, count=len(rows))

    def _each_once(self, rows: Sequence[int], column: Column | None) -> Sequence[int]:
        """Return the rows, or the first of each value of a column."""
        return rows if column is None else first_of_each(self._table, rows, column.index)

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
        names = [one.name if across else self._words.name(row) for row, one in cells]
        text = "columns_apart" if across else Operation.DIFFERENCE
        row, pairs = self._words.name(rows[0]), self._pairs(names, values)
        yield self._say(text, _whole(first), shown, row=row, column=first.name, cells=pairs)
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
        row, column = operands[0]
        label = self._table.rows[row][0].strip() if is_row else statement.title(column)
        yield self._say(
            f"cells_{operation}",
            f"c{column + 1}",
            shown,
            item=label if is_row else "",
            row=label,
            about=self._words.about(rounded=rounded),
            cells=self._pairs(called, values),
        )

    def _pairs(self, names: Sequence[str], values: Sequence[CellValue]) -> str:
        """Return the cells that a result was computed from, each with its name."""
        pairs = zip(names, values, strict=True)
        return self._words.join(
            self._words.text("pair", row=name, value=value.text.strip()) for name, value in pairs
        )

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
        yield self._say(
            "share_of_rows" if column is None else Operation.SHARE,
            _whole(column),
            share,
            column="" if column is None else column.name,
            part=shown[0],
            whole=shown[1],
            about=self._words.about(rounded=rounded),
        )

    # Groups.

    def _groups(
        self, rows: Sequence[int], group: int, column: Column | None
    ) -> Iterator[ComputedFinding]:
        """Yield the result for each value of a column, or the values with the largest or smallest result."""
        query, groups = self._query, group_rows(self._table, rows, group)
        if query.aggregate is Operation.COUNT:
            text, of = ("grouped_rows", "") if column is None else ("grouped_count", column.name)
            for name, members in list(groups.items())[:_MAX_LISTED]:
                count, cited = len(self._each_once(members, column)), f"c{group + 1}"
                yield self._say(text, cited, str(count), item=name, of=count, row=name, column=of)
            yield from self._more(len(groups), self._table.name(group))
            return
        if column is None or query.aggregate is None:
            return
        found = (
            (name, compute(query.aggregate, column, members)) for name, members in groups.items()
        )
        results = [(name, result) for name, result in found if result]
        text, overall = "grouped", ""
        if query.order_by is not None:
            numbers = [result.number for _, result in results if result.number is not None]
            best = (max if query.order_by.descending else min)(numbers, default=None)
            results = [one for one in results if one[1].number == best]
            text, overall = "overall", self._words.operations[query.order_by.operation]
        for name, result in results[:_MAX_LISTED]:
            yield self._say(
                "grouped_most" if result.at else text,
                _cell(result.at[0], column.index) if result.at else _whole(column),
                result.shown,
                item=name,
                row=name,
                operation=self._words.operations[result.operation],
                column=column.name,
                label=self._name_extreme(result, group),
                subject=self._table.name(group),
                overall=overall,
            )
        yield from self._more(len(results))

    def _name_extreme(self, result: Result, group: int) -> str:
        """Return the name, in brackets, of the row with the largest or smallest value of a group."""
        words = [one.index for one in self._columns if one.kind is ValueKind.TEXT]
        row = next((self._table.rows[at] for at in result.at), None)
        label = next((row[at].strip() for at in words if row and at != group), "")
        return f" ({label})" if label else ""


def _whole(column: Column | None) -> str:
    """Return the reference to a column; to the table for none."""
    return "" if column is None else f"c{column.index + 1}"


def _cell(row: int, column: int) -> str:
    return f"r{row + 1}c{column + 1}"
