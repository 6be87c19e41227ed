"""PowerPoint: one section a slide, with its texts in reading order, tables, chart data, SmartArt and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph, TextKind
from sextant.ingestion.parsing.formats.drawingml import (
    Box,
    DrawingReader,
    PlacedShape,
    chosen_content,
    order_shapes,
    paragraph_text,
)
from sextant.ingestion.parsing.formats.numbering import format_number
from sextant.ingestion.parsing.formats.opc import Element, Package, PackagePart, qn, read_number
from sextant.ingestion.parsing.formats.stories import write_comment
from sextant.ingestion.parsing.images import with_address
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.structure import Omissions, finish_blocks
from sextant.ingestion.parsing.tables import SpannedCell, table_blocks
from sextant.text.characters import has_cjk

_DEEPEST = 8  # a list has nine levels
_TITLES = {"title", "ctrTitle"}
_FURNITURE = {"ftr", "hdr", "dt", "sldNum"}
_SHAPES = {qn("p:sp"), qn("p:pic"), qn("p:graphicFrame"), qn("p:grpSp"), qn("p:cxnSp")}
# Numbering schemes of PowerPoint (`a:buAutoNum`): the number format of Word, and the signs around the number.
_NUMBERS = {
    "arabic": "decimal",
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "arabicDb": "decimalFullWidth",
    "circleNumDb": "decimalEnclosedCircle",
    "circleNumWdWhite": "decimalEnclosedCircle",
    "circleNumWdBlack": "decimalEnclosedCircle",
    "ea1Chs": "chineseCounting",
    "ea1Cht": "chineseCounting",
    "ea1JpnChsDb": "chineseCounting",
    "ea1JpnKor": "chineseCounting",
}
_AROUND = {"ParenBoth": "({})", "ParenR": "{})", "Period": "{}.", "Minus": "-{}-", "Plain": "{}"}


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a PPTX; `page` is the slide's number. Hidden slides count, as their notes often matter.

    Raises:
        FileBroken: what is in the container is no such document.
        FileUnsafe: its tables have more cells than the limit.
    """
    package = Package(content)
    main = package.main()
    omissions = Omissions()
    title = package.title()
    slides = [main.target(one.get(qn("r:id"))) for one in main.root.iter(qn("p:sldId"))]
    if not any(slides):  # the file no longer lists them: those that are there, by number
        package.damaged[main.name] = None
        slides = [*package.parts_in("ppt/slides")]
    blocks, furniture = list[Block](), dict[str, None]()
    for pages, part in enumerate(slides, 1):
        if part is None or part.root is None:
            omissions.add_part("slide", pages)
            continue
        slide = _Slide(part, pages, limits, omissions)
        shown = list[str]()
        with omissions.survive("layout", pages):
            shown = [text for text in slide.furniture() if text and text not in furniture]
            repeated = " ".join(
                text for text, is_computed in slide.footers() if is_computed or text in furniture
            )
            omissions.add_furniture("in heads and feet that are repeated", repeated)
        furniture.update(dict.fromkeys(shown))
        with omissions.survive("damaged slide", pages):
            blocks.extend(slide.blocks(shown))
    omissions.add_damaged(package.damaged)
    return finish_blocks(blocks, omissions, title, page_count=len(slides))


