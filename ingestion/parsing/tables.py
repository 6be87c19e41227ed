"""Tables with merged cells to plain rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from ingestion.parsing.limits import CellBudget

_NUMBER = re.compile(r"[-+(]?[$€£¥￥]?\s?\d[\d,.\s]*[%)‰]?$")
_MAX_COLUMNS = 16_384  # of a worksheet (ECMA-376); HTML allows 1,000


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell at its upper left corner, with the rows and columns it spans."""

    row: int
    column: int
    text: str
    rows: int = 1
    columns: int = 1


def lay_out(cells: Iterable[Cell], budget: CellBudget) -> list[list[str]]:
    """Rows of equal length; a merged cell's text stands in every row and column it spans.

    So each row can be read by itself. A cell across the whole width (a title row) stands once.
    """
    placed = list(cells)
    width = max((cell.column + cell.columns for cell in placed), default=0)
    height = max((cell.row + cell.rows for cell in placed), default=0)
    width = min(width, _MAX_COLUMNS)
    budget.spend(width * height)
    rows = [[""] * width for _ in range(height)]
    for cell in placed:
        columns = 1 if cell.columns >= width > 1 else cell.columns
        for row in rows[cell.row : cell.row + cell.rows]:
            for column in range(cell.column, min(cell.column + columns, width)):
                row[column] = row[column] or cell.text
    return rows


def repeated_places(cells: Iterable[Cell]) -> frozenset[tuple[int, int]]:
    """The places (row, column) where a merged cell's text stands again, all but its first."""
    return frozenset(
        (row, column)
        for cell in cells
        if cell.rows * cell.columns > 1
        for row in range(cell.row, cell.row + cell.rows)
        for column in range(cell.column, cell.column + cell.columns)
        if (row, column) != (cell.row, cell.column)
    )


def rows_across(cells: Iterable[Cell], width: int) -> frozenset[int]:
    """The rows with a cell that is merged across several columns, but not across all."""
    return frozenset(
        row
        for cell in cells
        if 1 < cell.columns < width
        for row in range(cell.row, cell.row + cell.rows)
    )


def title_rows(rows: Sequence[Sequence[str]]) -> int:
    """How many rows of one filled cell stand above rows of several: the table's title, and no row of it."""
    filled = [sum(map(bool, map(str.strip, row))) for row in rows]
    several = next((at for at, cells in enumerate(filled) if cells > 1), 0)
    return several if all(filled[:several]) else 0


def column_names(header: Sequence[Sequence[str]]) -> list[str]:
    """The name of each column: the words of all the header's rows, each once."""
    columns = zip_longest(*header, fillvalue="")
    return [" ".join(dict.fromkeys(filter(None, map(str.strip, cells)))) for cells in columns]


def header_rows(rows: Sequence[Sequence[str]], across: Collection[int] = ()) -> int:
    """How many rows name the columns: 1 when the first has a word in every cell, none a number, and more rows follow.

    With the row below it, where its cells name groups of columns and that row names their columns.

    Args:
        rows: the table, without titles above it.
        across: the rows with a cell that is merged across several columns.
    """
    count = 1
    while count - 1 in across and count < len(rows) and _is_of_groups(*rows[count - 1 : count + 1]):
        count += 1
    if len(rows) <= count:
        return 0
    columns = column_names(rows[:count])
    cells = [cell.strip() for row in rows[:count] for cell in row]
    named = [name for name in columns if name]
    is_names = not any(map(_NUMBER.match, cells)) and len(set(named)) == len(named)
    return count if is_names and len(named) * 2 > len(columns) else 0


def _is_of_groups(groups: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a row names the columns of groups above it: elsewhere it says nothing new, as a row of data does."""
    grouped = {
        column
        for left, (one, other) in enumerate(pairwise(groups))
        if one.strip() and one == other
        for column in (left, left + 1)
    }
    return all(
        column in grouped or name.strip() in {"", group.strip()}
        for column, (group, name) in enumerate(zip_longest(groups, below, fillvalue=""))
    )
