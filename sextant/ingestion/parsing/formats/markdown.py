"""Markdown (CommonMark with tables and struck text) to blocks of plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Image, Paragraph, Table
from sextant.ingestion.parsing.encodings import decode
from sextant.ingestion.parsing.formats.html import fragment_blocks
from sextant.ingestion.parsing.images import image_in
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.lines import with_fields
from sextant.ingestion.parsing.raised import note, write_raised
from sextant.ingestion.parsing.structure import Omissions

_FRONT_MATTER = re.compile(
    r"\A(---|\+\+\+)[ \t]*\n(.{0,20000}?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL
)
_FIELD = re.compile(r"([\w][\w .-]{0,60}?)[ \t]*[:=](?:[ \t]+(.*)|$)")
_FOOTNOTE = re.compile(r"\[\^([^\]\s]{1,40})\](?::[ \t]*(?=\S))?")
# CommonMark would take a note of one word for the address of a link.
_FOOTNOTE_TEXT = re.compile(r"^( {0,3})\[(?=\^[^\]\s]{1,40}\]:)", re.MULTILINE)
_TAG = re.compile(r"</?([a-z][a-z0-9]*)", re.IGNORECASE)
_TAGS = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "details", "dfn", "div",
    "em", "font", "i", "img", "input", "ins", "kbd", "label", "li", "mark", "math", "ol", "p", "q", "rp", "rt", "ruby",
    "s", "samp", "small", "span", "strike", "strong", "sub", "summary", "sup", "time", "tt", "u", "ul", "var", "wbr",
})  # fmt: skip
_PLAIN = frozenset({
    "text", "code_inline", "softbreak", "hardbreak", "em_open", "em_close", "strong_open", "strong_close", "image",
})  # fmt: skip
_HTML = {"hardbreak": "<br>", "link_close": "</a>", "s_open": "<del>", "s_close": "</del>"}
_SOFT_BREAK = "\ufdd4"  # a noncharacter, for inner use
_NEXT_FOOTNOTE = re.compile(rf"{_SOFT_BREAK}(?=\[\^[^\]\s]{{1,40}}\]:)")


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a Markdown file. Front matter gives the title; its other fields are text."""
    decoded = decode(content)
    text, omissions = decoded.text.replace("\r\n", "\n"), Omissions()
    fields = dict[str, str]()
    if front := _FRONT_MATTER.match(text):
        fields = _read_fields(front[2])
        text = text[front.end() :]
    title = next((fields.pop(name) for name in list(fields) if name.lower() == "title"), "")
    blocks = markdown_blocks(text, limits, omissions)
    if fields:
        top = int(bool(blocks) and isinstance(blocks[0], HeadingBlock))
        written = "\n".join(f"{name}: {value}" for name, value in fields.items() if value)
        blocks.insert(top, Paragraph(written))
    return Blocks(
        write_raised(blocks),
        title,
        warnings=(*decoded.warnings, *omissions.warnings()),
        omissions=omissions,
        metadata=decoded.metadata,
    )


def markdown_blocks(text: str, limits: Limits, omissions: Omissions) -> list[Block]:
    """Return blocks of Markdown inside any format, what is raised in them still marked (see `raised`)."""
    tokens = _markdown().parse(_FOOTNOTE_TEXT.sub(r"\1\\[", text))
    return list(_MarkdownReader(tokens, limits, omissions).blocks())


def _read_fields(front: str) -> dict[str, str]:
    """Return the fields of YAML or TOML front matter as text; lists and lines below a name belong to it."""
    fields = dict[str, list[str]]()
    name = ""
    for line in front.split("\n"):
        if line.lstrip().startswith("#") or not line.strip():
            continue
        if field := _FIELD.fullmatch(line):
            name = field[1]
            fields[name] = [field[2] or ""]
        elif name:
            fields[name].append(line.strip().removeprefix("- "))
    return {name: _read_value(values) for name, values in fields.items()}


def _read_value(values: Sequence[str]) -> str:
    first, *others = (value.strip() for value in values)
    is_block = first[:1] in {"|", ">"} and len(first) < 3
    if first.startswith("[") and first.endswith("]"):
        first = ", ".join(_unquote(part) for part in first[1:-1].split(","))
    parts = [*([] if is_block else [_unquote(first)]), *map(_unquote, others)]
    return (" " if is_block else ", ").join(filter(None, parts))


