"""A table with names, rows and typed columns.

Some things only the whole table or column decides: which rows are totals and no records, whether a comma separates
decimals (1.234,50) or thousands (1,234), the order of day and month in dates, and whether a column says yes or no.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from functools import cached_property
from itertools import pairwise

from sextant.tables.cells.values import (
    CellValue,
    ValueKind,
    has_decimal_commas,
    read_value,
    read_with_comma,
    with_local_dates,
    year_of,
)
from sextant.text.characters import normalise, plain_of

_EXACT = Context(prec=300)
_MAX_LABEL_CHARS = 60
# First cells of rows that sum up other rows.
_SUMS_UP = re.compile(
    r"(?:grand |sub[ -]?)?totals?|sum|averages?|mean|总和|總和|平均值?|均值"
    r"|(?:grand |sub[ -]?)total\b.*|total (?:\d{4}|(?:of|for|in) .+|[(（].+)|.+ (?:sub)?totals?"
    r"|.*(?:合|总|總|小|共)[计計]\s*(?:[(（].*)?",
    re.IGNORECASE,
)
# Words in any cell of a row that may sum up others, which its numbers must prove; the second after such a row.
_MAY_SUM_UP = re.compile(
    r"total|sum|average|\bavg|\bmean\b|[合总總小共][计計]|平均|均值|总", re.IGNORECASE
)
_MAY_BE_OUTERMOST = re.compile(r"\bm(?:ax|in)(?:imum)?\b|最[高低大小]", re.IGNORECASE)
# A row whose sums have so many digits is no coincidence; each further column counts as one more digit.
_MIN_DIGITS = 4


@dataclass(slots=True)
class _Above:
    """Statistics of a column over the rows above; `since` is the sum after the last row that sums up."""

    count: int = 0
    filled: int = 0  # those that are not zero
    least: Decimal = Decimal("Infinity")
    most: Decimal = Decimal("-Infinity")
    total: Decimal = Decimal(0)
    since: Decimal = Decimal(0)

    def add(self, number: Decimal) -> None:
        self.count += 1
        self.filled += number != 0
        self.least, self.most = min(self.least, number), max(self.most, number)
        self.total = _EXACT.add(self.total, number)
        self.since = _EXACT.add(self.since, number)

    def has_mean(self, number: Decimal) -> bool:
        """Return whether a number is the mean, rounded to its digits."""
        mean = _EXACT.divide(self.total, Decimal(self.count))
        exponent = Decimal(1).scaleb(int(number.as_tuple().exponent))
        return mean.quantize(exponent, context=_EXACT) == number


_Totals = Sequence[tuple[Decimal, _Above]]


def rows_summing_up(
    rows: Sequence[Sequence[str]], numbers: Sequence[Sequence[CellValue]], words: Sequence[int]
) -> frozenset[int]:
    """Return the rows that sum up others, by their first cell or by their numbers.

    The numbers decide for a row with "total" or "mean" in another cell, for a row without a name among named rows, and
    for any row (Summe, Net profit, 一季度) whose sums have too many digits for a coincidence.

    Args:
        rows: the cells.
        numbers: the columns of numbers.
        words: the columns of words, which name the rows.
    """
    found, above = set[int](), [_Above() for _ in numbers]
    are_named = sum(any(cells[at].strip() for at in words) for cells in rows) * 2 > len(rows)
    for row, cells in enumerate(rows):
        labels = [label for at in words if (label := cells[at].strip())]
        totals = [
            (column[row].number, sums)
            for column, sums in zip(numbers, above, strict=True)
            if column[row].kind is ValueKind.NUMBER
        ]
        label = " ".join(labels)[:_MAX_LABEL_CHARS]
        is_unnamed = are_named and not labels
        digits = _digits_summed(totals)
        if (
            sums_up(cells)
            or (
                _MAY_SUM_UP.search(label)
                and totals
                and all(
                    sums.count > 1 and (number in (sums.total, sums.since) or sums.has_mean(number))
                    for number, sums in totals
                )
            )
            or (
                row - 1 in found
                and _MAY_BE_OUTERMOST.search(label)
                and totals
                and all(number in (sums.least, sums.most) for number, sums in totals if sums.count)
            )
            or (is_unnamed and digits)
            or digits >= _MIN_DIGITS
        ):
            found.add(row)
            for sums in above:
                sums.since = Decimal(0)
        else:
            for number, sums in totals:
                sums.add(number)
    return frozenset(found)


def sums_up(cells: Sequence[str]) -> bool:
    """Return whether the first cell that is not empty calls a row a total, a mean or the like."""
    first = next(filter(None, (cell.strip(" *:：") for cell in cells)), "")
    return _SUMS_UP.fullmatch(first[:_MAX_LABEL_CHARS]) is not None


def _digits_summed(totals: _Totals) -> int:
    """Return the number of digits of a row's numbers, if each is the sum of several numbers above it; else 0."""
    several = any(sums.filled > 1 for _, sums in totals)
    sums_all = all(number == sums.total for number, sums in totals)
    sums_group = all(number == sums.since for number, sums in totals)
    if not several or not (sums_all or sums_group):
        return 0
    digits = [len(number.normalize(_EXACT).as_tuple().digits) for number, _ in totals if number]
    return sum(digits) + len(digits) - 1


