"""Plain text: paragraphs by blank lines, headings by their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from domain.documents import HeadingSource
from ingestion.blocks import Block, Blocks, Heading, Paragraph
from ingestion.encodings import decode
from ingestion.limits import Limits
from ingestion.lines import unwrap
from ingestion.numbering import could_be_heading, is_strong, number_rank

_BLANK_LINE = re.compile(r"\n[ \t\u3000]*\n\s*")


def parse(content: bytes, limits: Limits) -> Blocks:  # noqa: ARG001 - the protocol of parsers
    """Read a text file in any of the encodings of `ingestion.encodings`."""
    decoded = decode(content)
    warnings = (f"{decoded.damaged} unreadable characters",) if decoded.damaged else ()
    blocks = list(text_blocks(decoded.text))
    title = blocks[0].text if blocks and isinstance(blocks[0], Heading) else ""
    return Blocks(blocks, title, warnings=warnings, metadata={"encoding": decoded.encoding})


def text_blocks(text: str) -> Iterator[Block]:
    """Headings and paragraphs of plain text.

    A heading is a short line with a strong number (第三章, 一、, 3.1), or any numbered short line
    that stands alone between blank lines. A short first line that stands alone is the title.
    """
    groups = _BLANK_LINE.split(text.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))
    ranks = _levels(groups)
    for index, group in enumerate(groups):
        lines = [line for line in group.split("\n") if line.strip()]
        if index == 0 and len(lines) == 1 and len(groups) > 1 and _is_title(lines[0]):
            yield Heading(lines[0], 0, HeadingSource.INFERRED)
            continue
        yield from _group_blocks(lines, ranks)


def _group_blocks(lines: list[str], levels: dict[int, int]) -> Iterator[Block]:
    prose: list[str] = []
    for line in lines:
        rank = _heading_rank(line, alone=len(lines) == 1)
        if rank is None:
            prose.append(line)
            continue
        if prose:
            yield Paragraph("\n".join(unwrap(prose)))
            prose = []
        yield Heading(line, levels[rank], HeadingSource.INFERRED)
    if prose:
        yield Paragraph("\n".join(unwrap(prose)))


def _levels(groups: list[str]) -> dict[int, int]:
    """The levels 1, 2, … of the number ranks that this text's headings use."""
    used = set[int]()
    for group in groups:
        lines = [line for line in group.split("\n") if line.strip()]
        ranks = (_heading_rank(line, alone=len(lines) == 1) for line in lines)
        used.update(rank for rank in ranks if rank is not None)
    return {rank: level for level, rank in enumerate(sorted(used), start=1)}


def _heading_rank(line: str, *, alone: bool) -> int | None:
    rank = number_rank(line)
    return rank if (alone or is_strong(rank)) and could_be_heading(line) else None


def _is_title(line: str) -> bool:
    return could_be_heading(line) and number_rank(line) is None
