"""Tables of HTML: which hold data, which rows name columns, and where merged cells lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from selectolax.lexbor import LexborNode

from sextant.ingestion.parsing.blocks import Table
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.tables import (
    SpannedCell,
    header_rows,
    lay_out,
    repeated_cells,
    rows_across,
    title_rows,
)
from sextant.tables.cells.values import ValueKind, read_value

_MAX_ROWSPAN, _MAX_COLSPAN = 65_534, 1_000  # HTML standard, 4.9.11
_CELLS = frozenset({"td", "th"})


def holds_data(table: LexborNode) -> bool:
    """Return whether a table is data rather than page layout.

    Layout has headings in its cells, or further tables in most of them and no names of rows or columns.
    """
    if table.attributes.get("role") in {"presentation", "none"}:
        return False
    cells = [cell for row in rows_of(table) for cell in _cells_of(row)]
    if len(cells) < 2:
        return False
    nested = sum(cell.css_first("table") is not None for cell in cells)
    if any(cell.css_first("h1, h2, h3, h4, h5, h6") for cell in cells if cell.tag == "td"):
        return False
    named = any(cell.tag == "th" for cell in cells)
    return not nested or named or nested * 4 <= len(cells)


def rows_of(table: LexborNode) -> list[LexborNode]:
    """Return a table's own rows, those of its foot last."""
    rows = list[LexborNode]()
    last = list[LexborNode]()
    for child in table.iter():
        if child.tag == "tr":
            rows.append(child)
        elif child.tag in {"thead", "tbody", "tfoot"}:
            part = [row for row in child.iter() if row.tag == "tr"]
            (last if child.tag == "tfoot" else rows).extend(part)
    return rows + last


def read_table(
    table: LexborNode,
    limits: Limits,
    read_cell: Callable[[LexborNode], str],
    is_hidden: Callable[[LexborNode], bool],
) -> Table:
    """Return a table whose cells `read_cell` reads, without the rows that its reader does not see.

    Raises:
        FileUnsafe: it has more cells than the limit.
    """
    rows = [row for row in rows_of(table) if not is_hidden(row)]
    cells = list(_place_cells(rows, CellBudget(limits), read_cell))
    laid_out = lay_out(cells, CellBudget(limits))
    header = 0
    while (
        header < len(rows)
        and _names_columns(rows[header])
        and not (header and _is_one_name(rows[header], laid_out[header]))
    ):
        header += 1
    if not any(cell.tag == "th" for row in rows for cell in _cells_of(row)):
        header = _infer_header(rows, laid_out, cells)
    return Table(laid_out, header, repeated=repeated_cells(cells))


def _infer_header(
    rows: Sequence[LexborNode], laid_out: Sequence[Sequence[str]], cells: Sequence[SpannedCell]
) -> int:
    """Return how many rows of a table without `th` name its columns.

    Of two columns of words the first may as well name the other's values: then only the row's looks tell.
    """
    titles = title_rows(laid_out)
    body = laid_out[titles:]
    width = max(map(len, body), default=0)
    across = {row - titles for row in rows_across(cells, width)}
    found = header_rows(body, across)
    if found and width == 2 and not _has_values(body, found) and not _is_bold(rows[titles]):
        return 0
    return found + titles if found else 0


def _has_values(rows: Sequence[Sequence[str]], header: int) -> bool:
    """Return whether the second column has mostly numbers and dates."""
    kinds = [read_value(row[1]).kind for row in rows[header:]]
    return sum(kind in {ValueKind.NUMBER, ValueKind.DATE} for kind in kinds) * 2 > len(kinds)


def _is_bold(row: LexborNode) -> bool:
    return all(cell.css_first("b, strong") is not None for cell in _cells_of(row))


def _place_cells(
    rows: Sequence[LexborNode], budget: CellBudget, read_cell: Callable[[LexborNode], str]
) -> Iterator[SpannedCell]:
    taken: dict[int, int] = {}  # column → first row in which it is free again
    for row, line in enumerate(rows):
        column = 0
        for node in _cells_of(line):
            while taken.get(column, 0) > row:
                column += 1
            height = _span(node, "rowspan", _MAX_ROWSPAN)
            width = _span(node, "colspan", _MAX_COLSPAN)
            budget.spend(width)
            yield SpannedCell(row, column, read_cell(node), min(height, len(rows) - row), width)
            taken.update(dict.fromkeys(range(column, column + width), row + height))
            column += width


def _cells_of(row: LexborNode) -> list[LexborNode]:
    return [node for node in row.iter() if node.tag in _CELLS]


def _names_columns(row: LexborNode) -> bool:
    in_head = row.parent is not None and row.parent.tag == "thead"
    cells = _cells_of(row)
    return in_head or (bool(cells) and all(cell.tag == "th" for cell in cells))


def _is_one_name(row: LexborNode, laid_out: Sequence[str]) -> bool:
    """Return whether a row has one cell across all columns: below their names it is that of a group of rows."""
    return len(_cells_of(row)) == 1 < len(laid_out) and sum(map(bool, laid_out)) == 1


def _span(node: LexborNode, name: str, limit: int) -> int:
    value = (node.attributes.get(name) or "1").strip()
    is_number = value.isascii() and value.isdigit() and len(value) < 8
    return min(max(int(value), 1), limit) if is_number else 1
