"""HTML to blocks: what a reader of the page reads, without its navigation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser

from sextant.domain.documents import HeadingSource
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph
from sextant.ingestion.parsing.encodings import META_CHARSET, decode
from sextant.ingestion.parsing.formats.html_main import find_main
from sextant.ingestion.parsing.formats.html_reader import Prose, Reader
from sextant.ingestion.parsing.formats.html_tables import Visibility
from sextant.ingestion.parsing.images import Load
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.lines import Styled, infer_levels
from sextant.ingestion.parsing.raised import write_raised
from sextant.ingestion.parsing.structure import Omissions

# Declarations that a page of XHTML brings along, which HTML does not know: its parser would end at the first ">".
_SUBSET = re.compile(
    r"(\A[^<]*(?:<\?[^>]*>[^<]*|<!--.*?-->[^<]*)*<!DOCTYPE[^>\[]*)"
    r"\[(?:<!--.*?-->|\"[^\"]*\"|'[^']*'|[^\]\"'])*\]",
    re.IGNORECASE | re.DOTALL,
)


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read an HTML page; of what stands outside its `<main>` or articles no menus, and no foot."""
    declared = META_CHARSET.search(content[:4096])
    decoded = decode(content, declared[1].decode("ascii") if declared else None)
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
    tree = LexborHTMLParser(_SUBSET.sub(r"\1", text, count=1))
    visibility, omissions = Visibility(tree), Omissions()
    body, title = tree.body, tree.css_first("title")
    main = {body.mem_id} if is_all and body else find_main(tree, visibility)
    reader = Reader(limits, visibility, main=main, omissions=omissions, load=load)
    blocks = _with_headings(reader.read(body) if body else [])
    name = " ".join(title.text().split()) if title else ""
    return Blocks(write_raised(blocks), name, warnings=omissions.warnings(), omissions=omissions)


def html_blocks(fragment: str, limits: Limits, omissions: Omissions) -> list[Block]:
    """Return blocks of a piece of HTML inside another format, and count in `omissions` what of it is left out."""
    return write_raised(fragment_blocks(fragment, limits, omissions))


def fragment_blocks(fragment: str, limits: Limits, omissions: Omissions) -> list[Block]:
    """Return blocks of a piece of HTML, what is raised in them still marked (see `raised`)."""
    tree = LexborHTMLParser(fragment)
    reader = Reader(limits, Visibility(tree), omissions=omissions)
    return [prose.block for prose in reader.read(tree.body)] if tree.body else []


def _with_headings(read: Sequence[Prose]) -> list[Block]:
    """Return the blocks; where the page marks no headings but its title, bold lines are its headings."""
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
