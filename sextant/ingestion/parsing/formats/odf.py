"""OpenDocument: texts, sheets and slides, from a package or one flat XML file (ODF 1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from lxml import etree
from openpyxl.utils.cell import get_column_letter

from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph, lines_of
from sextant.ingestion.parsing.formats.drawingml import Box, PlacedShape, order_shapes
from sextant.ingestion.parsing.formats.odf_styles import OdfPackage, OdfStyle, OdfStyles, broken
from sextant.ingestion.parsing.formats.odf_text import (
    CELLS,
    DRAWN,
    OdfContext,
    OdfReader,
    count_of,
    read_comment,
    rows_of,
    spans_of,
)
from sextant.ingestion.parsing.formats.opc import Element, qn
from sextant.ingestion.parsing.formats.stories import write_comment
from sextant.ingestion.parsing.grids import fill_merges, sheet_blocks
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.structure import Omissions, finish_blocks
from sextant.ingestion.parsing.tables import MAX_COLUMNS

_UNITS = {"cm": 360_000, "mm": 36_000, "in": 914_400, "pt": 12_700, "px": 9_525}  # in EMU
_FURNITURE = {"header", "footer", "page-number", "date-time"}
_KEPT_VALUES = (
    "office:string-value",
    "office:date-value",
    "office:time-value",
    "office:boolean-value",
    "office:value",
)


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read an ODT, ODS or ODP as its reader sees it, with all changes accepted.

    Raises:
        FileBroken: its main part cannot be read.
        FileEncrypted: it has a password.
        FileUnsafe: its tables have more cells than the limit.
    """
    omissions = Omissions()
    package = OdfPackage(content, omissions)
    main = package.main()
    body = next(main.iter(qn("office:body")), None)
    story = next(iter(body), None) if body is not None else None
    if story is None:
        raise broken("it has no body")
    roots = [root for root in (main, package.part("styles.xml")) if root is not None]
    context = OdfContext(package, OdfStyles(roots), limits)
    described = [*roots, package.part("meta.xml")]
    titles = (one for root in described if root is not None for one in root.iter(qn("dc:title")))
    title = next((one.text or "" for one in titles), "").strip()
    slides = story.findall(qn("draw:page"))
    kind = etree.QName(story).localname
    if kind == "spreadsheet":
        sheets = story.iterchildren(qn("table:table"))
        blocks = [block for sheet in sheets for block in _Sheet(context).blocks(sheet)]
    elif kind in {"presentation", "drawing"}:
        numbered = enumerate(slides, 1)
        blocks = [block for at, slide in numbered for block in _slide(context, slide, at)]
    else:
        body = [*OdfReader(context).blocks(story)]
        margin = OdfReader(context, on_each_page=True)
        for root in roots:
            for part in root.iter(qn("style:header"), qn("style:footer")):
                for line in part.iter(qn("text:p")):
                    context.add_margin("\n".join(lines_of(margin.blocks([line]))))
        return context.document(body, title)
    return finish_blocks(blocks, omissions, title, page_count=len(slides) or None)


