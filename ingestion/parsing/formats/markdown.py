"""Markdown (CommonMark with tables) to blocks of plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingestion.parsing.blocks import Block, Blocks, Heading, Image, Paragraph, Table
from ingestion.parsing.encodings import decode
from ingestion.parsing.formats.html import html_blocks
from ingestion.parsing.images import image_in
from ingestion.parsing.limits import CellBudget, Limits
from ingestion.parsing.lines import with_fields

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*\n", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*[\"']?([^\n]*?)[\"']?[ \t]*$", re.MULTILINE)


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a Markdown file. YAML front matter gives the title and is left out of the text."""
    decoded = decode(content)
    text = decoded.text.replace("\r\n", "\n")
    title = ""
    if front := _FRONT_MATTER.match(text):
        found = _FRONT_TITLE.search(front[1])
        title = found[1] if found else ""
        text = text[front.end() :]
    tokens = _markdown().parse(text)
    return Blocks(
        list(_Reader(tokens, limits).blocks()),
        title,
        warnings=decoded.warnings,
        metadata=decoded.metadata,
    )


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


class _Reader:
    def __init__(self, tokens: Sequence[Token], limits: Limits) -> None:
        self._tokens = iter(tokens)
        self._limits = limits
        self._markers: list[str] = []  # of the open lists: "- " or "1. "
        self._list: list[str] = []
        self._item_is_new = False

    def blocks(self) -> Iterator[Block]:
        for token in self._tokens:
            match token.type:
                case "heading_open":
                    yield Heading(_plain(next(self._tokens)).replace("\n", " "), int(token.tag[1]))
                case "table_open":
                    yield from self._flush()
                    yield self._table()
                case "html_block":
                    yield from self._flush()
                    yield from html_blocks(token.content, self._limits)
                case "fence" | "code_block":
                    yield from self._prose(f"```{token.info}\n{token.content.rstrip()}\n```")
                case "inline":
                    images = self._images(token)
                    yield from self._prose(_plain(token))
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
        """Images that the text holds itself; where they are looked at, their descriptions go with them."""
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
        elif token.type == "list_item_open":
            self._markers[-1] = f"{token.info}{token.markup} " if token.info else "- "
            self._item_is_new = True
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            self._markers.pop()
            if not self._markers:
                yield from self._flush()

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
                rows[-1].append(_plain(token))
        return Table(rows)


def _plain(inline: Token) -> str:
    """The words of a run of inline Markdown, without its marks; images give their description."""
    lines = [""]
    result: list[str] = []
    for child in inline.children or ():
        if child.type == "softbreak":
            lines.append("")
        elif child.type == "hardbreak" or (
            child.type == "html_inline" and child.content[:3] == "<br"
        ):
            result.append(with_fields(lines))
            lines = [""]
        elif child.type != "html_inline":
            lines[-1] += child.content
    result.append(with_fields(lines))
    return "\n".join(result)
