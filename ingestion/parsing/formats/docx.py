"""Word documents: headings by style or outline level, lists with their numbers, tables, footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import docx
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.exceptions import PackageNotFoundError
from docx.opc.part import Part
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml

from domain.documents import HeadingSource
from domain.errors import FileBroken
from ingestion.parsing.blocks import Block, Blocks, Heading, Image, Paragraph, Table
from ingestion.parsing.formats.docx_numbering import Numbering
from ingestion.parsing.headings import Styled, infer_levels
from ingestion.parsing.limits import CellBudget, Limits
from ingestion.parsing.tables import Cell, header_rows, lay_out, rows_across, title_rows

_HEADING_STYLE = re.compile(r"(?:heading|标题|標題)\s*([1-9])$", re.IGNORECASE)
_TITLE_STYLE = re.compile(r"(?:title|标题|標題)$", re.IGNORECASE)
_CONTENTS_STYLE = re.compile(r"(?:toc|目录|目錄)(?:\s*\d|\s*heading)?$", re.IGNORECASE)
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
Element = Any  # of lxml, which ships no types

_VAL = qn("w:val")
_TEXT, _REFERENCE = qn("w:t"), qn("w:footnoteReference")
_WHITE = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
# Properties hold tab stops; a fallback repeats its choice; deleted and moved-away text is gone.
_SKIPPED = {qn("w:pPr"), qn("w:rPr"), qn("w:del"), qn("w:moveFrom"), f"{_MC}Fallback"}


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a DOCX. Insertions under review count as text, deletions do not.

    Raises:
        FileBroken: what is in the container is no such document.
        FileUnsafe: its tables have more cells than the limit.
    """
    try:
        document = docx.Document(BytesIO(content))
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise FileBroken(
            f"The Word document cannot be read ({error}).", next_step="Save it again and retry."
        ) from error
    reader = _Reader(document, limits)
    blocks = list(reader.blocks(document.element.body))
    if not any(isinstance(block, Heading) and block.level for block in blocks):
        blocks = _with_inferred_headings(blocks, reader.looks)
    return Blocks(blocks, document.core_properties.title or "")


@dataclass(frozen=True, slots=True)
class _Style:
    name: str = ""
    level: int | None = None  # of a heading, from 1
    list_id: str | None = None
    list_depth: int = 0
    size: float = 0.0
    bold: bool = False


class _Reader:
    def __init__(self, document: Document, limits: Limits) -> None:
        self.looks: dict[int, Styled] = {}  # id of a paragraph block → its look
        self._limits = limits
        self._parts = document.part.rels
        self._styles = _Styles(document.styles.element)
        self._numbering = Numbering(_related(document.part, RELATIONSHIP_TYPE.NUMBERING))
        self._footnotes = _footnotes(_related(document.part, RELATIONSHIP_TYPE.FOOTNOTES))

    def blocks(self, body: Element) -> Iterator[Block]:
        for element in body.iterchildren():
            if element.tag == qn("w:p"):
                yield from self._paragraph(element)
            elif element.tag == qn("w:tbl"):
                yield from self._table(element)
            elif element.tag == qn("w:sdt"):
                inner = element.find(qn("w:sdtContent"))
                yield from self.blocks(inner if inner is not None else ())

    def _paragraph(self, element: Element) -> Iterator[Block]:
        style = self._styles.of(element)
        text = _text_of(element).strip()
        if not text or _CONTENTS_STYLE.match(style.name):
            yield from self._images(element)
            return
        label = self._numbering.label(style.list_id, style.list_depth) if style.list_id else ""
        if label:
            indent = "" if style.level else "  " * style.list_depth
            text = f"{indent}{label} {text}"
        if _TITLE_STYLE.match(style.name):
            yield Heading(text, 0)
        elif style.level:
            yield Heading(text, style.level)
        else:
            block = Paragraph(text)
            if label != "-":
                self.looks[id(block)] = Styled(text, *_run_look(element, style))
            yield block
        yield from self._images(element)
        for reference in element.iter(_REFERENCE):
            if note := self._footnotes.get(reference.get(qn("w:id"))):
                yield Paragraph(f"[{reference.get(qn('w:id'))}] {note}")

    def _images(self, element: Element) -> Iterator[Block]:
        """Pictures in a paragraph, with their alternative text."""
        for drawing in element.iter(qn("w:drawing")):
            named = next(drawing.iter(qn("wp:docPr")), None)
            alt = named.get("descr") or "" if named is not None else ""
            for blip in drawing.iter(qn("a:blip")):
                part = self._parts.get(blip.get(qn("r:embed")))
                if part is not None and not part.is_external:
                    yield Image(part.target_part.blob, " ".join(alt.split()))

    def _table(self, element: Element) -> Iterator[Block]:
        lines = element.findall(qn("w:tr"))
        cells = list(_cells(lines))
        if len(cells) == 1:  # a box around text
            yield from self.blocks(next(element.iter(qn("w:tc"))))
            return
        rows = lay_out(cells, CellBudget(self._limits))
        marked = sum(line.find(f"{qn('w:trPr')}/{qn('w:tblHeader')}") is not None for line in lines)
        titles = 0 if marked else title_rows(rows)
        yield from (Paragraph("".join(row)) for row in rows[:titles])
        across = {row - titles for row in rows_across(cells, len(rows[0]))} if rows else set[int]()
        yield Table(rows[titles:], marked or header_rows(rows[titles:], across))


