"""Find tables without rules around them: neighbouring rows whose words stand in the same columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from sextant.ingestion.parsing.formats.pdf_alignment import (
    AlignedTable,
    align,
    is_figure,
    is_number,
    segments,
)
from sextant.ingestion.parsing.formats.pdf_lines import (
    SAME_ROW,
    PdfBox,
    PdfLine,
    WordPage,
    contains,
    is_prose,
    unite,
)
from sextant.ingestion.parsing.formats.pdf_rows import columns_in_order, is_item, rows_of
from sextant.ingestion.parsing.formats.pdf_tables import PageTable, make_table
from sextant.ingestion.parsing.limits import CellBudget

_NEXT_ROW = 3.0  # of the letters' size: how far rows of one table stand apart
_ROWS = 3  # of a table, at least
_NAMES_GAP, _MOST_NAMES = 3.0, 6  # of letters' size above a table; rows
# Shares: of figures among the cells beside the first column, and of filled cells; more where lines are sorted by height alone.
_FIGURES = 0.4
_FILLED, _FILLED_MIXED = 0.45, 0.7
_RULES = 2  # across a table without figures, at least
_WIDE = 0.7  # of the table's width: a rule of its own, or a line of text that ends it


class TableFinder:
    """Finds the tables of a page among the lines that are in no ruled table (`places`: with their indices)."""

    def __init__(
        self,
        page: WordPage,
        places: Mapping[PdfLine, int],
        strokes: Sequence[PdfBox],
        budget: CellBudget,
    ) -> None:
        self._page, self._places, self._strokes, self._budget = page, places, strokes, budget
        self._left = [line for line in places if line.rightward]

    def find(self) -> list[PageTable]:
        """Return the tables, whether drawn row by row, column by column, or with the names of the rows last."""
        tables, tried = list[PageTable](), set[frozenset[PdfLine]]()
        for is_mixed in (False, True):
            ordered = (
                sorted(self._left, key=lambda line: (-round(line.base), line.box.left))
                if is_mixed
                else columns_in_order(self._left)
            )
            for run in _runs(rows_of(ordered), self._has_cells):
                members = frozenset(line for row in run for line in row)
                full = sum(len(row) > 1 for row in run)
                if members in tried or full < _ROWS - 1 or (len(run) < _ROWS and not is_mixed):
                    continue
                tried.add(members)
                if table := self._table(run, is_mixed=is_mixed):
                    tables.append(table)
                    self._left = [one for one in self._left if self._places[one] not in table.lines]
        return tables

    def _table(self, run: Sequence[Sequence[PdfLine]], *, is_mixed: bool) -> PageTable | None:
        """Return the table that rows make, with the rows above them that name its columns."""
        box = unite(line.box for row in run for line in row)
        near = [] if is_mixed else _near(self._strokes, box, run[0][0].size)
        rules = [one for one in near if one.width >= _WIDE * box.width]
        is_ruled = len(rules) >= _RULES
        # A quick check before words are aligned.
        cells_behind = [line for row in run for line in row[1:]]
        figures = sum(is_figure(line.text) for line in cells_behind)
        if not is_ruled and 2 * figures < _FIGURES * len(cells_behind):
            return None
        members = [line for line in self._left if contains(box, line.box)]
        if is_mixed and _are_columns_of_text(members):
            return None
        aligned = self._align(members, near)
        if aligned is None or not _is_filled(aligned, is_ruled=is_ruled, is_mixed=is_mixed):
            return None
        table = self._make_table(members, aligned)
        names = [] if table.count_named_rows() else self._names_above(box, aligned)
        for count in range(len(names), 0, -1):
            above = [line for row in names[:count] for line in row]
            cells = sum(len(segments(self._page.words(line))) for line in above)
            if 2 * cells <= aligned.width:
                break
            more = [*above, *members]
            again = self._align(more, _near(self._strokes, unite(one.box for one in more), 0))
            if again and again.width == aligned.width:
                named = self._make_table(more, again)
                if named.count_named_rows():
                    return named
        return table if aligned.height >= _ROWS else None

    def _align(self, lines: Sequence[PdfLine], levels: Sequence[PdfBox]) -> AlignedTable | None:
        words = [word for line in lines for word in self._page.words(line)]
        return align(words, levels) if words else None

    def _make_table(self, lines: Sequence[PdfLine], aligned: AlignedTable) -> PageTable:
        inside = {self._places[line]: line for line in lines}
        return make_table(
            self._page.number, aligned.spanned(), aligned.words(), inside, self._budget
        )

    def _has_cells(self, line: PdfLine) -> bool:
        """Return whether a line holds cells with figures: narrow columns leave no gap at which lines are parted."""
        words = self._page.words(line)
        behind = [right for left, right in pairwise(words) if right.left - left.right > left.space]
        return bool(behind) and all(is_figure(word.text) for word in behind)

    def _names_above(self, box: PdfBox, table: AlignedTable) -> list[list[PdfLine]]:
        """Return the rows of lines next above a table, the nearest first, that may name its columns.

        A line from the first column into the next ones, without a gap between them, is a title.
        """
        seconds = [cell.lines[0][0].left for cell in table.cells if cell.left == 1]
        second = min(seconds, default=box.right)
        above = [
            line
            for line in self._left
            if line.box.bottom > box.top - line.size / 2
            and box.left - line.size < line.box.x < box.right + line.size
        ]
        names, top = list[list[PdfLine]](), box.top
        for line in sorted(above, key=lambda line: line.base):
            is_title = any(
                part[0].left < second < part[-1].right for part in segments(self._page.words(line))
            )
            is_far = line.box.bottom - top > _NAMES_GAP * line.size
            if is_title or is_far or len(names) > _MOST_NAMES:
                break
            if names and abs(names[-1][0].base - line.base) < SAME_ROW * line.size:
                names[-1].append(line)
            else:
                names.append([line])
            top = max(top, line.box.top)
        return names


def _runs(
    rows: Sequence[list[PdfLine]], has_cells: Callable[[PdfLine], bool]
) -> Iterator[list[list[PdfLine]]]:
    """Yield rows that follow each other, most of which have several cells; `has_cells`: a line holds those of a whole row."""
    run, singles = list[list[PdfLine]](), list[list[PdfLine]]()
    for at, row in enumerate(rows):
        above = (singles or run or [row])[-1]
        distance = above[0].base - row[0].base
        if run and not 0 < distance < _NEXT_ROW * max(row[0].size, above[0].size):
            yield run
            run, singles = [], []
        is_full = len(row) > 1 and not is_item(row)
        if is_full or (run and len(row) == 1 and has_cells(row[0])):
            if not run:
                run = _heads(rows, at)
            run += [*singles, row]
            singles = []
        elif run:
            singles.append(row)
            box = unite(line.box for each in run for line in each)
            if row[0].box.width > _WIDE * box.width:
                yield run
                run, singles = [], []
    yield run


def _heads(rows: Sequence[list[PdfLine]], at: int) -> list[list[PdfLine]]:
    """Return the rows directly above row `at` that stand over its later columns."""
    start, edge = at, min(line.box.right for line in rows[at])
    while start and min(line.box.left for line in rows[start - 1]) > edge:
        if not 0 < rows[start - 1][0].base - rows[start][0].base < 2 * rows[start][0].size:
            break
        start -= 1
    return [*rows[start:at]]


def _near(strokes: Sequence[PdfBox], box: PdfBox, size: float) -> list[PdfBox]:
    low, high = box.bottom - 2 * size, box.top + 2 * size
    return [one for one in strokes if low < one.bottom and one.top < high]


def _are_columns_of_text(lines: Sequence[PdfLine]) -> bool:
    """Return whether lines are columns of a page: two of them, or one that runs on from line to line beside a figure."""
    columns = defaultdict[int, list[PdfLine]](list)
    for line in lines:
        columns[round(line.box.left)].append(line)
    texts = [column for column in columns.values() if is_prose(column)]
    running = [one for one in texts if 2 * sum(line.text[0].islower() for line in one) > len(one)]
    return len(texts) > 1 or bool(running)


def _is_filled(table: AlignedTable, *, is_ruled: bool, is_mixed: bool) -> bool:
    """Return whether rows and columns are filled as those of a table: mostly with figures, or between rules."""
    cells = table.cells
    names = [cell for cell in cells if not cell.left]
    if 2 * sum(cell.text.endswith((":", "：")) for cell in names) > len(names):  # fields of a form
        return False
    others = [cell for cell in cells if cell.left and cell.top]
    figures = sum(cell.is_figure for cell in others) / max(len(others), 1)
    filled = sum((one.right - one.left + 1) * (one.bottom - one.top + 1) for one in cells)
    share = filled / (table.width * table.height)
    columns = [
        {is_number(one.text) for one in others if one.left == at} for at in range(1, table.width)
    ]
    has_amounts = share == 1 and {True} in columns
    return share >= (_FILLED_MIXED if is_mixed else _FILLED) and (
        is_ruled or figures >= _FIGURES or has_amounts
    )
