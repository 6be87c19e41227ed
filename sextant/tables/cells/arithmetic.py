"""Exact decimal arithmetic over the columns of a table."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact, Rounded
from enum import StrEnum

from sextant.tables.cells.table import Column, DataTable
from sextant.tables.cells.values import CellValue, ValueKind
from sextant.text.characters import plain_of

# Numbers of cells lie between 1e-114 and 1e114 (`sextant.tables.cells.values`), so that sums of a million of them are
# exact with 300 digits; the traps prove it.
_EXACT = Context(prec=300, traps=[Inexact, Rounded])
_DIVIDING = Context(prec=400)
# A mean with endless digits has so many more digits than its column.
_MORE_DIGITS = 4


class Operation(StrEnum):
    """What can be computed."""

    MAX = "max"
    MIN = "min"
    SUM = "sum"
    MEAN = "mean"
    COUNT = "count"
    VALUE = "value"
    DISTINCT = "distinct"
    DIFFERENCE = "difference"
    SHARE = "share"
    CHANGE = "change"
    GROWTH = "growth"
    RATIO = "ratio"
    PART = "part"


class Comparison(StrEnum):
    """How a condition compares a cell."""

    EQUAL = "="
    MORE = ">"
    LESS = "<"
    AT_LEAST = ">="
    AT_MOST = "<="


_HOLDS: dict[Comparison, Callable[[Decimal, Decimal], bool]] = {
    Comparison.EQUAL: operator.eq,
    Comparison.MORE: operator.gt,
    Comparison.LESS: operator.lt,
    Comparison.AT_LEAST: operator.ge,
    Comparison.AT_MOST: operator.le,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the cells of a column.

    Attributes:
        column: the column.
        comparison: how a number or date is compared.
        number: the bound; a date is its ordinal.
        words: values that match, if there is no bound.
        other: the column whose cell in the same row is the bound.
        denied: cells with none of the words match.
        blanks: with `denied`, an empty cell matches, too, as in a column of ticks.
        of: with `denied`, a value of this column must have no row with the words: a name that is in Oslo in another
            row does not match "not in Oslo".
    """

    column: int
    comparison: Comparison = Comparison.EQUAL
    number: Decimal | None = None
    words: frozenset[str] = frozenset()
    other: int | None = None
    denied: bool = False
    blanks: bool = False
    of: int | None = None

    @property
    def bounds(self) -> bool:
        """Return whether the condition is a bound; else it is by words."""
        return self.number is not None or self.other is not None

    def holds(self, value: CellValue, other: CellValue | None = None) -> bool:
        """Return whether a cell meets the condition; `other` is the cell of the other column."""
        if not self.bounds:
            text = value.text.strip()
            return (bool(text) or self.blanks) and (text in self.words) is not self.denied
        number, bound = _measure(value), self.number if other is None else _measure(other)
        return number is not None and bound is not None and _HOLDS[self.comparison](number, bound)


