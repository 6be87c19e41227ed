"""Exact arithmetic over a table's columns: decimal, never binary floating point, and no model."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact, Rounded
from enum import StrEnum

from sextant.tables.cells.table import Column, DataTable
from sextant.tables.cells.values import DURATION, CellValue, ValueKind

# A number read from a cell lies between 1e-114 and 1e114 (`sextant.tables.cells.values`), so that sums of a
# million of them are exact within so many digits; the traps prove it.
_EXACT = Context(prec=300, traps=[Inexact, Rounded])
_DIVIDING = Context(prec=400)
# A mean that does not end is shown with so many digits more than its column has.
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
    ACROSS = "across"
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
    """A bound on a column's numbers or dates (as ordinals), or the words that its cells must be.

    The bound is a number, or the cell of the column `other` in the same row. `denied`: its cells are
    none of the words; with `of` in no row that has the same in that column: what is not in Oslo is in no
    row in Oslo. `blanks`: an empty cell is none of them either, as in a column of ticks; else it tells nothing.
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
        """Return whether it compares; else it is by words."""
        return self.number is not None or self.other is not None

    def holds(self, value: CellValue, other: CellValue | None = None) -> bool:
        """Return whether a cell fulfils it, beside that of the other column; an empty cell only by `blanks`."""
        if not self.bounds:
            text = value.text.strip()
            return (bool(text) or self.blanks) and (text in self.words) is not self.denied
        number, bound = _measure(value), self.number if other is None else _measure(other)
        return number is not None and bound is not None and _HOLDS[self.comparison](number, bound)


def _measure(value: CellValue) -> Decimal | None:
    """Return what of a cell is compared."""
    if value.kind is ValueKind.NUMBER:
        return value.number
    return Decimal(value.date.toordinal()) if value.kind is ValueKind.DATE and value.date else None


@dataclass(frozen=True, slots=True)
class Result:
    """What came out. `shown` is the value as text; `rows` those it was computed from, from 0.

    `at`: the rows where a largest or smallest value stands. `rounded`: the mean's digits do not end.
    `left_out`: rows whose cell has no value of the column's kind.
    """

    operation: Operation
    shown: str
    rows: tuple[int, ...]
    number: Decimal | None = None
    at: tuple[int, ...] = ()
    rounded: bool = False
    left_out: int = 0


def matching(table: DataTable, conditions: Sequence[Condition]) -> list[int]:
    """Return the rows, from 0, that fulfil all conditions; of those that are records."""
    rows = [row for row in range(len(table.rows)) if row not in table.asides]
    for condition in conditions:
        # A merged cell counts for every row that it spans.
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


