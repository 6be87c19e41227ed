"""Excel workbooks: one section a sheet, one table for each block of rows between blank ones."""

from __future__ import annotations

import datetime as dt
import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import islice

from openpyxl import load_workbook
from openpyxl.utils.cell import range_boundaries
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet._read_only import ReadOnlyWorksheet as Sheet

from domain.errors import FileBroken
from domain.missing import Missing
from ingestion.parsing.blocks import Block, Blocks, Heading, Paragraph, Table
from ingestion.parsing.limits import CellBudget, Limits
from ingestion.parsing.tables import header_rows

# openpyxl's streaming reader does not tell merged ranges, so they are read from the sheet's XML.
_MERGE = re.compile(rb"<mergeCell\s[^>]{0,100}?ref=\"([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})\"")
_MAX_MERGES = 10_000
# A formula without a value: programs that write workbooks (openpyxl, exports) compute nothing. What a formula made an
# empty text of (`t="str"`) was computed.
_NOT_COMPUTED = re.compile(
    rb"<c\b(?![^>]{0,200}\st=\"str\")[^>]{0,200}><f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?</c>"
)
_MIDNIGHT = dt.time()

Row = list[str]


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read an XLSX: the values that formulas had when it was last saved, dates as ISO 8601.

    Raises:
        FileBroken: what is in the container is no such document.
        FileUnsafe: its tables have more cells than the limit.
    """
    try:
        book = load_workbook(BytesIO(content), read_only=True, data_only=True)
    except (InvalidFileException, KeyError, ValueError, TypeError) as error:
        raise FileBroken(
            f"The workbook cannot be read ({error}).", next_step="Save it again and retry."
        ) from error
    blocks, empty = list[Block](), 0
    with zipfile.ZipFile(BytesIO(content)) as archive:
        for sheet in book.worksheets:
            xml = archive.read(posixpath.normpath(sheet._worksheet_path.lstrip("/")))
            blocks += _sheet(sheet, xml, limits)
            empty += sum(1 for _ in _NOT_COMPUTED.finditer(xml))
    warnings = (Missing.FORMULAS_NOT_COMPUTED.told(number=empty),) if empty else ()
    return Blocks(blocks, book.properties.title or "", warnings=warnings)


def _sheet(sheet: Sheet, xml: bytes, limits: Limits) -> Iterator[Block]:
    sheet.reset_dimensions()  # what the sheet declares is not believed
    rows = _read_rows(sheet, CellBudget(limits))
    titles, across = _fill_merges(rows, _merges(xml))
    if rows:
        yield Heading(sheet.title, 1)
    for group in _groups(rows):
        yield from _group_blocks(group, rows, titles, across)


def _read_rows(sheet: Sheet, budget: CellBudget) -> dict[int, Row]:
    """The rows that hold anything, by row number from 1."""
    rows: dict[int, Row] = {}
    for number, cells in enumerate(sheet.iter_rows(), 1):
        row = [
            "" if cell.value is None else _shown(cell.value, cell.number_format) for cell in cells
        ]
        while row and not row[-1].strip():
            row.pop()
        if row:
            budget.spend(len(row))
            rows[number] = row
    return rows


def _merges(xml: bytes) -> list[tuple[int, int, int, int]]:
    found = islice(_MERGE.finditer(xml), _MAX_MERGES)
    return [range_boundaries(match[1].decode("ascii")) for match in found]


def _fill_merges(
    rows: dict[int, Row], merges: Iterable[tuple[int, int, int, int]]
) -> tuple[set[int], set[int]]:
    """Repeat each merged cell's text over its range.

    Returns the rows that one merge fills alone: titles above a table, whose text stays in one cell; and the
    other rows with a cell that is merged across columns.
    """
    titles, across = set[int](), set[int]()
    for left, top, right, bottom in merges:
        text = _at(rows.get(top, []), left)
        if not text:
            continue
        filled = sum(sum(map(bool, rows.get(number, []))) for number in range(top, bottom + 1))
        if filled == 1 and (top == bottom or left < right):
            titles.add(top)
            continue
        across.update(range(top, bottom + 1) if left < right else ())
        for number in range(top, min(bottom, max(rows)) + 1):
            row = rows.setdefault(number, [])
            row.extend([""] * (right - len(row)))
            row[left - 1 : right] = [cell or text for cell in row[left - 1 : right]]
    return titles, across


def _at(row: Row, column: int) -> str:
    return row[column - 1] if column <= len(row) else ""


def _groups(rows: dict[int, Row]) -> Iterator[list[int]]:
    """Row numbers, divided where a blank row stands."""
    group: list[int] = []
    for number in sorted(rows):
        if group and number != group[-1] + 1:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _group_blocks(
    group: Sequence[int], rows: dict[int, Row], titles: set[int], across: set[int]
) -> Iterator[Block]:
    """Rows of one cell above a table become paragraphs, the rest one table."""
    filled = [sum(map(bool, rows[number])) for number in group]
    start = 0
    while start < len(group) and (
        group[start] in titles or (filled[start] == 1 and max(filled) > 1)
    ):
        yield Paragraph(" ".join(filter(None, rows[group[start]])))
        start += 1
    table = [rows[number] for number in group[start:]]
    if len(table) == 1 or max((len(row) for row in table), default=0) == 1:
        yield Paragraph("\n".join(" ".join(filter(None, row)) for row in table))
    elif table:
        spanned = {at for at, number in enumerate(group[start:]) if number in across}
        yield Table(table, header_rows(table, spanned))


def _shown(value: object, number_format: str) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case dt.datetime():
            return value.date().isoformat() if value.time() == _MIDNIGHT else value.isoformat(" ")
        case dt.date() | dt.time():
            return value.isoformat()
        case int() | float():
            return _number(value, number_format)
        case _:
            return str(value).strip()


def _number(value: float, number_format: str) -> str:
    if "%" in number_format:
        return f"{value * 100:.10g}%"
    return str(value) if isinstance(value, int) else f"{value:.12g}"
