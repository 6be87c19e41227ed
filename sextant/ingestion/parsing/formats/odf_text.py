"""Text of OpenDocument files: paragraphs, lists with their numbers, tables, notes, formulas, charts and pictures."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import takewhile

from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from sextant.ingestion.parsing.blocks import Block, Image, Paragraph, alts_of, lines_of
from sextant.ingestion.parsing.formats.odf_styles import (
    OdfNumbering,
    OdfPackage,
    OdfStyle,
    OdfStyles,
)
from sextant.ingestion.parsing.formats.opc import Element, qn, read_number
from sextant.ingestion.parsing.formats.stories import (
    PAGE_MARK,
    StoryLine,
    StoryWriter,
    without_page_numbers,
    write_comment,
)
from sextant.ingestion.parsing.formulas import read_mathml
from sextant.ingestion.parsing.images import LinkedText
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.raised import note
from sextant.ingestion.parsing.tables import SpannedCell, table_blocks

_PAGE_FIELDS = {qn("text:page-number"), qn("text:page-count")}
CELLS = {qn("table:table-cell"), qn("table:covered-table-cell")}
DRAWN = {
    qn(f"draw:{name}")
    for name in (
        "frame", "g", "a", "custom-shape", "rect", "ellipse", "circle", "line", "polyline", "polygon", "path", "connector",
        "caption", "measure", "regular-polygon", "page-thumbnail", "text-box",
    )
}  # fmt: skip
_WHITE = {qn("text:tab"): "\t", qn("text:line-break"): "\n", qn("text:s"): " "}
_LONGEST_BLANK = 200
_CONTENTS = {
    qn(f"text:{name}")
    for name in ("table-of-content", "illustration-index", "table-index", "object-index")
}
_SKIPPED = _CONTENTS | {
    qn(name)
    for name in (
        "text:sequence-decls", "text:variable-decls", "text:user-field-decls", "text:bookmark-start", "text:soft-page-break",
        "office:forms", "office:scripts", "office:event-listeners", "table:table-columns",
        "table:table-column", "text:note-citation", "svg:title", "svg:desc", "presentation:notes", "text:hidden-text",
    )
}  # fmt: skip
_OBJECTS = {qn("math:math"), qn("office:document")}
_NO_PICTURES = {qn("table:table"), qn("draw:text-box")}
_GROUPS = {
    qn(name) for name in ("table:table-rows", "table:table-row-group", "table:table-header-rows")
}
_PREFIX = re.compile(r"(</?)[\w-]+:(?=[a-z])")  # of the namespace of MathML
_DEEPEST = 60  # elements inside each other, of one text


class OdfContext(StoryWriter):
    """What all the stories of a document share."""

    def __init__(self, package: OdfPackage, styles: OdfStyles, limits: Limits) -> None:
        super().__init__(limits)
        self.omissions = package.omissions
        self.package = package
        self.styles = styles
        self.numbering = OdfNumbering(styles)
        self._list_keys = dict[str, str]()  # by a list's id or style, what it is counted as

    def key_of_list(self, listed: Element, style: str, outer: str) -> str:
        """Return the key under which a list is counted: of the list that it continues, of the one around it, or its own."""
        key = self._list_keys.get(listed.get(qn("text:continue-list"), ""))
        if not key and listed.get(qn("text:continue-numbering")) == "true":
            key = self._list_keys.get(f"style {style}")
        key = key or outer or f"list {len(self._list_keys)}"
        self._list_keys[listed.get(qn("xml:id"), key)] = key
        self._list_keys[f"style {style}"] = key
        return key


class OdfReader:
    """Reads a story: the body, a cell, a text box, a note."""

    def __init__(
        self, context: OdfContext, page: int | None = None, *, on_each_page: bool = False
    ) -> None:
        """`on_each_page`: it is a head or foot, in which the page's number stands for nothing."""
        self._context = context
        self._page = page
        self._on_each_page = on_each_page

    def blocks(self, elements: Iterable[Element]) -> Iterator[Block]:
        """Yield what stands in elements, through whatever wraps it (sections, changes)."""
        for element in elements:
            tag = element.tag
            if tag in {qn("text:p"), qn("text:h")}:
                yield from self._paragraph(element)
            elif tag in {qn("text:list"), qn("text:ordered-list"), qn("text:unordered-list")}:
                yield from self._list(element, 1, element.get(qn("text:style-name"), ""), "")
            elif tag == qn("table:table"):
                yield from self._table(element)
            elif tag == qn("text:tracked-changes"):
                for deleted in element.iter(qn("text:deletion")):
                    paragraphs = deleted.iter(qn("text:p"), qn("text:h"))
                    texts = (text for one in paragraphs for text in one.itertext())
                    self._context.omissions.add_text("deleted under review", "".join(texts))
            elif tag in DRAWN:
                yield from self.drawn(element)
            elif tag in _CONTENTS:
                text = " ".join(element.itertext())
                self._context.omissions.add_furniture("in a table of contents", text)
            elif isinstance(tag, str) and tag not in _SKIPPED:
                yield from self.blocks(element)

    def _paragraph(self, element: Element, label: str = "", depth: int = 0) -> Iterator[Block]:
        style = self._context.styles.lay_over(
            OdfStyle(), "paragraph", element.get(qn("text:style-name"))
        )
        line = StoryLine()
        self._inline(element, style, line, "", 0)
        text = without_page_numbers(str(line.text))
        level = element.get(qn("text:outline-level")) or (
            element.get(qn("text:level")) if element.tag == qn("text:h") else None
        )
        level = read_number(level, style.level)
        if level and element.tag == qn("text:h") and not label:
            label = self._context.numbering.heading_label(level)
        if text.strip():
            level = 0 if style.is_title and not label else level or None
            yield self._context.paragraph(
                text,
                line.looks,
                label=label,
                depth=depth,
                level=level,
                size=style.size,
                page=self._page,
            )
        yield from line.hanging

    def _list(self, listed: Element, level: int, style: str, key: str) -> Iterator[Block]:
        """Yield a list's items, each with its label; `key`: what the list is counted as that it stands in."""
        key = self._context.key_of_list(listed, style, key)
        for item in listed.iterchildren(qn("text:list-item"), qn("text:list-header")):
            label = ""
            if item.tag == qn("text:list-item"):
                first = read_number(item.get(qn("text:start-value")), None)
                inner = next(item.iterchildren(qn("text:p"), qn("text:h")), None)
                if inner is not None:
                    label = self._context.numbering.item_label(key, style, level, first)
            for child in item.iterchildren():
                if child.tag == qn("text:list"):
                    inner_style = child.get(qn("text:style-name"), style)
                    yield from self._list(child, level + 1, inner_style, key)
                elif child.tag in {qn("text:p"), qn("text:h")}:
                    yield from self._paragraph(child, label, level - 1)
                    label = ""
                else:
                    yield from self.blocks([child])

    def _inline(
        self, element: Element, style: OdfStyle, line: StoryLine, address: str, depth: int
    ) -> None:
        self._add(element.text, style, line, address)
        for child in element.iterchildren():
            if depth < _DEEPEST:
                self._child(child, style, line, address, depth + 1)
            self._add(child.tail, style, line, address)

    def _child(
        self, child: Element, style: OdfStyle, line: StoryLine, address: str, depth: int
    ) -> None:
        tag = child.tag
        if tag == qn("text:span"):
            look = self._context.styles.lay_over(style, "text", child.get(qn("text:style-name")))
            self._inline(child, look, line, address, depth)
        elif tag == qn("text:a"):
            self._inline(child, style, line, child.get(qn("xlink:href")) or address, depth)
        elif tag in _WHITE:
            line.text.add(_WHITE[tag] * min(count_of(child, "text:c"), _LONGEST_BLANK), address)
        elif self._on_each_page and tag in _PAGE_FIELDS:
            line.text.add(PAGE_MARK)
        elif tag == qn("text:note"):
            self._note(child, line)
        elif tag == qn("text:ruby-text"):
            self._add(f"({''.join(child.itertext())})", style, line, address)
        elif tag == qn("office:annotation"):
            line.hanging.append(write_comment(*read_comment(child), self._page))
        elif tag in DRAWN:
            line.hanging += self.drawn(child, line.text)
        elif isinstance(tag, str) and tag not in _SKIPPED:
            self._inline(child, style, line, address, depth)

    def _add(self, text: str | None, style: OdfStyle, line: StoryLine, address: str) -> None:
        if not text:
            return
        text = (
            " ".join(text.split()).join((" " * text[:1].isspace(), " " * text[-1:].isspace()))
            if text.strip()
            else " "
        )
        self._context.add_run(line, text, style, address)

    def _note(self, element: Element, line: StoryLine) -> None:
        citation, body = element.find(qn("text:note-citation")), element.find(qn("text:note-body"))
        mark = "".join(citation.itertext()).strip() if citation is not None else ""
        line.text.add(note(mark) if mark else "")
        if body is not None and (text := "\n".join(lines_of(self.blocks(body)))):
            line.hanging.append(Paragraph(f"{note(mark)} {text}", self._page))

    def drawn(self, element: Element, line: LinkedText | None = None) -> Iterator[Block]:
        """Yield what a drawing holds: text boxes, tables, charts, pictures; a formula goes into the line it stands in."""
        if element.tag in {qn("draw:g"), qn("draw:a")}:
            for child in element.iterchildren():
                if child.tag in DRAWN:
                    yield from self.drawn(child, line)
            return
        words = [(element.findtext(qn(name)) or "").strip() for name in ("svg:title", "svg:desc")]
        alt = " ".join(dict.fromkeys(filter(None, words)))
        # Beside a table or a text stands a picture of it.
        is_other = any(child.tag in _NO_PICTURES for child in element)
        for child in element.iterchildren():
            if child.tag == qn("draw:object"):
                if (read := self._object(child, line)) is not None:
                    yield from read
                    return
            elif child.tag == qn("draw:object-ole"):
                self._context.omissions.add_part("embedded object")
            elif child.tag == qn("draw:image") and not is_other:
                yield from self._picture(child, alt)
                return
        yield from self.blocks(element)

    def _object(self, element: Element, line: LinkedText | None) -> list[Block] | None:
        """Return what an embedded formula or chart holds; None where it cannot be read."""
        context = self._context
        name = element.get(qn("xlink:href"), "").removeprefix("./")
        root = next((child for child in element if child.tag in _OBJECTS), None)
        if root is None and name:
            root = context.package.part(f"{name}/content.xml")
        if root is None:
            context.omissions.add_part("embedded object")
            return None
        if root.tag == qn("math:math"):
            markup = etree.tostring(root, encoding="unicode", with_tail=False)
            math = LexborHTMLParser(_PREFIX.sub(r"\1", markup)).css_first("math")
            text = read_mathml(math) if math is not None else ""
            if line is not None:
                line.add(text, spaced=True)
                return []
            return [Paragraph(text, self._page)]
        inner = OdfReader(
            OdfContext(context.package, OdfStyles([root]), context.limits), self._page
        )
        titles = root.iter(qn("chart:title"), qn("chart:subtitle"))
        blocks = [block for title in titles for block in inner.blocks(title)]
        return blocks + [
            block for table in root.iter(qn("table:table")) for block in inner._table(table)
        ]

    def _picture(self, element: Element, alt: str) -> Iterator[Block]:
        content = self._context.package.read(element.get(qn("xlink:href"), ""))
        if data := element.findtext(qn("office:binary-data")):
            with suppress(ValueError):
                content = b64decode("".join(data.split()))
        yield from self.blocks(element)
        if content is not None:
            yield Image(content, alt, self._page)
        elif alt:
            yield Paragraph(alt, self._page)

    def _table(self, element: Element) -> Iterator[Block]:
        rows = list(rows_of(element))
        hanging = list[Block]()  # pictures in cells, which stand below the table
        cells, budget = list[SpannedCell](), CellBudget(self._context.limits)
        for at, (row, _) in enumerate(rows):
            column = 0
            for cell in row.iterchildren(*CELLS):
                blocks = list(self.blocks(cell))
                hanging += (block for block in blocks if isinstance(block, Image))
                is_blank = cell.get(qn("office:value")) == "NaN"  # as charts have what is missing
                text = "" if is_blank else "\n".join(lines_of(blocks)) or alts_of(blocks)
                width, height = spans_of(cell)
                repeated = count_of(cell, "table:number-columns-repeated")
                is_covered = cell.tag == qn("table:covered-table-cell")
                # One tells that the row is none of spans alone.
                shown = repeated if text else int(not is_covered)
                for left in range(column, column + shown):
                    budget.spend(1)
                    cells.append(SpannedCell(at, left, text, min(height, len(rows) - at), width))
                column += repeated
        if sum(bool(cell.text) for cell in cells) == 1:  # a box around text
            for row, _ in rows:
                yield from self.blocks(row)
            return
        marked = sum(1 for _ in takewhile(lambda row: row[1], rows))
        yield from table_blocks(cells, CellBudget(self._context.limits), marked, self._page)
        yield from hanging


def read_comment(element: Element) -> tuple[str, str]:
    """Return a reviewer and what this one says (`office:annotation`)."""
    words = " ".join(" ".join(line.itertext()) for line in element.iter(qn("text:p")))
    return element.findtext(qn("dc:creator")) or "", " ".join(words.split())


def rows_of(table: Element) -> Iterator[tuple[Element, bool]]:
    """Yield the rows of a table, and whether each names columns; a repeated one of a text is one row."""
    for child in table.iterchildren():
        if child.tag == qn("table:table-row"):
            yield child, False
        elif child.tag in _GROUPS:
            is_header = child.tag == qn("table:table-header-rows")
            yield from ((row, is_header or named) for row, named in rows_of(child))


def spans_of(cell: Element) -> tuple[int, int]:
    """Return how many columns and rows a cell spans."""
    return (
        count_of(cell, "table:number-columns-spanned"),
        count_of(cell, "table:number-rows-spanned"),
    )


def count_of(element: Element, name: str) -> int:
    """Return a count from an attribute, 1 where it is missing."""
    return max(read_number(element.get(qn(name)), 1), 1)
