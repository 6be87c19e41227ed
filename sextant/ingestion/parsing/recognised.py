"""What OCR reads on a page: lines with their places and confidence, set upright and in reading order."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import Any, Self

from sextant.domain.warnings import CodedWarning
from sextant.ingestion.parsing.lines import width

Point = tuple[float, float]

OCR_EDGE = 2000
"""Pixels of a picture's longest edge that OCR looks at."""

_LEVEL = 0.3  # degrees: below, a page counts as straight
_LONG = 3.0  # times as wide as high: lines that tell how a page leans
_SAME_ROW = 0.5  # of their height: how far the middles of lines of one row lie apart
_PARTED = 1.5  # of their height: how far the middles of lines lie apart where one does not go on the other, at least
_COLUMN_LINES = 3  # at least, of a column of text
_COLUMN_WIDTH = 18  # characters of its usual line, at least
_EVEN = 1.7  # times as long or as short as the usual line of a column
_MOST = 0.6  # of the characters of a column
_SIDEWAYS = 2.0  # times as high as wide: lines that run up or down the page


@dataclass(frozen=True)
class OcrLine:
    """A line, its confidence from 0 to 1, and its corners clockwise from the upper left one.

    Places are in the page's units (points of a PDF, pixels of an image) from its upper left corner. `shown` are its
    corners on the page as it is shown, where `corners` are those on the page as one holds it to read.
    """

    text: str
    confidence: float
    corners: tuple[Point, ...]
    shown: tuple[Point, ...] = ()

    @cached_property
    def box(self) -> tuple[float, float, float, float]:
        """Return the left, upper, right and lower edge of the smallest upright box around it."""
        xs, ys = zip(*self.corners, strict=True)
        return min(xs), min(ys), max(xs), max(ys)

    @cached_property
    def height(self) -> float:
        """Return how high it is, along its own side."""
        return math.dist(self.corners[0], self.corners[3])

    @property
    def is_sideways(self) -> bool:
        """Return whether it runs up or down the page."""
        left, top, right, bottom = self.box
        return len(self.text) > 1 and bottom - top > _SIDEWAYS * (right - left)

    @cached_property
    def middle(self) -> float:
        """Return the height of its middle on the page."""
        return sum(y for _, y in self.corners) / len(self.corners)


@dataclass(frozen=True, slots=True)
class OcrPage:
    """What OCR reads on a page. `turn`: degrees by which it is to be turned clockwise to be read.

    `unsure`: lines that were left out because nothing certain could be read in them.
    """

    width: float
    height: float
    lines: tuple[OcrLine, ...] = ()
    turn: int = 0
    unsure: int = 0

    @property
    def confidence(self) -> float:
        """Return the usual confidence of its characters, from 0 to 1; 1 of a page without text."""
        characters = sum(len(line.text) for line in self.lines)
        if not characters:
            return 1.0
        return sum(line.confidence * len(line.text) for line in self.lines) / characters

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return a page as `to_json` gave it."""
        lines = tuple(
            OcrLine(text, confidence, tuple(zip(places[::2], places[1::2], strict=True)))
            for text, confidence, *places in stored["lines"]
        )
        width, height = stored["size"]
        return cls(width, height, lines, stored["turn"], stored["unsure"])

    def to_json(self) -> dict[str, Any]:
        """Return the page as JSON holds it."""
        lines = [
            [line.text, line.confidence, *(place for corner in line.corners for place in corner)]
            for line in self.lines
        ]
        size = [self.width, self.height]
        return {"size": size, "turn": self.turn, "unsure": self.unsure, "lines": lines}

    def upright(self) -> OcrPage:
        """Return the page as one holds it to read: turned, and its lines level."""
        page = self
        if self.turn in {90, 270}:
            page = replace(page, width=self.height, height=self.width)
        turned = [_turn_line(line, self) for line in self.lines]
        return replace(page, turn=0, lines=tuple(_level(turned)))


def _turn_line(line: OcrLine, page: OcrPage) -> OcrLine:
    """Return a line where it is on the page that is turned, its corners from the upper left one on again."""
    shown = line.corners
    match page.turn:
        case 90:
            corners = [(page.height - y, x) for x, y in line.corners]
        case 180:
            corners = [(page.width - x, page.height - y) for x, y in line.corners]
        case 270:
            corners = [(y, page.width - x) for x, y in line.corners]
        case _:
            return replace(line, shown=shown)
    steps = page.turn // 90
    return replace(
        line,
        corners=(*corners[-steps:], *corners[:-steps]),
        shown=(*shown[-steps:], *shown[:-steps]),
    )


def _level(lines: Sequence[OcrLine]) -> Sequence[OcrLine]:
    """Turn lines that lean alike back, around the page's corner."""
    long = [line for line in lines if line.box[2] - line.box[0] > _LONG * line.height]
    angle = median(map(_slope, long or lines)) if lines else 0.0
    if abs(math.degrees(angle)) < _LEVEL:
        return lines
    cosine, sine = math.cos(-angle), math.sin(-angle)
    return [
        replace(
            line,
            corners=tuple((x * cosine - y * sine, x * sine + y * cosine) for x, y in line.corners),
        )
        for line in lines
    ]


def _slope(line: OcrLine) -> float:
    (left, top), (right, bottom), *_ = line.corners
    return math.atan2(bottom - top, right - left)


@dataclass(frozen=True, slots=True)
class Recognised:
    """What OCR read: pages as `OcrPage.to_json` gives them, by number or sha256, and what it did not read."""

    pages: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    warnings: tuple[CodedWarning, ...] = ()


