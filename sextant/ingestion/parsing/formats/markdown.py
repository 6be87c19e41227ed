"""Markdown to blocks of plain text: CommonMark, and what GitHub, MkDocs, Pandoc and Docusaurus add to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from itertools import pairwise
from typing import cast

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from sextant.ingestion.parsing.blocks import (
    Block,
    Blocks,
    HeadingBlock,
    Paragraph,
    with_texts,
)
from sextant.ingestion.parsing.encodings import decode
from sextant.ingestion.parsing.formats.html import fragment_blocks
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.lines import with_fields
from sextant.ingestion.parsing.raised import note
from sextant.ingestion.parsing.structure import Omissions, finish_blocks

_FRONT_MATTER = re.compile(
    r"\A(---|\+\+\+)[ \t]*\n(.{0,20000}?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL
)
_FOOTNOTE = re.compile(r"\[\^([^\]\s]{1,40})\](?::[ \t]*(?=\S))?")
# CommonMark would take a note of one word for the address of a link.
_FOOTNOTE_TEXT = re.compile(r"^( {0,3})\[(?=\^[^\]\s]{1,40}\]:)", re.MULTILINE)
_TAG = re.compile(r"</?([a-z][a-z0-9]*)", re.IGNORECASE)
_TAGS = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "details", "dfn", "div",
    "em", "font", "i", "img", "input", "ins", "kbd", "label", "li", "mark", "math", "ol", "p", "q", "rp", "rt", "ruby",
    "s", "samp", "small", "span", "strike", "strong", "sub", "summary", "sup", "time", "tt", "u", "ul", "var", "wbr",
})  # fmt: skip
# The id and classes behind a heading: "Install {#install .big}".
_ATTRIBUTES = re.compile(r"[ \t]*\{:?[ \t]*[#.][^{}\n]*\}[ \t]*\Z")
# What opens a box of Docusaurus or Pandoc: ":::tip Title", "::: {.tip}".
_BOX = re.compile(
    r"\{[^{}]*\}|(?P<kind>[\w-]+)(?:[ \t]*\[(?P<label>[^\]]*)\]|[ \t]+(?P<title>.*))?"
)
_SOFT_BREAK = "\ufdd4"  # a noncharacter, for inner use
_NEXT_FOOTNOTE = re.compile(rf"{_SOFT_BREAK}(?=\[\^[^\]\s]{{1,40}}\]:)")


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a Markdown file. Front matter gives the title; its other fields are text."""
    decoded = decode(content)
    text, omissions = decoded.text.replace("\r\n", "\n"), Omissions()
    fields = dict[str, str]()
    if front := _FRONT_MATTER.match(text):
        fields = _read_fields(*front.groups())
        text = text[front.end() :] if fields else text
    title = next((fields.pop(name) for name in list(fields) if name.lower() == "title"), "")
    blocks = markdown_blocks(text, limits, omissions)
    if fields:
        top = int(bool(blocks) and isinstance(blocks[0], HeadingBlock))
        written = "\n".join(f"{name}: {value}" for name, value in fields.items() if value)
        blocks.insert(top, Paragraph(written))
    return finish_blocks(blocks, omissions, title, decoded=decoded)


def markdown_blocks(text: str, limits: Limits, omissions: Omissions) -> list[Block]:
    """Return blocks of Markdown inside any format, what is raised in them still marked (see `raised`)."""
    page = render_page(text)
    return [_with_lines(block) for block in fragment_blocks(page, limits, omissions)]


def render_page(text: str) -> str:
    """Return Markdown as HTML."""
    written = _markdown()
    tokens = written.parse(_FOOTNOTE_TEXT.sub(r"\1\\[", text))
    for opening, heading in pairwise(tokens):
        if opening.type == "heading_open" and heading.children:
            last = heading.children[-1]
            last.content = _ATTRIBUTES.sub("", last.content)
    return str(written.renderer.render(tokens, written.options, {}))


