"""Find the tables of a sheet as a reader sees them, whole across blank rows and columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sextant.ingestion.parsing.blocks import Block, Paragraph, Table
from sextant.ingestion.parsing.limits import CellBudget
from sextant.ingestion.parsing.tables import fill_group_names, header_rows, names_years
from sextant.tables.cells.values import ValueKind, read_value

Rows = Mapping[int, Sequence[str]]

_MOST_BLANK_ROWS = 3  # within a table
_REMARK = re.compile(r"[^\W\d][^:：\n]{0,30}[:：]\s*\S.*")
_SAME_COLUMNS = 0.5  # share of columns that two parts of one table have in common


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a sheet: the numbers of its filled rows, and its columns from `left` to before `right`."""

    rows: tuple[int, ...]
    left: int
    right: int

    @property
    def width(self) -> int:
        """Return how many columns it has."""
        return self.right - self.left


@dataclass(frozen=True, slots=True)
class Merged:
    """The cells (row, column) that repeat a merged cell, the rows with cells merged across columns, and rows that only repeat."""

    repeated: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    across: set[int] = field(default_factory=set[int])
    blank: set[int] = field(default_factory=set[int])


def fill_merges(
    rows: dict[int, list[str]], merges: Iterable[tuple[int, int, int, int]], budget: CellBudget
) -> Merged:
    """Repeat each merged cell's text over its range, except for a title, which is alone in its rows.

    Args:
        rows: by their numbers from 1.
        merges: first column and row, last column and row, all from 1.
        budget: how many cells there may be.
    """
    merged = Merged()
    last = max(rows, default=0)
    for left, top, right, bottom in merges:
        text = "".join(rows.get(top, [])[left - 1 : left])
        bottom = min(bottom, last)  # noqa: PLW2901 - no table goes on below the last filled row
        numbers = range(top, bottom + 1)
        if not text:
            continue
        if _is_title(rows, numbers, left, right):
            budget.spend(right - left)
            rows[top].extend([""] * (right - len(rows[top])))
            merged.repeated.update((top, column) for column in range(left, right))
            continue
        merged.across.update(numbers if left < right else ())
        merged.blank.update(number for number in numbers if number not in rows)
        for number in numbers:
            row = rows.setdefault(number, [])
            budget.spend(max(right - len(row), 0))
            row.extend([""] * (right - len(row)))
            row[left - 1 : right] = [cell or text for cell in row[left - 1 : right]]
            merged.repeated.update((number, column) for column in range(left - 1, right))
        merged.repeated.discard((top, left - 1))
    return merged


def _is_title(rows: dict[int, list[str]], numbers: range, left: int, right: int) -> bool:
    """Return whether a merged cell is all that its rows hold, and no name of a group of the columns below it."""
    filled = sum(sum(map(bool, rows[number])) for number in numbers if number in rows)
    below = rows.get(numbers[-1] + 1, [])
    names = below[left - 1 : right]
    # Two names at least: a cell below may be merged across the same columns.
    is_group = len({*names}) > 1 and all(names) and right <= len(below) and any(below[: left - 1])
    return filled == 1 and (len(numbers) == 1 or left < right) and not is_group


def sheet_blocks(rows: Rows, merged: Merged) -> Iterator[Block]:
    """Return the tables of a sheet, and as paragraphs what is one row or one column."""
    for region in find_regions(rows):
        start = _preamble(rows, region)
        for number in region.rows[:start]:
            yield _paragraph([rows[number]])
        table = _trim(rows, _part(region, region.rows[start:])) if start else region
        yield _table(rows, table, merged)


def _preamble(rows: Rows, region: Region) -> int:
    """Return the number of rows above a table's header that are no part of it: remarks, or less than half filled."""
    if region.width < 3 or len(region.rows) < 3:
        return 0
    if len(find_filled_cells(rows, region, region.rows[0])) == region.width:
        return 0
    cells = [rows[number][region.left : region.right] for number in region.rows]
    if fill_group_names(cells):
        return 0
    filled = [len(find_filled_cells(rows, region, number)) for number in region.rows]
    usual, _ = Counter(filled).most_common(1)[0]
    # The corner above the names of rows is often blank.
    start = next(
        at
        for at, count in enumerate(filled)
        if count >= usual - 1 and not (at + 2 < len(cells) and _has_remarks(cells[at]))
    )
    names = rows[region.rows[start]]
    above = zip(filled[:start], cells, strict=False)
    is_below = usual > 2 and all(count * 2 <= usual or _has_remarks(row) for count, row in above)
    return start if is_below and not any(map(_is_value, names)) else 0


def _has_remarks(cells: Sequence[str]) -> bool:
    """Return whether a row holds only remarks with their own labels: "Date: 1 June"."""
    filled = list(filter(None, map(str.strip, cells)))
    return bool(filled) and all(map(_REMARK.fullmatch, filled))


