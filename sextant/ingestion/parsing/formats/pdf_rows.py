"""Arrange the lines of a PDF page as they are read: columns drawn row by row, table rows, blocks drawn in another order."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby, pairwise

from msgspec.structs import replace

from sextant.ingestion.parsing.formats.pdf_lines import (
    COLUMN_LINES,
    COLUMN_WIDTH,
    SAME_ROW,
    PdfBox,
    PdfLine,
    is_prose,
    unite,
    words_of,
)
from sextant.ingestion.parsing.formats.pdf_tables import PageTable
from sextant.ingestion.parsing.lines import width

_DOTS = re.compile(r"(?:[.…·．_]\s?){4}")
_LEADERS = re.compile(r"(.*?[^\s.…·．_])\s*(?:[.…·．_]\s?){4,}\s*(\S.{0,40})")
# The number or the bullet that a line begins with, set off by a tab.
_ITEM_MARK = re.compile(
    r"[^\w\s]{1,2}|[(（\[]?\w{1,4}[.)）、\]]|(?:§\s?)?\d{1,3}(?:\.\d{1,3})*\.?|第.{1,5}"
)

Item = PdfLine | PageTable


def rows_of(lines: Sequence[PdfLine]) -> list[list[PdfLine]]:
    """Group lines that follow each other at one height."""
    rows = list[list[PdfLine]]()
    for line in lines:
        if rows and _stand_side_by_side(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def is_item(row: Sequence[PdfLine]) -> bool:
    """Return whether a row is a list item with its mark in a column of its own."""
    return len(row) == 2 and _ITEM_MARK.fullmatch(row[0].text) is not None


def arrange(items: Sequence[Item]) -> list[Item]:
    """Put columns that are drawn row by row one after the other, and make one line of each table row."""
    arranged = list[Item]()
    for is_line, run in groupby(items, key=lambda item: isinstance(item, PdfLine)):
        if not is_line:
            arranged += run
            continue
        lines = columns_in_order([item for item in run if isinstance(item, PdfLine)])
        rows = [sorted(row, key=lambda line: line.box.left) for row in rows_of(lines)]
        for at, row in enumerate(rows):
            if len(row) == 1:
                arranged.append(_without_leaders(row[0]))
            else:
                adjacent = [*rows[max(at - 1, 0) : at], *rows[at + 1 : at + 2]]
                is_alone = all(len(other) == 1 for other in adjacent)
                arranged.append(_one_line(row, is_alone=is_alone))
    return arranged


def _stand_side_by_side(left: PdfLine, right: PdfLine, reach: float = SAME_ROW) -> bool:
    """Return whether both stand at one height; `reach`: in sizes of letters, as columns are seldom level."""
    if not (left.rightward and right.rightward):
        return False
    return abs(left.base - right.base) < reach * max(left.size, right.size)


def columns_in_order(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Return the lines column by column where they are drawn row by row.

    The page is split at the gap of most rows with two long lines; a line across this gap stands above all that
    is below.
    """
    # Of a scan, the line at the right may stand a little higher and so come first.
    pairs = [
        (left, right)
        for left, right in (
            sorted(pair, key=lambda line: line.box.left) for pair in pairwise(lines)
        )
        if left.box.right < right.box.left
        and _stand_side_by_side(left, right, reach=1.0)
        and min(width(left.text), width(right.text)) >= COLUMN_WIDTH
    ]
    gap = _common_gap(pairs)
    if gap is None:
        return list(lines)
    across = sorted(
        (line for line in lines if line.box.left < gap < line.box.right),
        key=lambda line: -line.base,
    )
    heights = [-line.base for line in across]
    bands = defaultdict[int, tuple[list[PdfLine], list[PdfLine]]](lambda: ([], []))
    for line in lines:
        if not line.box.left < gap < line.box.right:
            bands[bisect_left(heights, -line.base)][line.box.left >= gap].append(line)
    ordered = list[PdfLine]()
    for at in range(len(across) + 1):
        left_side, right_side = bands[at]
        ordered += [
            *columns_in_order(left_side),
            *columns_in_order(right_side),
            *across[at : at + 1],
        ]
    return ordered


