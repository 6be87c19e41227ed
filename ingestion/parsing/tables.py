"""Tables with merged cells to plain rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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


def header_rows(rows: Sequence[Sequence[str]]) -> int:
    """1 when the first row names the columns: every cell a word, none a number, and more rows follow."""
    if len(rows) < 2:
        return 0
    first = [cell.strip() for cell in rows[0]]
    named = [cell for cell in first if cell]
    is_names = not any(_NUMBER.match(cell) for cell in named) and len(set(named)) == len(named)
    return int(is_names and len(named) * 2 > len(first))
