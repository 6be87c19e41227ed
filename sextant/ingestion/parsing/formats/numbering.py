"""Compute the numbers of lists and headings, which files do not store."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import ascii_lowercase, ascii_uppercase

BULLET = "-"
_MOST = 10_000  # the letters of a milliardth item would take 38 MB
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

        def write(found: re.Match[str]) -> str:
            above = self.levels.get(int(found[1]) - 1, ListLevel())
            if above.format in {"bullet", "none"}:
                return ""
            number = self.counts.get(int(found[1]) - 1, above.start)
            return format_number(number, "decimal" if level.is_legal else above.format)

        return _PLACEHOLDER.sub(write, level.text)


def format_number(number: int, style: str) -> str:
    """Return a number from 1 to 9,999 in a style; decimal beyond these, and in styles that are unknown.

    Args:
        number: counted from 1.
        style: of `w:numFmt` (ECMA-376 17.18.59) or of `style:num-format` (ODF 1.3 part 3, 19.500), which also shows how
            a series begins ("001, 002, 003, ..."); of HTML lists, which have the same letters.
    """
    write = _STYLES.get(style)
    if write is None and ", " in style:
        begin = style.split(", ")[:2]
        if begin[0].isdecimal():
            return f"{number:0{len(begin[0])}}"
        write = next((one for one in _STYLES.values() if [one(1), one(2)] == begin), None)
    return write(number) if write and 0 < number < _MOST else str(number)


_Writing = Callable[[int], str]


def _repeating(letters: str) -> _Writing:
    """Format by letters that are doubled behind the last one: y, z, aa, bb."""
    return lambda number: letters[(number - 1) % len(letters)] * ((number - 1) // len(letters) + 1)


def _among(signs: str) -> _Writing:
    """Format numbers that have signs of their own, as far as these go."""
    return lambda number: signs[number - 1] if number <= len(signs) else str(number)


def _in_digits(digits: str) -> _Writing:
    return lambda number: "".join(digits[int(digit)] for digit in str(number))


def _counting(digits: str, units: str, *, is_legal: bool = False) -> _Writing:
    """Format by counting numerals up to 9,999: 十, 十二, 一百零三; 壹拾贰 on cheques."""

    def write(number: int) -> str:
        places = [
            digits[int(digit)] + unit if digit != "0" else digits[0]
            for digit, unit in zip(f"{number:04}", [*units[::-1], ""], strict=True)
        ]
        written = re.sub(f"{digits[0]}+", digits[0], "".join(places)).strip(digits[0])
        return written if is_legal else re.sub(f"^{digits[1]}(?={units[0]})", "", written)

    return write


def _letters_in_order(number: int) -> str:
    """Count on behind z with aa, ab, as columns of a worksheet."""
    text = ""
    while number:
        number, letter = divmod(number - 1, len(ascii_lowercase))
        text = ascii_lowercase[letter] + text
    return text


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


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number // 10 % 10 == 1 else ending}"


_HAN, _HAN_DIGITS = _counting("零一二三四五六七八九", "十百千"), _in_digits("〇一二三四五六七八九")
_STYLES: Mapping[str, _Writing] = {
    "a": _letters_in_order,
    "A": lambda number: _letters_in_order(number).upper(),
    "lowerLetter": _repeating(ascii_lowercase),
    "upperLetter": _repeating(ascii_uppercase),
    **dict.fromkeys(("i", "lowerRoman"), lambda number: _roman(number).lower()),
    **dict.fromkeys(("I", "upperRoman"), _roman),
    **dict.fromkeys(("1st", "ordinal"), _ordinal),
    "decimalZero": lambda number: f"{number:02}",
    **dict.fromkeys(
        ("decimalEnclosedCircle", "decimalEnclosedCircleChinese"),
        _among("①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳㉑㉒㉓㉔㉕㉖㉗㉘㉙㉚㉛㉜㉝㉞㉟㊱㊲㊳㊴㊵㊶㊷㊸㊹㊺㊻㊼㊽㊾㊿"),
    ),
    "decimalEnclosedFullstop": _among("⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛"),
    "decimalEnclosedParen": _among("⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇"),
    "ideographEnclosedCircle": _among("㊀㊁㊂㊃㊄㊅㊆㊇㊈㊉"),
    "ideographTraditional": _among("甲乙丙丁戊己庚辛壬癸"),
    "ideographZodiac": _among("子丑寅卯辰巳午未申酉戌亥"),
    "chineseCounting": _HAN,
    "chineseCountingThousand": _HAN,
    "taiwaneseCounting": _HAN,
    "taiwaneseCountingThousand": _HAN,
    "japaneseCounting": _HAN,
    "chineseLegalSimplified": _counting("零壹贰叁肆伍陆柒捌玖", "拾佰仟", is_legal=True),
    "ideographLegalTraditional": _counting("零壹貳參肆伍陸柒捌玖", "拾佰仟", is_legal=True),
    "ideographDigital": _HAN_DIGITS,
    "taiwaneseDigital": _HAN_DIGITS,
    "japaneseDigitalTenThousand": _HAN_DIGITS,
    "decimalFullWidth": _in_digits("０１２３４５６７８９"),
}