def _read_fields(mark: str, front: str) -> dict[str, str]:
    """Return the fields of YAML (between `---`) or TOML (`+++`) as text; of what is neither, lines with a colon."""
    import tomllib  # few files have front matter

    read: object
    try:
        read = _load_yaml(front) if mark == "---" else tomllib.loads(front)
    except (ValueError, RecursionError):
        read = dict(line.split(":", 1) for line in front.split("\n") if ":" in line)
    fields = cast("dict[object, object]", read) if isinstance(read, dict) else {}
    return {str(name).strip(): _write_field(value) for name, value in fields.items()}


def _load_yaml(source: str) -> object:
    """Return what YAML says, each value as it is written; ValueError for what is none, and for aliases.

    Those may stand for more than memory holds.
    """
    import yaml

    try:
        if not any(isinstance(one, yaml.AliasEvent) for one in yaml.parse(source, yaml.BaseLoader)):
            return yaml.load(source, yaml.BaseLoader)  # noqa: S506 - it makes only texts, lists and dictionaries
    except yaml.YAMLError as error:
        raise ValueError(source) from error
    raise ValueError(source)


def _write_field(value: object) -> str:
    if isinstance(value, dict):
        members = cast("dict[object, object]", value).items()
        return ", ".join(f"{name}: {_write_field(member)}" for name, member in members)
    if isinstance(value, list):
        return ", ".join(map(_write_field, cast("list[object]", value)))
    return " ".join(str(value).split())


@cache
def _markdown() -> MarkdownIt:
    written = MarkdownIt("commonmark", {"alerts": True}).enable(["table", "strikethrough"])
    written.use(admon_plugin).use(deflist_plugin)
    written.use(dollarmath_plugin, allow_space=False, allow_digits=False, renderer=_write_math)
    written.use(
        container_plugin,
        name="box",
        validate=lambda params, _: _BOX.fullmatch(params.strip()) is not None,
        render=_write_box,
    )
    written.add_render_rule("softbreak", lambda *_: _SOFT_BREAK)
    written.add_render_rule("html_inline", _write_tag)
    return written


def _write_math(formula: str, options: Mapping[str, bool]) -> str:
    """Return a formula as it is written, in which signs of Markdown mean nothing."""
    sign = "$$" if options["display_mode"] else "$"
    return escape(f"{sign}{formula.strip()}{sign}")


def _write_tag(_: RendererProtocol, tokens: Sequence[Token], at: int, *__: object) -> str:
    """Return a tag of HTML, and what only looks like one as text: <username> is none."""
    content = tokens[at].content
    tag = _TAG.match(content)
    is_tag = content.startswith("<!") or (tag and tag[1].lower() in _TAGS)
    return content if is_tag else escape(content)


def _write_box(_: RendererProtocol, tokens: Sequence[Token], at: int, *__: object) -> str:
    """Return the beginning of a box, with its title as a paragraph, or its end."""
    box = _BOX.fullmatch(tokens[at].info.strip())
    if tokens[at].nesting < 0 or box is None:
        return "</div>\n"
    parts = box.groupdict(default="")
    title = parts["title"] or parts["label"] or parts["kind"].capitalize()
    return f"<div>\n<p>{escape(title)}</p>\n" if title else "<div>\n"


def _with_lines(block: Block) -> Block:
    """Return a block with its notes marked, and the lines joined that its author broke."""
    if isinstance(block, Paragraph) and block.text.startswith("```"):
        return replace(block, text=block.text.replace("\\[^", "[^"))
    if isinstance(block, HeadingBlock):
        return replace(block, text=_join(block.text).replace("\n", " "))
    return with_texts(block, _join)


def _join(text: str) -> str:
    text = _FOOTNOTE.sub(lambda found: note(found[1]), _NEXT_FOOTNOTE.sub("\n", text))
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if _SOFT_BREAK in line:
            indent = line[: len(line) - len(line.lstrip())]
            lines[at] = indent + with_fields(line.split(_SOFT_BREAK))
    return "\n".join(lines)
