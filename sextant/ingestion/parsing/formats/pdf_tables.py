"""Find tables of a PDF page by the rules around their cells."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from math import isnan
from operator import neg
from statistics import median

from sextant.ingestion.parsing.blocks import Word
from sextant.ingestion.parsing.formats.pdf_alignment import (
    align,
    have_columns,
    is_figure,
    rows_of_words,
)
from sextant.ingestion.parsing.formats.pdf_lines import (
    PdfBox,
    PdfLine,
    PdfWord,
    contains,
    overlap,
    unite,
)
from sextant.ingestion.parsing.formats.pdf_page import Page
from sextant.ingestion.parsing.limits import CellBudget
from sextant.ingestion.parsing.lines import join_lines, starts_item
from sextant.ingestion.parsing.tables import SpannedCell, header_rows, lay_out, repeated_cells

_TOUCH = 3.0  # points between strokes that were meant to meet


_FORM_LABELS = 4  # of rows, at least, that a form shares with the next one
_FEWEST_CELLS = 4
# Of the cells so many are filled, and of the grid's fields so many are cells: a chart has fewer.
_FILLED, _SINGLE = 0.2, 0.3
CellWords = Mapping[tuple[int, int], Sequence[Word]]
_MOST_CELLS = 5000  # of a page: squared paper has more


@dataclass(frozen=True, slots=True, eq=False)
class PageTable:
    """A table of a page: its rows, the indices of its lines, their words in order, and the size of their letters.

    `repeated_heads`: what the header rows say that further pages repeat.
    """

    page: int
    rows: list[list[str]]
    lines: frozenset[int]
    last_page: int
    repeated: frozenset[tuple[int, int]] = frozenset()
    words: tuple[Word, ...] = ()
    size: float = 0.0
    repeated_heads: str = ""

    def count_named_rows(self, start: int = 0) -> int:
        """Return the number of header rows, counted from row `start`."""
        repeated = {(row - start, column) for row, column in self.repeated if row >= start}
        rows = self.rows[start:]
        across = {
            row
            for row, column in repeated
            if column and rows[row][column - 1] == rows[row][column] != ""
        }
        return header_rows(rows, across, repeated)

    def continues_in(self, other: PageTable) -> bool:
        """Return whether `other` continues this table on the next page, rather than being the next of a series of forms."""
        if other.page != self.last_page + 1 or len(other.rows[0]) != len(self.rows[0]):
            return False
        labels = [[row[0] for row in table.rows if row[0]] for table in (self, other)]
        alike = set(labels[0]).intersection(labels[1])
        is_form = len(alike) >= _FORM_LABELS and 2 * len(alike) > len(labels[1])
        return not (is_form and all(len(set(each)) == len(each) for each in labels))

    def joined(self, other: PageTable) -> PageTable:
        """Return both as one; the header rows that the next page repeats are left out, behind the first those of words."""
        repeats = (
            mine == theirs and not (at and any(map(is_figure, filter(None, theirs))))
            for at, (mine, theirs) in enumerate(zip(self.rows, other.rows, strict=False))
        )
        skipped = sum(takewhile(bool, repeats))
        heads = [
            cell
            for row, cells in enumerate(other.rows[:skipped])
            for column, cell in enumerate(cells)
            if (row, column) not in other.repeated
        ]
        repeated = {
            (len(self.rows) + row - skipped, column)
            for row, column in other.repeated
            if row >= skipped
        }
        return replace(
            self,
            rows=[*self.rows, *other.rows[skipped:]],
            last_page=other.last_page,
            repeated=self.repeated | repeated,
            words=self.words + other.words,
            repeated_heads=" ".join([self.repeated_heads, *heads]),
        )


def find_ruled_tables(
    page: Page, lines: Sequence[PdfLine], strokes: Sequence[PdfBox], budget: CellBudget
) -> list[PageTable]:
    """Return tables of at least two rows and columns whose cells are separated by ruled lines."""
    tables = list[PageTable]()
    for grid in map(_grid, _group_strokes(strokes)):
        size = (len(grid.columns) - 1) * (len(grid.rows) - 1)
        if len(grid.columns) < 3 or len(grid.rows) < 3 or size > _MOST_CELLS:
            continue
        inside = [index for index, line in enumerate(lines) if contains(grid.box, line.box)]
        lines_inside = [lines[index] for index in inside]
        cells, words = _cells(page, grid, lines_inside)
        if _is_table(cells):
            within = dict(zip(inside, lines_inside, strict=True))
            tables.append(make_table(page.number, cells, words, within, budget))
    return tables


def _is_table(cells: Sequence[SpannedCell]) -> bool:
    """Return whether the text of a grid is spread over cells: two rows and columns at least, and not nearly all in one cell."""
    filled = [cell for cell in cells if cell.text]
    total = sum(len(cell.text) for cell in filled)
    return (
        len(filled) >= _FEWEST_CELLS
        and len({cell.row for cell in filled}) > 1
        and len({cell.column for cell in filled}) > 1
        and (len(filled) == len(cells) or 4 * max(len(cell.text) for cell in filled) <= 3 * total)
        and len(filled) >= _FILLED * len(cells)
        and len(cells) >= _SINGLE * sum(cell.rows * cell.columns for cell in cells)
    )


@dataclass(frozen=True, slots=True)
class _Grid:
    """Edges of columns from left to right and of rows from top to bottom, and the strokes."""

    columns: list[float]
    rows: list[float]
    uprights: list[PdfBox]
    levels: list[PdfBox]

    @property
    def box(self) -> PdfBox:
        return PdfBox(self.columns[0], self.rows[-1], self.columns[-1], self.rows[0])


def _group_strokes(strokes: Sequence[PdfBox]) -> list[list[PdfBox]]:
    """Return groups of strokes that cross or touch."""
    uprights = _end_to_end([one for one in strokes if _is_upright(one)], is_upright=True)
    levels = _end_to_end([one for one in strokes if not _is_upright(one)], is_upright=False)
    levels.sort(key=lambda level: level.bottom)
    heights = [level.bottom for level in levels]
    groups = list[tuple[list[PdfBox], set[int]]]()
    for upright in uprights:
        first = bisect_left(heights, upright.bottom - _TOUCH)
        last = bisect_right(heights, upright.top + _TOUCH)
        met = {at for at in range(first, last) if overlap(upright, levels[at], _TOUCH)}
        separate = [group for group in groups if group[1].isdisjoint(met)]
        together = [group for group in groups if not group[1].isdisjoint(met)]
        members = [upright, *(one for group in together for one in group[0])]
        groups = [*separate, (members, met.union(*(group[1] for group in together)))]
    return [[*members, *(levels[at] for at in met)] for members, met in groups]


def _end_to_end(strokes: Iterable[PdfBox], *, is_upright: bool) -> list[PdfBox]:
    """Join strokes that continue each other: rules are often drawn cell by cell."""
    lines = list[PdfBox]()
    for stroke in sorted(
        strokes,
        key=lambda one: (
            (round(one.left), one.bottom) if is_upright else (round(one.bottom), one.left)
        ),
    ):
        if (
            lines
            and overlap(lines[-1], stroke, _TOUCH)
            and _is_upright(unite((lines[-1], stroke))) is is_upright
        ):
            lines[-1] = unite((lines[-1], stroke))
        else:
            lines.append(stroke)
    return lines


def _is_upright(stroke: PdfBox) -> bool:
    return stroke.height > stroke.width


def _grid(strokes: Sequence[PdfBox]) -> _Grid:
    uprights = [stroke for stroke in strokes if _is_upright(stroke)]
    levels = [stroke for stroke in strokes if not _is_upright(stroke)]
    columns = _edges(
        [one.x for one in uprights],
        [one.left for one in levels],
        [one.right for one in levels],
    )
    rows = _edges(
        [one.y for one in levels],
        [one.bottom for one in uprights],
        [one.top for one in uprights],
    )
    return _Grid(columns, rows[::-1], uprights, levels)


def _edges(rules: list[float], *ends: list[float]) -> list[float]:
    """Return where rules stand, and the outermost positions where several rules across them end: sides without a rule."""
    positions = [*rules]
    for one in ends:
        ordered = sorted(one)
        pairs = (ordered[:2], ordered[-2:])
        positions += [pair[0] for pair in pairs if len(pair) > 1 and pair[1] - pair[0] <= _TOUCH]
    edges: list[float] = []
    for position in sorted(positions):
        if not edges or position - edges[-1] > _TOUCH:
            edges.append(position)
    return edges


def make_table(
    page: int,
    cells: Sequence[SpannedCell],
    words: CellWords,
    lines: Mapping[int, PdfLine],
    budget: CellBudget,
) -> PageTable:
    """Make a table of cells and the lines that they hold.

    Its words are those of every place in order: those of a merged cell once for each that it spans.
    """
    rows = lay_out(cells, budget)
    places = sorted(
        (row, column, (cell.row, cell.column))
        for cell in cells
        for row in range(cell.row, cell.row + cell.rows)
        for column in range(cell.column, cell.column + cell.columns)
    )
    placed = tuple(word for *_, corner in places for word in words.get(corner, ()))
    size = median(line.size for line in lines.values())
    return PageTable(page, rows, frozenset(lines), page, repeated_cells(cells), placed, size)


def _cells(
    page: Page, grid: _Grid, lines: Sequence[PdfLine]
) -> tuple[list[SpannedCell], CellWords]:
    """Return the cells with their text and words; cells are found by the places of words where rules are missing."""
    spans = dict[tuple[int, int], tuple[int, int]]()
    owner = dict[tuple[int, int], tuple[int, int]]()
    bounds = [_bounds(grid, row) for row in range(len(grid.rows) - 1)]
    for row, starts in enumerate(bounds):
        for left, right in pairwise(starts):
            if (row, left) in owner:
                continue
            height = _height(grid, bounds, row, (left, right))
            spans[row, left] = height, right - left
            for down in range(row, row + height):
                owner |= {(down, column): (row, left) for column in range(left, right)}
    words = [page.words(line) for line in lines if line.rightward]
    if _is_open(grid, words, owner, spans):
        every = [word for line in words for word in line]
        aligned = align(every, grid.levels)
        if aligned:
            return aligned.spanned(), aligned.words()
    texts, shown = _cell_texts(page, grid, lines, owner)
    cells = [
        SpannedCell(*corner, join_lines(texts.get(corner, ())), *span)
        for corner, span in spans.items()
    ]
    return cells, shown


def _is_open(
    grid: _Grid,
    lines: Iterable[Sequence[PdfWord]],
    owner: Mapping[tuple[int, int], tuple[int, int]],
    spans: Mapping[tuple[int, int], tuple[int, int]],
) -> bool:
    """Return whether rules are missing: inside of a cell words stand in columns, or figures in rows."""
    in_cell = defaultdict[tuple[int, int], list[PdfWord]](list)
    for line in lines:
        for word in line:
            in_cell[owner[_find_cell(grid, (word.left + word.right) / 2, word.base)]].append(word)
    across = defaultdict[tuple[int, int], list[list[PdfWord]]](list)
    heights = defaultdict[int, list[int]](list)
    for corner, words in in_cell.items():
        rows = rows_of_words(words)
        heights[corner[0]].append(len(rows))
        if len(rows) > 2 and all(is_figure(" ".join(word.text for word in row)) for row in rows):
            return True
        width = spans[corner][1]
        across[corner[1], width] += [
            row[1:] if starts_item(row[0].text + " ") else row for row in rows
        ]
    # Wrapped texts seldom fill the same number of lines in every column; rows without rules between them do.
    if any(len(one) > 2 and min(one) == max(one) > 2 for one in heights.values()):
        return True
    return any(have_columns([row for row in rows if row]) for rows in across.values())


def _find_cell(grid: _Grid, x: float, y: float) -> tuple[int, int]:
    row = bisect_right(grid.rows, -y, key=neg) - 1
    column = bisect_right(grid.columns, x) - 1
    return min(max(row, 0), len(grid.rows) - 2), min(max(column, 0), len(grid.columns) - 2)


def _bounds(grid: _Grid, row: int) -> list[int]:
    """Return the columns at which cells of a row begin, and the last column's end: where an upright stands in the row."""
    middle = (grid.rows[row] + grid.rows[row + 1]) / 2
    vertical = [one.x for one in grid.uprights if one.bottom <= middle <= one.top]
    inner = range(1, len(grid.columns) - 1)
    return [
        0,
        *(at for at in inner if any(abs(x - grid.columns[at]) <= _TOUCH for x in vertical)),
        len(grid.columns) - 1,
    ]


