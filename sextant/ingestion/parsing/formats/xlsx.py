"""Excel workbooks (SpreadsheetML, ECMA-376 part 1, 18): one section a sheet, in it the tables that a reader sees.

Read part by part, so that damaged styles cost no values and a damaged sheet none of another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO

from lxml import etree
from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format
from openpyxl.utils.cell import column_index_from_string, range_boundaries
from openpyxl.utils.datetime import from_ISO8601, to_excel
from openpyxl.utils.escape import unescape

from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph, TextKind
from sextant.ingestion.parsing.formats.drawingml import DrawingReader
from sextant.ingestion.parsing.formats.opc import Element, Package, PackagePart, qn, read_number
from sextant.ingestion.parsing.grids import fill_merges, sheet_blocks
from sextant.ingestion.parsing.images import with_address
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.number_formats import format_value
from sextant.ingestion.parsing.raised import mark_lowered, mark_raised
from sextant.ingestion.parsing.structure import Omissions, finish_blocks
from sextant.ingestion.parsing.tables import MAX_COLUMNS

_RANGE = re.compile(r"[A-Z]{1,3}\d{1,7}(?::[A-Z]{1,3}\d{1,7})?")


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
    omissions.add_damaged(package.damaged)
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
    """Return the sort key of a cell's name, from the top to the bottom."""
    column = cell.rstrip("0123456789")
    return int(cell[len(column) :] or 0), len(column), column


def _corner(anchor: Element) -> tuple[int, int]:
    """Return the row and the column in which something that floats over a sheet begins."""
    row, column = (anchor.findtext(f"{{*}}from/{{*}}{name}") for name in ("row", "col"))
    return read_number(row, 0), read_number(column, 0)


def _comments(part: PackagePart) -> Iterator[tuple[str, str]]:
    """Yield comments with their cells: who says what."""
    people = {
        one.get("id", ""): one.get("displayName", "")
        for persons in part.package.main().related("person")
        for one in (persons.root if persons.root is not None else ())
    }
    people |= {
        str(at): (one.text or "").strip() for at, one in enumerate(part.root.iter("{*}author"))
    }
    for comment in part.root.iter("{*}threadedComment", "{*}comment"):
        text = _unescaped("".join(part.text or "" for part in comment.iter("{*}text", "{*}t")))
        author = people.get(comment.get("personId") or comment.get("authorId", ""), "")
        # Also for older programs, under the name of no person.
        if not text.startswith("[Threaded comment]"):
            words = " ".join(text.removeprefix(f"{author}:").split())
            yield comment.get("ref", ""), f"{author}: {words}" if author else words


def _cells(
    book: Workbook, sheet: Sheet, xml: bytes, ranges: SheetRanges, limits: Limits
) -> Iterator[Block]:
    budget = CellBudget(limits)
    rows = dict[int, list[str]]()
    for number, shown in book.rows(sheet, xml, ranges):
        width = max((column for column, text in shown.items() if text.strip()), default=0)
        if width:
            budget.spend(width)
            rows[number] = [shown.get(column, "") for column in range(1, width + 1)]
    for cell, relationship_id in ranges.links:  # their addresses stand behind the words of cells
        address = sheet.part.address(relationship_id) if sheet.part is not None else ""
        if not address or not _RANGE.fullmatch(cell):
            continue
        column, number, *_ = range_boundaries(cell)
        row = rows.get(number, [])
        if "".join(row[column - 1 : column]).strip():
            row[column - 1] = with_address(row[column - 1], address)
    merges = [range_boundaries(one) for one in ranges.merges if _RANGE.fullmatch(one)]
    yield from sheet_blocks(rows, fill_merges(rows, merges, budget))


