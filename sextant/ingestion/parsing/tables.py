"""Lay out tables with merged cells as plain rows, and count their header rows."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise, zip_longest

from sextant.ingestion.parsing.blocks import Block, Paragraph, Table
from sextant.ingestion.parsing.limits import CellBudget
from sextant.tables.cells.values import ValueKind, read_value

_NUMBER = re.compile(r"[-+(]?(?:US|HK)?[$€£¥￥]?\s?\(?\d[\d,.\s]*[%)‰]{0,2}$")
_YEAR = re.compile(r"(?:19|20)\d\d")
_OPENS_FIGURE = re.compile(r"(?:US|HK)?[$€£¥￥]\s?\(?|\(")
_CLOSES_FIGURE = re.compile(r"\)?\s?[%‰]\)?|\)")
MAX_COLUMNS = 16_384  # of a worksheet (ECMA-376); HTML allows 1,000


@dataclass(frozen=True, slots=True)
class SpannedCell:
    """A cell at its upper left corner, with the rows and columns it spans."""

    row: int
    column: int
    text: str
    rows: int = 1
    columns: int = 1


def lay_out(cells: Iterable[SpannedCell], budget: CellBudget | None = None) -> list[list[str]]:
    """Return rows of equal length; a merged cell's text stands in every row and column it spans.

    So each row can be read by itself. A cell across the whole width (a title row) stands once.
    """
    placed = list(cells)
    width, height = _measure(placed)
    if budget:
        budget.spend(width * height)
    rows = [[""] * width for _ in range(height)]
    for cell in placed:
        columns = 1 if cell.columns >= width > 1 else cell.columns
        for row in rows[cell.row : cell.row + cell.rows]:
            for column in range(cell.column, min(cell.column + columns, width)):
                row[column] = row[column] or cell.text
    return rows


def _measure(cells: Iterable[SpannedCell]) -> tuple[int, int]:
    """Return how many columns and rows cells take."""
    ends = [(cell.column + cell.columns, cell.row + cell.rows) for cell in cells]
    width, height = map(max, zip(*ends, strict=True)) if ends else (0, 0)
    return min(width, MAX_COLUMNS), height


def close_up(cells: Sequence[SpannedCell]) -> tuple[list[SpannedCell], list[int]]:
    """Return cells without the rows and columns that a reader sees as none, and the rows that went."""
    # Rows go that have no text, or no height as all of their cells span into the rows below.
    width, _ = _measure(cells)
    filled = Counter[int]()
    for cell in cells:
        for row in range(cell.row, cell.row + cell.rows):
            filled[row] += cell.columns
    low = {cell.row for cell in cells if cell.rows == 1}
    begun = {cell.row for cell in cells}
    with_text = {
        row for cell in cells if cell.text for row in range(cell.row, cell.row + cell.rows)
    }
    thin = sorted((begun - with_text) | {row for row in begun - low if filled[row] < width})
    closer = _without(cells, rows=thin)
    # Columns in which no text begins are spacers, or the rest of a name that is set across two.
    filled_columns = {cell.column for cell in closer if cell.text.strip()}
    spacers = sorted({*range(_measure(closer)[0])} - filled_columns)
    return _without_signs(_without(closer, columns=spacers)), thin


def _without(
    cells: Iterable[SpannedCell], rows: Sequence[int] = (), columns: Sequence[int] = ()
) -> list[SpannedCell]:
    """Return cells without these rows and columns, each with what is left of its span."""
    kept = list[SpannedCell]()
    for cell in cells:
        sides = (rows, cell.row, cell.rows), (columns, cell.column, cell.columns)
        (top, bottom), (left, right) = (
            [at - bisect_left(removed, at) for at in (start, start + length)]
            for removed, start, length in sides
        )
        if top < bottom and left < right:
            kept.append(SpannedCell(top, left, cell.text, bottom - top, right - left))
    return kept


def _without_signs(cells: Sequence[SpannedCell]) -> list[SpannedCell]:
    """Join the signs that filings set in columns of their own with the figures beside: "$ | 17,556", "(22 | )"."""
    texts = {(cell.row, cell.column): cell.text.strip() for cell in cells}
    columns = defaultdict[int, list[SpannedCell]](list)
    for cell in cells:
        if cell.columns == 1 and cell.text.strip():
            columns[cell.column].append(cell)
    opening = {at for at, own in columns.items() if _are_signs(own, _OPENS_FIGURE, 1, texts)}
    closing = {at for at, own in columns.items() if _are_signs(own, _CLOSES_FIGURE, -1, texts)}
    signs = opening ^ closing
    signs -= {at for at in signs if (at + 1 if at in opening else at - 1) in signs}
    for cell in cells:
        own = range(cell.column, cell.column + cell.columns)
        if cell.columns > 1 and cell.text.strip() and signs.issuperset(own):
            signs.difference_update(own)  # it has no other place
    joined = list[SpannedCell]()
    for cell in cells:
        before, behind = cell.column - 1, cell.column + cell.columns
        sign = texts.get((cell.row, before), "") if before in opening & signs else ""
        end = texts.get((cell.row, behind), "") if behind in closing & signs else ""
        if cell.columns > 1 or cell.column not in signs:
            joined.append(replace(cell, text=f"{sign}{cell.text}{end}"))
    return _without(joined, columns=sorted(signs))


def _are_signs(
    column: Sequence[SpannedCell],
    sign: re.Pattern[str],
    step: int,
    texts: Mapping[tuple[int, int], str],
) -> bool:
    """Return whether a column has signs beside figures, and else only names beside empty cells."""
    beside = [(cell.text.strip(), texts.get((cell.row, cell.column + step))) for cell in column]
    return any(other and _NUMBER.match(other.strip("()$ ")) for _, other in beside) and all(
        other == "" or (other and sign.fullmatch(text)) for text, other in beside
    )


def repeated_cells(cells: Iterable[SpannedCell]) -> frozenset[tuple[int, int]]:
    """Return the places (row, column) where a merged cell's text stands again, all but its first."""
    return frozenset(
        (row, column)
        for cell in cells
        if cell.rows * cell.columns > 1
        for row in range(cell.row, cell.row + cell.rows)
        for column in range(cell.column, cell.column + cell.columns)
        if (row, column) != (cell.row, cell.column)
    )


