"""Lines of text on a PDF page, joined from pieces, with their boxes and runs of characters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import repeat
from statistics import median
from typing import NamedTuple, Protocol

import msgspec
from msgspec.structs import force_setattr, replace

from sextant.ingestion.parsing.blocks import Word
from sextant.ingestion.parsing.lines import width
from sextant.ingestion.parsing.raised import mark_lowered, mark_raised

# Letters that are as wide as high and others each by themselves, so that characters of a word are about as wide.
BOXED = re.compile(
    "[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]+"
    r"|[^\s\x02\ufffe\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]+[\x02\ufffe]?|[\x02\ufffe]"
)
FILLER = "\u2060"
"""Stands for an accent that is one character with its letter, so that indices stay."""
_COULD_BE_SHIFTED = re.compile(r"\d+|[*†‡§¶]+|(?<=\d)[a-z]\b|[a-z](?=,[a-z*†‡§¶\d])")
# In sizes of letters: a step back; the gap up to which a line goes on, and that of a blank.
BACK, _WORD_GAP, _SPACE = 0.5, 1.0, 0.15
# In sizes of letters, too: how far raised and lowered characters are from the line, at least and at most.
_RISE, _FALL, _REACH = 0.15, 0.08, 0.8
SAME_ROW = 0.5  # of the size of letters: how far lines of one row stand from one height, at most
COLUMN_LINES = 3  # at least, of a column of text
COLUMN_WIDTH = 18  # characters of its usual line, at least
_EVEN = 0.7  # of the longest line: the usual one of a column of text
_LETTERS = 0.6  # of its characters, at least
# Times the usual size: sizes between are one, and beyond them sizes are told apart by steps.
_LOWEST, _HIGHEST, _STEP = 0.75, 1.3, 0.25
SMALL = 0.86  # of the size of the line's letters, at most: raised and lowered characters


# Of a word: left side, the character behind, right side; lower and upper side of its first character and of its last one.
WordSpan = tuple[float, int, float, float, float, float, float]


class PdfBox(NamedTuple):
    """A rectangle in PDF points; `bottom` < `top`, the origin is the page's lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def width(self) -> float:
        """Return how wide it is."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Return how high it is."""
        return self.top - self.bottom

    @property
    def x(self) -> float:
        """Return where its middle is between left and right."""
        return (self.left + self.right) / 2

    @property
    def y(self) -> float:
        """Return where its middle is between bottom and top."""
        return (self.bottom + self.top) / 2


