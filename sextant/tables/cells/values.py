"""What a table's cell says: a number with its unit, a date, or words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache

from sextant.text.characters import NOTE_MARK
from sextant.text.number_words import SCALES


class ValueKind(StrEnum):
    """What a cell holds."""

    NUMBER = "number"
    DATE = "date"
    TEXT = "text"
    EMPTY = "empty"


DURATION = ":mm"
"""Stands as a suffix for each part of a duration behind the first: 26:30 counts sixtieths."""


@dataclass(frozen=True, slots=True)
class CellValue:
    """A cell that was read. `prefix` and `suffix` are the unit: `$`, `¥`; `%`, `kg`, `元`.

    A scale is part of the number: `1.2万元` is 12000 with the suffix 元.
    """

    kind: ValueKind
    text: str
    number: Decimal = Decimal(0)
    prefix: str = ""
    suffix: str = ""
    date: date | None = None

    @property
    def unit(self) -> tuple[str, str]:
        """Return what two numbers must share to be added or compared."""
        return self.prefix, self.suffix


# Nothing longer is a number that people write; it also bounds the work of the patterns.
_LONGEST = 64
_HIGHEST_POWER = 50
_LONGER_FIRST = sorted(SCALES, key=len, reverse=True)
SCALE = "|".join(_LONGER_FIRST)
"""The words of scales, as a pattern."""

_SIGNS = "$¢£¤¥" + "".join(map(chr, range(0x20A0, 0x20C1)))  # Unicode's currency symbols
_MONEY = rf"US\$|HK\$|[{_SIGNS}]|RMB|CNY|USD|EUR|GBP|JPY|CHF"
# Groups of three behind commas or thin spaces, or plain digits; then a fraction.
_DIGITS = r"\d{1,3}(?:[,，'\u2009\u202f\u00a0 ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_NUMBER = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+−–])?\s?(?P<prefix>{_MONEY})?\s?(?P<sign2>[-−])?(?P<open2>\()?"
    rf"(?P<digits>{_DIGITS})(?P<exponent>[eE][-+]?\d{{1,3}})?"
    rf"\s?(?P<scale>{SCALE})?\s?(?P<suffix>[%‰°{_SIGNS}]|°?[A-Za-zµμΩ][A-Za-z0-9/·]{{0,7}}|[\u4e00-\u9fff]{{1,3}})?"
    r"(?P<close>\))?",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[,，'\s]")
_DATES = (
    re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ]\d{1,2}:\d{2}(?::\d{2})?Z?)?"),
    re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})[日号]?"),
    re.compile(r"(\d{4})[-/](\d{1,2})"),
    re.compile(r"(\d{4})年(\d{1,2})月"),
)
_REST = 20  # no unit is as long
# Numbers as they stand in a sentence: digits, with the scale that may follow.
_IN_TEXT = re.compile(
    rf"(?<![\d.])[-−]?(?:\d{{1,3}}(?:[,，]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)\s?(?:{SCALE})?",
    re.IGNORECASE,
)


# References to notes, or raised figures: "40 EUR [note 2]" and
# "40² EUR" are 40 EUR.
_NOTES = re.compile(rf"\s*{NOTE_MARK.pattern}|(?<=\d)(?<!\b10)[¹²³⁰⁴-⁹]+")
_POWER = re.compile(r"10[⁻⁺]?[¹²³⁰⁴-⁹]")  # normalised, 10⁶ would be 106


@lru_cache(maxsize=4096)  # columns repeat their values
def read_value(text: str) -> CellValue:
    """Read a cell: thousands separators, percent, currency, units, 万 and 亿, and dates.

    Digits that begin with a zero are a code (`007`), not a number. A comma separates thousands, as in
    Chinese and English; `1,5` and `1.234,5` stay words (`decimal_commas` reads them where a table has them).
    """
    written = _NOTES.sub("", text)
    shown = unicodedata.normalize("NFKC", written).strip()
    if not shown:
        return CellValue(ValueKind.EMPTY, text)
    if len(shown) > _LONGEST or _POWER.search(written):
        return CellValue(ValueKind.TEXT, text)
    if day := _date(shown):
        return CellValue(ValueKind.DATE, text, date=day)
    return _number(shown, text) or CellValue(ValueKind.TEXT, text)


def year_of(value: CellValue) -> CellValue:
    """Return a number of four digits from 1900 on as the first day of that year; any other value as it is."""
    number = value.number
    if value.kind is not ValueKind.NUMBER or value.unit not in {("", ""), ("", "年")}:
        return value
    if number != int(number) or not 1900 <= number < 2100:
        return value
    return CellValue(ValueKind.DATE, value.text, date=date(int(number), 1, 1))


def numbers_in(sentence: str) -> list[Decimal]:
    """Return the numbers that a sentence states, in order, scales applied: `1.2万` is 12000."""
    return [number for number, _ in numbers_with_rest(sentence)]


def numbers_with_rest(sentence: str) -> list[tuple[Decimal, str]]:
    """Return the numbers in a sentence, each with the text behind it, where its unit may be."""
    found, text = list[tuple[Decimal, str]](), unicodedata.normalize("NFKC", sentence)
    for match in _IN_TEXT.finditer(text):
        digits = match.group().replace("−", "-").lower()
        scale = next((scale for scale in _LONGER_FIRST if digits.endswith(scale)), "")
        plain = _SEPARATORS.sub("", digits[: len(digits) - len(scale)])
        found.append((Decimal(f"{plain}E{SCALES.get(scale, 0)}"), text[match.end() :][:_REST]))
    return found


def _number(shown: str, text: str) -> CellValue | None:
    match = _NUMBER.fullmatch(shown)
    opened = match and [side for side in (match["open"], match["open2"]) if side]
    if match is None or opened != [side for side in ("(",) if match["close"]]:
        return None
    plain = _SEPARATORS.sub("", match["digits"])
    if len(plain) > 1 and plain[0] == "0" and plain[1] != ".":
        return None
    power = int((match["exponent"] or "e0")[1:]) + SCALES.get((match["scale"] or "").lower(), 0)
    if abs(power) > _HIGHEST_POWER:
        return None
    negative = opened or match["sign"] in {"-", "−", "–"} or match["sign2"]
    # From a string, since operations on decimals round to their context.
    number = Decimal(f"{'-' if negative else ''}{plain}E{power}")
    prefix, suffix = (match["prefix"] or "").upper(), match["suffix"] or ""
    return CellValue(ValueKind.NUMBER, text, number, prefix, suffix)


def _date(shown: str) -> date | None:
    for form in _DATES:
        if match := form.fullmatch(shown):
            year, month, *day = map(int, match.groups())
            try:
                return date(year, month, *(day or [1]))
            except ValueError:
                return None
    return None


_NUMERALS = "零〇一二两兩三四五六七八九十百千万萬亿億"
CHINESE_NUMBER = f"(?<![{_NUMERALS}])[{_NUMERALS}]{{1,20}}+"
"""A number in Chinese numerals, as a pattern that takes time linear in the text."""
