"""The result of OCR on a page: lines with their places and confidence, set upright."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import Any, Self

from sextant.domain.warnings import CodedWarning

Point = tuple[float, float]

OCR_EDGE = 2000
"""Pixels of a picture's longest edge that OCR looks at."""

_LEVEL = 0.3  # degrees: below, a page counts as straight
_LONG = 3.0  # times as wide as high: lines that tell how a page leans
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
    ends = [line.corners[:2] for line in long or lines]
    slopes = [math.atan2(bottom - top, right - left) for (left, top), (right, bottom) in ends]
    angle = median(slopes) if slopes else 0.0
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