def _measure(value: CellValue) -> Decimal | None:
    """Return the number or the ordinal of the date of a cell."""
    if value.kind is ValueKind.NUMBER:
        return value.number
    return Decimal(value.date.toordinal()) if value.kind is ValueKind.DATE and value.date else None


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a computation.

    Attributes:
        operation: what was computed.
        shown: the value as text.
        rows: rows that it was computed from, from 0.
        number: the value.
        at: rows of the largest or smallest value.
        rounded: whether digits were rounded.
        left_out: number of rows without a value of the column's kind.
    """

    operation: Operation
    shown: str
    rows: tuple[int, ...]
    number: Decimal | None = None
    at: tuple[int, ...] = ()
    rounded: bool = False
    left_out: int = 0


def matching(table: DataTable, conditions: Sequence[Condition]) -> list[int]:
    """Return the records (rows from 0) that meet all conditions."""
    rows = [row for row in range(len(table.rows)) if row not in table.asides]
    for condition in conditions:
        # A merged cell counts in every row that it spans.
        column = table.columns[condition.column]
        other = None if condition.other is None else table.columns[condition.other]
        among = rows
        rows = [
            row
            for row in rows
            if condition.holds(
                (column.shown or column.values)[row]
                if condition.bounds
                else CellValue(ValueKind.TEXT, table.rows[row][condition.column]),
                None if other is None else (other.shown or other.values)[row],
            )
        ]
        if condition.of is not None:
            denied = {table.rows[row][condition.of] for row in set(among) - set(rows)}
            rows = [row for row in rows if table.rows[row][condition.of] not in denied]
    return rows


def group_rows(table: DataTable, rows: Sequence[int], column: int) -> dict[str, list[int]]:
    """Return value → rows; spellings such as Norbolt and NORBOLT are one value, named by the first."""
    groups = dict[str, list[int]]()
    for row in rows:
        if name := table.rows[row][column].strip():
            groups.setdefault(plain_of(name), []).append(row)
    return {table.rows[members[0]][column].strip(): members for members in groups.values()}


def first_of_each(table: DataTable, rows: Sequence[int], column: int) -> list[int]:
    """Return the first row of each value."""
    return [members[0] for members in group_rows(table, rows, column).values()]


def compute(operation: Operation, column: Column | None, rows: Sequence[int]) -> Result | None:
    """Compute over the cells of a column in some rows; None without cells, or if their units differ.

    COUNT counts the rows.
    """
    if operation is Operation.COUNT:
        return Result(operation, str(len(rows)), tuple(rows), Decimal(len(rows)))
    if column is None:
        return None
    filled = [row for row in rows if column.values[row].kind is column.kind]
    left_out = sum(column.values[row].kind is not ValueKind.EMPTY for row in rows) - len(filled)
    if not filled:
        return None
    units = {column.values[row].unit for row in filled}
    is_number = column.kind is ValueKind.NUMBER and len(units) == 1
    if operation in (Operation.MAX, Operation.MIN):
        is_computed = is_number or column.kind is ValueKind.DATE
        return _outermost(operation, column, filled, left_out) if is_computed else None
    if not is_number or operation not in (Operation.SUM, Operation.MEAN):
        return None
    number, rounded = total_of(column, filled), False
    if operation is Operation.MEAN:
        number, rounded = _quotient(number, len(filled))
    shown = _format_in_unit(number, units.pop())
    return Result(operation, shown, tuple(filled), number, (), rounded, left_out)


def _outermost(operation: Operation, column: Column, rows: Sequence[int], left_out: int) -> Result:
    # Built-in comparison of decimals is exact whatever the context.
    best = (max if operation is Operation.MAX else min)(_key(column, row) for row in rows)
    at = tuple(row for row in rows if _key(column, row) == best)
    first = column.values[at[0]]
    number = first.number if first.kind is ValueKind.NUMBER else None
    return Result(operation, first.text.strip(), tuple(rows), number, at, left_out=left_out)


def difference(one: CellValue, other: CellValue) -> Decimal:
    """Return the absolute difference of two numbers."""
    return _EXACT.subtract(one.number, other.number).copy_abs()


def relate(values: Sequence[CellValue], operation: Operation) -> tuple[str, bool] | None:
    """Return the result over cells of a statement as text, and whether it is rounded.

    None if a cell has no number or another unit; if all are negative, since numbers in brackets are deductions whose
    sign is unsure; or for a ratio if one is not positive.
    """
    units = {value.unit for value in values} - {("", "")}
    numbers = [value.number for value in values if value.kind is ValueKind.NUMBER]
    is_part = operation in (Operation.GROWTH, Operation.RATIO, Operation.PART)
    is_unsure = is_part and (min(numbers, default=0) <= 0 or any("%" in unit for unit in units))
    if len(units) > 1 or len(numbers) < len(values) or max(numbers) < 0 or is_unsure:
        return None
    first, last = values[0], values[-1]
    change = _EXACT.subtract(last.number, first.number)
    if operation is Operation.GROWTH:
        return percentage(change, first.number)
    if operation is Operation.PART:
        return percentage(first.number, last.number)
    if operation is Operation.RATIO:
        quotient = _DIVIDING.divide(first.number, last.number)
        shown = quotient.quantize(Decimal("0.0001"), ROUND_HALF_EVEN, _DIVIDING)
        return f"{_plain(shown):,f}", shown != quotient
    rounded = False
    number = change if operation is Operation.CHANGE else sum_of(values)
    if operation is Operation.MEAN:
        number, rounded = _quotient(number, len(values))
    return _format_in_unit(number, next(iter(units), ("", ""))), rounded


def sum_of(values: Sequence[CellValue]) -> Decimal:
    """Return the sum of some numbers."""
    found = _EXACT.create_decimal(0)
    for value in values:
        found = _EXACT.add(found, value.number)
    return found


def total_of(column: Column, rows: Sequence[int]) -> Decimal:
    """Return the sum of a column over some rows, without cells that have no number."""
    cells = (column.values[row] for row in rows)
    return sum_of([cell for cell in cells if cell.kind is ValueKind.NUMBER])


def percentage(part: Decimal, whole: Decimal) -> tuple[str, bool]:
    """Return `part / whole` in percent with two digits, and whether it is rounded.

    Args:
        part: the part.
        whole: above 0.
    """
    share = _DIVIDING.divide(part.scaleb(2, _DIVIDING), whole)
    shown = share.quantize(Decimal("0.01"), ROUND_HALF_EVEN, _DIVIDING)
    return f"{shown:f}".rstrip("0").rstrip(".") + "%", shown != share


def in_order(
    operation: Operation, column: Column, rows: Sequence[int], last: int, *, only: bool
) -> list[int]:
    """Return the rows with the `last` largest or smallest values, and ties with the last of them.

    With `only`, the rows with the `last`-th distinct value.
    """
    filled = [row for row in rows if column.values[row].kind is column.kind]
    if column.kind is ValueKind.NUMBER and column.unit is None:
        return []
    largest = operation is Operation.MAX
    order = sorted(filled, key=lambda row: _key(column, row), reverse=largest)
    if only:
        values = list(dict.fromkeys(_key(column, row) for row in order))
        return [row for row in order if _key(column, row) in values[last - 1 : last]]
    end = last
    while 0 < end < len(order) and _key(column, order[end]) == _key(column, order[last - 1]):
        end += 1
    return order[:end]


def _key(column: Column, row: int) -> Decimal:
    value = column.values[row]
    return Decimal(value.date.toordinal()) if value.date else value.number


def _quotient(total: Decimal, count: int) -> tuple[Decimal, bool]:
    """Return the quotient, and whether it is rounded because its digits do not end."""
    quotient = _DIVIDING.divide(total, Decimal(count))
    if _DIVIDING.multiply(quotient, Decimal(count)) == total and (
        len(quotient.as_tuple().digits) < _DIVIDING.prec
    ):
        return _plain(quotient), False
    exponent = total.as_tuple().exponent
    digits = max(-exponent, 0) if isinstance(exponent, int) else 0
    step = Decimal(1).scaleb(-(digits + _MORE_DIGITS))
    return quotient.quantize(step, ROUND_HALF_EVEN, _DIVIDING), True


def _plain(number: Decimal) -> Decimal:
    """Return the number without trailing zeros."""
    whole = number.to_integral_value(context=_DIVIDING)
    return whole if whole == number else number.normalize(_DIVIDING)


def format_number(number: Decimal, column: Column) -> str:
    """Return a number with the unit of a column."""
    return _format_in_unit(number, column.unit or ("", ""))


def _format_in_unit(number: Decimal, unit: tuple[str, str]) -> str:
    prefix, suffix = unit
    sign = "-" if number < 0 else ""
    gap = " " if suffix[:1].isascii() and suffix[:1].isalpha() else ""
    return f"{sign}{prefix}{number.copy_abs():,f}{gap}{suffix}"
