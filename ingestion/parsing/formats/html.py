"""HTML to blocks: what a reader of the page reads, without its navigation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingestion.parsing.blocks import Block, Blocks, Heading, Paragraph, Table
from ingestion.parsing.encodings import decode
from ingestion.parsing.images import image_in
from ingestion.parsing.limits import CellBudget, Limits
from ingestion.parsing.tables import Cell, lay_out, repeated_places

_DROPPED = frozenset(
    [
        "script",
        "style",
        "nav",
        "footer",
        "aside",
        "template",
        "noscript",
        "svg",
        "math",
        "iframe",
        "object",
        "canvas",
        "form",
        "button",
        "select",
        "input",
        "textarea",
        "dialog",
        "head",
        "audio",
        "video",
    ]
)
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE
)
_SPACE = re.compile(r"[ \t\r\n\f]+")
_MAX_ROWSPAN, _MAX_COLSPAN = 65_534, 1_000  # HTML standard, 4.9.11


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read an HTML page; only its `<main>` (or its one `<article>`) when it has one."""
    declared = _META_CHARSET.search(content[:4096])
    decoded = decode(content, declared[1].decode("ascii") if declared else None)
    tree = LexborHTMLParser(decoded.text)
    title = tree.css_first("title")
    root = _main_part(tree)
    blocks = list(_Reader(limits).blocks(root)) if root else []
    named = _SPACE.sub(" ", title.text()).strip() if title else ""
    return Blocks(blocks, named, warnings=decoded.warnings, metadata=decoded.metadata)


def html_blocks(fragment: str, limits: Limits) -> list[Block]:
    """Blocks of a piece of HTML inside another format (Markdown)."""
    body = LexborHTMLParser(fragment).body
    return list(_Reader(limits).blocks(body)) if body else []


def _main_part(tree: LexborHTMLParser) -> LexborNode | None:
    if main := tree.css_first("main, [role=main]"):
        return main
    articles = tree.css("article")
    return articles[0] if len(articles) == 1 else tree.body


class _Reader:
    """Walks a tree without recursion: hostile pages nest deeper than a stack of calls."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._inline: list[str] = []
        self._items: list[str] = []
        self._lists: list[tuple[str, int]] = []  # open lists: (tag, items so far)
        self._marker = ""

    def blocks(self, root: LexborNode) -> Iterator[Block]:
        """Blocks below `root` in document order."""
        todo = [(root, False)]
        while todo:
            node, leaving = todo.pop()
            if leaving:
                yield from self._leave(node)
            elif node.is_text_node:
                self._inline.append(node.text_content or "")
            elif node.is_element_node and not _is_hidden(node):
                if node.tag in _BLOCKS:
                    yield from self._flush()
                elif node.tag == "img":
                    yield from self._image(node)
                if node.tag == "pre" or (node.tag == "table" and _holds_data(node)):
                    yield from self._whole(node)
                else:
                    self._enter(node.tag or "")
                    todo.append((node, True))
                    todo.extend((child, False) for child in _children(node))
        yield from self._flush()
        yield from self._flush_list()

    def _whole(self, node: LexborNode) -> Iterator[Block]:
        yield from self._flush_list()
        if node.tag == "pre":
            yield Paragraph(f"```\n{node.text().strip(chr(10))}\n```")
        else:
            yield from self._table(node)

    def _enter(self, tag: str) -> None:
        if tag == "br":
            self._inline.append("\v")
        elif tag in {"ul", "ol"}:
            self._lists.append((tag, 0))
        elif tag == "li" and self._lists:
            kind, count = self._lists[-1]
            self._lists[-1] = (kind, count + 1)
            self._marker = "- " if kind == "ul" else f"{count + 1}. "

    def _leave(self, node: LexborNode) -> Iterator[Block]:
        tag = node.tag or ""
        if tag not in _BLOCKS:
            return
        if tag[0] == "h" and tag[1:].isdigit():
            text = self._take().replace("\n", " ")
            yield from self._flush_list()
            yield Heading(text, int(tag[1:]))
        else:
            yield from self._flush()
        if tag in {"ul", "ol"} and self._lists:
            self._lists.pop()
            if not self._lists:
                yield from self._flush_list()

    def _take(self) -> str:
        lines = "".join(self._inline).split("\v")
        self._inline.clear()
        return "\n".join(_SPACE.sub(" ", line).strip() for line in lines).strip()

    def _flush(self) -> Iterator[Block]:
        text = self._take()
        if text and self._lists:
            self._items.append("  " * (len(self._lists) - 1) + self._marker + text)
            self._marker = ""
        elif text:
            yield from self._flush_list()
            yield Paragraph(text)

    def _flush_list(self) -> Iterator[Block]:
        if self._items:
            yield Paragraph("\n".join(self._items))
            self._items = []

    def _image(self, node: LexborNode) -> Iterator[Block]:
        attributes = node.attributes
        if image := image_in(attributes.get("src"), attributes.get("alt") or ""):
            if self._limits.images:  # else nothing stands between the words around it
                yield from self._flush()
            yield image

    def _table(self, table: LexborNode) -> Iterator[Block]:
        if caption := table.css_first("caption"):
            yield Paragraph(_SPACE.sub(" ", caption.text()).strip())
        rows = table.css("tr")
        header = 0
        while header < len(rows) and _names_columns(rows[header]):
            header += 1
        cells = list(self._cells(rows))
        laid_out = lay_out(cells, CellBudget(self._limits))
        yield Table(laid_out, header, repeated=repeated_places(cells))

    def _cells(self, rows: Iterable[LexborNode]) -> Iterator[Cell]:
        taken: dict[int, int] = {}  # column → first row in which it is free again
        budget = CellBudget(self._limits)
        for row, line in enumerate(rows):
            column = 0
            for node in line.iter():
                if node.tag not in {"td", "th"}:
                    continue
                while taken.get(column, 0) > row:
                    column += 1
                height, width = (
                    _span(node, "rowspan", _MAX_ROWSPAN),
                    _span(node, "colspan", _MAX_COLSPAN),
                )
                budget.spend(width)
                yield Cell(row, column, self._cell_text(node), height, width)
                taken.update(dict.fromkeys(range(column, column + width), row + height))
                column += width

    def _cell_text(self, node: LexborNode) -> str:
        blocks = _Reader(self._limits).blocks(node)
        return " ".join(block.text for block in blocks if isinstance(block, Heading | Paragraph))


def _children(node: LexborNode) -> list[LexborNode]:
    """Children from last to first, as a stack wants them."""
    return list(node.iter(include_text=True))[::-1]


def _is_hidden(node: LexborNode) -> bool:
    if node.tag in _DROPPED:
        return True
    attributes = node.attributes
    style = (attributes.get("style") or "").replace(" ", "").lower()
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or attributes.get("role") == "navigation"
        or "display:none" in style
    )


def _holds_data(table: LexborNode) -> bool:
    """Whether a table is data rather than page layout: cells, and no further table in them."""
    return len(table.css("table")) == 1 and len(table.css("td, th")) > 1


def _names_columns(row: LexborNode) -> bool:
    cells = [node.tag for node in row.iter() if node.tag in {"td", "th"}]
    in_head = row.parent is not None and row.parent.tag == "thead"
    return in_head or (bool(cells) and all(tag == "th" for tag in cells))


def _span(node: LexborNode, name: str, most: int) -> int:
    value = (node.attributes.get(name) or "1").strip()
    return (
        min(max(int(value), 1), most)
        if value.isascii() and value.isdigit() and len(value) < 8
        else 1
    )