def table_blocks(
    cells: Sequence[SpannedCell],
    budget: CellBudget,
    marked: int = 0,
    page: int | None = None,
    *,
    is_headed: bool = False,
) -> Iterator[Block]:
    """Yield a table, and the titles in its first rows as paragraphs above it.

    Args:
        cells: as the file places them.
        budget: how many cells there may be.
        marked: how many rows at least name the columns, as the file says.
        page: where it stands.
        is_headed: whether the first row names columns if no row's words do.
    """
    width, height = _measure(cells)
    budget.spend(width * height)
    cells, thin = close_up(cells)
    marked -= bisect_left(thin, marked)
    rows = lay_out(cells)
    width, titles = max(map(len, rows), default=0), title_rows(rows)
    whole = {cell.row for cell in cells if cell.text and cell.columns >= width}
    if titles < marked or not whole.issuperset(range(marked)):
        titles = 0
    else:
        marked = 0  # all of them are titles
    yield from (Paragraph("".join(row), page) for row in rows[:titles])
    body = rows[titles:]
    across = {row - titles for row in rows_across(cells, width)}
    repeated = frozenset((row - titles, column) for row, column in repeated_cells(cells))
    names = max(marked, header_rows(body, across, repeated)) or int(is_headed)
    yield Table(body, names, page, repeated)


def rows_across(cells: Iterable[SpannedCell], width: int) -> frozenset[int]:
    """Return the rows with a cell that is merged across several columns, but not across all."""
    return frozenset(
        row
        for cell in cells
        if 1 < cell.columns < width
        for row in range(cell.row, cell.row + cell.rows)
    )


def title_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of title rows: rows of one filled cell above rows of several."""
    filled = [sum(map(bool, map(str.strip, row))) for row in rows]
    several = next((at for at, cells in enumerate(filled) if cells > 1), 0)
    return several if all(filled[:several]) else 0


def column_names(header: Sequence[Sequence[str]]) -> list[str]:
    """Return the name of each column: the words of all the header's rows, each once."""
    columns = zip_longest(*header, fillvalue="")
    return [" ".join(dict.fromkeys(filter(None, map(str.strip, cells)))) for cells in columns]


def header_rows(
    rows: Sequence[Sequence[str]],
    across: Collection[int] = (),
    repeated: Collection[tuple[int, int]] = (),
) -> int:
    """Return how many rows name the columns: 1 when the first has words in most columns, and more rows follow.

    A name stands once, or above numbers only. Labels that end in a colon name their rows, and no column is named.
    With the row below it, where its cells name groups of columns and that row names their columns, where a name is
    merged with that row, or where that row has the units of columns of numbers. Years, and numbers in even steps, are
    names too where the rows below them have others. Columns without any cell do not count.

    Args:
        rows: the table, without titles above it.
        across: the rows with a cell that is merged across several columns.
        repeated: the places (row, column) that only repeat the text of a merged cell.
    """
    width = max(map(len, rows), default=0)
    whole = [[*map(str.strip, row), *[""] * (width - len(row))] for row in rows]
    columns = [at for at in range(width) if any(row[at] for row in whole)]
    cells = [[row[at] for at in columns] for row in whole]
    count = 1
    while (
        count - 1 in across and count < len(cells) and names_groups(*cells[count - 1 : count + 1])
    ):
        count += 1
    while count < len(cells) and any(
        (count, at) in repeated and whole[count][at] == whole[count - 1][at] != "" for at in columns
    ):
        count += 1
    if len(cells) <= count or all(row[0].endswith((":", "：")) for row in cells if columns):
        return 0
    # Units are words only, above columns of numbers.
    units, figures = cells[count], cells[count + 1 :]
    filled = [at for at, cell in enumerate(units) if cell]
    is_of_words = filled and not units[0] and not any(_NUMBER.match(units[at]) for at in filled)
    if figures and is_of_words and all(_NUMBER.match(row[at]) for row in figures for at in filled):
        count += 1
    body, names = cells[count:], column_names(cells[:count])
    named = Counter(filter(None, names))
    twice = [at for at, name in enumerate(names) if named[name] > 1]
    is_names = named.total() * 2 > len(columns) and all(
        _NUMBER.match(row[at]) for row in body for at in twice if row[at]
    )
    return count if is_names and all(_has_names(row, body) for row in cells[:count]) else 0


