"""Read a file with Sextant, in the form that is compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.reading.markup import Grid, Reading, read_markdown
from sextant.ingestion.parsing.blocks import Block, Blocks, Caption, Paragraph, Table, TextKind
from sextant.ingestion.parsing.detect import FileType, detect
from sextant.ingestion.parsing.formats import parser_for
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.structure import build_structure

# Behind the words of a link; the other tools' Markdown is compared by the words alone.
_ADDRESS = re.compile(
    r" \((?:(?:https?|ftps?)://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*|[^\s()@]+@[^\s()@]+)\)",
    re.IGNORECASE,
)
_DITTO = "〃"  # stands in the stored text where a merged cell's words are repeated


def read_file(path: Path, limits: Limits) -> Reading:
    """Read a file as ingestion does, in this process."""
    content = path.read_bytes()
    file_type = detect(content, path.name)
    blocks: Blocks = parser_for(file_type)(content, limits)
    # Docling writes what reviewers say of slides and sheets, and not of texts.
    is_text = file_type is FileType.DOCX
    compared = [
        block
        for block in blocks.blocks
        if not (_is_caption(block) or (is_text and _is_comment(block)))
    ]
    structure = build_structure(compared)
    text = _ADDRESS.sub("", structure.text).replace(_DITTO, "")
    stored = read_markdown(text.replace("<", "&lt;"))  # what stands in angles is no tag
    return Reading(
        stored.text,
        [
            _ADDRESS.sub("", structure.text[one.heading.start : one.heading.end])
            for one in structure.sections
            if one.heading.end
        ],
        [_grid(block) for block in blocks.blocks if isinstance(block, Table)],
    )


def _is_caption(block: Block) -> bool:
    """Return whether a block is what a picture shows, which Markdown has in its link and the truth has not."""
    kind = block.kind if isinstance(block, Paragraph) else None
    return isinstance(block, Caption) or kind is TextKind.CAPTION


def _is_comment(block: Block) -> bool:
    return (
        isinstance(block, Paragraph)
        and block.kind is TextKind.NOTE
        and block.text.startswith(("Comment", "批注"))
    )


def _grid(table: Table) -> Grid:
    """Return the cells with their numbers: a place that only repeats has that of its neighbour to the left or above."""
    grid: Grid = []
    for at, row in enumerate(table.rows):
        grid.append([])
        for column, text in enumerate(row):
            owner = _owner(grid, at, column, text) if (at, column) in table.repeated else None
            grid[at].append(owner or (at * 1000 + column, _ADDRESS.sub("", text)))
    return grid


def _owner(
    grid: Sequence[Sequence[tuple[int, str]]], at: int, column: int, text: str
) -> tuple[int, str] | None:
    left = grid[at][column - 1] if column else None
    above = grid[at - 1][column] if at and column < len(grid[at - 1]) else None
    if left and left[1] == text:
        return left
    return above if above and above[1] == text else left
