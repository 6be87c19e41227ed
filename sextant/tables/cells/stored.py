"""Assemble a table of a document from the passages that hold its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sextant.tables.cells.table import DataTable, make_table, names_one_of_many
from sextant.tables.cells.values import ValueKind, read_value

_BAR = re.compile(r"(?<!\\)\|")
_DITTO = " 〃"
_ACROSS = "〃"


@dataclass(frozen=True, slots=True)
class TablePart:
    """A passage with rows of a table.

    Attributes:
        id: the passage's.
        ordinal: its index among the passages of its document.
        start: its offset in the document's text.
        text: a line for each row, cells between bars; the first part begins with the head and its rule.
        context: the head and its rule, in later parts.
        page: the page on which it begins, if its document has pages.
    """

    id: str
    ordinal: int
    start: int
    text: str
    context: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line of a table: its part, and its offsets in the document's text."""

    part: TablePart
    start: int
    end: int

    @property
    def text(self) -> str:
        """Return the text of the line."""
        return self.part.text[self.start - self.part.start : self.end - self.part.start]


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A whole table; `rows[n]` is the line of row n of `table`, `head` the last line of its names."""

    table: DataTable
    parts: tuple[TablePart, ...]
    head: TableLine
    rows: tuple[TableLine, ...]


def tables_of(parts: Sequence[TablePart]) -> list[StoredTable]:
    """Return the tables in consecutive parts of one section.

    A table without names of columns, or with a row that is cut in two or has another number of cells than the head,
    is left out.
    """
    groups = list[list[TablePart]]()
    for part in parts:
        if part.context and groups and groups[-1][0].text.startswith(part.context):
            groups[-1].append(part)
        else:
            groups.append([part])
    return [table for group in groups if (table := _join_parts(group))]


def _join_parts(parts: Sequence[TablePart]) -> StoredTable | None:
    first, *later = parts
    lines = list(_lines(first))
    rule = next((at for at, line in enumerate(lines) if set(cells_of(line.text)) == {"---"}), 0)
    above = next((at for at in range(rule, 0, -1) if not _is_row(lines[at - 1].text)), 0)
    heads, rows = (
        lines[above:rule],
        lines[rule + 1 :] + [row for part in later for row in _lines(part)],
    )
    if first.context or not (heads and rows):
        return None
    lines = [*heads, *rows]
    cells = [[cell.replace("\\|", "|") for cell in cells_of(line.text)] for line in lines]
    if not all(_is_row(line.text) for line in rows) or len({len(row) for row in cells}) != 1:
        return None
    repeated = [
        (row, column)
        for row, line in enumerate(lines)
        for column, cell in enumerate(_split(line.text))
        if cell.endswith(_ACROSS)
    ]
    table = make_table(cells, len(heads), repeated)
    return StoredTable(table, tuple(parts), heads[-1], tuple(rows))


def _lines(part: TablePart) -> Iterator[TableLine]:
    start = part.start
    for text in part.text.split("\n"):
        yield TableLine(part, start, start + len(text))
        start += len(text) + 1


def _is_row(text: str) -> bool:
    return text.startswith("| ") and text.endswith(" |")


def mark_repeated(cell: str) -> str:
    """Return how a number is stored in each further row that its merged cell spans.

    So the row can be read by itself, and a sum takes the number once. Words are repeated as they are.
    """
    value = read_value(cell)
    is_amount = value.kind is ValueKind.NUMBER and not names_one_of_many(value)
    return cell + _DITTO if is_amount else cell


def mark_across(cells: Sequence[str]) -> list[str]:
    """Return how a row is stored whose one cell is merged across all columns: it names the rows below it."""
    return [cell or _ACROSS for cell in cells]


def cells_of(row: str) -> list[str]:
    """Return the cells of a row as it is stored, bars within them escaped; those at its ends may be missing."""
    return [cell.removesuffix(_DITTO).removesuffix(_ACROSS) for cell in _split(row)]


def _split(row: str) -> list[str]:
    return [cell.strip() for cell in _BAR.split(row.strip().strip("|"))]
