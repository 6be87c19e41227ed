"""What Word and PowerPoint share: text of shapes, pictures, charts and SmartArt (DrawingML, ECMA-376 part 1, 20 and 21)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sextant.ingestion.parsing.blocks import Block, Caption, Image, Paragraph
from sextant.ingestion.parsing.formats.charts import read_chart
from sextant.ingestion.parsing.formats.opc import Element, PackagePart, qn
from sextant.ingestion.parsing.formulas import read_omml
from sextant.ingestion.parsing.links import LinkedText
from sextant.ingestion.parsing.omissions import Omissions
from sextant.ingestion.parsing.raised import mark_lowered, mark_raised

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
    """Yield an element and what is inside it in document order, of alternatives only one; not what is inside `stops`."""
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
            text.add(read_omml(element), apart=True)
    return str(text).replace("\v", "\n").strip()


def _run(run: Element, part: PackagePart, omissions: Omissions) -> tuple[str, str]:
    text = run.findtext(qn("a:t")) or ""
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
                case named if named in {qn("wp:docPr"), qn("p:cNvPr")}:
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
        blocks = (
            read_chart(part.root, self._page) if part is not None and part.root is not None else []
        )
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
            order = edge.get("srcOrd", "0")
            rank = int(order) if order.isdigit() else 0
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
