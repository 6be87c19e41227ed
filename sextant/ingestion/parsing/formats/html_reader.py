"""Walk a tree of HTML elements and return its blocks in document order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from sextant.ingestion.parsing.blocks import (
    NO_WORDS,
    Block,
    HeadingBlock,
    Paragraph,
    TextKind,
    lines_of,
    texts_of,
)
from sextant.ingestion.parsing.formats.html_tables import (
    TICKS,
    Visibility,
    field_value,
    holds_data,
    is_struck,
    options_out_of_sight,
    read_code,
    read_table,
)
from sextant.ingestion.parsing.formats.numbering import format_number
from sextant.ingestion.parsing.formulas import formulas_of
from sextant.ingestion.parsing.images import Load, image_in, run_together, with_address
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.lines import ends_sentence
from sextant.ingestion.parsing.raised import mark_lowered, mark_raised, note
from sextant.ingestion.parsing.structure import Omissions
from sextant.text.characters import ideographs

_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd", "details",
    "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "ol", "p", "pre", "search",
    "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
})  # fmt: skip
# Roles whose text styles set apart, though nothing stands between the elements.
_CELLS = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_WORDLESS = frozenset({"script", "style", "template", "head"})
_MENUS = frozenset({"nav", "footer", "button", "li"})
_IN_MENUS = "in menus and feet of the page"
_FIELDS = frozenset({"input", "select", "textarea"})
_LISTS = frozenset({"ul", "ol", "dl", "menu"})
_NOTION_BOXES = {"checkbox checkbox-on": "☒ ", "checkbox checkbox-off": "☐ "}
_SPACE = re.compile(r"[ \t\r\n\f]+")
_STYLED = frozenset({"span", "font", "small"})
_BOLD = tuple(f"font-weight:{weight}" for weight in ("bold", "600", "700", "800", "900"))
_FILE_NAME = re.compile(r"[\w.-]+\.\w{2,4}|\W*\w*\W*")  # or a single word, as icons have
_DEEPEST = 3  # table within table
_TICKS = "☐☒○● \n"
_LABEL = 5  # characters of a note's mark, at most
_BACK = ("#cite_ref", "#fnref", "#_ftnref", "#_ednref")  # from a note to where it is referred to
_SHORT = 20  # letters: shorter sentences outside the main part are left out
_LETTERS = 3  # of a Latin word count as much as one ideograph


@dataclass(frozen=True, slots=True)
class Prose:
    """A block, and whether all of its text is bold."""

    block: Block
    bold: bool = False


class Reader:
    """Walks a tree without recursion: hostile pages nest deeper than a stack of calls."""

    def __init__(
        self,
        limits: Limits,
        visibility: Visibility,
        *,
        main: set[int] | None = None,
        start: int | None = None,
        omissions: Omissions | None = None,
        depth: int = 0,
        load: Load | None = None,
    ) -> None:
        self._limits = limits
        self._visibility = visibility
        self._main = main or set()
        self._start = start  # the heading with which the main part begins before its own element
        self._has_begun = False
        self._omissions = omissions or Omissions()
        self._depth = depth
        self._load = load
        self._found: list[Prose] = []
        self._aside: list[
            Prose
        ] = []  # headings outside the main part, until something follows them
        self._zones = [not self._main]  # whether what is open stands in the main part
        self._inline: list[str] = []
        self._alts: list[str] = []  # what pictures in what is open show
        self._linked = 0  # characters of links in what is open
        self._links: list[int] = []  # where the open links begin in `_inline`
        self._link_end = 0  # where the last one ended there
        self._bold = 0  # open bold elements
        self._has_words = False  # whether what is open says more than its pictures do
        self._is_plain = False  # whether some of what is open is not bold
        self._items: list[str] = []
        self._linked_items = 0
        self._lists: list[tuple[str, int]] = []  # open lists: (tag, number of the last item)
        self._marker = ""

    def read(self, root: LexborNode) -> list[Prose]:
        """Return blocks below `root` in document order."""
        todo = [(root, False)]
        while todo:
            node, leaving = todo.pop()
            if leaving:
                self._leave(node)
            elif node.is_text_node:
                self._add_text(node.text_content or "")
            elif node.is_element_node and not self._replace(node):
                self._enter(node)
                todo.append((node, True))
                children = list(node.iter(include_text=True))
                todo.extend((child, False) for child in reversed(children))
        self._flush()
        self._flush_list()
        self._drop_aside()
        return self._found

    def _replace(self, node: LexborNode) -> bool:
        """Read an element as a whole, or leave it out; return False where its children are to be read."""
        tag = node.tag or ""
        if formula := formulas_of(node, is_hidden=self._visibility.is_hidden):
            is_apart = node.attributes.get("display") == "block"
            self._add_text(f" {formula} " if is_apart else formula)
        elif self._visibility.is_hidden(node):
            self._leave_out(node)
        elif is_struck(node):
            self._omissions.add_text("struck through", node.text())
        elif tag == "svg":  # what is written in the drawing, without names of its shapes
            self._add_text("".join(f" {text.text()} " for text in node.css("text")))
        elif marked := _mark(node):
            self._add_text(marked)
        elif tag == "img":
            self._add_image(node)
        elif tag in _FIELDS:
            value = field_value(node)
            self._omissions.add_inline(TextKind.FIELD, value)
            self._add_text(f" {value} ".replace("\n", "\v"))
            self._omissions.add_text("not chosen in a list", options_out_of_sight(node))
        elif tag == "pre":
            self._add_whole(Paragraph(read_code(node)))
        elif tag == "table" and self._depth < _DEEPEST and holds_data(node):
            self._add_table(node)
        else:
            return False
        return True

    def _leave_out(self, node: LexborNode) -> None:
        """Count what a hidden element says, unless it is a program's."""
        tag = node.tag or ""
        if tag not in _WORDLESS:
            is_menu = tag in _MENUS | _LISTS or node.attributes.get("role") == "navigation"
            reason = _IN_MENUS if is_menu else "out of sight"
            self._omissions.add_furniture(reason, node.text())

    def _enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _BLOCKS:
            self._flush()
        self._zones.append(self._zone_of(node))
        self._bold += _is_bold(node)
        if tag == "br":
            self._break_line()
        elif tag == "a":
            self._links.append(len(self._inline))
        elif tag == "q":
            self._inline.append("“")
        elif tag in _LISTS:
            self._add_term()
            self._lists.append((tag, _number(node.attributes.get("start"), 1) - 1))
        elif tag == "li" and self._lists:
            self._add_term()
            self._marker = self._next_marker(node)

    def _break_line(self) -> None:
        """Break the line; a bold line in plain text becomes a paragraph of its own."""
        is_bold = self._inline and not self._is_plain and not self._bold
        if is_bold and not self._lists and not self._depth:
            self._flush()
        else:
            self._inline.append("\v")

    def _zone_of(self, node: LexborNode) -> bool:
        """Return whether an element stands in the main part of the page."""
        if self._zones[-1] and node.tag == "aside":
            return bool(self._main)  # beside a page without a main part it stands outside
        is_main = node.mem_id in self._main
        if node.mem_id == self._start:
            self._has_begun = True
            self._drop_aside()
        elif is_main:
            self._has_begun = False
        return self._zones[-1] or is_main

    def _next_marker(self, item: LexborNode) -> str:
        kind, count = self._lists[-1]
        count = _number(item.attributes.get("value"), count + 1)
        self._lists[-1] = (kind, count)
        if kind == "ol":
            style = item.parent.attributes.get("type") if item.parent is not None else None
            return f"{format_number(count, style or '')}. "
        if "data-inline-task-id" in item.attributes:  # of Confluence
            return f"- {TICKS['checkbox']['checked' in (item.attributes.get('class') or '')]} "
        return "- "

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "a":
            start = self._links.pop()
            text = "".join(self._inline[start:])
            self._linked += len("".join(text.split()))
            if text.strip() and "\v" not in text:
                linked = with_address(text, node.attributes.get("href"))
                # Only styles part links that touch each other, of menus and tags.
                is_touching = 0 < start == self._link_end and run_together(
                    self._inline[start - 1], text
                )
                self._inline[start:] = [f" {linked}" if is_touching else linked]
            self._link_end = len(self._inline)
        elif tag == "q":
            self._inline.append("”")
        elif node.attributes.get("role") in _CELLS:
            self._inline.append(" ")
        if tag in _BLOCKS:
            if tag[0] == "h" and tag[1:].isdigit():
                text = self._take().replace("\n", " ")
                self._flush_list()
                self._emit(HeadingBlock(text, int(tag[1:])), 0)
            elif tag == "dt" and self._lists:
                term = self._take().rstrip(":：")
                self._add_term()
                self._marker = f"{term}: " if term else ""
            else:
                self._flush()
            if tag in _LISTS and self._lists:
                self._add_term()
                self._lists.pop()
                if not self._lists:
                    self._flush_list()
        self._bold -= _is_bold(node)
        self._zones.pop()

    def _add_term(self) -> None:
        """Keep a term without a definition."""
        if self._marker.endswith(": "):
            self._items.append("  " * (len(self._lists) - 1) + self._marker.rstrip())
            self._marker = ""

    def _add_text(self, text: str) -> None:
        self._inline.append(text)
        if text.strip():
            self._has_words = True
            self._is_plain |= not self._bold

    def _take(self) -> str:
        lines = "".join(self._inline).split("\v")
        self._inline.clear()
        self._links = [0] * len(self._links)  # a link around blocks begins anew in each
        self._link_end = 0
        return "\n".join(_SPACE.sub(" ", line).strip() for line in lines).strip()

    def _flush(self) -> None:
        text = self._take()
        linked, self._linked = self._linked, 0
        is_plain, self._is_plain = self._is_plain, False
        is_caption = not (self._has_words or linked or self._lists or self._depth)
        if not is_caption:
            self._omissions.add_inline(TextKind.CAPTION, " ".join(self._alts))
        self._alts, self._has_words = [], False
        if text and self._lists:
            indent = "  " * (len(self._lists) - 1)
            # What goes on with an item stands below its words.
            item = f"{self._marker or '  '}{text}".replace("\n", f"\n{indent}  ")
            self._items.append(indent + item)
            self._linked_items += linked
            self._marker = ""
        elif text and (self._depth or text.strip(_TICKS)):  # a box alone opens a menu
            self._flush_list()
            kind = TextKind.CAPTION if is_caption else TextKind.TEXT
            self._emit(Paragraph(text, kind=kind), linked, bold=not is_plain)

    def _flush_list(self) -> None:
        if self._items:
            self._emit(Paragraph("\n".join(self._items)), self._linked_items)
            self._items, self._linked_items = [], 0

    def _emit(self, block: Block, linked: int, *, bold: bool = False) -> None:
        """Keep a block; outside the main part only sentences, and between title and text no lists of links."""
        if self._zones[-1]:
            self._drop_aside()
        elif isinstance(block, HeadingBlock) and not self._has_begun:
            self._aside.append(Prose(block))
            return
        elif isinstance(block, Paragraph):
            length = len("".join(block.text.split()))
            is_short = length + (_LETTERS - 1) * ideographs(block.text) <= _SHORT
            is_line = self._has_begun and "\n" not in block.text
            if not is_line and (
                linked * 2 > length or not (self._has_begun or ends_sentence(block.text))
            ):
                self._omissions.add_furniture(_IN_MENUS, block.text)
                return
            if is_short and not self._has_begun:
                self._omissions.add_text("in short sentences beside the main part", block.text)
                return
        self._found += [*self._aside, Prose(block, bold)]
        self._aside.clear()

    def _drop_aside(self) -> None:
        """Leave out headings that nothing followed."""
        for heading in self._aside:
            for text in texts_of(heading.block):
                self._omissions.add_furniture(_IN_MENUS, text)
        self._aside.clear()

    def _add_whole(self, block: Block) -> None:
        self._flush()
        self._flush_list()
        self._emit(block, 0)

    def _add_image(self, node: LexborNode) -> None:
        alt = " ".join((node.attributes.get("alt") or "").split())
        image = image_in(node.attributes.get("src"), alt, self._load)
        if image and self._limits.images:
            self._add_whole(image)
            return
        if image:  # counted, as a picture that nobody has looked at
            self._found.append(Prose(image))
        if not (_FILE_NAME.fullmatch(alt) or NO_WORDS.search(alt)):
            self._alts.append(alt)
            self._inline.append(f" {alt} ")
            self._is_plain = True

    def _add_table(self, table: LexborNode) -> None:
        self._flush()
        self._flush_list()
        for caption in (child for child in table.iter() if child.tag == "caption"):
            self._emit(Paragraph(self._read_cell(caption)), 0)
        self._emit(read_table(table, self._limits, self._read_cell, self._visibility.is_hidden), 0)

    def _read_cell(self, node: LexborNode) -> str:
        reader = Reader(
            self._limits, self._visibility, omissions=self._omissions, depth=self._depth + 1
        )
        return " ".join(filter(None, lines_of(prose.block for prose in reader.read(node))))


