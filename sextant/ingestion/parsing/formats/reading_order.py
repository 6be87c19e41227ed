"""The order in which a reader takes in what stands side by side and one below the other on a slide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

# Boxes are drawn larger than their text, and by hand: they may overlap by so much of their length and stand apart.
_OVERLAP = 0.2
# Columns that are compared are about as wide as each other; beside a label stands something wider.
_ALIKE = 1.6
# What belongs to a heading stands nearer to it than so many times its height.
_CLOSE = 0.8


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; `top` grows downwards."""

    left: int
    top: int
    right: int
    bottom: int


def in_reading_order(items: Sequence[T], box_of: Callable[[T], Box]) -> list[T]:
    """Sort items as they are read (recursive XY-cut): row by row, but columns that are compared one after the other."""
    return [item for group in split_columns(items, box_of) for column in group for item in column]


def split_columns(items: Sequence[T], box_of: Callable[[T], Box]) -> Iterator[list[list[T]]]:
    """Yield what is read one after the other, each in its columns; several only where columns are compared."""
    rows = _cut(items, box_of, _down)
    start = 0
    while start < len(rows):
        end = _comparison_end(rows, start, box_of)
        together = [item for row in rows[start:end] for item in row]
        columns = _cut(together, box_of, _across)
        if len(columns) == 1:
            yield [sorted(together, key=lambda item: (box_of(item).top, box_of(item).left))]
        elif end - start > 1:
            yield [in_reading_order(column, box_of) for column in columns]
        else:
            yield from ([in_reading_order(column, box_of)] for column in columns)
        start = end


def _comparison_end(rows: Sequence[Sequence[T]], start: int, box_of: Callable[[T], Box]) -> int:
    """Return where the rows end that are columns of like width together: headings with what stands close below them."""
    width = len(_cut(rows[start], box_of, _across))
    end = start + 1
    while width > 1 and end < len(rows):
        columns = _cut([item for row in rows[start : end + 1] for item in row], box_of, _across)
        is_close = _is_close([*map(box_of, rows[end - 1])], [*map(box_of, rows[end])])
        if not is_close or len(columns) != width or not _are_alike(columns, box_of):
            break
        end += 1
    return end


def _is_close(above: Sequence[Box], below: Sequence[Box]) -> bool:
    gap = min(box.top for box in below) - max(box.bottom for box in above)
    return gap < _CLOSE * min(box.bottom - box.top for box in (*above, *below))


def _are_alike(columns: Sequence[Sequence[T]], box_of: Callable[[T], Box]) -> bool:
    """Return whether columns are about as wide as each other, and none reaches far into the next."""
    lefts = [min(box_of(item).left for item in column) for column in columns]
    rights = [max(box_of(item).right for item in column) for column in columns]
    widths = [right - left for left, right in zip(lefts, rights, strict=True)]
    overlaps = [right - left for right, left in zip(rights, lefts[1:], strict=False)]
    return max(widths) <= _ALIKE * min(widths) and max(overlaps) <= _OVERLAP * min(widths)


def _across(box: Box) -> tuple[int, int]:
    return box.left, box.right


def _down(box: Box) -> tuple[int, int]:
    return box.top, box.bottom


def _cut(
    items: Sequence[T], box_of: Callable[[T], Box], side: Callable[[Box], tuple[int, int]]
) -> list[list[T]]:
    """Part items where a straight line goes between them, along one direction, with some tolerance."""
    groups, end = list[list[T]](), 0.0
    for item in sorted(items, key=lambda item: side(box_of(item))):
        first, last = side(box_of(item))
        inset = _OVERLAP * (last - first)
        if groups and first + inset < end:
            groups[-1].append(item)
            end = max(end, last - inset)
        else:
            groups.append([item])
            end = last - inset
    return groups
