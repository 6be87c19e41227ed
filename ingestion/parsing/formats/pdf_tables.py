"""Tables of a PDF page, found by the lines that are ruled around their cells."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ingestion.parsing.formats.pdf_page import Box, Line, Page
from ingestion.parsing.limits import CellBudget
from ingestion.parsing.lines import join_lines
from ingestion.parsing.tables import Cell, lay_out

_TOUCH = 3.0  # points between strokes that were meant to meet


@dataclass(frozen=True, slots=True)
class RuledTable:
    """A table's page, its rows, and the lines of that page's text that it took in."""

    page: int
    rows: list[list[str]]
    lines: frozenset[int]
    last_page: int

    def continues_in(self, other: RuledTable) -> bool:
        """Whether `other`, which follows at once, is this table on the next page."""
        return other.page == self.last_page + 1 and len(other.rows[0]) == len(self.rows[0])

    def joined(self, other: RuledTable) -> RuledTable:
        """Both as one; a header row that the next page repeats is left out."""
        more = other.rows[1:] if other.rows[0] == self.rows[0] else other.rows
        return replace(self, rows=[*self.rows, *more], last_page=other.last_page)


def ruled_tables(page: Page, lines: Sequence[Line], budget: CellBudget) -> list[RuledTable]:
    """Tables of at least two rows and columns whose cells are separated by ruled lines.

    Tables drawn without lines are not recognised; their rows stay lines of text.
    """
    tables = []
    for strokes in _connected(page.strokes()):
        grid = _grid(strokes)
        if len(grid.columns) < 3 or len(grid.rows) < 3:  # edges: one more than cells
            continue
        inside = [index for index, line in enumerate(lines) if _contains(grid.box, line.box)]
        rows = lay_out(_cells(page, grid, [lines[index] for index in inside]), budget)
        if sum(any(row) for row in rows) > 1:
            tables.append(RuledTable(page.number, rows, frozenset(inside), page.number))
    return tables


@dataclass(frozen=True, slots=True)
class _Grid:
    """Edges of columns from left to right and of rows from top to bottom, and the strokes."""

    columns: list[float]
    rows: list[float]
    uprights: list[Box]
    levels: list[Box]

    @property
    def box(self) -> Box:
        return Box(self.columns[0], self.rows[-1], self.columns[-1], self.rows[0])


def _connected(strokes: list[Box]) -> list[list[Box]]:
    """Groups of strokes that touch, by sweeping from the left."""
    groups: list[list[Box]] = []
    bounds: list[Box] = []
    for stroke in sorted(strokes, key=lambda stroke: stroke.left):
        touching = [index for index, box in enumerate(bounds) if _touches(box, stroke)]
        merged, box = [stroke], stroke
        for index in reversed(touching):
            merged += groups.pop(index)
            box = _union(box, bounds.pop(index))
        groups.append(merged)
        bounds.append(box)
    return groups


def _grid(strokes: Sequence[Box]) -> _Grid:
    uprights = [
        stroke for stroke in strokes if stroke.top - stroke.bottom > stroke.right - stroke.left
    ]
    levels = [
        stroke for stroke in strokes if stroke.top - stroke.bottom <= stroke.right - stroke.left
    ]
    columns = _merged(stroke.left for stroke in uprights)
    rows = _merged(stroke.bottom for stroke in levels)[::-1]
    return _Grid(columns, rows, uprights, levels)


def _merged(positions: Iterable[float]) -> list[float]:
    edges: list[float] = []
    for position in sorted(positions):
        if not edges or position - edges[-1] > _TOUCH:
            edges.append(position)
    return edges


def _cells(page: Page, grid: _Grid, lines: Iterable[Line]) -> Iterator[Cell]:
    texts = _cell_texts(page, grid, lines)
    taken = set[tuple[int, int]]()
    for row in range(len(grid.rows) - 1):
        for column in range(len(grid.columns) - 1):
            if (row, column) in taken:
                continue
            width = _width(grid, row, column)
            height = _height(grid, row, column)
            spanned = [
                (row + down, column + right) for down in range(height) for right in range(width)
            ]
            taken.update(spanned)
            parts = [part for place in spanned for part in texts.get(place, ())]
            yield Cell(row, column, join_lines(parts), height, width)


def _width(grid: _Grid, row: int, column: int) -> int:
    """Columns that a cell spans: up to the next upright that stands in its row."""
    middle = (grid.rows[row] + grid.rows[row + 1]) / 2
    standing = [one.left for one in grid.uprights if one.bottom <= middle <= one.top]
    return _span(grid.columns, column, standing)


def _height(grid: _Grid, row: int, column: int) -> int:
    middle = (grid.columns[column] + grid.columns[column + 1]) / 2
    lying = [one.bottom for one in grid.levels if one.left <= middle <= one.right]
    return _span(grid.rows, row, lying)


def _span(edges: Sequence[float], first: int, strokes: Sequence[float]) -> int:
    """How many edges on from the first a stroke comes, or the last edge."""
    span = 1
    while first + span < len(edges) - 1 and not any(
        abs(stroke - edges[first + span]) <= _TOUCH for stroke in strokes
    ):
        span += 1
    return span


def _cell_texts(page: Page, grid: _Grid, lines: Iterable[Line]) -> dict[tuple[int, int], list[str]]:
    """The lines of text in each cell; one line of the page may run through several cells."""
    descending = [-edge for edge in grid.rows]
    texts: dict[tuple[int, int], list[str]] = {}
    for line in lines:
        parts: dict[tuple[int, int], str] = {}
        place = None
        for char, x, y in page.characters(line):
            if x == x:  # noqa: PLR0124 - not NaN: not a blank
                row = bisect_right(descending, -y) - 1
                column = bisect_right(grid.columns, x) - 1
                place = (
                    min(max(row, 0), len(grid.rows) - 2),
                    min(max(column, 0), len(grid.columns) - 2),
                )
            if place:
                parts[place] = parts.get(place, "") + char
        for where, text in parts.items():
            texts.setdefault(where, []).append(text.strip())
    return texts


def _contains(outer: Box, inner: Box) -> bool:
    x, y = (inner.left + inner.right) / 2, (inner.bottom + inner.top) / 2
    return outer.left <= x <= outer.right and outer.bottom <= y <= outer.top


def _touches(a: Box, b: Box) -> bool:
    return (
        a.left - _TOUCH <= b.right
        and b.left - _TOUCH <= a.right
        and a.bottom - _TOUCH <= b.top
        and b.bottom - _TOUCH <= a.top
    )


def _union(a: Box, b: Box) -> Box:
    return Box(
        min(a.left, b.left), min(a.bottom, b.bottom), max(a.right, b.right), max(a.top, b.top)
    )