def _table(rows: Rows, region: Region, merged: Merged) -> Block:
    # A blank row inside merged cells parts nothing, and is no row either.
    own = [at for at in region.rows if at not in merged.blank or at in merged.across]
    region = _part(region, own)
    cells = [list(rows[number][region.left : region.right]) for number in region.rows]
    if len(cells) == 1 or region.width == 1:
        return _paragraph(cells)
    across = {at for at, number in enumerate(region.rows) if number in merged.across}
    repeated = frozenset(
        (at, column - region.left)
        for at, number in enumerate(region.rows)
        for column in range(region.left, region.right)
        if (number, column) in merged.repeated
    )
    if not across and (filled := fill_group_names(cells)):
        cells, across = filled, {0}
    return Table(cells, header_rows(cells, across), repeated=repeated)


def _paragraph(cells: Iterable[Sequence[str]]) -> Paragraph:
    return Paragraph("\n".join(" ".join(filter(None, row)) for row in cells))


def find_regions(rows: Rows) -> Iterator[Region]:
    """Return the tables and lines of a sheet, from its top to its bottom.

    A sheet is cut at blank rows and columns where what lies behind them is another table: one with columns of its
    own, a title, or names above columns that had values before. A line of one cell above or below a table is no part
    of it. The cuts go on inside each part.
    """
    width = max(map(len, rows.values()), default=0)
    todo = [Region(tuple(sorted(rows)), 0, width)]
    while todo:
        region = _trim(rows, todo.pop())
        if not region.rows:
            continue
        cuts = (_around, _below, _before_repeated_names, _split_side_by_side)
        found = (cut(rows, region) for cut in cuts)
        if parts := next((parts for parts in found if len(parts) > 1), None):
            todo.extend(reversed(parts))
        else:
            yield region


def find_filled_cells(rows: Rows, region: Region, number: int) -> list[int]:
    """Return the columns of a row that hold something, within a region."""
    row = rows[number]
    return [at for at in range(region.left, min(region.right, len(row))) if row[at].strip()]


def _trim(rows: Rows, region: Region) -> Region:
    filled = {number: find_filled_cells(rows, region, number) for number in region.rows}
    used = tuple(number for number, columns in filled.items() if columns)
    left = min((columns[0] for columns in filled.values() if columns), default=0)
    right = max((columns[-1] + 1 for columns in filled.values() if columns), default=0)
    return Region(used, left, right)


def _part(region: Region, numbers: Sequence[int]) -> Region:
    return Region(tuple(numbers), region.left, region.right)


def _around(rows: Rows, region: Region) -> list[Region]:
    """Separate lines of one cell directly above a table, and a long one below it."""
    counts = [len(find_filled_cells(rows, region, number)) for number in region.rows]
    if max(counts) == 1:
        return [region]
    start = next(at for at, count in enumerate(counts) if count > 1)
    end = len(counts) - _is_note(rows, region)
    cuts = [*((at, at + 1) for at in range(start)), (start, end), (end, len(counts))]
    return [_part(region, region.rows[one:other]) for one, other in cuts if one < other]


def _is_note(rows: Rows, region: Region) -> bool:
    """Return whether the last row is a remark: one cell, by its words or longer than any other of its column."""
    *above, last = region.rows
    columns = find_filled_cells(rows, region, last)
    if len(columns) != 1 or len(above) < 2:
        return False
    if _has_remarks(rows[last]):
        return True
    longest = max(len(_at(rows, number, columns[0])) for number in above)
    return len(_at(rows, last, columns[0])) > max(longest, 20)


def _below(rows: Rows, region: Region) -> list[Region]:
    """Part the tables that stand one below the other."""
    parts = list[list[int]]()
    for block in _runs(region.rows):
        if parts and _goes_on(rows, _part(region, parts[-1]), _part(region, block)):
            parts[-1] += block
        else:
            parts.append(block)
    return [_part(region, part) for part in parts]


def _before_repeated_names(rows: Rows, region: Region) -> list[Region]:
    """Part tables of the same columns that follow each other without a blank row, each below a title of its own."""
    seen, cuts = set[tuple[str, ...]](), list[int]()
    for at, (number, below) in enumerate(pairwise(region.rows)):
        names = tuple(_at(rows, number, column) for column in range(region.left, region.right))
        filled = [*filter(None, names)]
        has_values = any(map(_is_value, rows[below][region.left : region.right]))
        if len(filled) < 3 or any(map(_is_value, filled)) or not has_values:
            continue
        start = at
        while start and 2 * len(find_filled_cells(rows, region, region.rows[start - 1])) <= len(
            filled
        ):
            start -= 1
        if names in seen and start < at:
            cuts.append(start)
        seen.add(names)
    edges = [0, *cuts, len(region.rows)]
    return [_part(region, region.rows[one:other]) for one, other in pairwise(edges)]