def page_ranges(numbers: Iterable[int]) -> str:
    """Return numbers of pages as one writes them: "2, 5–7"."""
    runs = list[list[int]]()
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if run[1:] else str(run[0]) for run in runs)


def in_reading_order(lines: Sequence[OcrLine]) -> list[list[OcrLine]]:
    """Return the rows of an upright page in the order in which they are read, each from left to right.

    Columns of text are read one after the other. What goes across the gap between them is read after all that is above
    it; cells of a table stay together in their rows. What runs up or down the page comes last.
    """
    sideways = [line for line in lines if line.is_sideways]
    return _in_order([line for line in lines if not line.is_sideways]) + [
        [line] for line in sideways
    ]


def _in_order(lines: Sequence[OcrLine]) -> list[list[OcrLine]]:
    gap = _gap_between_columns(lines)
    if gap is None:
        return _rows(lines)
    across = sorted((line for line in lines if _crosses(line, gap)), key=lambda line: line.middle)
    heights = [line.middle for line in across]
    bands = defaultdict[int, tuple[list[OcrLine], list[OcrLine]]](lambda: ([], []))
    for line in lines:
        if not _crosses(line, gap):
            bands[bisect_right(heights, line.middle)][line.box[0] >= gap].append(line)
    ordered = list[list[OcrLine]]()
    for at in range(len(across) + 1):
        ordered += _side_by_side(*bands[at])
        ordered += [[line] for line in across[at : at + 1]]
    return ordered


def _crosses(line: OcrLine, gap: float) -> bool:
    left, _, right, _ = line.box
    return left < gap < right


def _side_by_side(left: Sequence[OcrLine], right: Sequence[OcrLine]) -> list[list[OcrLine]]:
    """Return the rows of two columns, the left one first, but for what stands above or below both."""
    above, right = _part(right, left, -1)
    below, left = _part(left, right, 1)
    return [*_rows(above), *_in_order(left), *_in_order(right), *_rows(below)]


def _part(
    lines: Sequence[OcrLine], others: Sequence[OcrLine], side: int
) -> tuple[list[OcrLine], list[OcrLine]]:
    """Part what stands below the others (`side` 1) or above them (-1) and does not go on its column from the rest."""
    reach = max((side * line.middle for line in others), default=math.inf)
    outer = [line for line in lines if side * line.middle > reach + line.height]
    inner = [line for line in lines if side * line.middle <= reach + line.height]
    if not outer or not inner:
        return [], [*lines]
    gap = min(side * line.middle for line in outer) - max(side * line.middle for line in inner)
    is_parted = gap > _PARTED * median(line.height for line in outer)
    return (outer, inner) if is_parted else ([], [*lines])


def _rows(lines: Sequence[OcrLine]) -> list[list[OcrLine]]:
    rows = list[list[OcrLine]]()
    for line in sorted(lines, key=lambda line: line.middle):
        last = rows[-1] if rows else []
        if last and all(_are_level(line, one) for one in last):
            last.append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.box[0]) for row in rows]


def _are_level(line: OcrLine, other: OcrLine) -> bool:
    """Return whether lines stand side by side in one row."""
    shared = min(line.box[2], other.box[2]) - max(line.box[0], other.box[0])
    return abs(line.middle - other.middle) < _SAME_ROW * min(
        line.height, other.height
    ) and shared < _SAME_ROW * min(_length(line), _length(other))


def _gap_between_columns(lines: Sequence[OcrLine]) -> float | None:
    """Return where two columns of text are parted, if the lines are set in columns."""
    best, most = None, 0
    for edge in _left_edges(lines):
        left = [line for line in lines if line.box[2] <= edge]
        right = [line for line in lines if line.box[0] >= edge]
        if len(left) + len(right) <= most or not (_is_text(left) and _is_text(right)):
            continue
        if min(_count_level(left, right), _count_level(right, left)) >= _COLUMN_LINES:
            best, most = edge, len(left) + len(right)
    if best is None:
        return None
    return (max(line.box[2] for line in lines if line.box[2] <= best) + best) / 2


def _left_edges(lines: Sequence[OcrLine]) -> list[float]:
    """Return where lines begin below one another, except the leftmost place."""
    lefts = sorted(line.box[0] for line in lines)
    near = median(line.height for line in lines) if lines else 0.0
    return [
        left
        for at, left in enumerate(lefts[: 1 - _COLUMN_LINES])
        if at
        and left - lefts[at - 1] > near / 2
        and lefts[at + _COLUMN_LINES - 1] - left < 2 * near
    ]


def _count_level(lines: Sequence[OcrLine], others: Sequence[OcrLine]) -> int:
    """Count the lines that stand within the height that the others take up."""
    top, bottom = min(line.middle for line in others), max(line.middle for line in others)
    return sum(top - line.height <= line.middle <= bottom + line.height for line in lines)


def _is_text(lines: Sequence[OcrLine]) -> bool:
    """Return whether most of the characters of lines are in words, and in lines that are long and about as long."""
    characters = sum(len(line.text) for line in lines)
    letters = sum(char.isalpha() for line in lines for char in line.text)
    usual = median([_length(line) for line in lines for _ in line.text] or [0.0])
    even = [
        line
        for line in lines
        if width(line.text) >= _COLUMN_WIDTH and usual / _EVEN <= _length(line) <= usual * _EVEN
    ]
    return (
        len(even) >= _COLUMN_LINES
        and sum(len(line.text) for line in even) >= _MOST * characters
        and letters >= _MOST * characters
    )


def _length(line: OcrLine) -> float:
    return line.box[2] - line.box[0]