class _Slide:
    def __init__(self, part: PackagePart, page: int, limits: Limits, omissions: Omissions) -> None:
        self._part = part
        self._page = page
        self._limits = limits
        self._omissions = omissions
        self._drawings = DrawingReader(part, omissions, page)

    def blocks(self, furniture: Sequence[str]) -> Iterator[Block]:
        """Yield the slide's heading, what stands on it, `furniture`, its notes and comments."""
        elements = list(_shapes(self._tree))
        titles = (element for element in elements if self._title(element))
        titled = next(titles, None)
        title = self._title(titled) if titled is not None else ""
        shapes = list(self._read(one for one in elements if one is not titled))
        margin = (Paragraph(text, self._page, kind=TextKind.MARGIN) for text in furniture)
        below = [*margin, *self._notes()]
        read = order_shapes(shapes, are_headed=not below)
        body = [*read, *below, *self._comments()]
        if title or body:
            yield HeadingBlock(title or f"#{self._page}", 1, page=self._page)
            yield from body

    def furniture(self) -> Iterator[str]:
        """Yield the repeated text of a slide: footers, and the own text of its layout and master."""
        yield from (text for text, is_computed in self.footers() if not is_computed)
        for part in self._inherited:
            for shape in _shapes(part.root.find(f"{qn('p:cSld')}/{qn('p:spTree')}")):
                for body in shape.iter(qn("p:txBody")):
                    if body.getparent().find(f".//{qn('p:ph')}") is None:
                        yield from filter(None, [self._lines(body, part)])

    def footers(self) -> Iterator[tuple[str, bool]]:
        """Yield the slide's own head, foot, date and number, and whether a program computes it."""
        for element in _shapes(self._tree):
            if _kind(element) in _FURNITURE:
                text = self._lines(element.find(qn("p:txBody")), self._part)
                is_computed = element.find(f".//{qn('a:fld')}") is not None
                yield text, is_computed or _kind(element) == "sldNum"

    @property
    def _tree(self) -> Element | None:
        return self._part.root.find(f"{qn('p:cSld')}/{qn('p:spTree')}")

    @cached_property
    def _inherited(self) -> list[PackagePart]:
        """Return the slide's layout and its master, as far as they can be read."""
        found = list[PackagePart]()
        part: PackagePart | None = self._part
        for kind in ("slideLayout", "slideMaster"):
            part = next(part.related(kind), None) if part is not None else None
            if part is not None and part.root is not None:
                found.append(part)
        return found

    def _title(self, element: Element) -> str:
        if _kind(element) not in _TITLES:
            return ""
        return " ".join(self._lines(element.find(qn("p:txBody")), self._part).split())

    def _read(self, elements: Iterable[Element]) -> Iterator[PlacedShape]:
        for element in elements:
            if _kind(element) in _FURNITURE:
                continue
            if element.tag == qn("p:grpSp"):
                inner = order_shapes(self._read(_shapes(element)))
            else:
                inner = list(self._shape(element))
            if inner:
                yield PlacedShape(self._box(element), inner)

    def _shape(self, element: Element) -> Iterator[Block]:
        body = element.find(qn("p:txBody"))
        if body is not None and (text := self._lines(body, self._part)):
            link = element.find(f"*/{qn('p:cNvPr')}/{qn('a:hlinkClick')}")
            address = self._part.address(link.get(qn("r:id"))) if link is not None else ""
            yield Paragraph(with_address(text, address), self._page)
        for table in element.iter(qn("a:tbl")):
            marks, budget = table.find(qn("a:tblPr")), CellBudget(self._limits)
            is_headed = marks is not None and marks.get("firstRow") in {"1", "true"}
            cells = list(self._cells(table))
            yield from table_blocks(cells, budget, page=self._page, is_headed=is_headed)
        if element.tag == qn("p:pic") and element.find(f".//{qn('a:blip')}") is None:
            self._omissions.add_part("picture", self._page)
        if element.tag in {qn("p:pic"), qn("p:graphicFrame")}:
            drawn = list[Block]()
            with self._omissions.survive("drawing", self._page):
                drawn += self._drawings.blocks(element)
            yield from drawn

    def _lines(self, body: Element | None, part: PackagePart) -> str:
        """Return the paragraphs of a text body, one a line, with the numbers of its lists."""
        lines, counts = list[str](), dict[int, int]()
        for paragraph in body.iterchildren(qn("a:p")) if body is not None else ():
            text = paragraph_text(paragraph, part, self._omissions)
            properties = paragraph.find(qn("a:pPr"))
            level = properties.get("lvl") if properties is not None else None
            depth = min(read_number(level, 0), _DEEPEST)
            if text:
                label = _label(properties, depth, counts) or ("- " if depth else "")
                lines.append(f"{'  ' * depth}{label}{text}")
        return "\n".join(lines)

    def _cells(self, table: Element) -> Iterator[SpannedCell]:
        for row, line in enumerate(table.iterchildren(qn("a:tr"))):
            for column, cell in enumerate(line.iterchildren(qn("a:tc"))):
                if cell.get("hMerge") in {"1", "true"} or cell.get("vMerge") in {"1", "true"}:
                    continue
                text = self._lines(cell.find(qn("a:txBody")), self._part)
                spans = (int(cell.get("rowSpan", "1")), int(cell.get("gridSpan", "1")))
                yield SpannedCell(row, column, text, *spans)

    def _notes(self) -> Iterator[Block]:
        for part in self._part.related("notesSlide"):
            if part.root is None:
                self._omissions.add_part("notes page", self._page)
                continue
            for shape in _shapes(part.root.find(f"{qn('p:cSld')}/{qn('p:spTree')}")):
                text = self._lines(shape.find(qn("p:txBody")), part)
                if _kind(shape) in _FURNITURE:
                    self._omissions.add_furniture("in heads and feet that are repeated", text)
                elif _kind(shape) == "body" and text:
                    label = "备注：" if has_cjk(text) else "Notes: "
                    yield Paragraph(f"{label}{text}", self._page, kind=TextKind.NOTE)

    def _comments(self) -> Iterator[Block]:
        """Yield what reviewers say of the slide."""
        for part in self._part.related("comments"):
            if part.root is None:
                self._omissions.add_part("comment thread", self._page)
                continue
            people = self._part.package.main().related("commentAuthors", "authors")
            listed = (one for each in people if each.root is not None for one in each.root)
            authors = {one.get("id", ""): one.get("name", "") for one in listed}
            for comment in part.root.iter("{*}cm", "{*}reply"):
                body = comment.find("{*}txBody")
                texts = (body if body is not None else comment).iter(qn("p:text"), qn("a:t"))
                text = " ".join("".join(one.text or "" for one in texts).split())
                author = authors.get(comment.get("authorId", ""), "")
                if text:
                    yield write_comment(author, text, self._page)

    def _box(self, element: Element) -> Box:
        """Return the box of a shape in the coordinates of its parent; a placeholder may inherit it from its layout."""
        shape_box = _shape_box(element)
        placeholder = element.find(f"*/{qn('p:nvPr')}/{qn('p:ph')}")
        if shape_box is not None or placeholder is None:
            return shape_box or Box(0, 0, 0, 0)
        for part in self._inherited:
            for candidate in part.root.iter(qn("p:ph")):
                if _is_same_placeholder(placeholder, candidate):
                    box = _shape_box(candidate.getparent().getparent().getparent())
                    if box is not None:
                        return box
        return Box(0, 0, 0, 0)


