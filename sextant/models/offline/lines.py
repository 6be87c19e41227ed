"""Lines of a passage: how far they are indented, and their marks as items of lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sextant.models.offline.passages import FENCE, NUMBERED

# So many items, or lines of code, an answer may have.
MOST_ITEMS = 12
_MARK = re.compile(rf"[ \t]*(?:[-*+•·]\s+|{NUMBERED})(?=\S)")
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank, `text` without the white space around it.

    Attributes:
        start: where it begins, white space left out.
        end: behind its last sign.
        indent: how much white space stands before it.
        text: what stands there.
        begins: where it begins behind its mark, if it has one.
    """

    start: int
    end: int
    indent: int
    text: str
    begins: int

    @property
    def is_marked(self) -> bool:
        """Return whether it is an item of a list."""
        return self.begins > self.start

    @property
    def is_fence(self) -> bool:
        """Return whether it begins or ends code."""
        return self.text.startswith(FENCE)

    @property
    def said(self) -> str:
        """Return what it says behind its mark."""
        return self.text[self.begins - self.start :]


@dataclass(frozen=True, slots=True)
class Listing:
    """A list, or lines of code.

    Attributes:
        introduction: start and end of the sentence that introduces it; None where none does.
        items: start and end of each item without its mark, or of each line of code, in their order.
    """

    introduction: tuple[int, int] | None
    items: tuple[tuple[int, int], ...]

    def holds(self, place: int) -> bool:
        """Return whether what begins at `place` is of one of the items."""
        return any(start <= place < end for start, end in self.items)


def lines_of(text: str) -> list[Line]:
    """Return the lines of `text` that are not blank."""
    return [_line(match) for match in _LINE.finditer(text) if match[0].strip()]


def items_of(lines: Sequence[tuple[Line, int]]) -> tuple[tuple[int, int], ...]:
    """Return items of a list by their lines and ends; of many only those that are indented least."""
    least = min((line.indent for line, _ in lines), default=0)
    few = len(lines) <= MOST_ITEMS
    return tuple((line.begins, end) for line, end in lines if few or line.indent == least)


def _line(match: re.Match[str]) -> Line:
    whole = match[0]
    stripped = whole.strip()
    start = match.start() + whole.index(stripped)
    mark = _MARK.match(whole)
    begins = match.start() + mark.end() if mark else start
    return Line(start, start + len(stripped), start - match.start(), stripped, begins)
