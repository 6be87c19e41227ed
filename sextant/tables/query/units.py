"""Whether a bound and a column count in the same unit: 100 EUR, 500 MB, 450万元."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from sextant.tables.cells.table import Column
from sextant.tables.cells.values import DURATION, SCALE, ValueKind, numbers_in
from sextant.text.characters import find_whole, plain_of

# What stands behind a number: more digits of it, or a word that may be its unit.
_GOES_ON = re.compile(r"[.,:/-]?\d")
_WORD_BEHIND = re.compile(r"(\s?)([a-z]+|%|[\u4e00-\u9fff]+)")
# Words behind a number that are no unit of it.
_NO_UNIT = re.compile(
    r"[的以之及或且而和与是有吗呢]|(?:a|an|and|are|at|but|by|each|for|from|in|is|of|on|or|per|to|with)\b"
)
# A column's unit stands in brackets behind its name; it may count by thousands or more: 销售额（万元）.
_IN_BRACKETS = re.compile(r"[(（\[【]([^)）\]】]{1,20})[)）\]】]")
_SCALED = re.compile(rf"[(（\[【][^)）\]】\d]{{0,20}}?({SCALE})")
_SCALE = re.compile(SCALE)
_CURRENCY = re.compile(r"us\$|[$€£¥]")
# A line has the names of one unit.
_LINES = """
eur euro € 欧元
usd dollar us$ $ 美元
gbp pound £ 英镑
cny rmb yuan ¥ 元 圆 圓 块 人民币
% percent
tb
gb
mb
kb
km kilometre kilometer 公里 千米
m metre meter 米
cm centimetre centimeter 厘米
mm millimetre millimeter 毫米
kg kilogram 公斤 千克
g gram 克
t ton tonne 吨
h hour 小时
min minute 分钟
s second 秒
day 天 日
week 周
month 个月 月
year 年
"""
_UNIT_OF = {name: line.split()[0] for line in _LINES.strip().split("\n") for name in line.split()}
_CURRENCIES = frozenset({"eur", "usd", "gbp", "cny"})
# 元 alone may be part of another word (单元), so that it names a currency only behind a number or the word for one.
_CURRENCY_NAMED = re.compile(
    r"\b(?:eur|usd|gbp|cny|rmb)\b|\b(?:euro|dollar|pound|yuan)s?\b|us\$|[$€£¥]|欧元|美元|英镑|人民币"
    r"|(?<=[\d万亿千百少几])元"
)
_AMOUNT_AHEAD = re.compile(rf"(?:\d|{SCALE})\s?\Z")
_LONGEST_NAME = max(map(len, _UNIT_OF))


def unit_counted(column: Column) -> str:
    """Return the unit of a column's numbers, by its name or its cells; "" where none is known."""
    return _unit_of(column) or next(
        filter(None, map(_normalise_unit, map(plain_of, column.unit or ()))), ""
    )


def find_unit_columns(columns: Sequence[Column], bound: str, behind: str) -> list[int]:
    """Return the columns that count in the unit in which a bound is stated: `Price (EUR)` for 100 EUR.

    Args:
        columns: those of numbers.
        bound: the bound's words, normalised.
        behind: what follows them in the question.
    """
    unit = _unit_of_bound(bound, behind)
    return [column.index for column in columns if unit and unit_counted(column) == unit]


def in_unit(columns: Sequence[Column], word: str) -> list[Column]:
    """Return the columns of numbers that count in the unit of this name: kilometres, 公里."""
    unit = _normalise_unit(word)
    numbers = (column for column in columns if column.kind is ValueKind.NUMBER)
    return [column for column in numbers if unit and unit_counted(column) == unit]


def currencies_in(text: str) -> list[tuple[int, int]]:
    """Return where a question names the currency of its answer, and not of a bound: 多少人民币, "in euros"."""
    return [
        match.span()
        for match in _CURRENCY_NAMED.finditer(text)
        if not _AMOUNT_AHEAD.search(text, 0, match.start())
        and not text[match.end() :].lstrip()[:1].isdigit()
    ]


def in_other_currencies(columns: Sequence[Column], text: str) -> set[int]:
    """Return the columns of amounts in a currency other than those that a question names.

    "The average price in euros" says nothing of `Price (CNY)`.

    Args:
        columns: those of the table.
        text: the question, normalised.
    """
    asked = {_UNIT_OF[match[0].removesuffix("s")] for match in _CURRENCY_NAMED.finditer(text)}
    counted = {one.index: unit_counted(one) for one in columns if one.kind is ValueKind.NUMBER}
    return {index for index, unit in counted.items() if asked and unit in _CURRENCIES - asked}


def comparable(bound: str, behind: str, column: Column) -> bool:
    """Return whether a bound is a number of the column's: `500 MB` says nothing of gigabytes, nor 10k of 10."""
    if column.unit is None or DURATION in column.unit[1] or _GOES_ON.match(behind):
        return False
    prefix, suffix = map(plain_of, column.unit)
    if prefix and any(sign not in prefix for sign in _CURRENCY.findall(bound)):
        return False
    stated, counted = _unit_of_bound(bound, behind), unit_counted(column)
    word = _WORD_BEHIND.match(behind)
    unit = word[2].removesuffix("s") if word else ""
    if stated == "%" or (stated and counted and (not unit or unit_of(behind))):
        return stated == counted
    if word is None or _NO_UNIT.match(word[2]):
        return not (stated and counted) or stated == counted
    if suffix:
        return unit.startswith(suffix.removesuffix("s"))
    glued = not word[1] and unit.isascii()
    return not glued or find_whole(plain_of(column.name), unit) is not None


def in_units_of(column: Column, number: Decimal, bound: str, behind: str) -> Decimal:
    """Return a bound as the column counts: 450万元 is 450 where it has 万元. One without a unit is in the column's."""
    scale = _SCALED.search(plain_of(column.name))
    if scale is None or not (_SCALE.search(bound) or _unit_of_bound(bound, behind)):
        return number
    return (number / numbers_in(f"1{scale[1]}")[0]).normalize()


def _unit_of(column: Column) -> str:
    """Return the unit in a column's name, without its scale; "" where it has none that is known."""
    found = _IN_BRACKETS.search(plain_of(column.name))
    return _normalise_unit(_SCALE.sub("", found[1]).strip()) if found else ""


def _unit_of_bound(bound: str, behind: str) -> str:
    """Return the unit of a bound, as its sign or the word behind it; "" where it states none that is known."""
    if sign := _CURRENCY.search(bound):
        return _UNIT_OF.get(sign[0], "")
    if "%" in bound:
        return "%"
    return unit_of(behind)


def unit_of(behind: str) -> str:
    """Return the unit that follows a number, by one of its names; "" where that is none that is known."""
    word = _WORD_BEHIND.match(behind)
    if word is None:
        return ""
    if word[2].isascii():
        return _normalise_unit(word[2])
    ends = range(min(len(word[2]), _LONGEST_NAME), 0, -1)
    return next((unit for end in ends if (unit := _normalise_unit(word[2][:end]))), "")


def _normalise_unit(name: str) -> str:
    return _UNIT_OF.get(name) or _UNIT_OF.get(name.removesuffix("s"), "")