def _height(grid: _Grid, bounds: Sequence[Sequence[int]], row: int, sides: tuple[int, int]) -> int:
    """Return rows that a cell spans: down to the next rule below it, or to a row with other sides."""
    left, right = sides
    middle = (grid.columns[left] + grid.columns[right]) / 2
    lying = [one.y for one in grid.levels if one.left <= middle <= one.right]
    height = 1
    while (
        row + height < len(bounds)
        and not any(abs(y - grid.rows[row + height]) <= _TOUCH for y in lying)
        and sides in pairwise(bounds[row + height])
    ):
        height += 1
    return height


def _cell_texts(
    page: Page,
    grid: _Grid,
    lines: Iterable[PdfLine],
    owner: Mapping[tuple[int, int], tuple[int, int]],
) -> tuple[dict[tuple[int, int], list[str]], dict[tuple[int, int], list[Word]]]:
    """Return the lines of text in each cell, by its corner, and the words that begin there."""
    texts: dict[tuple[int, int], list[str]] = {}
    words = defaultdict[tuple[int, int], list[Word]](list)
    # Lines at one height that are not read rightwards keep their order.
    for line in sorted(lines, key=lambda one: (-round(one.base), one.box.left * one.rightward)):
        parts: dict[tuple[int, int], str] = {}
        cell = None
        for char, x, y, begun in page.characters(line):
            if not isnan(x):
                cell = owner[_find_cell(grid, x, y)]
            if cell:
                parts[cell] = parts.get(cell, "") + char
                words[cell] += begun
        for where, text in parts.items():
            texts.setdefault(where, []).append(text.strip())
    return texts, words