def _runs(numbers: Iterable[int]) -> Iterator[list[int]]:
    """Yield runs of numbers that follow each other."""
    run = list[int]()
    for number in numbers:
        if run and number != run[-1] + 1:
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _goes_on(rows: Rows, above: Region, below: Region) -> bool:
    """Return whether a block of rows goes on with the table above the blank rows."""
    if below.rows[0] - above.rows[-1] - 1 > _MOST_BLANK_ROWS:
        return False
    one, other = _columns(rows, above), _columns(rows, below)
    shared = len(one & other)
    if min(len(one), len(other)) < 2 or shared < max(len(one), len(other)) * _SAME_COLUMNS:
        return False
    first = find_filled_cells(rows, below, below.rows[0])
    if len(first) == 1 and len(below.rows) > 1:  # a title of what follows
        return False
    return not _begins_with_names(rows, above, below, sorted(one & other))


def _columns(rows: Rows, region: Region) -> set[int]:
    return {at for number in region.rows for at in find_filled_cells(rows, region, number)}


def _begins_with_names(rows: Rows, above: Region, below: Region, columns: Sequence[int]) -> bool:
    """Return whether the block below begins with a header of its own: years, the name of the key again, or words above values."""
    first = below.rows[0]
    names = [_at(rows, first, at) for at in columns if _at(rows, first, at)]
    if len(names) * 2 <= len(columns):
        return False
    if any(map(_is_value, names)):
        others = (*below.rows, *above.rows)
        cells = [[_at(rows, number, at) for at in columns] for number in others]
        return names_years(cells[0], cells[1:])
    if names[0] == _at(rows, above.rows[0], columns[0]):
        return True
    under = {at: [_at(rows, number, at) for number in below.rows[1:]] for at in columns}
    # One row above may name groups of the columns that this one names; values name none.
    is_named = len(above.rows) == 1 and not any(map(_is_value, rows[above.rows[0]]))
    return not is_named and any(map(_has_values, under.values()))


def _split_side_by_side(rows: Rows, region: Region) -> list[Region]:
    """Part the tables that stand side by side."""
    bands = [(run[0], run[-1] + 1) for run in _runs(sorted(_columns(rows, region)))]
    parts = bands[:1]
    for band in bands[1:]:
        left = _trim(rows, Region(region.rows, *parts[-1]))
        right = _trim(rows, Region(region.rows, *band))
        if _are_two_tables(rows, left, right):
            parts.append(band)
        else:
            parts[-1] = (parts[-1][0], band[1])
    return [Region(region.rows, left, right) for left, right in parts]


def _are_two_tables(rows: Rows, left: Region, right: Region) -> bool:
    """Return whether two blocks beside each other are two tables: they end on different rows, or both begin with a key.

    A block that begins with values, on rows that the other has, needs the names of these rows.
    """
    if min(left.width, right.width) < 2:
        return len(right.rows) == 1 < len(left.rows)
    above = (
        _at(rows, number, at)
        for number in left.rows
        if number < right.rows[0]
        for at in range(left.left, left.right)
    )
    if any(map(_is_value, filter(None, above))) and _has_names(rows, right):
        return True
    first = [_at(rows, number, right.left) for number in right.rows[1:]]
    if _has_values(first) and left.rows[0] <= right.rows[0] and right.rows[-1] <= left.rows[-1]:
        return False
    if (left.rows[0], left.rows[-1]) != (right.rows[0], right.rows[-1]):
        return True
    if _at(rows, left.rows[0], left.left) == _at(rows, right.rows[0], right.left) != "":
        return True
    return _has_key(rows, left) and _has_key(rows, right)


def _has_names(rows: Rows, region: Region) -> bool:
    """Return whether a block begins with words above each of its columns of values."""
    columns = range(region.left, region.right)
    names = [_at(rows, region.rows[0], at) for at in columns]
    below = ([_at(rows, number, at) for number in region.rows[1:]] for at in columns)
    return all(names) and not any(map(_is_value, names)) and any(map(_has_values, below))


def _has_key(rows: Rows, region: Region) -> bool:
    """Return whether a block's first column has words, each once and in every row, before columns of values."""
    first, *others = (
        [_at(rows, number, at) for number in region.rows] for at in range(region.left, region.right)
    )
    is_key = all(first) and not any(map(_is_value, first)) and len(set(first)) == len(first)
    return is_key and any(_has_values(cells[1:]) for cells in others)


def _has_values(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return sum(map(_is_value, filled)) * 2 > len(filled)


def _is_value(cell: str) -> bool:
    return read_value(cell).kind in {ValueKind.NUMBER, ValueKind.DATE}


def _at(rows: Rows, number: int, column: int) -> str:
    row = rows[number]
    return row[column].strip() if column < len(row) else ""