def names_years(row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Return whether a row names columns by years, which the rows below it do not have."""
    numbers = [cell for cell in row if _NUMBER.match(cell)]
    return all(map(_YEAR.fullmatch, numbers)) and _has_names(row, body)


def _has_names(row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Return whether the cells of a row can be names: words, and numbers that form a series unlike the rows below."""
    columns = [at for at, cell in enumerate(row) if _NUMBER.match(cell)]
    if not columns:
        return True
    if _NUMBER.match(row[0]):
        # Programs write 0 above the numbers of rows, which have no name.
        is_index = row[0] == "0" and columns == [0]
        return is_index and any(
            all(_NUMBER.match(cells[at]) for cells in body) for at in range(1, len(row))
        )
    series = _series([row[at] for at in columns])
    alike = sum(_series([cells[at] for at in columns]) == series for cells in body)
    return series is not None and alike * 2 <= len(body)


def _series(cells: Sequence[str]) -> Decimal | str | None:
    """Return the series that numbers form: "years", or the step between them (1, 2, 3; 5 %, 10 %, 15 %); None if there is none."""
    if all(_YEAR.fullmatch(cell) for cell in cells):
        return "years"
    values = [read_value(cell) for cell in dict.fromkeys(cells)]
    steps = {other.number - one.number for one, other in pairwise(values)}
    is_one_kind = {value.kind for value in values} == {ValueKind.NUMBER} and len(
        {value.unit for value in values}
    ) == 1
    return steps.pop() if is_one_kind and len(values) > 2 and len(steps) == 1 else None


def fill_group_names(rows: Sequence[Sequence[str]]) -> list[list[str]] | None:
    """Return the rows with the names of groups repeated, where the first row names groups of the second's columns.

    In two header rows without merged cells a group's name stands for the blank cells on its right, if it tells columns
    of the same name apart; where every group has the same columns, for its own, wherever above them it stands. None
    where the first row names no groups.
    """
    if len(rows) < 3:
        return None
    groups, names = ([cell.strip() for cell in row] for row in rows[:2])
    groups += [""] * (len(names) - len(groups))
    filled = [*filter(None, names)]
    is_grouped = any(groups[1:]) and not all(groups) and len({*filled}) < len(filled)
    if not is_grouped or any(map(_NUMBER.match, filled)):
        return None
    spread = _spread_groups(groups, names)
    name, result = "", list[str]()
    for at, below in enumerate(names):
        name = "" if at in spread else groups[at] or name
        result.append(spread.get(at) or groups[at] or (name if below else ""))
    both = column_names([result, names])
    return [result, *map(list, rows[1:])] if len({*both}) == len(both) else None


def _spread_groups(groups: Sequence[str], names: Sequence[str]) -> dict[int, str]:
    """Return the group of each column that recurs, if all groups have the same columns and one name each; else nothing."""
    columns = [at for at, name in enumerate(names) if name and names.count(name) > 1]
    width = len({names[at] for at in columns})
    runs = [columns[at : at + width] for at in range(0, len(columns), width or 1)]
    of_run = [{*filter(None, (groups[at] for at in run))} for run in runs]
    are_alike = len({tuple(names[at] for at in run) for run in runs}) == 1
    if not are_alike or any(len(found) != 1 for found in of_run):
        return {}
    return {at: name for run, (name,) in zip(runs, of_run, strict=True) for at in run}


def names_groups(groups: Sequence[str], below: Sequence[str]) -> bool:
    """Return whether row `below` names the columns of the groups above it; a row of data would add cells elsewhere."""
    grouped = {
        column
        for left, (one, other) in enumerate(pairwise(groups))
        if one.strip() and one == other
        for column in (left, left + 1)
    }
    pairs = [*enumerate(zip_longest(groups, below, fillvalue=""))]
    # A line of a title over another one parts nothing.
    is_parted = any(
        name != other and groups[left] == groups[left + 1]
        for left, (name, other) in enumerate(pairwise(below))
        if left in grouped and left + 1 in grouped
    )
    return is_parted and all(
        column in grouped or not group.strip() or name.strip() in {"", group.strip()}
        for column, (group, name) in pairs
    )
