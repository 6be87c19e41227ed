"""The positions of a document's text on the pages of its file: a box for each word, packed for storage.

Coordinates are shares of the page's width and height, so they fit a picture of any size: `x0`, `y0` is the upper left
corner of a box, `x1`, `y1` the lower right one; (0, 0) is the page's upper left corner.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, starmap
from operator import sub

import msgspec

_WHOLE = 10_000  # a share of 1 as it is stored
_BLOCK = 2000  # words in a block
_HEAD = struct.Struct("<II")


class PlacedText(msgspec.Struct, frozen=True, order=True, gc=False):
    """A word of a document's text, from `start` to `end`, and its box on a page (counted from 1)."""

    start: int
    end: int
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class PageBox:
    """A rectangle on a page (counted from 1), in shares of its width and height from the upper left corner."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


def pack_boxes(placed: Iterable[PlacedText]) -> bytes:
    """Return the boxes of a document's words as bytes; empty if there are none.

    The words are stored in blocks, in the order of the text. Each block is preceded by the start of its first word and
    its size in bytes, so a span is found without decompressing all. A block holds the starts and ends of its words,
    then their left and right sides, their upper and lower ones, and their pages, as compressed differences of
    neighbouring numbers (32 bits, little-endian).
    """
    words = sorted(placed)
    return b"".join(
        _pack_block(words[first : first + _BLOCK]) for first in range(0, len(words), _BLOCK)
    )


def find_boxes(packed: bytes, start: int, end: int) -> list[PageBox]:
    """Return the boxes around a span of the document's text: one for each line that it runs over, in reading order.

    Args:
        packed: what `pack_boxes` returned.
        start: first character of the span in the document's text.
        end: the character after its last one.
    """
    blocks = [*_blocks(packed)]
    next_starts = [*(begin for begin, _ in blocks[1:]), math.inf]
    words = (
        word
        for (begin, block), following in zip(blocks, next_starts, strict=False)
        if begin < end and following > start
        for word in _unpack(block)
        if word.start < end and word.end > start
    )
    return _join(_cut(word, start, end) for word in words)


def _pack_block(words: Sequence[PlacedText]) -> bytes:
    spans = chain.from_iterable((word.start, word.end) for word in words)
    across = chain.from_iterable((word.x0, word.x1) for word in words)
    down = chain.from_iterable((word.y0, word.y1) for word in words)
    sides = [*chain(across, down)]
    if min(sides) < 0 or max(sides) > 1:
        sides = [min(max(side, 0), 1) for side in sides]
    shares = [int(side * _WHOLE + 0.5) for side in sides]
    numbers = [*spans, *shares, *(word.page for word in words)]
    differences = map(sub, numbers, chain([0], numbers))
    block = zlib.compress(struct.pack(f"<{len(numbers)}i", *differences), level=1)
    return _HEAD.pack(words[0].start, len(block)) + block


def _blocks(packed: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each block with the start of its first word."""
    at = 0
    while at < len(packed):
        start, size = _HEAD.unpack_from(packed, at)
        at += _HEAD.size + size
        yield start, packed[at - size : at]


def _unpack(block: bytes) -> Iterator[PlacedText]:
    plain = zlib.decompress(block)
    numbers = [*accumulate(struct.unpack(f"<{len(plain) // 4}i", plain))]
    count = len(numbers) // 7  # start, end, four sides and the page of each word
    spans, pages = numbers[: 2 * count], numbers[6 * count :]
    shares = [number / _WHOLE for number in numbers[2 * count : 6 * count]]
    across, down = shares[: 2 * count], shares[2 * count :]
    columns = spans[::2], spans[1::2], pages, across[::2], down[::2], across[1::2], down[1::2]
    yield from starmap(PlacedText, zip(*columns, strict=True))


def _cut(word: PlacedText, start: int, end: int) -> PageBox:
    """Return the part of a word's box within the span, as if all characters were equally wide.

    A word that is taller than wide is written vertically; its whole box is returned.
    """
    if word.y1 - word.y0 > word.x1 - word.x0:
        return PageBox(word.page, word.x0, word.y0, word.x1, word.y1)
    length, width = word.end - word.start, word.x1 - word.x0
    left = word.x0 + width * max(0, start - word.start) / length
    right = word.x1 - width * max(0, word.end - end) / length
    return PageBox(word.page, left, word.y0, right, word.y1)


def _join(boxes: Iterable[PageBox]) -> list[PageBox]:
    """Return one box for boxes that follow each other on one line."""
    lines = list[PageBox]()
    for box in boxes:
        if lines and _go_together(lines[-1], box):
            lines[-1] = _unite(lines[-1], box)
        else:
            lines.append(box)
    return lines


def _go_together(one: PageBox, other: PageBox) -> bool:
    """Return whether two boxes lie on one line: half of the lower one is beside the other, with no gap as of columns."""
    height = min(one.y1 - one.y0, other.y1 - other.y0)
    shared = min(one.y1, other.y1) - max(one.y0, other.y0)
    gap = max(one.x0, other.x0) - min(one.x1, other.x1)
    return one.page == other.page and shared > 0.5 * height and gap < 4 * height


def _unite(one: PageBox, other: PageBox) -> PageBox:
    return replace(
        one,
        x0=min(one.x0, other.x0),
        y0=min(one.y0, other.y0),
        x1=max(one.x1, other.x1),
        y1=max(one.y1, other.y1),
    )