GENERAL = "General"
CellValue = str | bool | int | float
_ROW, _CELL, _VALUE, _FORMULA = "{*}row", "{*}c", "{*}v", "{*}f"
_MERGED, _LINK = "{*}mergeCell", "{*}hyperlink"
_MOST_MERGES = 10_000
_REFERENCE = re.compile(r"([A-Z]{1,3})\d{1,7}")
_RAISED = {"superscript": mark_raised, "subscript": mark_lowered}
# Codes of formats that Chinese Excel writes by their numbers alone (ECMA-376, part 1, 18.8.30).
_CHINESE_FORMATS = {
    'yyyy"年"m"月"': "27 36 50 52 57",
    'm"月"d"日"': "28 29 51 53 54 58",
    "m-d-yy": "30",
    'yyyy"年"m"月"d"日"': "31",
    'h"时"mm"分"': "32",
    'h"时"mm"分"ss"秒"': "33",
    '上午/下午h"时"mm"分"': "34 55",
    '上午/下午h"时"mm"分"ss"秒"': "35 56",
}
_MAC_DAY = 1462  # 1 January 1904, from which workbooks of old Macs count


@dataclass(frozen=True, slots=True)
class Sheet:
    """A worksheet by its name, and the part that it is in; None where that is missing. `is_chart`: it has no cells."""

    title: str
    part: PackagePart | None
    is_chart: bool = False


@dataclass(slots=True)
class SheetRanges:
    """The merged ranges and links of a sheet, and its number of formulas without a value.

    `merges`: ranges of merged cells; `links`: names of cells, with the id of the address that a link in it has.
    """

    merges: list[str] = field(default_factory=list[str])
    links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    not_computed: int = 0


