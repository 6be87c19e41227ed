"""What Word and PowerPoint share: text of shapes, pictures, charts and SmartArt (DrawingML, ECMA-376 part 1, 20 and 21).

Also here: the order in which a reader takes in what stands side by side and one below the other
on a slide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from openpyxl.utils.escape import unescape

from sextant.domain.documents import HeadingSource
from sextant.ingestion.parsing.blocks import Block, Caption, HeadingBlock, Image, Paragraph
from sextant.ingestion.parsing.formats.charts import read_chart
from sextant.ingestion.parsing.formats.opc import Element, PackagePart, qn, read_number
from sextant.ingestion.parsing.formulas import read_omml
from sextant.ingestion.parsing.images import LinkedText
from sextant.ingestion.parsing.lines import could_be_heading
from sextant.ingestion.parsing.raised import mark_lowered, mark_raised
from sextant.ingestion.parsing.structure import Omissions

# Boxes are drawn larger than their text, and by hand: an overlap of this share of their length does not count.
_OVERLAP = 0.2
# Columns of a comparison have similar widths, at most by this factor; text beside a label is wider.
_ALIKE = 1.6
# Text below a heading belongs to it if the gap is less than this share of its height.
_CLOSE = 0.8


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; `top` grows downwards."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class PlacedShape:
    """What a shape holds, and where it stands on the slide."""

    box: Box
    blocks: list[Block]


def order_shapes(shapes: Iterable[PlacedShape], *, are_headed: bool = False) -> list[Block]:
    """Return the blocks of shapes in reading order.

    Where such columns end the slide and `are_headed`, what heads each is a heading: nothing follows, which would come
    to stand below the last of these headings.
    """
    groups = [
        [[block for one in column for block in one.blocks] for column in group]
        for group in _split_columns(list(shapes))
    ]
    last = groups.pop() if are_headed and groups and len(groups[-1]) > 1 else []
    body = [block for group in groups for column in group for block in column]
    heads = list[Block]()
    for top, *rest in last:
        text = top.text if rest and isinstance(top, Paragraph) else ""
        if "\n" not in text and could_be_heading(text):
            heads.append(HeadingBlock(text, 2, HeadingSource.INFERRED, top.page))
    are_all = len(heads) == len(last)
    for at, column in enumerate(last):
        body += [heads[at], *column[1:]] if are_all else column
    return body


def _in_reading_order(shapes: Sequence[PlacedShape]) -> list[PlacedShape]:
    """Sort shapes in reading order (recursive XY-cut): row by row, but columns of a comparison one after the other."""
    return [shape for group in _split_columns(shapes) for column in group for shape in column]


def _split_columns(shapes: Sequence[PlacedShape]) -> Iterator[list[list[PlacedShape]]]:
    """Yield groups of shapes in reading order, each as its columns; several columns only where they are a comparison."""
    rows = _cut(shapes, _down)
    start = 0
    while start < len(rows):
        end = _comparison_end(rows, start)
        together = [shape for row in rows[start:end] for shape in row]
        columns = _cut(together, _across)
        if len(columns) == 1:
            yield [sorted(together, key=lambda shape: (shape.box.top, shape.box.left))]
        elif end - start > 1:
            yield [*map(_in_reading_order, columns)]
        else:
            yield from ([_in_reading_order(column)] for column in columns)
        start = end


def _comparison_end(rows: Sequence[Sequence[PlacedShape]], start: int) -> int:
    """Return the end of the rows that make up a comparison: columns of similar width, headings with text close below them."""
    width = len(_cut(rows[start], _across))
    end = start + 1
    while width > 1 and end < len(rows):
        columns = _cut([shape for row in rows[start : end + 1] for shape in row], _across)
        gap = min(shape.box.top for shape in rows[end])
        gap -= max(shape.box.bottom for shape in rows[end - 1])
        heights = [shape.box.bottom - shape.box.top for shape in (*rows[end - 1], *rows[end])]
        # None of the columns reaches far into the next.
        lefts = [min(shape.box.left for shape in column) for column in columns]
        rights = [max(shape.box.right for shape in column) for column in columns]
        widths = [right - left for left, right in zip(lefts, rights, strict=True)]
        overlaps = [right - left for right, left in zip(rights, lefts[1:], strict=False)]
        if (
            gap >= _CLOSE * min(heights)
            or len(columns) != width
            or max(widths) > _ALIKE * min(widths)
            or max(overlaps) > _OVERLAP * min(widths)
        ):
            break
        end += 1
    return end


_across, _down = attrgetter("left", "right"), attrgetter("top", "bottom")


def _cut(
    shapes: Sequence[PlacedShape], side: Callable[[Box], tuple[int, int]]
) -> list[list[PlacedShape]]:
    """Split shapes where a straight line passes between them along one direction, with some tolerance."""
    groups, end = list[list[PlacedShape]](), 0.0
    for shape in sorted(shapes, key=lambda shape: side(shape.box)):
        first, last = side(shape.box)
        inset = _OVERLAP * (last - first)
        if groups and first + inset < end:
            groups[-1].append(shape)
            end = max(end, last - inset)
        else:
            groups.append([shape])
            end = last - inset
    return groups


_READABLE = {
    qn(name)
    for name in (
        "w:t", "w:drawing", "w:pict", "w:object", "m:t", "a:t", "a:blip", "c:chart", "dgm:relIds", "p:oleObj",
    )
}  # fmt: skip
_MEDIA = {qn("a:videoFile"): "video", qn("a:audioFile"): "sound", qn("a:wavAudioFile"): "sound"}
_FORMULAS = (qn("m:oMathPara"), qn("m:oMath"))
_NOT_STRUCK = {None, "noStrike"}


def chosen_content(alternatives: Element) -> Iterator[Element]:
    """Yield what stands in the first alternative of `mc:AlternateContent` that holds anything to read."""
    for choice in alternatives.iterchildren():
        if any(child.tag in _READABLE for child in choice.iter()):
            yield from choice.iterchildren()
            return


def descend(element: Element, *stops: str) -> Iterator[Element]:
    """Yield an element and its descendants in document order, of alternatives only one; elements in `stops` are not entered."""
    if element.tag == qn("mc:AlternateContent"):
        for chosen in chosen_content(element):
            yield from descend(chosen, *stops)
        return
    yield element
    if element.tag not in stops:
        for child in element.iterchildren():
            yield from descend(child, *stops)


def paragraph_text(paragraph: Element, part: PackagePart, omissions: Omissions) -> str:
    """Return the text of an `a:p`: with raised and lowered figures, formulas and addresses, without what is struck."""
    text = LinkedText()
    for element in descend(paragraph, qn("a:r"), qn("a:fld"), *_FORMULAS):
        if element.tag in {qn("a:r"), qn("a:fld")}:
            text.add(*_run(element, part, omissions))
        elif element.tag == qn("a:br"):
            text.add("\n")
        elif element.tag in _FORMULAS:
            text.add(read_omml(element), spaced=True)
    return str(text).replace("\v", "\n").strip()


def _run(run: Element, part: PackagePart, omissions: Omissions) -> tuple[str, str]:
    text = unescape(run.findtext(qn("a:t")) or "")
    look = run.find(qn("a:rPr"))
    if look is None:
        return text, ""
    if look.get("strike") not in _NOT_STRUCK:
        omissions.add_text("struck through", text)
        return "", ""
    height = look.get("baseline", "0")  # in thousandths of a percent, or in percent
    if height.strip("-0% "):
        text = mark_lowered(text) if height.startswith("-") else mark_raised(text)
    link = look.find(qn("a:hlinkClick"))
    return text, part.address(link.get(qn("r:id"))) if link is not None else ""


class DrawingReader:
    """Reads pictures, charts and SmartArt, and counts what it cannot read."""

    def __init__(self, part: PackagePart, omissions: Omissions, page: int | None = None) -> None:
        self._part = part
        self._omissions = omissions
        self._page = page

    def blocks(self, drawing: Element) -> Iterator[Block]:
        """Yield what a drawing shows besides the text of its boxes."""
        alt = ""
        for element in descend(drawing, qn("w:txbxContent"), qn("p:txBody")):
            match element.tag:
                case named if named in {qn("wp:docPr"), qn("p:cNvPr"), qn("xdr:cNvPr")}:
                    alt = " ".join((element.get("descr") or "").split())
                case blip if blip == qn("a:blip"):
                    yield from self._picture(element.get(qn("r:embed")), alt)
                case old if old == qn("v:imagedata"):
                    yield from self._picture(element.get(qn("r:id")), element.get("title") or "")
                case chart if chart == qn("c:chart"):
                    yield from self._chart(element.get(qn("r:id")))
                case diagram if diagram == qn("dgm:relIds"):
                    yield from self._diagram(element.get(qn("r:dm")))
                case chart if chart == qn("cx:chart"):
                    self._omissions.add_part("chart", self._page)
                case ole if ole in {qn("o:OLEObject"), qn("p:oleObj")}:
                    kind = element.get("ProgID") or element.get("progId") or ""
                    self._omissions.add_part(
                        f"embedded {kind} object".replace("  ", " "), self._page
                    )
                case media if media in _MEDIA:
                    self._omissions.add_part(_MEDIA[media], self._page)
                case _:
                    pass

    def _picture(self, relationship_id: str | None, alt: str) -> Iterator[Block]:
        part = self._part.target(relationship_id)
        if part is None or not part.content:
            self._omissions.add_part("picture", self._page)
            if alt:
                yield Caption(alt, self._page)
        else:
            yield Image(part.content, alt, self._page)

    def _chart(self, relationship_id: str | None) -> Iterator[Block]:
        part = self._part.target(relationship_id)
        root = None if part is None else part.root
        blocks = read_chart(root, self._page) if root is not None else []
        if not blocks:
            self._omissions.add_part("chart", self._page)
        yield from blocks

    def _diagram(self, relationship_id: str | None) -> Iterator[Block]:
        part = self._part.target(relationship_id)
        if part is None or part.root is None:
            self._omissions.add_part("diagram", self._page)
        elif lines := _diagram_lines(part, self._omissions):
            yield Paragraph("\n".join(lines), self._page)


def _diagram_lines(part: PackagePart, omissions: Omissions) -> list[str]:
    """Return the texts of SmartArt as an outline, in the order of its tree (`dgm:cxn` from parent to child)."""
    points = {point.get("modelId"): point for point in part.root.iter(qn("dgm:pt"))}
    children = defaultdict[str, list[tuple[int, str]]](list)
    for edge in part.root.iter(qn("dgm:cxn")):
        if edge.get("type", "parOf") == "parOf":
            rank = read_number(edge.get("srcOrd"), 0)
            children[edge.get("srcId")].append((rank, edge.get("destId")))
    inner = {child for group in children.values() for _, child in group}
    lines, seen = list[str](), set[str]()
    todo = [(0, point_id) for point_id in reversed(points) if point_id not in inner]
    while todo:
        depth, point_id = todo.pop()
        if point_id in seen or point_id not in points:
            continue
        seen.add(point_id)
        paragraphs = points[point_id].iter(qn("a:p"))
        text = " ".join(filter(None, (paragraph_text(p, part, omissions) for p in paragraphs)))
        if text:
            lines.append(f"{'  ' * (depth - 1)}- {text}" if depth > 1 else text)
        below = sorted(children[point_id], reverse=True)
        todo += [(depth + 1, child) for _, child in below]
    return lines