def _unquote(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


class _MarkdownReader:
    def __init__(self, tokens: Sequence[Token], limits: Limits, omissions: Omissions) -> None:
        self._tokens = iter(tokens)
        self._limits = limits
        self._omissions = omissions
        self._markers: list[str] = []  # of the open lists: "- " or "1. "
        self._numbers: list[int] = []  # of the last item of each
        self._list: list[str] = []
        self._item_is_new = False

    def blocks(self) -> Iterator[Block]:
        for token in self._tokens:
            match token.type:
                case "heading_open":
                    yield from self._flush()
                    text = self._plain(next(self._tokens)).replace("\n", " ")
                    yield HeadingBlock(text, int(token.tag[1]))
                case "table_open":
                    yield from self._flush()
                    yield self._table()
                case "html_block":
                    yield from self._flush()
                    yield from fragment_blocks(token.content, self._limits, self._omissions)
                case "fence" | "code_block":
                    code = _FOOTNOTE_TEXT.sub(r"\1[", token.content.replace("\\[^", "[^")).rstrip()
                    yield from self._prose(f"```{token.info}\n{code}\n```")
                case "inline":
                    images = self._images(token)
                    yield from self._prose(self._plain(token))
                    yield from images
                case _:
                    yield from self._track_list(token)

    def _prose(self, text: str) -> Iterator[Block]:
        if not self._markers:
            yield Paragraph(text)
        elif text:
            indent = "  " * (len(self._markers) - 1)
            marker = self._markers[-1] if self._item_is_new else " " * len(self._markers[-1])
            lines = text.split("\n")
            rest = "\n".join(f"{indent}  {line}" for line in lines[1:])
            self._list.append(f"{indent}{marker}{lines[0]}" + (f"\n{rest}" if rest else ""))
            self._item_is_new = False

    def _images(self, inline: Token) -> list[Image]:
        """Return images that the text holds itself; where they are looked at, their descriptions go with them."""
        children = inline.children or []
        found = {
            id(child): image
            for child in children
            if child.type == "image"
            and (image := image_in(str(child.attrs.get("src") or ""), child.content))
        }
        if self._limits.images:
            inline.children = [child for child in children if id(child) not in found]
        return list(found.values())

    def _track_list(self, token: Token) -> Iterator[Block]:
        if token.type in {"bullet_list_open", "ordered_list_open"}:
            self._markers.append("- ")
            self._numbers.append(-1)
        elif token.type == "list_item_open":
            self._markers[-1] = self._next_marker(token)
            self._item_is_new = True
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            self._markers.pop()
            self._numbers.pop()
            if not self._markers:
                yield from self._flush()

    def _next_marker(self, item: Token) -> str:
        """Return the number of an item as its reader sees it: 1, 2, 3 where its author wrote 1, 1, 1."""
        if not item.info:
            return "- "
        self._numbers[-1] = max(int(item.info), self._numbers[-1] + 1)
        return f"{self._numbers[-1]}{item.markup} "

    def _flush(self) -> Iterator[Block]:
        if self._list:
            yield Paragraph("\n".join(self._list))
            self._list = []

    def _table(self) -> Table:
        budget = CellBudget(self._limits)
        rows: list[list[str]] = []
        for token in self._tokens:
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                budget.spend(1)
                rows[-1].append(self._plain(token))
        return Table(rows)

    def _plain(self, inline: Token) -> str:
        """Return the words of a run of inline Markdown, without its marks; images give their description.

        Links, struck text and tags are read as HTML is.
        """
        children = inline.children or []
        text = "".join(map(_as_text, children))
        if any(child.type not in _PLAIN for child in children):
            blocks = fragment_blocks(
                "".join(map(_as_html, children)), self._limits, self._omissions
            )
            text = "\n".join(b.text for b in blocks if isinstance(b, Paragraph | HeadingBlock))
        text = _NEXT_FOOTNOTE.sub("\n", text)
        text = _FOOTNOTE.sub(lambda found: note(found[1]), text)
        return "\n".join(with_fields(line.split(_SOFT_BREAK)) for line in text.split("\n"))


def _as_text(child: Token) -> str:
    match child.type:
        case "softbreak":
            return _SOFT_BREAK
        case "hardbreak":
            return "\n"
        case _:
            return child.content


def _as_html(child: Token) -> str:
    if child.type == "link_open":
        return f'<a href="{escape(str(child.attrs.get("href") or ""))}">'
    if child.type == "html_inline":
        tag = _TAG.match(child.content)
        is_tag = child.content.startswith("<!") or (tag and tag[1].lower() in _TAGS)
        return child.content if is_tag else escape(child.content)  # <username> is no tag
    return _HTML.get(child.type) or escape(_as_text(child))
