"""The numbers that Word computes and stores nowhere: 第三条, 2.1, (a) in front of a paragraph."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sextant.ingestion.parsing.formats.opc import Element, qn

_VAL = qn("w:val")
_DIGITS = "零一二三四五六七八九"
_PLACEHOLDER = re.compile(r"%([1-9])")


@dataclass(slots=True)
class _ListLevel:
    format: str = "decimal"
    text: str = ""
    start: int = 1
    is_legal: bool = False  # all numbers in figures
    style: str | None = None  # the paragraph style that stands for it


@dataclass(slots=True)
class _List:
    levels: dict[int, _ListLevel] = field(default_factory=dict[int, _ListLevel])
    counts: dict[int, int] = field(default_factory=dict[int, int])


class Numbering:
    """The lists of one document, counted along as its paragraphs are read in order."""

    def __init__(self, root: Element | None) -> None:
        """`root` is the `w:numbering` element, None where the document has none."""
        self._lists: dict[str, _List] = {}
        if root is None:
            return
        definitions = root.findall(qn("w:abstractNum"))
        abstract = {one.get(qn("w:abstractNumId")): _List(_levels(one)) for one in definitions}
        of_style = {
            _value(one, "w:styleLink", ""): abstract[one.get(qn("w:abstractNumId"))]
            for one in definitions
        }
        for one in definitions:
            if linked := of_style.get(_value(one, "w:numStyleLink", "-")):
                abstract[one.get(qn("w:abstractNumId"))] = linked
        for element in root.findall(qn("w:num")):
            reference = element.find(qn("w:abstractNumId"))
            shared = abstract.get(reference.get(_VAL)) if reference is not None else None
            if shared is not None:
                self._lists[element.get(qn("w:numId"))] = _overridden(element, shared)

    def depth(self, list_id: str | None, style_id: str) -> int:
        """Return the depth (from 0) at which a list has paragraphs of a style that names none."""
        numbered = self._lists.get(list_id or "")
        levels = numbered.levels if numbered else {}
        return next((depth for depth, level in levels.items() if level.style == style_id), 0)

    def label(self, list_id: str | None, depth: int) -> str:
        """Return the next number of a list at a depth (from 0), formatted; `-` for a bullet."""
        numbered = self._lists.get(list_id or "")
        level = numbered.levels.get(depth) if numbered else None
        if numbered is None or level is None or level.format == "none":
            return ""
        if level.format == "bullet":
            return "-"
        counts = numbered.counts
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [other for other in counts if other > depth]:
            del counts[deeper]
        return _PLACEHOLDER.sub(
            lambda found: _format_count(numbered, int(found[1]) - 1, is_legal=level.is_legal),
            level.text,
        )


def _levels(element: Element) -> dict[int, _ListLevel]:
    levels: dict[int, _ListLevel] = {}
    for node in element.findall(qn("w:lvl")):
        start = _value(node, "w:start", "1")
        levels[int(node.get(qn("w:ilvl"), "0"))] = _ListLevel(
            _value(node, "w:numFmt", "decimal"),
            _value(node, "w:lvlText", ""),
            int(start) if start.isdigit() else 1,
            node.find(qn("w:isLgl")) is not None,
            _value(node, "w:pStyle", "") or None,
        )
    return levels


def _overridden(element: Element, shared: _List) -> _List:
    """Return the list itself, or one that restarts where the document says so."""
    overrides = element.findall(qn("w:lvlOverride"))
    if not overrides:
        return shared
    levels = dict(shared.levels)
    for override in overrides:
        levels |= _levels(override)
        depth = int(override.get(qn("w:ilvl"), "0"))
        start = _value(override, "w:startOverride", "")
        if depth in levels and start.isdigit():
            levels[depth] = replace(levels[depth], start=int(start))
    return _List(levels)


def _value(node: Element, name: str, default: str) -> str:
    found = node.find(qn(name))
    return default if found is None else found.get(_VAL, default)


def _format_count(numbered: _List, depth: int, *, is_legal: bool) -> str:
    level = numbered.levels.get(depth, _ListLevel())
    style = "decimal" if is_legal else level.format
    return format_number(numbered.counts.get(depth, level.start), style)


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