def compute(operation: Operation, column: Column | None, rows: Sequence[int]) -> Result | None:
    """Compute over the cells of `column` in `rows`; None where that has no meaning.

    A sum of different units has none, nor has the largest of no cells. COUNT counts the rows.
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
    if column.kind is ValueKind.NUMBER and len(units) == 1:
        column = replace(column, unit=units.pop())
        return _over_numbers(operation, column, filled, left_out)
    if column.kind is ValueKind.DATE and operation in (Operation.MAX, Operation.MIN):
        return _outermost(operation, column, filled, left_out)
    return None


def _over_numbers(
    operation: Operation, column: Column, rows: Sequence[int], left_out: int
) -> Result | None:
    if operation in (Operation.MAX, Operation.MIN):
        return _outermost(operation, column, rows, left_out)
    added = total_of(column, rows)
    if operation is Operation.SUM:
        return Result(
            operation, format_number(added, column), tuple(rows), added, left_out=left_out
        )
    if operation is Operation.MEAN:
        mean, rounded = _quotient(added, len(rows))
        return Result(
            operation, format_number(mean, column), tuple(rows), mean, (), rounded, left_out
        )
    return None


def _outermost(operation: Operation, column: Column, rows: Sequence[int], left_out: int) -> Result:
    # Built-in comparison of decimals is exact whatever the context.
    best = (max if operation is Operation.MAX else min)(_key(column, row) for row in rows)
    at = tuple(row for row in rows if _key(column, row) == best)
    first = column.values[at[0]]
    number = first.number if first.kind is ValueKind.NUMBER else None
    return Result(operation, first.text.strip(), tuple(rows), number, at, left_out=left_out)


def difference(one: CellValue, other: CellValue) -> Decimal:
    """Return how far two numbers are apart."""
    return _EXACT.subtract(one.number, other.number).copy_abs()


def change(old: CellValue, new: CellValue) -> Decimal:
    """Return by how much a number went up, below zero where it went down."""
    return _EXACT.subtract(new.number, old.number)


def ratio(one: CellValue, other: CellValue) -> tuple[Decimal, bool]:
    """Return the quotient of two numbers to four digits, and whether it is rounded.

    Args:
        one: what is divided.
        other: not zero.
    """
    quotient = _DIVIDING.divide(one.number, other.number)
    shown = quotient.quantize(Decimal("0.0001"), ROUND_HALF_EVEN, _DIVIDING)
    return _plain(shown), shown != quotient


def relate(values: Sequence[CellValue], operation: Operation) -> tuple[str, bool] | None:
    """Return what cells of a statement come to, the first related to the last, and whether that is rounded.

    None where one has no number or another unit. Numbers in brackets are deductions: what is computed of them alone may
    be meant either way, and so are parts of nothing.
    """
    units = {value.unit for value in values} - {("", "")}
    numbers = [value.number for value in values if value.kind is ValueKind.NUMBER]
    is_part = operation in (Operation.GROWTH, Operation.RATIO, Operation.PART)
    is_unsure = is_part and (min(numbers, default=0) <= 0 or any("%" in unit for unit in units))
    if len(units) > 1 or len(numbers) < len(values) or max(numbers) < 0 or is_unsure:
        return None
    first, last = values[0], values[-1]
    if operation is Operation.GROWTH:
        return percentage(change(first, last), first.number)
    if operation is Operation.PART:
        return percentage(first.number, last.number)
    if operation is Operation.RATIO:
        number, rounded = ratio(first, last)
        return f"{number:,f}", rounded
    rounded = False
    number = change(first, last) if operation is Operation.CHANGE else sum_of(values)
    if operation is Operation.MEAN:
        number, rounded = _quotient(number, len(values))
    return _format_in_unit(number, next(iter(units), ("", ""))), rounded


def sum_of(values: Sequence[CellValue]) -> Decimal:
    """Return what some numbers add up to."""
    found = _EXACT.create_decimal(0)
    for value in values:
        found = _EXACT.add(found, value.number)
    return found


def total_of(column: Column, rows: Sequence[int]) -> Decimal:
    """Return what the numbers of these rows add up to; cells that have none count for nothing."""
    cells = (column.values[row] for row in rows)
    return sum_of([cell for cell in cells if cell.kind is ValueKind.NUMBER])


def percentage(part: Decimal, whole: Decimal) -> tuple[str, bool]:
    """Return the share of a part in a whole, to two digits, and whether that is rounded.

    Args:
        part: what is compared.
        whole: larger than nothing.
    """
    share = _DIVIDING.divide(part.scaleb(2, _DIVIDING), whole)
    shown = share.quantize(Decimal("0.01"), ROUND_HALF_EVEN, _DIVIDING)
    return f"{shown:f}".rstrip("0").rstrip(".") + "%", shown != share


def in_order(
    operation: Operation, column: Column, rows: Sequence[int], last: int, *, only: bool
) -> list[int]:
    """Return the rows with the `last` largest or smallest values, and those that equal the last of them.

    With `only`, those with the value at that place, equal values having one place.
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
    """Return the exact quotient, or a rounded one when its digits do not end."""
    quotient = _DIVIDING.divide(total, Decimal(count))
    if _DIVIDING.multiply(quotient, Decimal(count)) == total and not _endless(quotient):
        return _plain(quotient), False
    exponent = total.as_tuple().exponent
    digits = max(-exponent, 0) if isinstance(exponent, int) else 0
    step = Decimal(1).scaleb(-(digits + _MORE_DIGITS))
    return quotient.quantize(step, ROUND_HALF_EVEN, _DIVIDING), True


def _endless(quotient: Decimal) -> bool:
    return len(quotient.as_tuple().digits) >= _DIVIDING.prec


def _plain(number: Decimal) -> Decimal:
    """Without zeros behind the last digit of the fraction."""
    whole = number.to_integral_value(context=_DIVIDING)
    return whole if whole == number else number.normalize(_DIVIDING)


def format_number(number: Decimal, column: Column) -> str:
    """Return a number as the column's cells have it, with their unit."""
    return _format_in_unit(number, column.unit or ("", ""))


def _format_in_unit(number: Decimal, unit: tuple[str, str]) -> str:
    prefix, suffix = unit
    if suffix.startswith(DURATION):
        return _format_duration(number, len(suffix) // len(DURATION))
    sign = "-" if number < 0 else ""
    gap = " " if suffix[:1].isascii() and suffix[:1].isalpha() else ""
    return f"{sign}{prefix}{number.copy_abs():,f}{gap}{suffix}"


def _format_duration(number: Decimal, parts: int) -> str:
    """Return a number of sixtieths with so many parts behind the first: 1590 as 26:30."""
    shown, rest = "", number.copy_abs()
    for _ in range(parts):
        rest, last = divmod(rest, 60)
        shown = f":{'0' if last < 10 else ''}{last:f}{shown}"
    return f"{'-' if number < 0 else ''}{rest:f}{shown}"
