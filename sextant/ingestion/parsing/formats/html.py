"""Read an HTML page as blocks, without its navigation.

Also here: the main part of a page; outside of it only sentences are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sextant.domain.documents import HeadingSource
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph
from sextant.ingestion.parsing.encodings import charset_of_page, decode
from sextant.ingestion.parsing.formats.html_reader import Prose, Reader
from sextant.ingestion.parsing.formats.html_tables import Visibility
from sextant.ingestion.parsing.images import Load
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.lines import Styled, infer_levels
from sextant.ingestion.parsing.structure import Omissions, count_characters, finish_blocks

_SHADOW_ROOT = re.compile(r"<template(?=\s[^<>]*\bshadowrootmode\b)", re.IGNORECASE)
# How a page says of itself that it is one article (Open Graph, schema.org).
_ARTICLE = "meta[property='og:type'][content='article' i], [itemtype$='Article'], [itemtype$='BlogPosting']"
_LINKED_DATA = re.compile(r"\"@type\"\s*:\s*\[?\s*\"(?:\w*Article|BlogPosting)\"")
_TITLE = 10  # letters, at least, of a heading that is the page's title
_PROSE = 60  # letters of a text that is no label, title or button
_LEAST_PROSE = 400  # letters, of an article
# Shares of the page's prose: of an article, and at least of a marked main part, since some pages mark a teaser.
_ARTICLE_SHARE, _MAIN_SHARE = 0.85, 0.4


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read an HTML page, without its menus and footer."""
    decoded = decode(content, charset_of_page(content))
    page = read_page(decoded.text, limits)
    warnings = (*decoded.warnings, *page.warnings)
    return replace(page, warnings=warnings, metadata=decoded.metadata)


def read_page(
    text: str, limits: Limits, load: Load | None = None, *, is_all: bool = False
) -> Blocks:
    """Return a page's blocks, its title, and a warning of what was left out.

    Args:
        text: the page.
        limits: what it may cost.
        load: returns the file of a picture by its address; by default only pages with pictures in them have any.
        is_all: whether all of it is its main part, as the pages of a book are.
    """
    tree = _parse_tree(text)
    visibility, omissions = Visibility(tree), Omissions()
    body, title = tree.body, tree.css_first("title")
    name = " ".join(title.text().split()) if title else ""
    main = [body] if is_all and body else _find_main(tree, visibility)
    start = _find_title(tree, name, main, visibility)
    inside = {node.mem_id for node in main}
    reader = Reader(limits, visibility, main=inside, start=start, omissions=omissions, load=load)
    blocks = _with_headings(reader.read(body) if body else [])
    return finish_blocks(blocks, omissions, name)


def fragment_blocks(fragment: str, limits: Limits, omissions: Omissions) -> list[Block]:
    """Return blocks of a piece of HTML inside another format, and count in `omissions` what of it is left out."""
    tree = _parse_tree(fragment)
    reader = Reader(limits, Visibility(tree), omissions=omissions)
    return [prose.block for prose in reader.read(tree.body)] if tree.body else []


def _parse_tree(markup: str) -> LexborHTMLParser:
    """Return the tree of a page, with the markup of its components (declarative shadow roots)."""
    # A parser that knows no shadow roots keeps what a template holds out of the tree.
    return LexborHTMLParser(_SHADOW_ROOT.sub("<div", markup))


def _with_headings(read: Sequence[Prose]) -> list[Block]:
    """Return the blocks; on a page without headings but its title, bold lines are headings."""
    blocks = [prose.block for prose in read]
    marked = [block for block in blocks if isinstance(block, HeadingBlock) and block.text]
    if len(marked) > 1 or any(heading.level > 1 for heading in marked):
        return blocks
    lines = [at for at, block in enumerate(blocks) if isinstance(block, Paragraph)]
    levels = infer_levels([Styled(_text(blocks[at]), bold=read[at].bold) for at in lines])
    for at, level in zip(lines, levels, strict=True):
        if level is not None and read[at].bold:
            level_below = max(level, 1) + len(marked) if marked else level
            blocks[at] = HeadingBlock(_text(blocks[at]), level_below, HeadingSource.INFERRED)
    return blocks


def _text(block: Block) -> str:
    return block.text if isinstance(block, Paragraph) else ""


def _find_main(tree: LexborHTMLParser, visibility: Visibility) -> list[LexborNode]:
    """Return the elements of the main part of a page, or none.

    On a page that declares itself an article that is the element with nearly all prose, on others `<main>` or the articles.
    """
    body = tree.body
    if body is None:
        return []
    prose = _measure_prose(body, visibility)
    scripts = tree.css("script[type='application/ld+json']")
    is_article = tree.css_first(_ARTICLE) is not None or any(
        _LINKED_DATA.search(script.text() or "") for script in scripts
    )
    if is_article and (part := _part_with_prose(body, prose)):
        return [part]
    marked = tree.css("main, [role=main]") or tree.css("article")
    inside = sum(prose.get(node.mem_id, 0) for node in marked)
    return marked if inside >= prose.get(body.mem_id, 0) * _MAIN_SHARE else []


def _find_title(
    tree: LexborHTMLParser, name: str, main: Sequence[LexborNode], visibility: Visibility
) -> int | None:
    """Return the heading (its `mem_id`) above the main part of a page, if that has no title of its own.

    It is the last heading before that part with the page's name, or an `h1`: the beginning of an article (its
    title, a picture, a few lines) often stands outside the element of its text.
    """

    def is_title(heading: LexborNode) -> bool:
        words = " ".join(heading.text().split())
        return len(words) > _TITLE and words in name

    inside = {node.mem_id for node in main}
    titles = list[LexborNode]()
    for node in tree.css(", ".join({"h1", "h2", "h3", *(node.tag or "" for node in main)})):
        if node.mem_id not in inside:
            is_heading = node.tag in {"h1", "h2", "h3"} and not visibility.is_hidden(node)
            titles += [node] if is_heading and (node.tag == "h1" or is_title(node)) else []
        elif any(map(is_title, node.css("h1, h2, h3"))):
            break
        else:
            named = [*filter(is_title, titles)]
            found = named or ([] if node.css_first("h1") else titles)
            return found[-1].mem_id if found else None
    return None


def _part_with_prose(body: LexborNode, prose: Mapping[int, int]) -> LexborNode | None:
    """Return the smallest element with nearly all prose of a page; None where that is the page itself, or little prose."""
    whole = prose.get(body.mem_id, 0)
    part, least = body, whole * _ARTICLE_SHARE
    if whole < _LEAST_PROSE:
        return None
    while True:
        parts = (child for child in part.iter() if prose.get(child.mem_id, 0) >= least)
        child = next(parts, None)
        if child is None or child.tag in {"p", "table", "ul", "ol", "dl"}:
            return part if part.mem_id != body.mem_id else None
        part = child


def _measure_prose(body: LexborNode, visibility: Visibility) -> Mapping[int, int]:
    """Return for each element (by `mem_id`) how many letters of prose it holds, links apart."""
    prose = dict[int, int]()
    todo = [(body, False)]
    while todo:
        node, is_measured = todo.pop()
        if is_measured:
            letters = 0
            for child in node.iter(include_text=True):
                if not child.is_text_node:
                    letters += prose.get(child.mem_id, 0)
                elif (own := count_characters(child.text_content or "")) >= _PROSE:
                    letters += own
            prose[node.mem_id] = letters
        elif node.tag != "a" and not visibility.is_hidden(node):
            todo.append((node, True))
            todo.extend((child, False) for child in node.iter())
    return prose
