"""Read the value of a table's cell: a number with its unit, a date, or words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache

from sextant.text.characters import NOTE_MARK
from sextant.text.number_words import SCALES


class ValueKind(StrEnum):
    """The kind of a cell's value."""

    NUMBER = "number"
    DATE = "date"
    TEXT = "text"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class CellValue:
    """The value of a cell. `prefix` and `suffix` are the unit: `$`, `¥`; `%`, `kg`, `元`.

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
        """Return the unit, which two numbers must share to be added or compared."""
        return self.prefix, self.suffix


_MAX_CHARS = 64  # of a number; this also bounds the time of the patterns
_MAX_POWER = 50
YEARS = range(1900, 2100)
"""Whole numbers that may be years."""
_LONGER_FIRST = sorted(SCALES, key=len, reverse=True)
SCALE = "|".join(_LONGER_FIRST)
"""The words of scales, as a pattern."""

_SIGNS = "$¢£¤¥" + "".join(map(chr, range(0x20A0, 0x20C1)))  # Unicode's currency symbols
_MONEY = rf"US\$|HK\$|[{_SIGNS}]|RMB|CNY|USD|EUR|GBP|JPY|CHF"
# Groups of three after commas or thin spaces, or plain digits; then a fraction.
_DIGITS = r"\d{1,3}(?:[,，'\u2009\u202f\u00a0 ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_NUMBER = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+−–])?\s?(?P<prefix>{_MONEY})?\s?(?P<sign2>[-−])?(?P<open2>\()?"
    rf"(?P<digits>{_DIGITS})(?P<exponent>[eE][-+]?\d{{1,3}})?"
    rf"\s?(?P<scale>{SCALE})?\s?(?P<suffix>[%‰°{_SIGNS}]|°?[A-Za-zµμΩ][A-Za-z0-9/·]{{0,7}}|[\u4e00-\u9fff]{{1,3}})?"
    r"(?:(?P<close>\))\s?(?P<behind>[%‰])?)?",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[,，'\s]")
# A year, a month and perhaps a day; 2020.5 is a number.
_DATES = (
    re.compile(
        r"(\d{4})(?!\.\d+$)[-/.](\d{1,2})(?:[-/.](\d{1,2})(?:[T ]\d{1,2}:\d{2}(?::\d{2})?Z?)?)?"
    ),
    re.compile(r"(\d{4})年(\d{1,2})月(?:(\d{1,2})[日号]?)?"),
)
# Numbers in a sentence: digits with an optional scale.
_IN_TEXT = re.compile(
    rf"(?<![\d.])[-−]?(?:\d{{1,3}}(?:[,，]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)\s?(?:{SCALE})?",
    re.IGNORECASE,
)


# References to notes, or raised digits: "40 EUR [note 2]" and "40² EUR" are 40 EUR.
_NOTES = re.compile(rf"(?<!\s)\s*{NOTE_MARK.pattern}|(?<=\d)(?<!\b10)[¹²³⁰⁴-⁹]+")
_POWER = re.compile(r"10[⁻⁺]?[¹²³⁰⁴-⁹]")  # NFKC would make 106 of 10⁶


@lru_cache(maxsize=4096)  # columns repeat their values
def read_value(text: str) -> CellValue:
    """Read a cell: thousands separators, percent, currency, units, 万 and 亿, and dates.

    Digits that begin with a zero are a code (`007`), not a number. A comma separates thousands, as in
    Chinese and English; `1,5` and `1.234,5` are words (see `read_with_comma`).
    """
    written = _NOTES.sub("", text)
    shown = unicodedata.normalize("NFKC", written).strip()
    if not shown:
        return CellValue(ValueKind.EMPTY, text)
    if len(shown) > _MAX_CHARS or _POWER.search(written):
        return CellValue(ValueKind.TEXT, text)
    if day := _date(shown):
        return CellValue(ValueKind.DATE, text, date=day)
    return _number(shown, text) or CellValue(ValueKind.TEXT, text)


def year_of(value: CellValue) -> CellValue:
    """Return a number of `YEARS` as the first day of that year; any other value as it is."""
    number = value.number
    if value.kind is not ValueKind.NUMBER or value.unit not in {("", ""), ("", "年")}:
        return value
    if number != int(number) or int(number) not in YEARS:
        return value
    return CellValue(ValueKind.DATE, value.text, date=date(int(number), 1, 1))


def numbers_in(sentence: str) -> list[Decimal]:
    """Return the numbers in a sentence, in order, with scales applied: `1.2万` is 12000."""
    found = list[Decimal]()
    for match in _IN_TEXT.finditer(unicodedata.normalize("NFKC", sentence)):
        digits = match.group().replace("−", "-").lower()
        scale = next((scale for scale in _LONGER_FIRST if digits.endswith(scale)), "")
        plain = _SEPARATORS.sub("", digits.removesuffix(scale))
        found.append(Decimal(f"{plain}E{SCALES.get(scale, 0)}"))
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
    if abs(power) > _MAX_POWER:
        return None
    negative = opened or match["sign"] in {"-", "−", "–"} or match["sign2"]
    # From a string, since arithmetic on decimals rounds.
    number = Decimal(f"{'-' if negative else ''}{plain}E{power}")
    prefix, suffix = (match["prefix"] or "").upper(), match["suffix"] or match["behind"] or ""
    return CellValue(ValueKind.NUMBER, text, number, prefix, suffix)


def _date(shown: str) -> date | None:
    for form in _DATES:
        if match := form.fullmatch(shown):
            year, month, day = (int(number or 1) for number in match.groups())
            try:
                return date(year, month, day)
            except ValueError:
                return None
    return None


# A comma that must be decimal: before one or two digits, or after groups of three.
_COMMA = re.compile(r"[^\w.,]*\d{1,3}(?:\.\d{3})+,\d+\D*|[^\w.,]*\d+,\d{1,2}(?!\d)[^\d.,]*")
_SWAP = str.maketrans(",.", ".,")


def has_decimal_commas(cells: Iterable[str]) -> bool:
    """Return whether the cells of a table have decimal commas: some do, and none has a decimal point."""
    found = False
    for cell in cells:
        if "," in cell or "." in cell:
            if _COMMA.fullmatch(cell.translate(_SWAP)):
                return False
            found = found or _COMMA.fullmatch(cell) is not None
    return found


def read_with_comma(text: str) -> CellValue:
    """Read a cell of a table with decimal commas."""
    value = read_value(text)
    if value.kind in {ValueKind.DATE, ValueKind.EMPTY}:
        return value
    swapped = read_value(text.translate(_SWAP))
    return replace(swapped, text=text) if swapped.kind is ValueKind.NUMBER else value


_LOCAL = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2((?:19|20)\d\d)")


def with_local_dates(values: Sequence[CellValue]) -> tuple[CellValue, ...]:
    """Return a column's values with dates like 3/14/2025, if the order of day and month is sure.

    With points the day comes first (DIN 1355, ÖNORM A 1080). Otherwise a date of the column must have a day above 12.

    Args:
        values: the cells of one column.
    """
    found = [
        _LOCAL.fullmatch(value.text.strip()) if value.kind is ValueKind.TEXT else None
        for value in values
    ]
    signs = {match[2] for match in found if match}
    if len(signs) != 1:
        return tuple(values)
    numbers = [(int(match[1]), int(match[3])) for match in found if match]
    sure = {first > 12 for first, second in numbers if (first > 12) != (second > 12)}
    day_first = True if signs == {"."} else (sure.pop() if len(sure) == 1 else None)
    if day_first is None:
        return tuple(values)
    return tuple(
        _to_date(value, match, day_first=day_first) if match else value
        for value, match in zip(values, found, strict=True)
    )


def _to_date(value: CellValue, match: re.Match[str], *, day_first: bool) -> CellValue:
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    day, month = (first, second) if day_first else (second, first)
    try:
        return replace(value, kind=ValueKind.DATE, date=date(year, month, day))
    except ValueError:  # the 31st of June
        return value