_YES_WORDS = "yes y true included ✓ ✔ ✔️ √ ☑ ✅ ● • 是 有 支持"
_NO_WORDS = "no n false none ✗ ✘ × ✕ ❌ ☐ ○ - – — 否 无 不支持"
_YES, _NO = frozenset(_YES_WORDS.split()), frozenset(_NO_WORDS.split())
_CROSS = "x"  # a tick, if other cells are empty


def find_tick(values_of: Mapping[str, set[str]]) -> set[str]:
    """Return the spellings of "yes" in a column of yes and no; nothing for another column. An empty cell is no.

    Args:
        values_of: normalised value → its spellings.
    """
    filled = values_of.keys() - {""}
    if filled == {_CROSS} and "" in values_of:
        return values_of[_CROSS]
    if not filled <= _YES | _NO:
        return set()
    return {written for plain in filled & _YES for written in values_of[plain]}


# A column is one of numbers (or dates) if at most this share of its filled cells is something else, like "n/a".
_MAX_OTHERS = 0.2
# Numbers in such a column are dates, if all of them can be years.
_OF_YEARS = re.compile(r"\byear\b|年[份度]?(?:[(（]|$)")

_NOTHING = re.compile(r"\W*[-–—]\W*|n/?a|nan|null|none|暂?无", re.IGNORECASE)

# Names of a column with the unit of the numbers on its left.
_OF_UNITS = frozenset(
    ("currency", "curr", "curr.", "unit", "units", "uom", "einheit", "währung", "单位", "计量单位", "币种", "货币")
)  # fmt: skip

# Suffixes of names with a number: 1月, 2班; an amount of months is 个月.
_NAME_SUFFIXES = frozenset({"月", "月份", "号", "班", "年级", "季度", "组", "期"})


def names_one_of_many(value: CellValue) -> bool:
    """Return whether a cell is empty or names its row by a number."""
    return value.kind is ValueKind.EMPTY or value.suffix in _NAME_SUFFIXES


@dataclass(frozen=True, slots=True)
class Column:
    """A typed column.

    Attributes:
        index: its position.
        name: its name, or its number.
        kind: the kind of nearly all of its cells.
        values: one for each row; EMPTY where a merged cell is repeated.
        unit: unit of its numbers; None if they differ.
        shown: one for each row, with the value of a merged cell in every row that it spans.
    """

    index: int
    name: str
    kind: ValueKind
    values: tuple[CellValue, ...]
    unit: tuple[str, str] | None = ("", "")
    shown: tuple[CellValue, ...] = ()

    @property
    def repeats(self) -> bool:
        """Return whether several rows have the same value, in any case or width."""
        texts = [plain_of(text) for value in self.values if (text := value.text.strip())]
        return len(set(texts)) < len(texts)

    @property
    def stands_for_blanks(self) -> bool:
        """Return whether a value may also count for the blank cells below it: in a first column with distinct values."""
        return (
            self.index == 0
            and not self.repeats
            and any(
                above.text.strip() and not below.text.strip()
                for above, below in pairwise(self.shown)
            )
        )


