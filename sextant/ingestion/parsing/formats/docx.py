"""Word documents: headings by style or outline level, lists with their numbers, tables, notes, heads and feet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from sextant.domain.errors import FileRejected
from sextant.ingestion.parsing.blocks import Block, Blocks, Paragraph, TextKind, alts_of, lines_of
from sextant.ingestion.parsing.detect import FileType, detect
from sextant.ingestion.parsing.formats import parser_for
from sextant.ingestion.parsing.formats.docx_styles import Numbering, Styles, is_on, value_of
from sextant.ingestion.parsing.formats.docx_text import (
    DELETED,
    DocxParagraph,
    NoteTexts,
    TextReader,
    plain_text,
)
from sextant.ingestion.parsing.formats.drawingml import DrawingReader, chosen_content
from sextant.ingestion.parsing.formats.opc import Element, Package, PackagePart, qn, read_number
from sextant.ingestion.parsing.formats.stories import (
    StoryWriter,
    without_page_numbers,
    write_comment,
)
from sextant.ingestion.parsing.formulas import read_omml
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.raised import note
from sextant.ingestion.parsing.tables import SpannedCell, table_blocks

_DELETED = {qn("w:del"), qn("w:moveFrom")}
# What a reader sees in a cell.
_SHOWN = tuple(
    map(qn, ("w:t", "w:drawing", "w:pict", "w:object", "w:sym", "w:ffData", "m:t", "w:altChunk"))
)
_PROPERTIES = {
    qn(name)
    for name in ("w:sectPr", "w:sdtPr", "w:sdtEndPr", "w:tblPr", "w:tblGrid", "w:trPr", "w:tcPr")
}
_INNER_FORMATS = {FileType.HTML, FileType.MHTML, FileType.RTF, FileType.TXT, FileType.XML}
_DEEPEST = 50  # tables inside each other; what lies deeper is read as its paragraphs
_REFERENCES = (qn("w:headerReference"), qn("w:footerReference"))


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a DOCX as its reader sees it with all changes accepted.

    What is struck through, hidden or deleted under review is left out, and counted in a warning; so is each part
    that cannot be read.

    Raises:
        FileBroken: what is in the container is no such document.
        FileUnsafe: its tables have more cells than the limit.
    """
    package = Package(content)
    main = package.main()
    context = _Context(main, limits)
    title = package.title()
    body = list(_StoryReader(context, main).blocks(main.root))
    for reference in main.root.iter(*_REFERENCES):
        part = main.target(reference.get(qn("r:id")))
        if part is None or part.root is None:
            context.omissions.add_part("page header or footer")
            continue
        reader = _StoryReader(context, part, on_each_page=True)
        with context.omissions.survive("page header or footer"):
            context.add_margin("\n".join(lines_of(reader.blocks(part.root))))
    context.omissions.add_damaged(package.damaged)
    return context.document(body, title)


class _Context(StoryWriter):
    """State that all stories of a document share: body, notes, page headers and footers."""

    def __init__(self, main: PackagePart, limits: Limits) -> None:
        super().__init__(limits)
        self.styles, self.numbering = Styles(None), Numbering(None)
        with self.omissions.survive("styles part"):
            self.styles = Styles(self._root(main, "styles"))
        with self.omissions.survive("numbering part"):
            self.numbering = Numbering(self._root(main, "numbering"))
        kinds = ("footnote", "endnote", "comment")
        self.notes = NoteTexts({kind: self._root(main, f"{kind}s") for kind in kinds})
        self.note_parts = {qn(f"w:{kind}"): next(main.related(f"{kind}s"), main) for kind in kinds}

    def _root(self, main: PackagePart, kind: str) -> Element | None:
        part = next(main.related(kind), None)
        if part is not None and part.root is None:
            self.omissions.add_part(f"{kind} part")
        return part.root if part is not None else None