def _is_bold(node: LexborNode) -> bool:
    style = _style(node)
    return node.tag in {"b", "strong"} or any(weight in style for weight in _BOLD)


def _style(node: LexborNode) -> str:
    return (node.attributes.get("style") or "").replace(" ", "").lower()


def _number(value: str | None, default: int) -> int:
    return int(value) if value and re.fullmatch(r"-?\d{1,7}", value) else default


def _mark(node: LexborNode) -> str:
    """Return what stands raised or lowered, or refers to a note, marked so; "" of any other element."""
    tag = node.tag
    if tag == "div" and (box := _NOTION_BOXES.get(node.attributes.get("class") or "")):
        return box
    if tag == "rt":  # how the ideographs below it are read
        return f"({node.text().strip()})"
    if tag == "a":
        kind = node.attributes.get("role") or node.attributes.get("epub:type") or ""
        label = node.text().strip() if "noteref" in kind else ""
        return note(label) if len(label) <= _LABEL else ""
    style = _style(node) if tag in _STYLED else ""
    if tag == "sub" or "vertical-align:sub" in style:
        return mark_lowered(node.text())
    if tag != "sup" and "vertical-align:super" not in style:
        return ""
    parent = node.parent
    link = node.css_first("a") or (parent if parent is not None and parent.tag == "a" else None)
    address = (link.attributes.get("href") or "") if link is not None else ""
    label = node.text().strip()
    # Wikis link remarks, too: [citation needed].
    is_remark = label[:1] == "[" and len(label) > _LABEL and any(map(str.isalpha, label))
    is_note = "#" in address and not is_remark and not any(mark in address for mark in _BACK)
    return note(label) if is_note else mark_raised(node.text())
