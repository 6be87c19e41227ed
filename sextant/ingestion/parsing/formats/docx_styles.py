"""Styles of a Word document: what a paragraph or run inherits, and which styles are headings.

Also here: the numbers that Word computes and stores nowhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sextant.ingestion.parsing.formats.numbering import ListLevel, NumberedList
from sextant.ingestion.parsing.formats.opc import Element, qn, read_number
from sextant.ingestion.parsing.formats.stories import Look

_VAL = qn("w:val")
_DEEPEST = 8  # a list has nine levels


class Numbering:
    """The lists of one document, counted along as its paragraphs are read in order."""

    def __init__(self, root: Element | None) -> None:
        """`root` is the `w:numbering` element, None where the document has none."""
        self._lists: dict[str, NumberedList] = {}
        if root is None:
            return
        definitions = root.findall(qn("w:abstractNum"))
        abstract = {
            one.get(qn("w:abstractNumId")): NumberedList(_levels(one)) for one in definitions
        }
        of_style = {
            value_of(one, "w:styleLink") or "": abstract[one.get(qn("w:abstractNumId"))]
            for one in definitions
        }
        for one in definitions:
            if linked := of_style.get(value_of(one, "w:numStyleLink") or "-"):
                abstract[one.get(qn("w:abstractNumId"))] = linked
        for element in root.findall(qn("w:num")):
            reference = element.find(qn("w:abstractNumId"))
            shared = abstract.get(reference.get(_VAL)) if reference is not None else None
            if shared is not None:  # it counts on, or begins anew where the document says so
                levels, begins_anew = dict(shared.levels), False
                for override in element.findall(qn("w:lvlOverride")):
                    levels |= _levels(override)
                    depth = read_number(override.get(qn("w:ilvl")), 0)
                    start = read_number(value_of(override, "w:startOverride"), None)
                    if depth in levels and start is not None:
                        levels[depth], begins_anew = replace(levels[depth], start=start), True
                counts = {} if begins_anew else shared.counts
                self._lists[element.get(qn("w:numId"))] = NumberedList(levels, counts)

    def label(self, list_id: str | None, depth: int) -> str:
        """Return the next label of a list at a depth (from 0)."""
        return self._lists[list_id].label(depth) if list_id in self._lists else ""


def _levels(element: Element) -> dict[int, ListLevel]:
    levels: dict[int, ListLevel] = {}
    for node in element.findall(qn("w:lvl")):
        # The first alternative, where there are some: a name, or how the series begins ("001, 002, 003, ...").
        written, number_format = next(node.iter(qn("w:numFmt")), None), "decimal"
        if written is not None:
            number_format = str(written.get(qn("w:format")) or written.get(_VAL, ""))
        levels[min(read_number(node.get(qn("w:ilvl")), 0), _DEEPEST)] = ListLevel(
            number_format,
            value_of(node, "w:lvlText") or "",
            read_number(value_of(node, "w:start"), 0),
            node.find(qn("w:isLgl")) is not None,
            read_number(value_of(node, "w:lvlRestart"), None),
        )
    return levels


_OFF = {"0", "false", "off"}
_RAISED = {"superscript": "super", "subscript": "sub", "baseline": "none"}
_ALIGNED = 3  # half points: letters are moved so little to look level
_NUMERALS = "一二三四五六七八九"
_LEVEL, _HEADING = f"[1-9{_NUMERALS}]", "[标標][题題]"
# Names of heading styles, for those that have no outline level: Heading 2, 标题 2, 二级标题, 章标题, Chapter Title, and
# of GB/T 1.1 一级条标题. A heading of something else (of a table, a figure, the contents) is none.
_HEADING_STYLE = re.compile(
    rf"(?:.*\bheading|.*?{_HEADING})\s*(?P<after>{_LEVEL})"
    rf"|.*?(?P<before>{_LEVEL})\s*[级級]\s*(?P<clause>[条條])?\s*{_HEADING}"
    rf"|.*?(?P<kind>[篇章节節条條小])\s*{_HEADING}"
    r"|.*?(?P<part>\bpart|\bchapter|\bsection|\bsubsection)[\s_-]*(?:heading|head|title)\b",
    re.IGNORECASE,
)
_LEVEL_OF_KIND = {
    "篇": 1, "章": 1, "节": 2, "節": 2, "条": 2, "條": 2, "小": 2, "part": 1,
    "chapter": 1, "section": 2, "subsection": 3,
}  # fmt: skip
_NO_HEADINGS = (
    "toc", "contents", "table", "figure", "index", "目录", "目錄", "目次", "图", "圖", "表", "副",
)  # fmt: skip
_TITLE_STYLES = frozenset(["title", "标题", "標題", "文档标题", "文件标题", "公文标题"])
_CONTENTS_STYLE = re.compile(r"(?:toc|目录|目錄)(?:\s*\d|\s*heading)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Style(Look):
    """What a paragraph and its runs look like. `level`: of a heading, from 1."""

    name: str = ""
    level: int | None = None
    list_id: str | None = None
    list_depth: int = 0

    @property
    def is_title(self) -> bool:
        """Return whether it is of the document's own title."""
        return self.name.lower() in _TITLE_STYLES

    @property
    def is_contents(self) -> bool:
        """Return whether it is of a line in a table of contents."""
        return _CONTENTS_STYLE.match(self.name) is not None


