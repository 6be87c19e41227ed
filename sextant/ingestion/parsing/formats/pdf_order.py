"""Find the reading order of a PDF page where its parts are drawn in another order."""

from __future__ import annotations

from collections.abc import Sequence

from sextant.ingestion.parsing.formats.pdf_lines import PdfBox, unite

_FAR = 3.0  # times a line's height: a line further below begins a block of its own
_MOST_BLOCKS = 300  # of a page: maps and plans have more


def in_reading_order(boxes: Sequence[PdfBox]) -> list[int]:
    """Return the indices of boxes in reading order.

    Programs draw a page block by block, mostly in reading order. A block that stands above another and is drawn after it is
    read before it.

    Args:
        boxes: the lines and tables of a page in the order in which they are drawn.
    """
    blocks, around = list[list[int]](), list[PdfBox]()
    for place, box in enumerate(boxes):
        if blocks and _goes_on(boxes[place - 1], box):
            blocks[-1].append(place)
            around[-1] = unite((around[-1], box))
        else:
            blocks.append([place])
            around.append(box)
    if len(blocks) > _MOST_BLOCKS:
        return [*range(len(boxes))]
    order, asked = list[int](), set[int]()

    def read(block: int) -> None:
        if block in asked:
            return
        asked.add(block)
        for other, box in enumerate(around):
            if _is_above(box, around[block]):
                read(other)
        order.extend(blocks[block])

    for block in range(len(blocks)):
        read(block)
    return order


def _goes_on(last: PdfBox, box: PdfBox) -> bool:
    """Return whether a box that is drawn next to another goes on below it, or beside it."""
    line = min(last.top - last.bottom, box.top - box.bottom)
    return last.bottom - box.top <= _FAR * line and (box.bottom + box.top) / 2 <= last.top


def _is_above(box: PdfBox, other: PdfBox) -> bool:
    """Return whether a box stands above another, and not beside it."""
    is_over = box.left < other.right and other.left < box.right
    return is_over and (box.bottom + box.top) / 2 > other.top