class PdfWord(msgspec.Struct, frozen=True):
    """A word of a line, where it begins and ends, where it stands, and what the page shows of it.

    `space`: how wide blanks beside it may be.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    space: float
    shown: Sequence[Word]


class Shift(Enum):
    """Whether characters stand on the line, above or below it; `write` marks their text so."""

    NONE = 0
    RAISED = 1
    LOWERED = -1

    def write(self, text: str) -> str:
        """Return the text, marked, and without what fills places."""
        text = text.replace(FILLER, "")
        match self:
            case Shift.RAISED:
                return mark_raised(text)
            case Shift.LOWERED:
                return mark_lowered(text)
        return text


class TextRun(msgspec.Struct, frozen=True):
    """Characters of the page from `start` to `end` that stand at one height, and the words that begin in them.

    `space`: a blank comes before.
    """

    start: int
    end: int
    text: str
    shift: Shift = Shift.NONE
    space: bool = False
    words: Sequence[Word] = ()


class PdfLine(msgspec.Struct, frozen=True, eq=False):
    """A line of text, or what stands of it up to a wide gap. `base` is where its letters stand.

    `is_row`: it holds the cells of a table's row, or a title, leaders and a value. `slanted`: its letters
    neither stand upright nor lie. `rightward`: they stand upright, and go from left to right.
    """

    page: int
    box: PdfBox
    size: float
    base: float
    runs: tuple[TextRun, ...]
    bold: bool = False
    mono: bool = False
    slanted: bool = False
    rightward: bool = True
    is_row: bool = False
    text: str = ""  # what its runs say

    def __post_init__(self) -> None:
        if len(self.runs) == 1:
            text = self.runs[0].shift.write(self.runs[0].text)
        else:
            parts = ((" " if run.space else "") + run.shift.write(run.text) for run in self.runs)
            text = "".join(parts).strip()
        force_setattr(self, "text", text)


class WordPage(Protocol):
    """A page, drawn by a program or read by OCR, that knows where the words of its lines stand."""

    number: int

    def words(self, line: PdfLine) -> Sequence[PdfWord]:
        """Return the words of a line from left to right."""
        ...


def words_of(lines: Iterable[PdfLine]) -> tuple[Word, ...]:
    """Return the words of lines in order."""
    return tuple(word for line in lines for run in line.runs for word in run.words)


def usual_size(lines: Iterable[PdfLine]) -> float:
    """Return the size of most letters."""
    sizes = Counter[float]()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def level_size(size: float, usual: float) -> float:
    """Return a size that OCR measured, those near the usual one as that: lines have tall letters or none."""
    if _LOWEST * usual < size < _HIGHEST * usual:
        return usual
    return usual * max(_STEP, round(size / usual / _STEP) * _STEP)


def find_shift(rise: float, size: float) -> Shift:
    """Return whether letters of that size that stand so much higher are raised or lowered."""
    if rise > _RISE * size:
        return Shift.RAISED
    return Shift.LOWERED if rise < -_FALL * size else Shift.NONE


def find_shiftable(text: str, starts: Sequence[int], spans: Sequence[WordSpan]) -> list[int]:
    """Return the places of figures and signs, and of the lower end of each word that has one."""
    found = {
        at
        for shifted in _COULD_BE_SHIFTED.finditer(text)
        for at in (shifted.start(), shifted.end() - 1)
    }
    for start, (_, behind, _, low, high, low2, high2) in zip(starts, spans, strict=False):
        first, last = high - low, high2 - low2
        if last < SMALL * first:
            found.add(behind - 1)
        elif first < SMALL * last and text[start].isalnum():
            found.add(start)
    return sorted(found)


def insert_fields(lines: Sequence[PdfLine], fields: Iterable[PdfLine]) -> list[PdfLine]:
    """Insert form fields behind their labels (at the left, else above), and ticks before the text that they tick."""
    placed = list(lines)
    for one in fields:
        same_line = [line for line in placed if abs(line.base - one.base) < _REACH * line.size]
        left = [line for line in same_line if line.box.left <= one.box.left]
        right = [line for line in same_line if line.box.left > one.box.left]
        above = [
            line
            for line in placed
            if line.box.bottom >= one.box.bottom
            and line.box.left <= one.box.right
            and line.box.right >= one.box.left
        ]
        if right and not (left and any(map(str.isalnum, one.text))):
            label = min(right, key=lambda line: line.box.left)
            placed.insert(placed.index(label), replace(one, base=label.base))
        elif left:
            label = max(left, key=lambda line: line.box.left)
            placed.insert(placed.index(label) + 1, replace(one, base=label.base))
        elif above:
            label = min(above, key=lambda line: line.box.bottom)
            placed.insert(placed.index(label) + 1, one)
        else:
            placed.append(one)
    return placed


def join_pieces(pieces: Iterable[PdfLine]) -> list[PdfLine]:
    """Join lines that PDFium splits at raised and lowered characters."""
    lines = list[PdfLine]()
    for piece in pieces:
        joined = _join_lines(lines[-1], piece) if lines else None
        if joined:
            lines[-1] = joined
        else:
            lines.append(piece)
    return lines


def _join_lines(line: PdfLine, piece: PdfLine) -> PdfLine | None:
    """Return both as one line, if `piece` goes on where `line` ends."""
    size = max(line.size, piece.size)
    gap = piece.box.left - line.box.right
    rise = piece.base - line.base
    is_gap = not -BACK * size <= gap <= _WORD_GAP * size or abs(rise) > _REACH * size
    if is_gap or not (line.rightward and piece.rightward):
        return None
    small, large = sorted((line, piece), key=lambda one: one.size)
    shift = Shift.NONE
    if small.size < SMALL * large.size:
        shift = find_shift(small.base - large.base, large.size)
    if shift is Shift.NONE and abs(rise) > _FALL * size:
        return None
    space = gap > _SPACE * size or piece.runs[0].space
    runs = [list(line.runs), [replace(piece.runs[0], space=space), *piece.runs[1:]]]
    if shift is not Shift.NONE:
        side = 0 if small is line else 1
        runs[side] = [replace(run, shift=shift, space=False) for run in runs[side]]
    leading = large if shift is not Shift.NONE else max(line, piece, key=lambda one: len(one.text))
    return replace(
        leading,
        box=unite((line.box, piece.box)),
        bold=leading.bold if shift is not Shift.NONE else line.bold and piece.bold,
        runs=(*runs[0], *runs[1]),
    )


def is_prose(column: Sequence[PdfLine]) -> bool:
    """Return whether lines are prose: full lines of words."""
    if len(column) < COLUMN_LINES:
        return False
    text = "".join(line.text for line in column)
    letters = sum(map(str.isalpha, text))
    chars = [one for line in column for one in repeat(width(line.text), len(line.text))]
    widths = [line.box.width for line in column for _ in line.text]
    return (
        median(chars) >= COLUMN_WIDTH
        and median(widths) >= _EVEN * max(widths)
        and letters >= _LETTERS * len(text)
    )


def unite(boxes: Iterable[PdfBox]) -> PdfBox:
    """Return the smallest box around all."""
    left, bottom, right, top = zip(*boxes, strict=True)
    return PdfBox(min(left), min(bottom), max(right), max(top))


def contains(outer: PdfBox, inner: PdfBox) -> bool:
    """Return whether the middle of a box lies in another."""
    return outer.left <= inner.x <= outer.right and outer.bottom <= inner.y <= outer.top


def overlap(one: PdfBox, other: PdfBox, reach: float = 0.0) -> bool:
    """Return whether two boxes have a place in common, be it an edge, or are no farther apart than `reach`."""
    return (
        one.left - reach <= other.right
        and other.left - reach <= one.right
        and one.bottom - reach <= other.top
        and other.bottom - reach <= one.top
    )
