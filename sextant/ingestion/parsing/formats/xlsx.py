"""Excel workbooks: one section a sheet, in it the tables that a reader sees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from openpyxl.utils.cell import range_boundaries

from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph, TextKind
from sextant.ingestion.parsing.formats.drawingml import DrawingReader
from sextant.ingestion.parsing.formats.opc import Element, Package, PackagePart, qn
from sextant.ingestion.parsing.formats.workbook import Cell, Sheet, SheetRanges, Workbook
from sextant.ingestion.parsing.grids import fill_merges, sheet_blocks
from sextant.ingestion.parsing.images import with_address
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.number_formats import format_value
from sextant.ingestion.parsing.structure import Omissions, finish_blocks

_RANGE = re.compile(r"[A-Z]{1,3}\d{1,7}(?::[A-Z]{1,3}\d{1,7})?")

Row = list[str]


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read an XLSX: the values that formulas had when it was last saved, shown as its number formats say.

    Raises:
        FileBroken: what is in the container is no such document.
        FileUnsafe: its tables have more cells than the limit.
    """
    package, omissions = Package(content), Omissions()
    book = Workbook(package, omissions)
    title = package.title()
    blocks, empty = list[Block](), 0
    for sheet in book.sheets():
        xml = sheet.part.content if sheet.part is not None else None
        if sheet.part is None or not xml:
            omissions.add_part("sheet", sheet.title)
            continue
        cells, floating, ranges = list[Block](), list[Block](), SheetRanges()
        with omissions.survive("damaged sheet", sheet.title):
            cells += () if sheet.is_chart else _cells(book, sheet, xml, ranges, limits)
        with omissions.survive("drawing", sheet.title):
            floating += _floating_blocks(sheet.part, omissions)
        if cells or floating:
            blocks += [HeadingBlock(sheet.title, 1), *cells, *floating]
        empty += ranges.not_computed
    omissions.add_damaged(package.damaged_parts())
    formulas = CodedWarning(WarningCode.FORMULAS_NOT_COMPUTED, {"number": empty})
    warnings = (formulas,) if empty else ()
    return finish_blocks(blocks, omissions, title, warnings=warnings)


def _floating_blocks(sheet: PackagePart, omissions: Omissions) -> Iterator[Block]:
    """Yield text boxes, pictures and charts, and comments with their cells."""
    for drawing in sheet.related("drawing"):
        if drawing.root is None:
            omissions.add_part("drawing")
            continue
        reader = DrawingReader(drawing, omissions)
        for anchor in sorted(drawing.root, key=_corner):
            for line in anchor.iter(qn("a:p")):
                yield Paragraph("".join(text.text or "" for text in line.iter(qn("a:t"))))
            yield from reader.blocks(anchor)
    notes = dict[str, list[str]]()
    for comments in sheet.related("comments", "threadedComment"):
        if comments.root is None:
            omissions.add_part("sheet's comments")
            continue
        for cell, text in _comments(comments):
            notes.setdefault(cell, []).append(text)
    if notes:
        lines = (f"{cell}: {' / '.join(notes[cell])}" for cell in sorted(notes, key=_rank_cell))
        yield Paragraph("\n".join(lines), kind=TextKind.NOTE)


def _rank_cell(cell: str) -> tuple[int, int, str]:
    """Return what sorts the names of cells from the top to the bottom."""
    column = cell.rstrip("0123456789")
    return int(cell[len(column) :] or 0), len(column), column


def _corner(anchor: Element) -> tuple[int, int]:
    """Return the row and the column in which something that floats over a sheet begins."""
    found = (anchor.findtext(f"{{*}}from/{{*}}{name}") or "" for name in ("row", "col"))
    row, column = (int(text) if text.isdecimal() else 0 for text in found)
    return row, column


def _comments(part: PackagePart) -> Iterator[tuple[str, str]]:
    """Yield comments with their cells: who says what."""
    people = {
        one.get("id", ""): one.get("displayName", "")
        for persons in part.package.main().related("person")
        for one in (persons.root if persons.root is not None else ())
    }
    people |= {str(at): one.text or "" for at, one in enumerate(part.root.iter("{*}author"))}
    for comment in part.root.iter("{*}threadedComment", "{*}comment"):
        text = "".join(part.text or "" for part in comment.iter("{*}text", "{*}t"))
        author = people.get(comment.get("personId") or comment.get("authorId", ""), "")
        # Also for older programs, under the name of no person.
        if not text.startswith("[Threaded comment]"):
            words = " ".join(text.removeprefix(f"{author}:").split())
            yield comment.get("ref", ""), f"{author}: {words}" if author else words


def _cells(
    book: Workbook, sheet: Sheet, xml: bytes, ranges: SheetRanges, limits: Limits
) -> Iterator[Block]:
    budget = CellBudget(limits)
    rows = _read_rows(book, book.rows(sheet, xml, ranges), budget)
    _add_addresses(rows, sheet.part, ranges.links)
    merges = [range_boundaries(one) for one in ranges.merges if _RANGE.fullmatch(one)]
    yield from sheet_blocks(rows, fill_merges(rows, merges, budget))


def _read_rows(
    book: Workbook, rows: Iterable[tuple[int, list[Cell]]], budget: CellBudget
) -> dict[int, Row]:
    """Return the rows that hold anything, by row number from 1."""
    found: dict[int, Row] = {}
    for number, cells in rows:
        shown = {cell.column: _show(cell, book.first_day) for cell in cells}
        width = max((column for column, text in shown.items() if text.strip()), default=0)
        if width:
            budget.spend(width)
            found[number] = [shown.get(column, "") for column in range(1, width + 1)]
    return found


def _add_addresses(
    rows: dict[int, Row], part: PackagePart | None, links: Iterable[tuple[str, str]]
) -> None:
    """Set the addresses of links behind the words of their cells."""
    for cell, relationship_id in links:
        address = part.address(relationship_id) if part is not None else ""
        if not address or not _RANGE.fullmatch(cell):
            continue
        column, number, *_ = range_boundaries(cell)
        row = rows.get(number, [])
        if "".join(row[column - 1 : column]).strip():
            row[column - 1] = with_address(row[column - 1], address)


def _show(cell: Cell, first_day: int) -> str:
    """Return what a reader of the sheet sees in a cell."""
    value = cell.value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    value = value.strip() if isinstance(value, str) else value
    return format_value(value, cell.number_format, first_day)