def _shapes(tree: Element | None) -> Iterator[Element]:
    for element in tree.iterchildren() if tree is not None else ():
        if element.tag == qn("mc:AlternateContent"):
            yield from (one for one in chosen_content(element) if one.tag in _SHAPES)
        elif element.tag in _SHAPES:
            yield element


def _kind(element: Element) -> str | None:
    """Return the kind of a placeholder, None of any other shape."""
    placeholder = element.find(f"*/{qn('p:nvPr')}/{qn('p:ph')}")
    return None if placeholder is None else placeholder.get("type", "obj")


def _is_same_placeholder(one: Element, other: Element) -> bool:
    """Return whether two placeholders are the same: by their index on a layout, by their kind on a master."""
    index, kind = one.get("idx"), one.get("type", "obj")
    if index is not None and other.get("idx") is not None:
        return bool(index == other.get("idx"))
    kinds = {"ctrTitle": "title", "subTitle": "body", "obj": "body"}
    other_kind = other.get("type", "obj")
    return bool(kinds.get(kind, kind) == kinds.get(other_kind, other_kind))


def _shape_box(element: Element) -> Box | None:
    frame = element.find(f"*/{qn('a:xfrm')}")
    frame = frame if frame is not None else element.find(qn("p:xfrm"))
    if frame is None:
        return None
    offset, size = frame.find(qn("a:off")), frame.find(qn("a:ext"))
    if offset is None or size is None:
        return None
    numbers = [offset.get("x"), offset.get("y"), size.get("cx"), size.get("cy")]
    try:
        left, top, width, height = (int(number) for number in numbers)
    except (TypeError, ValueError):
        return None
    return Box(left, top, left + width, top + height)


def _label(properties: Element | None, depth: int, counts: dict[int, int]) -> str:
    """Return the number that PowerPoint computes in front of a paragraph ("5. "), counted along in `counts`."""
    for deeper in [other for other in counts if other > depth]:
        del counts[deeper]
    listed = properties.find(qn("a:buAutoNum")) if properties is not None else None
    if listed is None:
        counts.pop(depth, None)
        return ""
    counts[depth] = counts.get(depth, read_number(listed.get("startAt"), 1) - 1) + 1
    scheme = listed.get("type", "arabicPeriod")
    end = next((end for end in _AROUND if scheme.endswith(end)), "Plain")
    number = format_number(counts[depth], _NUMBERS.get(scheme.removesuffix(end), "decimal"))
    return f"{_AROUND[end].format(number)} "