@dataclass(frozen=True)
class DataTable:
    """A table with rows of equal length. `names` is its header, "" for a column without a name.

    Rows and columns count from 0 here, and from 1 in markers (`r1c1` is the first cell below the header). `repeated`
    are the cells (row, column) that repeat a merged cell.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    repeated: frozenset[tuple[int, int]] = frozenset()

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return len(self.names)

    def name(self, column: int) -> str:
        """Return a column's name, or its number where it has none."""
        return self.names[column] or f"c{column + 1}"

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Return all columns."""
        return tuple(self._read(index) for index in range(self.width))

    @cached_property
    def asides(self) -> frozenset[int]:
        """Return the rows that are no records: names of columns, headings of groups, and totals."""
        numbers = [one.values for one in self.columns if one.kind is ValueKind.NUMBER]
        words = [one.index for one in self.columns if one.kind is ValueKind.TEXT]
        groups = {
            row
            for row, cells in enumerate(self.rows)
            if all(not cell and (row, at) in self.repeated for at, cell in enumerate(cells) if at)
            and self.width > 1
        }
        return self._names_again | groups | rows_summing_up(self.rows, numbers, words)

    @cached_property
    def records(self) -> tuple[tuple[str, ...], ...]:
        """Return the rows that are records."""
        return tuple(cells for row, cells in enumerate(self.rows) if row not in self.asides)

    @cached_property
    def _names_again(self) -> frozenset[int]:
        """Return the rows that repeat the names of the columns, as at the head of each printed page."""
        names = list(map(normalise, self.names)) if any(self.names) else None
        return frozenset(
            row for row, cells in enumerate(self.rows) if names == list(map(normalise, cells))
        )

    @cached_property
    def _read_cell(self) -> Callable[[str], CellValue]:
        cells = (cell for row in self.rows for cell in row)
        return read_with_comma if has_decimal_commas(cells) else read_value

    def _units_after(self, index: int) -> int | None:
        """Return the next column on the right with the unit of each row, if the units differ."""
        columns_after = range(index + 1, self.width)
        at = next((at for at in columns_after if normalise(self.names[at]) in _OF_UNITS), None)
        units = {plain_of(row[at].strip()) for row in self.rows if row[at].strip()} if at else ()
        return at if len(units) > 1 else None

    def _read(self, index: int) -> Column:
        shown = with_local_dates([self._read_cell(cells[index]) for cells in self.rows])
        if (of_units := self._units_after(index)) is not None:
            shown = tuple(
                replace(value, suffix=cells[of_units].strip()) if value.unit == ("", "") else value
                for value, cells in zip(shown, self.rows, strict=True)
            )
        if _OF_YEARS.search(normalise(self.names[index])):
            years = [year_of(value) for value in shown]
            if all(year.kind is not ValueKind.NUMBER for year in years):
                shown = tuple(years)
        values = tuple(
            read_value("") if (row, index) in self.repeated or row in self._names_again else value
            for row, value in enumerate(shown)
        )
        kinds = Counter(value.kind for value in values)
        # A dash is an empty cell, and in accounts zero.
        nothing = sum(_NOTHING.fullmatch(value.text.strip()) is not None for value in values)
        filled = len(values) - kinds[ValueKind.EMPTY] - nothing
        kind = next(
            (
                kind
                for kind in (ValueKind.NUMBER, ValueKind.DATE)
                if kinds[kind] and filled - kinds[kind] <= filled * _MAX_OTHERS
            ),
            ValueKind.TEXT,
        )
        name = normalise(self.names[index])
        is_parted = name and any(normalise(value.text) == name for value in values)
        if is_parted or (kind is ValueKind.NUMBER and all(map(names_one_of_many, values))):
            kind = ValueKind.TEXT  # names among the values: another table begins there
        units = {value.unit for value in values if value.kind is ValueKind.NUMBER}
        unit = units.pop() if len(units) == 1 else (None if units else ("", ""))
        return Column(index, self.name(index), kind, values, unit, shown)


def make_table(
    rows: Sequence[Sequence[str]], header_rows: int, repeated: Iterable[tuple[int, int]] = ()
) -> DataTable:
    """Return a table of rows of any lengths.

    Short rows get empty cells at the end; columns beyond the header have no name; with a header of several rows, the
    name of a column has the words of all of them.
    """
    width = max((len(row) for row in rows), default=0)
    whole = [(*row, *[""] * (width - len(row))) for row in rows]
    header = whole[:header_rows]
    names = tuple(
        " ".join(dict.fromkeys(row[column].strip() for row in header if row[column].strip()))
        for column in range(width)
    )
    below = ((row - header_rows, column) for row, column in repeated if row >= header_rows)
    return DataTable(names, tuple(whole[header_rows:]), frozenset(below))
