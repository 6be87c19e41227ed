"""Tables that no rules enclose: neighbouring rows whose words stand in the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sextant.ingestion.parsing.formats.pdf_alignment import AlignedTable, align, is_figure
from sextant.ingestion.parsing.formats.pdf_lines import SAME_ROW, PdfBox, PdfLine, contains, unite
from sextant.ingestion.parsing.formats.pdf_page import Page
from sextant.ingestion.parsing.formats.pdf_rows import columns_in_order, is_item, rows_of
from sextant.ingestion.parsing.formats.pdf_tables import PageTable, make_table
from sextant.ingestion.parsing.limits import CellBudget

_NEXT_ROW = 3.0  # of the letters' size: how far rows of one table stand apart
_ROWS = 3  # of a table, at least
_NAMES_GAP, _MOST_NAMES = 2.5, 6  # of letters' size above a table; rows
# Of the cells beside the first column, and of all places, at least; of those more where lines of text may stand side by side.
_FIGURES = 0.4
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
            aligned = _align(page, members, near)
            if aligned and _is_table(aligned, is_ruled=is_ruled, is_mixed=is_mixed):
                table = _make_table(page, members, aligned, place, budget)
                names = [] if table.count_named_rows() else _names_above(left, box, aligned)
                for count in range(len(names), 0, -1):
                    more = [line for row in names[:count] for line in row]
                    if 2 * len(more) <= aligned.width:
                        break
                    more += members
                    again = _align(page, more, _near(strokes, unite(one.box for one in more), 0))
                    if again and again.width == aligned.width:
                        named = _make_table(page, more, again, place, budget)
                        if named.count_named_rows():
                            table = named
                            break
                tables.append(table)
                left = [line for line in left if place[id(line)] not in table.lines]
        ordered, before = _from_above(left), ordered
        if ordered == before:
            break
    return tables


def _align(page: Page, lines: Sequence[PdfLine], levels: Sequence[PdfBox]) -> AlignedTable | None:
    words = [word for line in lines for word in page.words(line)]
    return align(words, levels) if words else None


def _make_table(
    page: Page,
    lines: Sequence[PdfLine],
    aligned: AlignedTable,
    place: Mapping[int, int],
    budget: CellBudget,
) -> PageTable:
    inside = {place[id(line)]: line for line in lines}
    return make_table(page.number, aligned.spanned(), aligned.words(), inside, budget)


def _names_above(lines: Sequence[PdfLine], box: PdfBox, table: AlignedTable) -> list[list[PdfLine]]:
    """Return the rows of lines next above a table, the nearest first, that may name its columns.

    A line from the first column into the next ones is a title.
    """
    seconds = [cell.lines[0][0].left for cell in table.cells if cell.left == 1]
    second = min(seconds, default=box.right)
    above = [
        line
        for line in lines
        if line.box.bottom > box.top - line.size / 2
        and box.left - line.size < (line.box.left + line.box.right) / 2 < box.right + line.size
    ]
    names, top = list[list[PdfLine]](), box.top
    for line in sorted(above, key=lambda line: line.base):
        is_title = line.box.left < second < line.box.right
        is_far = line.box.bottom - top > _NAMES_GAP * line.size
        if is_title or is_far or len(names) > _MOST_NAMES:
            break
        if names and abs(names[-1][0].base - line.base) < SAME_ROW * line.size:
            names[-1].append(line)
        else:
            names.append([line])
        top = max(top, line.box.top)
    return names


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
        is_ruled or figures >= _FIGURES
    )