class Workbook:
    """A workbook, read as its formulas were when it was last saved."""

    def __init__(self, package: Package, omissions: Omissions) -> None:
        """Read what all sheets share.

        Raises:
            FileBroken: there is no workbook.
        """
        self._main = package.main()
        self._omissions = omissions
        properties = self._main.root.find("{*}workbookPr")
        is_mac = properties is not None and properties.get("date1904") in {"1", "true"}
        self.first_day = _MAC_DAY if is_mac else 0
        calculation = self._main.root.find("{*}calcPr")
        # Programs that compute nothing say so, and some of them write 0 for each result.
        self._is_computed = calculation is None or calculation.get("fullCalcOnLoad") not in {
            "1",
            "true",
        }
        self._strings = [*map(self._text, self._shared("sharedStrings", "{*}si"))]
        codes = {
            one.get("numFmtId", ""): one.get("formatCode") or GENERAL
            for one in self._shared("styles", "{*}numFmts/{*}numFmt")
        }
        known = {
            number: code for code, numbers in _CHINESE_FORMATS.items() for number in numbers.split()
        }
        codes = {
            **{str(key): code for key, code in BUILTIN_FORMATS.items()},
            "47": "mm:ss.0",  # the standard has "mmss.0" by mistake
            **known,
            **codes,
        }
        styles = self._shared("styles", "{*}cellXfs/{*}xf")
        self._formats = [codes.get(one.get("numFmtId", ""), GENERAL) for one in styles]
        fonts = [*map(_is_struck, self._shared("styles", "{*}fonts/{*}font"))]
        numbers = (read_number(one.get("fontId"), 0) for one in styles)
        self._struck = [number < len(fonts) and fonts[number] for number in numbers]

    def sheets(self) -> list[Sheet]:
        """Return the sheets in their order; of a file that no longer lists them, those that are there, by number."""
        listed = self._main.root.findall("{*}sheets/{*}sheet")
        kinds = {part.name: part for part in self._main.related("worksheet")}
        charts = {part.name for part in self._main.related("chartsheet", "dialogsheet")}
        found = list[Sheet]()
        for one in listed:
            part = self._main.target(one.get(qn("r:id")))
            is_chart = part is not None and part.name in charts
            found.append(Sheet(one.get("name", ""), part, is_chart))
        if any(sheet.part for sheet in found):
            return found
        self._main.package.damaged[self._main.name] = None
        parts = [*kinds.values()] or self._main.package.parts_in("xl/worksheets")
        names = [one.get("name", "") for one in listed] if len(listed) == len(parts) else []
        return [Sheet(names[at] if names else f"#{at + 1}", part) for at, part in enumerate(parts)]

    def rows(
        self, sheet: Sheet, xml: bytes, ranges: SheetRanges
    ) -> Iterator[tuple[int, dict[int, str]]]:
        """Yield rows with their numbers from 1, and by column from 1 what a reader sees in a cell.

        Of damaged XML those that can be read; `ranges` is filled on the way.
        """
        number = 0
        events = etree.iterparse(
            BytesIO(xml),
            tag=(_ROW, _MERGED, _LINK),
            recover=True,
            resolve_entities=False,
            no_network=True,
            remove_comments=True,
        )
        for _, element in events:
            if element.tag.endswith("hyperlink"):
                ranges.links.append((element.get("ref", ""), element.get(qn("r:id"), "")))
            elif element.tag.endswith("mergeCell"):
                ranges.merges += [element.get("ref", "")][: _MOST_MERGES - len(ranges.merges)]
            else:
                number = read_number(element.get("r"), 0) or number + 1
                yield number, dict(self._cells(element, ranges))
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        is_sheet = events.root is not None and events.root.tag.endswith("}worksheet")
        if len(events.error_log) or not is_sheet:
            self._omissions.add_part("damaged sheet", sheet.title)
            self._omissions.add_damaged([sheet.part.name] if sheet.part is not None else [])

    def _cells(self, row: Element, ranges: SheetRanges) -> Iterator[tuple[int, str]]:
        column = 0
        for cell in row.iterchildren(_CELL):
            reference = _REFERENCE.fullmatch(cell.get("r", ""))
            column = column_index_from_string(reference[1]) if reference else column + 1
            if column > MAX_COLUMNS:
                return
            style = read_number(cell.get("s"), 0)
            code = self._formats[style] if style < len(self._formats) else GENERAL
            value = self._value(cell, code)
            value = value.strip() if isinstance(value, str) else value
            has_formula = cell.find(_FORMULA) is not None
            if style < len(self._struck) and self._struck[style]:
                self._omissions.add_text("struck through", str(value or ""))
            elif value is not None and not (has_formula and value == 0 and not self._is_computed):
                shown = str(value).upper() if isinstance(value, bool) else None
                yield column, shown or format_value(value, code, self.first_day)
            elif cell.get("t") != "str":  # which is an empty text that was computed
                ranges.not_computed += has_formula

    def _value(self, cell: Element, code: str) -> CellValue | None:
        kind, text = cell.get("t", "n"), cell.findtext(_VALUE)
        inline = cell.find("{*}is") if kind == "inlineStr" else None
        if inline is not None:
            return self._text(inline)
        if not text:
            return None
        found: CellValue | None = text
        match kind:
            case "s":
                index = read_number(text, len(self._strings))
                found = self._strings[index] if index < len(self._strings) else None
                if found is None:
                    self._omissions.add_part("shared text")
            case "b":
                found = text.strip() not in {"0", "false"}
            case "n":
                with suppress(ValueError):
                    found = float(text) if any(sign in text for sign in ".eE") else int(text)
            case "d":
                with suppress(ValueError):
                    if is_date_format(code):  # the day is written out
                        found = to_excel(from_ISO8601(text)) - self.first_day
            case _:
                found = _unescaped(text)
        return found

    def _text(self, element: Element) -> str:
        """Return the text of a string with its runs, without the reading of its ideographs (`rPh`)."""
        parts = [one.text or "" for one in element.iterfind("{*}t")]
        for run in element.iterfind("{*}r"):
            text = run.findtext("{*}t") or ""
            look = run.find("{*}rPr")
            align = look.find("{*}vertAlign") if look is not None else None
            if look is not None and _is_struck(look):
                self._omissions.add_text("struck through", text)
            elif align is None:
                parts.append(text)
            else:
                mark = _RAISED.get(align.get("val", ""), str)
                parts.append(mark(text))
        return _unescaped("".join(parts))

    def _shared(self, kind: str, path: str) -> list[Element]:
        """Return elements of a part that all sheets share."""
        part = next(self._main.related(kind), None) or PackagePart(
            self._main.package, f"xl/{kind}.xml"
        )
        if part.root is None:
            return []
        found: list[Element] = part.root.findall(path)
        return found


def _is_struck(font: Element) -> bool:
    strike = font.find("{*}strike")
    return strike is not None and strike.get("val") not in {"0", "false"}


def _unescaped(text: str) -> str:
    """Return text with the characters that XML cannot hold, which are written `_x000D_`."""
    found: str = unescape(text) if "_x" in text else text
    return found