class Styles:
    """All styles of a document, each with what it inherits."""

    def __init__(self, root: Element | None) -> None:
        """`root` is the `w:styles` element, None where the document has none."""
        elements = root.findall(qn("w:style")) if root is not None else ()
        self._elements = {element.get(qn("w:styleId")): element for element in elements}
        self._known: dict[str, Style] = {}
        self._default = next(
            (
                style_id
                for style_id, element in self._elements.items()
                if element.get(qn("w:default")) in {"1", "true", "on"}
                and element.get(qn("w:type")) == "paragraph"
            ),
            "",
        )

    def of_paragraph(self, paragraph: Element) -> Style:
        """Return a paragraph's style with its own outline level and list laid over it."""
        properties = paragraph.find(qn("w:pPr"))
        name = value_of(properties, "w:pStyle") or self._default
        return _with_properties(self._style(name), properties)

    def of_run(self, run: Element, paragraph: Style) -> Style:
        """Return how a run looks inside a paragraph of that style."""
        look = run.find(qn("w:rPr"))
        if look is None:
            return paragraph
        style_id = value_of(look, "w:rStyle")
        element = self._elements.get(style_id) if style_id else None
        return _with_look(self._inherit(element, paragraph, 0), look)

    def _inherit(self, element: Element | None, look: Style, depth: int) -> Style:
        """Lay a character style, and before it what that is based on, over a look."""
        if element is None or depth > len(self._elements):
            return look
        parent = self._elements.get(value_of(element, "w:basedOn") or "")
        return _with_look(self._inherit(parent, look, depth + 1), element.find(qn("w:rPr")))

    def _style(self, style_id: str) -> Style:
        if style_id not in self._known:
            self._known[style_id] = Style()  # ends a cycle of styles based on each other
            element = self._elements.get(style_id)
            if element is None:
                return Style()
            name = value_of(element, "w:name") or ""
            parent = self._style(value_of(element, "w:basedOn") or "")
            style = replace(parent, name=name, level=heading_level(name) or parent.level)
            look = _with_look(style, element.find(qn("w:rPr")))
            properties = element.find(qn("w:pPr"))
            if properties is not None and properties.find(qn("w:numPr")) is not None:
                look = replace(look, list_depth=0)
            self._known[style_id] = _with_properties(look, properties)
        return self._known[style_id]


def heading_level(name: str) -> int | None:
    """Return the level that a style's name stands for; None if it is no heading's name."""
    found = _HEADING_STYLE.match(name)
    if found is None or any(word in name.lower() for word in _NO_HEADINGS):
        return None
    if kind := found["kind"] or found["part"]:
        return _LEVEL_OF_KIND[kind.lower()]
    level = found["after"] or found["before"]
    number = int(level) if level.isdigit() else _NUMERALS.index(level) + 1
    return number + 1 if found["clause"] else number


def value_of(parent: Element | None, name: str) -> str | None:
    """Return the `w:val` of a child, None where there is no such child."""
    child = parent.find(qn(name)) if parent is not None else None
    return None if child is None else child.get(_VAL)


def is_on(parent: Element | None, name: str, *, inherited: bool = False) -> bool:
    """Return whether a property that is on or off is on (`<w:b/>`, `<w:b w:val="0"/>`)."""
    mark = parent.find(qn(name)) if parent is not None else None
    return inherited if mark is None else mark.get(_VAL, "1") not in _OFF


def _with_look(style: Style, look: Element | None) -> Style:
    if look is None:
        return style
    size = read_number(value_of(look, "w:sz"), None)
    position = value_of(look, "w:position") or ""
    half_points = int(position) if re.fullmatch(r"-?\d{1,4}", position) else 0
    # Letters are set above or below the line by hand, as notes and powers are in some programs.
    shifted = "super" if half_points > _ALIGNED else "sub" if half_points < -_ALIGNED else ""
    fonts = look.find(qn("w:rFonts"))
    font = None if fonts is None else fonts.get(qn("w:ascii")) or fonts.get(qn("w:asciiTheme"))
    return replace(
        style,
        size=style.size if size is None else size / 2,  # w:sz counts half points
        bold=is_on(look, "w:b", inherited=style.bold),
        font=font or style.font,
        struck=is_on(look, "w:strike", inherited=style.struck) or is_on(look, "w:dstrike"),
        hidden=is_on(look, "w:vanish", inherited=style.hidden),
        raised=_RAISED.get(value_of(look, "w:vertAlign") or "") or shifted or style.raised,
    )


def _with_properties(style: Style, properties: Element | None) -> Style:
    if properties is None:
        return style
    outline = read_number(value_of(properties, "w:outlineLvl"), None)
    level = style.level
    if outline is not None:
        level = outline + 1 if outline < 9 else None  # 9: body text (ECMA-376 17.3.1.20)
    listed = properties.find(qn("w:numPr"))
    list_id, depth = style.list_id, style.list_depth
    if listed is not None:
        list_id = value_of(listed, "w:numId") or list_id
        depth = min(read_number(value_of(listed, "w:ilvl"), depth), _DEEPEST)
    return replace(style, level=level, list_id=list_id, list_depth=depth)