class _Sheet:
    """Reads one sheet: its tables with each cell as it is displayed, what floats over it, its comments."""

    def __init__(self, context: OdfContext) -> None:
        self._context = context
        self._reader = OdfReader(context)
        self._budget = CellBudget(context.limits)
        self._rows = dict[int, list[str]]()
        self._merges = list[tuple[int, int, int, int]]()
        self._floating = list[Block]()
        self._notes = list[str]()
        self._struck = dict[str | None, bool]()

    def blocks(self, sheet: Element) -> Iterator[Block]:
        number = 0
        for row, _ in rows_of(sheet):
            number = self._add_row(row, number)
        for shapes in sheet.iterchildren(qn("table:shapes")):
            for shape in shapes.iterchildren(*DRAWN):
                self._floating += self._reader.drawn(shape)
        if self._rows or self._floating or self._notes:
            yield HeadingBlock(sheet.get(qn("table:name"), ""), 1)
        merged = fill_merges(self._rows, self._merges, self._budget)
        yield from sheet_blocks(self._rows, merged)
        yield from self._floating
        if self._notes:
            yield Paragraph("\n".join(self._notes))

    def _add_row(self, element: Element, above: int) -> int:
        """Read a row, as often as it is repeated; returns its last number."""
        cells = list[str]()
        spans = list[tuple[int, int, int]]()
        for cell in element.iterchildren(*CELLS):
            text = self._shown(cell)
            name = f"{get_column_letter(min(len(cells) + 1, MAX_COLUMNS))}{above + 1}"
            for comment in cell.iterchildren(qn("office:annotation")):
                self._notes.append(": ".join(filter(None, (name, *read_comment(comment)))))
            width, height = spans_of(cell)
            if text and width * height > 1:
                spans.append((len(cells) + 1, len(cells) + width, height))
            repeated = count_of(cell, "table:number-columns-repeated")
            if not text and repeated > self._context.limits.table_cells:
                break  # the rest of the row is blank
            self._budget.spend(repeated if text else 0)
            cells += [text] * repeated
        while cells and not cells[-1]:
            cells.pop()
        last = above + count_of(element, "table:number-rows-repeated")
        for number in range(above + 1, last + 1 if cells else above + 1):
            self._budget.spend(len(cells))
            self._rows[number] = list(cells)
            self._merges += (
                (left, number, right, number + height - 1) for left, right, height in spans
            )
        return last

    def _shown(self, cell: Element) -> str:
        """Return the displayed text of a cell, or its stored value where the file has no text for it."""
        for shape in cell.iterchildren(*DRAWN):
            self._floating += self._reader.drawn(shape)
        texts = cell.iterchildren(qn("text:p"), qn("text:list"))
        text = "\n".join(line for one in texts for line in lines_of(self._reader.blocks([one])))
        style = cell.get(qn("table:style-name"))
        if text and style not in self._struck:
            look = self._context.styles.lay_over(OdfStyle(), "table-cell", style)
            self._struck[style] = look.struck
        if text and self._struck[style]:
            self._context.omissions.add_text("struck through", text)
            return ""
        if text or cell.tag != qn("table:table-cell"):
            return text
        return next(filter(None, (cell.get(qn(name)) for name in _KEPT_VALUES)), "")


def _slide(context: OdfContext, slide: Element, page: int) -> Iterator[Block]:
    """Yield a slide's heading, what stands on it in reading order, and its notes."""
    reader = OdfReader(context, page)
    title, shapes = "", list[PlacedShape]()
    for shape in slide.iterchildren():
        if shape.tag not in DRAWN or shape.get(qn("presentation:class")) in _FURNITURE:
            continue
        with context.omissions.survive("shape", page):
            placed = _locate(shape, reader)
            if shape.get(qn("presentation:class")) == "title" and not title:
                title = " ".join(" ".join(lines_of(placed.blocks)).split())
            elif placed.blocks:
                shapes.append(placed)
    notes = [
        block
        for notes in slide.iterchildren(qn("presentation:notes"))
        for shape in notes.iterchildren(qn("draw:frame"))
        if shape.get(qn("presentation:class")) == "notes"
        for block in reader.drawn(shape)
    ]
    comments = slide.iterchildren(qn("office:annotation"))
    notes += (write_comment(*read_comment(comment), page) for comment in comments)
    if title or shapes or notes:
        yield HeadingBlock(title or f"#{page}", 1, page=page)
    yield from order_shapes(shapes, are_headed=not notes)
    yield from notes


def _locate(shape: Element, reader: OdfReader) -> PlacedShape:
    """Return the blocks and the box of a shape; the box of a group surrounds its shapes."""
    if shape.tag in {qn("draw:g"), qn("draw:a")}:
        inner = [_locate(child, reader) for child in shape.iterchildren() if child.tag in DRAWN]
        if boxes := [one.box for one in inner]:
            box = Box(
                min(box.left for box in boxes),
                min(box.top for box in boxes),
                max(box.right for box in boxes),
                max(box.bottom for box in boxes),
            )
            return PlacedShape(box, order_shapes(one for one in inner if one.blocks))
    sides = list[int]()
    for name in ("svg:x", "svg:y", "svg:width", "svg:height"):
        value, length = shape.get(qn(name), ""), 0
        with suppress(ValueError):
            length = int(float(value[:-2]) * _UNITS.get(value[-2:], 0))
        sides.append(length)
    left, top, width, height = sides
    box = Box(left, top, left + width, top + height)
    return PlacedShape(box, list(reader.drawn(shape)))
