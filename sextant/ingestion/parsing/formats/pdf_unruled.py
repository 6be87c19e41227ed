"""Tables that no rules enclose: neighbouring rows whose words stand in the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from sextant.ingestion.parsing.formats.pdf_alignment import AlignedTable, align, is_figure
from sextant.ingestion.parsing.formats.pdf_lines import PdfBox, PdfLine, PdfWord, unite
from sextant.ingestion.parsing.formats.pdf_page import Page
from sextant.ingestion.parsing.formats.pdf_rows import columns_in_order, is_item, rows_of
from sextant.ingestion.parsing.formats.pdf_tables import PageTable, contains, make_table
from sextant.ingestion.parsing.limits import CellBudget

_NEXT_ROW = 3.0  # of the letters' size: how far rows of one table stand apart
_SINGLES = 3  # rows of one cell between others, at most
_ROWS = 3  # of a table, at least
# Of the cells beside the first column, at least; and where one of the columns is of text.
_FIGURES, _FIGURES_BESIDE_PROSE = 0.4, 0.6
_FILLED = 0.45  # of the cells, at least
_FILLED_MIXED = 0.7  # where lines of several columns of text may stand side by side
_RULES = 2  # across the table, at least, where it has no figures
_WORDS = 8  # of a cell at most, in the mean
_LONG = 4  # words of a line of text, at least
_EVEN = 0.7  # of the longest line: the usual one of a column of text
_WIDE = 0.7  # of the table's width: a rule of its own


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
    levels = [one for one in strokes if one.right - one.left > one.top - one.bottom]
    tables, tried, ordered = list[PageTable](), set[frozenset[int]](), columns_in_order(left)
    # Tables are drawn row by row, column by column, or the names of the rows at last.
    for is_mixed in (False, True):
        for run in _runs(rows_of(ordered)):
            box = unite(line.box for row in run for line in row)
            is_code = all(line.mono for row in run for line in row)
            near = [] if is_mixed or is_code else _near(levels, box, run[0][0].size)
            ids = frozenset(id(line) for row in run for line in row)
            if ids in tried or (len(near) < _RULES and not _has_figures(run)):
                continue
            tried.add(ids)
            members = [line for line in left if contains(box, line.box)]
            words = [word for line in members for word in page.words(line)]
            aligned = align(words, near) if words else None
            if aligned and _is_table(aligned, words, near, is_mixed=is_mixed):
                inside = {place[id(line)]: line for line in members}
                spanned, shown = aligned.spanned(), aligned.words()
                table = make_table(page.number, spanned, shown, inside, budget)
                tables.append(replace(table, header=aligned.header))
                left = [line for line in left if line not in members]
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
        above = (singles or run)[-1] if run else None
        if above is not None and not _follows(above, row):
            yield from _long_enough(run)
            run, singles = [], []
        if len(row) > 1 and not is_item(row):
            if not run:
                run = _heads(rows, at)
            run += [*singles, row]
            singles = []
        elif run:
            singles.append(row)
            if len(singles) > _SINGLES or _reaches_across(row, run):
                yield from _long_enough(run)
                run, singles = [], []
    yield from _long_enough(run)


def _long_enough(run: list[list[PdfLine]]) -> Iterator[list[list[PdfLine]]]:
    if sum(len(row) > 1 for row in run) >= _ROWS - 1:
        yield run


def _follows(above: Sequence[PdfLine], row: Sequence[PdfLine]) -> bool:
    distance = above[0].base - row[0].base
    return above[0].page == row[0].page and 0 < distance < _NEXT_ROW * max(
        row[0].size, above[0].size
    )


def _heads(rows: Sequence[list[PdfLine]], at: int) -> list[list[PdfLine]]:
    """Return the rows above the first with several cells that stand over its later columns."""
    heads = list[list[PdfLine]]()
    row = rows[at]
    for above in reversed(rows[max(at - _SINGLES, 0) : at]):
        is_near = _follows(above, row) and above[0].base - row[0].base < 2 * row[0].size
        if not (
            is_near
            and min(line.box.left for line in above) > min(line.box.right for line in rows[at])
        ):
            break
        heads.insert(0, above)
        row = above
    return heads


def _reaches_across(row: Sequence[PdfLine], run: Sequence[Sequence[PdfLine]]) -> bool:
    box = unite(line.box for each in run for line in each)
    return row[0].box.right - row[0].box.left > _WIDE * (box.right - box.left)


def _near(levels: Sequence[PdfBox], box: PdfBox, size: float) -> list[PdfBox]:
    return [
        one
        for one in levels
        if one.left < box.right
        and one.right > box.left
        and box.bottom - 2 * size < one.bottom
        and one.top < box.top + 2 * size
    ]


def _is_table(
    table: AlignedTable, words: Sequence[PdfWord], levels: Sequence[PdfBox], *, is_mixed: bool
) -> bool:
    """Return whether rows and columns are filled as those of a table: mostly with figures, or between rules."""
    if table.width < 2 or table.height < _ROWS:
        return False
    cells = table.cells
    names = [cell for cell in cells if not cell.left]
    if 2 * sum(cell.text.endswith((":", "：")) for cell in names) > len(names):  # fields of a form
        return False
    others = [cell for cell in cells if cell.left and cell.top]
    figures = sum(cell.is_figure for cell in others) / max(len(others), 1)
    filled = sum((one.right - one.left + 1) * (one.bottom - one.top + 1) for one in cells)
    wide = max(word.right for word in words) - min(word.left for word in words)
    rules = sum(one.right - one.left >= _WIDE * wide for one in levels) >= _RULES
    prose = _has_prose(table)
    return (
        filled >= (_FILLED_MIXED if is_mixed else _FILLED) * table.width * table.height
        and len(words) <= _WORDS * len(cells)
        and (
            figures >= (_FIGURES_BESIDE_PROSE if is_mixed and prose else _FIGURES)
            or (rules and not prose)
        )
    )


def _has_prose(table: AlignedTable) -> bool:
    """Return whether one of its columns has full lines, as a column of text has."""
    for column in range(table.width):
        lines = [line for cell in table.cells if cell.left == column for line in cell.lines]
        widths = [line[-1].right - line[0].left for line in lines]
        long = [line for line in lines if len(line) >= _LONG]
        if len(long) >= _ROWS and median(widths) >= _EVEN * max(widths):
            return True
    return False
