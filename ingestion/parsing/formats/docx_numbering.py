"""The numbers that Word computes and stores nowhere: 第三条, 2.1, (a) in front of a paragraph."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from docx.oxml.ns import qn

Element = Any  # of lxml, which ships no types

_VAL = qn("w:val")
_DIGITS = "零一二三四五六七八九"
_PLACEHOLDER = re.compile(r"%([1-9])")


@dataclass(slots=True)
class _Level:
    format: str = "decimal"
    text: str = ""
    start: int = 1


@dataclass(slots=True)
class _List:
    levels: dict[int, _Level] = field(default_factory=dict[int, _Level])
    counts: dict[int, int] = field(default_factory=dict[int, int])


class Numbering:
    """The lists of one document, counted along as its paragraphs are read in order."""

    def __init__(self, root: Element | None) -> None:
        """`root` is the `w:numbering` element, None where the document has none."""
        self._lists: dict[str, _List] = {}
        if root is None:
            return
        abstract = {
            element.get(qn("w:abstractNumId")): _List(_levels(element))
            for element in root.findall(qn("w:abstractNum"))
        }
        for element in root.findall(qn("w:num")):
            reference = element.find(qn("w:abstractNumId"))
            shared = abstract.get(reference.get(_VAL)) if reference is not None else None
            if shared is not None:
                self._lists[element.get(qn("w:numId"))] = _overridden(element, shared)

    def label(self, list_id: str, depth: int) -> str:
        """The next number of a list at a depth (from 0), formatted; `-` for a bullet."""
        numbered = self._lists.get(list_id)
        level = numbered.levels.get(depth) if numbered else None
        if numbered is None or level is None or level.format == "none":
            return ""
        if level.format == "bullet":
            return "-"
        counts = numbered.counts
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [other for other in counts if other > depth]:
            del counts[deeper]
        return _PLACEHOLDER.sub(lambda found: _shown(numbered, int(found[1]) - 1), level.text)


def _levels(element: Element) -> dict[int, _Level]:
    levels: dict[int, _Level] = {}
    for node in element.findall(qn("w:lvl")):
        start = _value(node, "w:start", "1")
        levels[int(node.get(qn("w:ilvl"), "0"))] = _Level(
            _value(node, "w:numFmt", "decimal"),
            _value(node, "w:lvlText", ""),
            int(start) if start.isdigit() else 1,
        )
    return levels


def _overridden(element: Element, shared: _List) -> _List:
    """The list itself, or one that restarts where the document says so."""
    overrides = element.findall(qn("w:lvlOverride"))
    if not overrides:
        return shared
    levels = dict(shared.levels)
    for override in overrides:
        depth = int(override.get(qn("w:ilvl"), "0"))
        start = _value(override, "w:startOverride", "")
        if depth in levels and start.isdigit():
            levels[depth] = _Level(levels[depth].format, levels[depth].text, int(start))
    return _List(levels)


def _value(node: Element, name: str, default: str) -> str:
    found = node.find(qn(name))
    return default if found is None else found.get(_VAL, default)


def _shown(numbered: _List, depth: int) -> str:
    level = numbered.levels.get(depth, _Level())
    return format_number(numbered.counts.get(depth, level.start), level.format)


def format_number(number: int, style: str) -> str:
    """A number in one of the styles of `w:numFmt` (ECMA-376 17.18.59); decimal for those unknown."""
    if style in {"upperLetter", "lowerLetter"}:
        letters = chr(ord("A") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letters if style == "upperLetter" else letters.lower()
    if style in {"upperRoman", "lowerRoman"}:
        return _roman(number) if style == "upperRoman" else _roman(number).lower()
    if style.startswith(
        ("chineseCounting", "taiwaneseCounting", "japaneseCounting", "ideographDigital")
    ):
        return _chinese(number)
    if style.startswith("decimalEnclosedCircle") and 1 <= number <= 20:
        return chr(ord("①") + number - 1)
    return str(number)


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
    """Counting numerals up to 999, as headings and articles use them: 十, 十二, 一百零三."""
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
