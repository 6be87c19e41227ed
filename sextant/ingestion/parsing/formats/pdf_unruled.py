"""Tables that no rules enclose: neighbouring rows whose words stand in the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sextant.ingestion.parsing.formats.pdf_alignment import AlignedTable, align, is_figure
from sextant.ingestion.parsing.formats.pdf_lines import PdfBox, PdfLine, unite
from sextant.ingestion.parsing.formats.pdf_page import Page
from sextant.ingestion.parsing.formats.pdf_rows import columns_in_order, is_item, rows_of
from sextant.ingestion.parsing.formats.pdf_tables import PageTable, contains, make_table
from sextant.ingestion.parsing.limits import CellBudget

_NEXT_ROW = 3.0  # of the letters' size: how far rows of one table stand apart
_ROWS = 3  # of a table, at least
# Of the cells beside the first column, and of all places, at least; where lines of text may stand side by side, more.
_FIGURES, _FIGURES_MIXED = 0.4, 0.6
_FILLED, _FILLED_MIXED = 0.45, 0.7
_RULES = 2  # across a table without figures, at least
_WIDE = 0.7  # of the table's width: a rule of its own, or a line of text that ends it


def find_unruled_tables(
    page: Page,
    lines: Sequence[PdfLine],
    free: Sequence[int],
    strokes: Sequence[PdfBox],
    budget: CellBudget,
) -> list[PageTable]:
    """Return the tables among lines that are free, which stand in no ruled table."""
    place = {id(lines[at]): at for at in free}
    left = [lines[at] for at in free if lines[at].rightward]
    tables, tried, ordered = list[PageTable](), set[frozenset[int]](), columns_in_order(left)
    # Tables are drawn row by row, column by column, or the names of the rows at last.
    for is_mixed in (False, True):
        for run in _runs(rows_of(ordered)):
            box = unite(line.box for row in run for line in row)
            near = [] if is_mixed else _near(strokes, box, run[0][0].size)
            ids = frozenset(id(line) for row in run for line in row)
            rules = [one for one in near if one.right - one.left >= _WIDE * (box.right - box.left)]
            is_ruled = len(rules) >= _RULES
            if ids in tried or not (is_ruled or _has_figures(run)):
                continue
            tried.add(ids)
            members = [line for line in left if contains(box, line.box)]
            words = [word for line in members for word in page.words(line)]
            aligned = align(words, near) if words else None
            if aligned and _is_table(aligned, is_ruled=is_ruled, is_mixed=is_mixed):
                inside = {place[id(line)]: line for line in members}
                spanned, shown = aligned.spanned(), aligned.words()
                table = make_table(page.number, spanned, shown, inside, budget)
                tables.append(replace(table, header=aligned.header))
                left = [line for line in left if place[id(line)] not in inside]
        ordered, before = _from_above(left), ordered
        if ordered == before:
            break
    return tables


def _has_figures(run: Sequence[Sequence[PdfLine]]) -> bool:
    """Return whether there may be enough figures for a table, before each word's place is asked for."""
    cells = [line for row in run for line in row[1:]]
    return 2 * sum(is_figure(line.text) for line in cells) >= _FIGURES * len(cells)


def _from_above(lines: Sequence[PdfLine]) -> list[PdfLine]:
    return sorted(lines, key=lambda line: (-round(line.base), line.box.left))


def _runs(rows: Sequence[list[PdfLine]]) -> Iterator[list[list[PdfLine]]]:
    """Yield rows that follow each other, most of which have several cells."""
    run, singles = list[list[PdfLine]](), list[list[PdfLine]]()
    for at, row in enumerate(rows):
        if run and not _follows((singles or run)[-1], row):
            yield from _long_enough(run)
            run, singles = [], []
        if len(row) > 1 and not is_item(row):
            if not run:
                run = _heads(rows, at)
            run += [*singles, row]
            singles = []
        elif run:
            singles.append(row)
            if _reaches_across(row, run):
                yield from _long_enough(run)
                run, singles = [], []
    yield from _long_enough(run)


def _long_enough(run: list[list[PdfLine]]) -> Iterator[list[list[PdfLine]]]:
    if sum(len(row) > 1 for row in run) >= _ROWS - 1:
        yield run


def _follows(above: Sequence[PdfLine], row: Sequence[PdfLine]) -> bool:
    return 0 < above[0].base - row[0].base < _NEXT_ROW * max(row[0].size, above[0].size)


def _heads(rows: Sequence[list[PdfLine]], at: int) -> list[list[PdfLine]]:
    """Return the rows above the first with several cells that stand over its later columns."""
    start, edge = at, min(line.box.right for line in rows[at])
    while start and min(line.box.left for line in rows[start - 1]) > edge:
        if not 0 < rows[start - 1][0].base - rows[start][0].base < 2 * rows[start][0].size:
            break
        start -= 1
    return [*rows[start:at]]


def _reaches_across(row: Sequence[PdfLine], run: Sequence[Sequence[PdfLine]]) -> bool:
    box = unite(line.box for each in run for line in each)
    return row[0].box.right - row[0].box.left > _WIDE * (box.right - box.left)


def _near(strokes: Sequence[PdfBox], box: PdfBox, size: float) -> list[PdfBox]:
    low, high = box.bottom - 2 * size, box.top + 2 * size
    return [one for one in strokes if low < one.bottom and one.top < high]


def _is_table(table: AlignedTable, *, is_ruled: bool, is_mixed: bool) -> bool:
    """Return whether rows and columns are filled as those of a table: mostly with figures, or between rules."""
    if table.height < _ROWS:
        return False
    cells = table.cells
    names = [cell for cell in cells if not cell.left]
    if 2 * sum(cell.text.endswith((":", "：")) for cell in names) > len(names):  # fields of a form
        return False
    others = [cell for cell in cells if cell.left and cell.top]
    figures = sum(cell.is_figure for cell in others) / max(len(others), 1)
    filled = sum((one.right - one.left + 1) * (one.bottom - one.top + 1) for one in cells)
    return filled >= (_FILLED_MIXED if is_mixed else _FILLED) * table.width * table.height and (
        is_ruled or figures >= (_FIGURES_MIXED if is_mixed else _FIGURES)
    )
