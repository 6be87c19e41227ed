"""Dates and days of the week in a text: their forms, and what they say."""

from __future__ import annotations

from fractions import Fraction

from sextant.text.number_words import HAN_NUMERALS, parse_whole
from sextant.text.units import DATE, WEEKDAY, TextValue

_MONTHS = {
    name: at
    for at, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
        start=1,
    )
}
_MONTH = r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
# Short forms that are words of their own count only ahead of what a word does not stand ahead of.
_ENGLISH_DAYS = (
    "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs?|rsday)?|fri(?:day)?|saturday|sunday"
    r"|(?:sat|sun)(?=\.?\s?[-–,:/]|\.?\s\d)"
)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

DATE_FORMS = (
    ("weekday", rf"(?<![a-z])(?P<day>{_ENGLISH_DAYS})(?:s|\.)?(?![a-z])|(?<![{HAN_NUMERALS}\d])(?:周|星期|礼拜)(?P<zday>[一二三四五六日天])(?![{HAN_NUMERALS}]|[次天个回场节遍小均期程])"),
    ("date", r"(?<![\d.])(?P<y>(?:19|20)\d\d)(?:年|[-/.])\s?(?P<m>1[0-2]|0?[1-9])(?:月|[-/.])\s?(?P<d>3[01]|[12]\d|0?[1-9])(?![\d])[日号]?"),
    ("date", r"(?<![\d.])(?P<y>(?:1\d|20)\d\d)\s?年\s?(?P<m>1[0-2]|0?[1-9])\s?月(?:\s?(?P<d>3[01]|[12]\d|0?[1-9])\s?[日号])?"),
    ("date", r"(?<![\d.])(?P<m>1[0-2]|0?[1-9])\s?月\s?(?P<d>3[01]|[12]\d|0?[1-9])\s?[日号]?(?!\d)"),
    ("date", r"(?<![\d.])(?P<m>1[0-2]|0?[1-9])\s?月(?=[份底末初])"),
    ("date", rf"(?<![\d.])(?P<d>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?: of)? {_MONTH.format('mon')}(?:,? (?P<y>(?:1\d|20)\d\d))?(?![a-z])"),
    ("date", rf"(?<![a-z]){_MONTH.format('mon')} (?P<d>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?:,? (?P<y>(?:1\d|20)\d\d))?(?![\d%a-z])"),
    ("date", rf"(?<![a-z]){_MONTH.format('mon')},? (?P<y>(?:19|20)\d\d)(?!\d)"),
    ("date", r"(?<![\d.])(?P<y>(?:19|20)\d\d)\s?年(?!\d)"),
    ("date", r"(?:(?<=\bin )|(?<=since )|(?<=until )|(?<=during )|(?<=end of )|(?<=year ))(?P<y>(?:1\d|20)\d\d)(?![\d%]|[.,:/–-]\d)"),
    ("slashed", r"(?<![\d./])(?P<one>3[01]|[12]\d|0?[1-9])/(?P<two>3[01]|[12]\d|0?[1-9])(?:/(?P<y>(?:19|20)?\d\d))?(?![\d/])"),
)  # fmt: skip
"""Kinds of dates with their forms in a normalised text, the surest first; their groups are what the readers take."""


def read_date(groups: dict[str, str]) -> TextValue:
    """Return the date that the groups of a form give, with what they do not give as None."""
    year = int(groups["y"]) if "y" in groups else None
    month = _MONTHS[groups["mon"][:3]] if "mon" in groups else _number_or_none(groups.get("m"))
    return TextValue(Fraction(0), DATE, "", (year, month, _number_or_none(groups.get("d"))))


def read_slashed_date(groups: dict[str, str]) -> TextValue | None:
    """Return 12/20/24 as a date, of which only the year is sure where either could be the month; None for 1/2 and 24/7."""
    numbers, year = [int(groups["one"]), int(groups["two"])], groups.get("y")
    months = [number for number in numbers if number <= 12]
    is_sure = len(months) == 1
    if not months or not (year or (is_sure and months == numbers[:1])):
        return None
    full = None if year is None else int(year) if len(year) > 2 else _century_of(int(year))
    month, day = (months[0], max(numbers)) if is_sure else (None, None)
    return TextValue(Fraction(0), DATE, "", (full, month, day))


def _century_of(year: int) -> int:
    """Return the full year of two figures as POSIX does: from 69 on of the last century."""
    return year + (1900 if year >= 69 else 2000)


def read_weekday(groups: dict[str, str]) -> TextValue:
    """Return the day of the week, Monday as 1."""
    if day := groups.get("day"):
        return TextValue(Fraction(1 + _DAYS.index(day[:3])), WEEKDAY)
    return TextValue(Fraction(1 + min(6, "一二三四五六日天".index(groups["zday"]))), WEEKDAY)


def _number_or_none(text: str | None) -> int | None:
    return None if text is None else parse_whole(text)
