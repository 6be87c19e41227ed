"""A table that a question is asked about: names, rows, and a place for every cell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from sextant.tables.cells.asides import repeats_names, rows_summing_up
from sextant.tables.cells.decimal_commas import has_decimal_commas, read_with_comma
from sextant.tables.cells.local_dates import with_local_dates
from sextant.tables.cells.values import CellValue, ValueKind, read_value, year_of
from sextant.text.characters import normalise
from sextant.text.simplified import plain_of

# A column counts as one of numbers (or dates) when at most so many of its filled cells are not:
# "n/a" and "—" stand in many.
_OTHERS = 0.2
# Numbers of such a column are dates, if all of them can be years: nobody adds them up.
_OF_YEARS = re.compile(r"\byear\b|年[份度]?(?:[(（]|$)")

_NOTHING = re.compile(r"\W*[-–—]\W*|n/?a|nan|null|none|暂?无", re.IGNORECASE)

# A column that says what the numbers on its left are counted in.
_OF_UNITS = re.compile(r"currency|curr\.?|units?|uom|(?:计量)?单位|币种|货币|einheit|währung")

# 1月, 2班: called by a number, and no amount; so many months are 个月.
_CALLED = frozenset({"月", "月份", "号", "班", "年级", "季度", "组", "期"})


def names_one_of_many(value: CellValue) -> bool:
    """Return whether a cell is empty or calls its row by a number."""
    return value.kind is ValueKind.EMPTY or value.suffix in _CALLED


@dataclass(frozen=True, slots=True)
class Column:
    """A column that was read. `values` has one for each row; EMPTY where a merged cell is repeated.

    `shown` has what each row's reader sees there: of a merged cell its value in every row that it spans. `unit` is what its numbers share; None when they differ, so that nothing can be computed.
    """

    index: int
    name: str
    kind: ValueKind
    values: tuple[CellValue, ...]
    unit: tuple[str, str] | None = ("", "")
    shown: tuple[CellValue, ...] = ()

    @property
    def repeats(self) -> bool:
        """Return whether several rows have the same value, be it in other letters."""
        texts = [plain_of(text) for value in self.values if (text := value.text.strip())]
        return len(set(texts)) < len(texts)

    @property
    def stands_for_blanks(self) -> bool:
        """Return whether a value may be that of the blank cells below it: of a first column that has each value once."""
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
    """A table by rows of equal length. `names` are its header, "" where a column has none.

    Rows and columns count from 1 in markers (`r1c1` is the first cell below the header) and from 0
    here. `repeated` lists the places (row, column) that only repeat a merged cell.
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
        """Return all columns; their cells are read once."""
        return tuple(self._read(index) for index in range(self.width))

    @cached_property
    def asides(self) -> frozenset[int]:
        """Return the rows, from 0, that are no records: names of columns or groups, and what sums up other rows."""
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
        return frozenset(
            row for row, cells in enumerate(self.rows) if repeats_names(self.names, cells)
        )

    @cached_property
    def _read_cell(self) -> Callable[[str], CellValue]:
        cells = (cell for row in self.rows for cell in row)
        return read_with_comma if has_decimal_commas(cells) else read_value

    def _units_beside(self, index: int) -> int | None:
        """Return the next column on the right that says what each row is counted in, if the rows differ there."""
        beside = range(index + 1, self.width)
        at = next((at for at in beside if _OF_UNITS.fullmatch(normalise(self.names[at]))), None)
        units = {plain_of(row[at].strip()) for row in self.rows if row[at].strip()} if at else ()
        return at if len(units) > 1 else None

    def _read(self, index: int) -> Column:
        shown = with_local_dates([self._read_cell(cells[index]) for cells in self.rows])
        if (of_units := self._units_beside(index)) is not None:
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
        # A dash stands for nothing, and in accounts for zero.
        nothing = sum(_NOTHING.fullmatch(value.text.strip()) is not None for value in values)
        filled = len(values) - kinds[ValueKind.EMPTY] - nothing
        kind = next(
            (
                kind
                for kind in (ValueKind.NUMBER, ValueKind.DATE)
                if kinds[kind] and filled - kinds[kind] <= filled * _OTHERS
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
    """Bring rows of any lengths to one shape.

    Short rows end in empty cells; columns beyond the header have no name; a header of several rows
    gives each column the words of all of them.
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
