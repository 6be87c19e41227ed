"""Compute the numbers of lists and headings, which files do not store."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

BULLET = "-"
_DIGITS = "零一二三四五六七八九"
_PLACEHOLDER = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class ListLevel:
    """How one level of a list is numbered.

    Attributes:
        format: of its number (`format_number`); "bullet", or "none".
        text: of its label, with %1 for the number of the first level.
        start: its first number.
        is_legal: whether the numbers of all levels are written in figures.
        restart: the level, from 1, behind which it begins anew; 0: behind none, None: behind any above it.
    """

    format: str = "decimal"
    text: str = ""
    start: int = 1
    is_legal: bool = False
    restart: int | None = None


@dataclass(slots=True)
class NumberedList:
    """A list, counted along as its items are read in their order; depths count from 0."""

    levels: Mapping[int, ListLevel] = field(default_factory=dict[int, ListLevel])
    counts: dict[int, int] = field(default_factory=dict[int, int])

    def label(self, depth: int, first: int | None = None) -> str:
        """Return the next number at a depth, or `first`, with what stands around it; `-` for a bullet."""
        level = self.levels.get(depth)
        if level is None or level.format == "none":
            return ""
        if level.format == "bullet":
            return BULLET
        for above, skipped in self.levels.items():
            if above < depth:
                self.counts.setdefault(above, skipped.start)
        last = self.counts.get(depth, level.start - 1)
        self.counts[depth] = last + 1 if first is None else first
        for deeper in [other for other in self.counts if other > depth]:
            restart = self.levels.get(deeper, ListLevel()).restart
            if restart is None or depth < restart:
                del self.counts[deeper]
        return _PLACEHOLDER.sub(
            lambda found: self._format_count(int(found[1]) - 1, is_legal=level.is_legal), level.text
        )

    def _format_count(self, depth: int, *, is_legal: bool) -> str:
        level = self.levels.get(depth, ListLevel())
        if level.format in {"bullet", "none"}:
            return ""
        number = self.counts.get(depth, level.start)
        return format_number(number, "decimal" if is_legal else level.format)


def format_number(number: int, style: str) -> str:
    """Return a number in one of the styles of `w:numFmt` (ECMA-376 17.18.59); decimal for those unknown."""
    written = next((write for name, write in _STYLES.items() if style.startswith(name)), str)
    return written(number)


def _letters(number: int) -> str:
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)


def _among(signs: str) -> Callable[[int], str]:
    """Format numbers that have signs of their own, as far as these go."""
    return lambda number: signs[number - 1] if 1 <= number <= len(signs) else str(number)


def _roman(number: int) -> str:
    steps = zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ["M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"],
        strict=True,
    )
    result = ""
    for value, letters in steps:
        result += letters * (number // value)
        number %= value
    return result


def _chinese(number: int) -> str:
    """Write counting numerals up to 999, as headings and articles use them: 十, 十二, 一百零三."""
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    result = f"{_DIGITS[hundreds]}百" if 0 < hundreds < 10 else ""
    if hundreds and rest and not tens:
        result += "零"
    if tens:
        result += ("" if tens == 1 and not hundreds else _DIGITS[tens]) + "十"
    if ones:
        result += _DIGITS[ones]
    return result or _DIGITS[0] if number < 1000 else str(number)


_STYLES: Mapping[str, Callable[[int], str]] = {
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerRoman": lambda number: _roman(number).lower(),
    "upperRoman": _roman,
    "chineseCounting": _chinese,
    "taiwaneseCounting": _chinese,
    "japaneseCounting": _chinese,
    "ideographDigital": _chinese,
    "ideographTraditional": _among("甲乙丙丁戊己庚辛壬癸"),
    "decimalEnclosedCircle": _among("①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"),
    "decimalZero": lambda number: f"{number:02}",
}