class _Styles:
    """Paragraph styles with what they inherit."""

    def __init__(self, root: Element) -> None:
        self._elements = {
            element.get(qn("w:styleId")): element for element in root.findall(qn("w:style"))
        }
        self._known: dict[str, _Style] = {}
        default = [e for e in self._elements.values() if e.get(qn("w:default")) == "1"]
        self._default = next(
            (e.get(qn("w:styleId")) for e in default if e.get(qn("w:type")) == "paragraph"), ""
        )

    def of(self, paragraph: Element) -> _Style:
        """A paragraph's style with its own outline level and list laid over it."""
        properties = paragraph.find(qn("w:pPr"))
        name = _attribute(properties, "w:pStyle") or self._default
        return _overlaid(self._style(name), properties)

    def _style(self, style_id: str) -> _Style:
        if style_id not in self._known:
            self._known[style_id] = _Style()  # ends a cycle of styles based on each other
            element = self._elements.get(style_id)
            if element is not None:
                self._known[style_id] = self._read(element)
        return self._known[style_id]

    def _read(self, element: Element) -> _Style:
        name = _attribute(element, "w:name") or ""
        parent = self._style(_attribute(element, "w:basedOn") or "")
        look = element.find(qn("w:rPr"))
        named = _HEADING_STYLE.match(name)
        own = _Style(
            name,
            int(named[1]) if named else parent.level,
            parent.list_id,
            parent.list_depth,
            _size(look) or parent.size,
            _is_bold(look, inherited=parent.bold),
        )
        return _overlaid(own, element.find(qn("w:pPr")))


def _overlaid(style: _Style, properties: Element | None) -> _Style:
    if properties is None:
        return style
    outline = _attribute(properties, "w:outlineLvl")
    level = style.level
    if outline is not None and outline.isdigit():
        level = int(outline) + 1 if int(outline) < 9 else None  # 9: body text (ECMA-376 17.3.1.20)
    listed = properties.find(qn("w:numPr"))
    list_id, depth = style.list_id, style.list_depth
    if listed is not None:
        list_id = _attribute(listed, "w:numId") or list_id
        depth = int(_attribute(listed, "w:ilvl") or depth)
    return _Style(style.name, level, list_id, depth, style.size, style.bold)


def _with_inferred_headings(blocks: Sequence[Block], looks: dict[int, Styled]) -> list[Block]:
    """For documents whose author made headings by hand, with bold type and large letters."""
    nothing = Styled("")
    levels = infer_levels([looks.get(id(block), nothing) for block in blocks])
    return [
        Heading(block.text, level, HeadingSource.INFERRED)
        if level is not None and isinstance(block, Paragraph)
        else block
        for block, level in zip(blocks, levels, strict=True)
    ]


def _run_look(paragraph: Element, style: _Style) -> tuple[float, bool]:
    """Size in points and weight that all runs with text share; the style's where they say nothing."""
    runs = [run for run in paragraph.findall(qn("w:r")) if run.find(_TEXT) is not None]
    looks = [run.find(qn("w:rPr")) for run in runs]
    size = min((_size(look) or style.size for look in looks), default=style.size)
    return size, bool(looks) and all(_is_bold(look, inherited=style.bold) for look in looks)


def _size(look: Element | None) -> float:
    value = _attribute(look, "w:sz") or ""
    return int(value) / 2 if value.isdigit() else 0.0  # w:sz counts half points


def _is_bold(look: Element | None, *, inherited: bool) -> bool:
    mark = look.find(qn("w:b")) if look is not None else None
    return inherited if mark is None else mark.get(_VAL, "1") not in {"0", "false", "off"}


def _attribute(parent: Element | None, name: str) -> str | None:
    child = parent.find(qn(name)) if parent is not None else None
    return None if child is None else child.get(_VAL)


def _text_of(element: Element) -> str:
    """The visible text below an element; paragraphs inside it (a text box) begin a new line."""
    parts: list[str] = []
    todo = [element]
    while todo:
        node = todo.pop()
        if node.tag == _TEXT:
            parts.append(node.text or "")
        elif node.tag in _WHITE:
            parts.append(_WHITE[node.tag])
        elif node.tag not in _SKIPPED:
            if node.tag == qn("w:p") and parts:
                parts.append("\n")
            todo.extend(reversed(node))
    return "".join(parts)


def _cells(lines: Sequence[Element]) -> Iterator[Cell]:
    """Cells with their spans: `w:gridSpan` across, `w:vMerge` downwards."""
    open_merges: dict[int, Cell] = {}
    for row, line in enumerate(lines):
        column = 0
        for element in line.iter(qn("w:tc")):
            if (
                element.getparent().getparent() is not line.getparent()
                and element.getparent() is not line
            ):
                continue  # of a nested table, whose text its outer cell already has
            properties = element.find(qn("w:tcPr"))
            columns = int(_attribute(properties, "w:gridSpan") or 1)
            merge = properties.find(qn("w:vMerge")) if properties is not None else None
            if merge is not None and merge.get(_VAL) != "restart" and column in open_merges:
                above = open_merges[column]
                cell = Cell(row, column, above.text, 1, columns)
            else:
                cell = Cell(row, column, _text_of(element).strip(), 1, columns)
            open_merges[column] = cell
            yield cell
            column += columns


def _related(part: Part, relationship: str) -> Element | None:
    """The root element of a part that the document refers to, if it has one."""
    try:
        related = part.part_related_by(relationship)
    except KeyError:
        return None
    return parse_xml(related.blob)


def _footnotes(root: Element | None) -> dict[str, str]:
    notes = root.findall(qn("w:footnote")) if root is not None else []
    return {
        note.get(qn("w:id")): _text_of(note).strip() for note in notes if not note.get(qn("w:type"))
    }
