"""Rows that stand for a range of numbers: "up to 5,000", 5,000 元至 30,000 元, "over 30,000"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sextant.tables.cells.arithmetic import Comparison
from sextant.tables.cells.table import DataTable
from sextant.tables.cells.values import ValueKind, numbers_in, numbers_with_rest
from sextant.tables.query.comparisons import bounds_in
from sextant.tables.query.units import unit_of
from sextant.text.characters import IDEOGRAPHS, find_whole, plain_of
from sextant.text.number_words import in_digits

# Two numbers and nothing but their units between them: 5,000 元至 30,000 元, "20–30 kg".
_RANGE = re.compile(
    r"\D{0,4}?(\d[\d,]*(?:\.\d+)?)\s*(?:[万千亿k]|%)?\s*\D{0,6}?\s*(?:to|and|至|到|-|–|—|~|～)\s*"
    r"\D{0,4}?(\d[\d,]*(?:\.\d+)?)\D{0,8}"
)
_NAME_WORDS = re.compile(f"[a-z%]+|[{IDEOGRAPHS}]+")
# A column is one of bands when at least so many of its cells are, and so much of it.
_LEAST_BANDS, _SHARE = 2, 0.8
_MOST_ROWS = 1_000  # no table of ranges is longer
_LONGEST = 60  # a longer cell tells more than a range
_LOWER = frozenset({Comparison.MORE, Comparison.AT_LEAST})
_STRICT = frozenset({Comparison.MORE, Comparison.LESS})


@dataclass(frozen=True, slots=True)
class Band:
    """A range of numbers; an end that is None is open."""

    low: Decimal | None = None
    high: Decimal | None = None

    def holds(self, number: Decimal, beyond: int) -> bool:
        """Return whether a number lies within, ends included; or what is just above (1) or below (-1) it.

        Where two bands share an end, its number is in both: a table of "up to 5,000" and "5,000 to 30,000"
        does not say which it means.
        """
        above = self.low is None or number > self.low or (number == self.low and beyond >= 0)
        below = self.high is None or number < self.high or (number == self.high and beyond <= 0)
        return above and below


def rows_of_band(table: DataTable, question: str) -> list[int]:
    """Return the rows, from 0, in whose range the question's number lies: one, or two that share their end.

    None where the question has no number or several, or one in another unit, or where no column, or more
    than one, has ranges.

    Args:
        table: its cells.
        question: "who approves 20,000 yuan?", 超过30000元谁审批？ "with more than five years of service".
    """
    if len(table.rows) > _MOST_ROWS:
        return []
    text = in_digits(plain_of(question))
    bounds, numbers = bounds_in(text), numbers_in(text)
    if len(numbers) != 1 and len(bounds) != 1:
        return []
    number = bounds[0][2] if bounds else numbers[0]
    comparison = bounds[0][1] if bounds else Comparison.EQUAL
    beyond = 0 if comparison not in _STRICT else 1 if comparison in _LOWER else -1
    columns = [(at, *found) for at in range(table.width) if (found := _bands(table, at))]
    if len(columns) != 1:
        return []
    [(at, bands, units)] = columns
    behind = [rest for _, rest in numbers_with_rest(text)]
    units_asked = set(map(unit_of, behind)) or {""}
    if units_asked == {""}:
        if not _counts(table.names[at], behind) and not (bounds and _has_no_numbers(table)):
            return []
    elif units.isdisjoint(units_asked):
        return []
    return [row for row, band in enumerate(bands) if band and band.holds(number, beyond)]


def _counts(name: str, behind: Sequence[str]) -> bool:
    """Return whether the word behind a number is in a column's name: six members, `Members of one company`."""
    words = (found[0] for rest in behind if (found := _NAME_WORDS.match(rest.lstrip())))
    return any(find_whole(plain_of(name), word.removesuffix("s")) for word in words)


def _has_no_numbers(table: DataTable) -> bool:
    """Return whether no other column can be what a bound without a unit is on."""
    return all(column.kind is not ValueKind.NUMBER for column in table.columns)


def _bands(table: DataTable, column: int) -> tuple[Sequence[Band | None], set[str]] | None:
    """Return each row's range, and the units of their ends; None where the column is none of ranges."""
    found = [_band(cells[column]) for cells in table.rows]
    filled = sum(bool(cells[column].strip()) for cells in table.rows)
    many = sum(band is not None for band in found)
    if many < _LEAST_BANDS or many < filled * _SHARE:
        return None
    cells = (plain_of(cells[column]) for cells in table.rows)
    units = {unit_of(rest) for cell in cells for _, rest in numbers_with_rest(cell)}
    return found, units if any(units) else units | _units_named(table.names[column])


def _units_named(name: str) -> set[str]:
    """Return the units in a column's name, where its cells have none: `Years of service`, 工龄（年）."""
    return set(filter(None, map(unit_of, _NAME_WORDS.findall(plain_of(name)))))


def _band(cell: str) -> Band | None:
    text = plain_of(cell)
    if len(text) > _LONGEST:
        return None
    if _RANGE.fullmatch(text):
        ends = numbers_in(re.sub(r"[-–—~～]", " ", text))
        return Band(*ends) if len(ends) == 2 and ends[0] < ends[1] else None
    bounds = bounds_in(text)
    if len(bounds) != 1 or len(numbers_in(text)) > 1:
        return None
    _, comparison, number = bounds[0]
    return Band(low=number) if comparison in _LOWER else Band(high=number)