class _StoryReader:
    """Reads one story: the body, a head or foot, or a note."""

    def __init__(self, context: _Context, part: PackagePart, *, on_each_page: bool = False) -> None:
        self._context = context
        self._part = part
        self._text = TextReader(part, context, context.styles, context.notes, on_each_page)
        self._drawings = DrawingReader(part, context.omissions)
        self._unfinished: DocxParagraph | None = (
            None  # whose end is deleted, so that it goes on in the next
        )
        self._anchored: list[Block] | None = (
            None  # what will stand below the table that is being read
        )

    def blocks(self, elements: Iterable[Element]) -> Iterator[Block]:
        """Yield what stands in elements, through whatever wraps it (content controls, custom XML, insertions)."""
        for element in elements:
            tag = element.tag
            if tag == qn("w:p"):
                yield from self._paragraph(element)
            elif tag == qn("w:tbl"):
                yield from self._table(element)
            elif tag in {qn("m:oMathPara"), qn("m:oMath")}:
                yield Paragraph(read_omml(element))
            elif tag == qn("w:altChunk"):
                yield from self._other_document(element)
            elif tag == qn("mc:AlternateContent"):
                yield from self.blocks(chosen_content(element))
            elif tag in _DELETED:
                self._context.omissions.add_text(DELETED, plain_text(element))
            elif tag not in _PROPERTIES:
                yield from self.blocks(element)

    def _paragraph(self, element: Element) -> Iterator[Block]:
        style = self._context.styles.of_paragraph(element)
        line = self._unfinished or DocxParagraph()
        self._text.read(element, style, line)
        mark = element.find(f"{qn('w:pPr')}/{qn('w:rPr')}")
        is_unfinished = mark is not None and any(child.tag in _DELETED for child in mark)
        self._unfinished = line if is_unfinished else None
        if is_unfinished:
            return
        text = without_page_numbers(str(line.text))
        if style.is_contents:
            self._context.omissions.add_furniture("in a table of contents", text)
        elif text.strip():
            depth = style.list_depth
            label = self._context.numbering.label(style.list_id, depth)
            level = 0 if style.is_title else style.level or None
            yield self._context.paragraph(
                text, line.looks, label=label, depth=depth, level=level, size=style.size
            )
        yield from self._hanging(line)

    def _hanging(self, line: DocxParagraph) -> Iterator[Block]:
        """Yield what is anchored in a paragraph: text boxes, then pictures, charts and notes; those of a table follow the table."""
        for box in line.boxes:
            yield from self.blocks(box)
        blocks = list[Block]()
        for one in line.objects:
            with self._context.omissions.survive("drawing"):
                blocks += self._drawings.blocks(one)
        for mark, element in line.notes:
            reader = _StoryReader(self._context, self._context.note_parts[element.tag])
            text = "\n".join(lines_of(reader.blocks(element)))
            if element.tag == qn("w:comment") and text:
                blocks.append(write_comment(element.get(qn("w:author"), ""), text))
            elif text:
                blocks.append(Paragraph(f"{note(mark)} {text}".strip(), kind=TextKind.NOTE))
        if self._anchored is None:
            yield from blocks
        else:
            self._anchored += blocks

    def _table(self, element: Element) -> Iterator[Block]:
        around = islice(element.iterancestors(qn("w:tbl")), _DEEPEST, None)
        if next(around, None) is not None:
            for paragraph in element.iter(qn("w:p")):
                yield from self._paragraph(paragraph)
            return
        lines = [line for line in _inside(element, qn("w:tr")) if not self._is_deleted(line)]
        inner = [cell for line in lines for cell in _inside(line, qn("w:tc"))]
        filled = sum(next(cell.iter(*_SHOWN), None) is not None for cell in inner)
        if 1 in {len(inner), filled}:  # a box around text
            yield from self.blocks(inner)
            return
        outer, self._anchored = self._anchored, []
        cells = self._cells(lines)
        blocks, self._anchored = self._anchored, outer
        marked = sum(is_on(line.find(qn("w:trPr")), "w:tblHeader") for line in lines)
        yield from table_blocks(cells, CellBudget(self._context.limits), marked)
        if outer is None:
            yield from blocks
        else:
            outer += blocks

    def _is_deleted(self, row: Element) -> bool:
        properties = row.find(qn("w:trPr"))
        is_deleted = properties is not None and properties.find(qn("w:del")) is not None
        if is_deleted:
            self._context.omissions.add_text(DELETED, plain_text(row))
        return is_deleted

    def _cells(self, lines: Sequence[Element]) -> list[SpannedCell]:
        """Return cells with their spans: `w:gridSpan` across, `w:vMerge` downwards."""
        cells = list[SpannedCell]()
        # By column, the index in `cells` of the one that goes on downwards.
        open_merges = dict[int, int]()
        for row, line in enumerate(lines):
            column = read_number(value_of(line.find(qn("w:trPr")), "w:gridBefore"), 0)
            for cell in _inside(line, qn("w:tc")):
                properties = cell.find(qn("w:tcPr"))
                columns = max(read_number(value_of(properties, "w:gridSpan"), 1), 1)
                merge = properties.find(qn("w:vMerge")) if properties is not None else None
                goes_on = merge is not None and merge.get(qn("w:val")) != "restart"
                if goes_on and column in open_merges:
                    above = cells[open_merges[column]]
                    cells[open_merges[column]] = replace(above, rows=row + 1 - above.row)
                else:
                    open_merges.pop(column, None)
                    if merge is not None:
                        open_merges[column] = len(cells)
                    begun = len(self._anchored or ())
                    text = "\n".join(lines_of(self.blocks(cell)))
                    text = text or alts_of((self._anchored or ())[begun:])
                    cells.append(SpannedCell(row, column, text, 1, columns))
                column += columns
        return cells

    def _other_document(self, element: Element) -> Iterator[Block]:
        """Yield a document of another format inside this one (`w:altChunk`); one in a zip container is counted as not read."""
        part = self._part.target(element.get(qn("r:id")))
        content, found = part.content if part is not None else None, None
        if part is not None and content:
            with suppress(FileRejected):
                found = detect(content, part.name)
        if found not in _INNER_FORMATS:
            self._context.omissions.add_part("embedded document")
            return
        with self._context.omissions.survive("embedded document"):
            read = parser_for(found)(content or b"", self._context.limits)
            self._context.omissions.include(read.omissions)
            yield from read.blocks


def _inside(element: Element, tag: str) -> Iterator[Element]:
    """Yield the rows of a table or cells of a row, through what wraps them, but none of a table inside a cell."""
    for child in element.iterchildren():
        if child.tag == tag:
            yield child
        elif child.tag not in _DELETED and child.tag not in _PROPERTIES:
            yield from _inside(child, tag)