def _common_gap(pairs: Sequence[tuple[PdfLine, PdfLine]]) -> float | None:
    """Return a place between the lines of most pairs, if those make columns of text."""
    if len(pairs) < COLUMN_LINES:
        return None
    middles = [(left.box.right + right.box.left) / 2 for left, right in pairs]
    parted = {
        middle: [(left, right) for left, right in pairs if left.box.right < middle < right.box.left]
        for middle in middles
    }
    best = max(parted, key=lambda middle: len(parted[middle]))
    columns = zip(*parted[best], strict=True)
    return best if all(map(is_prose, columns)) else None


def _without_leaders(line: PdfLine) -> PdfLine:
    """Return a title and its value as a row; a line without leaders as it is."""
    found = _LEADERS.fullmatch(line.text) if _DOTS.search(line.text) else None
    if not found:
        return line
    whole = replace(line.runs[0], text=" ".join(found.groups()), words=words_of([line]))
    return replace(line, runs=(whole,), is_row=True)


def _one_line(row: Sequence[PdfLine], *, is_alone: bool) -> PdfLine:
    """Return a row as one line: of a table, or of text where it stands alone or begins with a list item's mark."""
    longest = max(row, key=lambda line: len(line.text))
    runs = [run for line in row for run in (replace(line.runs[0], space=True), *line.runs[1:])]
    return replace(
        longest,
        box=unite(line.box for line in row),
        bold=all(line.bold for line in row),
        runs=tuple(runs),
        is_row=not is_item(row) and (len(row) > 2 or not is_alone),
    )


_FAR = 3.0  # times a line's height: a line further below begins a block of its own
_MOST_BLOCKS = 300  # of a page: maps and plans have more


def in_order(lines: Sequence[PdfLine], tables: Sequence[PageTable]) -> list[Item]:
    """Return lines and tables in reading order; a table has the place of its first line."""
    taken = frozenset[int]().union(*(table.lines for table in tables))
    first = {min(table.lines): table for table in tables}
    kept = [at for at in range(len(lines)) if at in first or at not in taken]
    boxes = [
        unite(lines[one].box for one in first[at].lines) if at in first else lines[at].box
        for at in kept
    ]
    items = [first.get(at, lines[at]) for at in kept]
    return [items[place] for place in in_reading_order(boxes)]


def in_reading_order(boxes: Sequence[PdfBox]) -> list[int]:
    """Return the indices of boxes in reading order.

    Programs draw a page block by block, mostly in reading order. A block that stands above another and is drawn after it is
    read before it.

    Args:
        boxes: the lines and tables of a page in the order in which they are drawn.
    """
    blocks, block_boxes = list[list[int]](), list[PdfBox]()
    for place, box in enumerate(boxes):
        last = boxes[place - 1]
        line = min(last.height, box.height)
        is_near = last.bottom - box.top <= _FAR * line
        # It goes on below the one before, or beside it.
        if blocks and is_near and box.y <= last.top:
            blocks[-1].append(place)
            block_boxes[-1] = unite((block_boxes[-1], box))
        else:
            blocks.append([place])
            block_boxes.append(box)
    if len(blocks) > _MOST_BLOCKS:
        return [*range(len(boxes))]
    order, visited = list[int](), set[int]()

    def read(block: int) -> None:
        if block in visited:
            return
        visited.add(block)
        own = block_boxes[block]
        for other, box in enumerate(block_boxes):
            is_over = box.left < own.right and own.left < box.right
            if is_over and box.y > own.top:
                read(other)
        order.extend(blocks[block])

    for block in range(len(blocks)):
        read(block)
    return order
