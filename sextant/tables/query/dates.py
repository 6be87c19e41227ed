"""The dates by which a question bounds rows: "hired after June 2024", 2020年以后入职."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

from sextant.tables.cells.arithmetic import Comparison
from sextant.tables.query.comparisons import Bound

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# A month by itself is a word as well (may, march), but behind these.
_ALONE = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
_IN = "".join(rf"(?<=\b{word} )|" for word in ("in", "before", "after", "since", "until", "during"))
_CHINESE_MONTHS = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_DATE = (
    r"(?:(?<!\d)(?P<year>(?:19|20)\d\d)(?:[-/.年](?P<month>\d{1,2})(?:[-/.月](?P<day>\d{1,2})[日号]?|月)?(?!\d)|年)?(?![\d.,])"
    rf"|(?:(?P<nth>\d{{1,2}})\s+)?\b(?P<named>{'|'.join(_MONTHS)})[a-z]*\.?\s+"
    r"(?:(?P<th>\d{1,2})(?:st|nd|rd|th)?,?\s+)?(?P<of>(?:19|20)\d\d)\b)"
)
ANY_YEAR = 2000
"""Where it does not matter of which year dates without one are."""

_FORM = re.compile(_DATE)
# Of the one year that a table is of: 10月20日, 三月份, "20 October", "before March".
_OF_THE_YEAR = re.compile(
    r"(?<![\d年./十第-])(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])月(?:份|(?P<day>\d{1,2})[日号])?(?!\d)"
    rf"|\b(?P<nth>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<named>{'|'.join(_MONTHS)})[a-z]*\b(?!\.?,?\s+(?:19|20)\d\d)"
    rf"|\b(?P<first>{'|'.join(_MONTHS)})[a-z]*\.?\s+(?P<th>\d{{1,2}})(?:st|nd|rd|th)?\b(?!,?\s+(?:19|20)\d\d)"
    rf"|(?:{_IN[:-1]})(?P<alone>{_ALONE})\b(?!\.?,?\s*\d)"
)
_AHEAD = [
    (Comparison.MORE, re.compile(r"(?:\b(?:after|later than)|晚于)\s*$")),
    (Comparison.AT_LEAST, re.compile(r"(?:\b(?:since|from|starting)|自|从)\s*$")),
    (Comparison.LESS, re.compile(r"(?:\b(?:before|earlier than)|早于)\s*$")),
    (Comparison.AT_MOST, re.compile(r"(?:\b(?:until|till|up to|by)|截至|截止)\s*$")),
    (Comparison.EQUAL, re.compile(r"\b(?:in|on|during)\s*$")),
]
_BEHIND = [
    (Comparison.MORE, re.compile(r"\s*(?:之后|以后|后)")),
    (Comparison.LESS, re.compile(r"\s*(?:之前|以前|前)")),
    (Comparison.AT_LEAST, re.compile(r"\s*(?:起|以来|开始)")),
]
_WORD_AHEAD = 24
_TO = re.compile(r"\s*(?:to|and|until|till|到|至|和|-|~)\s*$")
_AND = re.compile(r"\s*(?:and|和)\s*$")
_BETWEEN = frozenset({"between", "在"})
_FROM = re.compile(r"(?:\b(?:between|from)|从|自|在)\s*$")


def dates_in(question: str, year: int | None = None) -> list[Bound]:
    """Return the bounds by dates that a normalised question states; numbers are days, as ordinals.

    A year or month has a first and a last day: after 2023 is from 2024 on. A date that no word relates
    to anything ("the 2024 budget") bounds nothing, but in Chinese, where it needs none (2024年入职).
    With `year`, dates that name none (10月20日) are of that one.
    """
    found, spans = list[Bound](), sorted(_read(question, year))
    for at, (start, end, first, last) in enumerate(spans):
        if at + 1 < len(spans) and _TO.match(question[end : spans[at + 1][0]]):
            continue
        if at and _TO.match(question[spans[at - 1][1] : start]):
            since = spans[at - 1]
            ahead = _FROM.search(question, _near(since[0]), since[0])
            both = _AND.match(question[since[1] : start]) and first != since[3] + 1
            if both and not (ahead and ahead[0].split()[0] in _BETWEEN):
                continue  # "in 2014 and 2016" is no span, and no day is in both
            span = (ahead.start() if ahead else since[0], end)
            found += [(span, *_least(since[2])), (span, *_most(last))]
            continue
        found += _bounds(question, start, end, first, last)
    return found


def _bounds(text: str, start: int, end: int, first: Decimal, last: Decimal) -> Iterator[Bound]:
    ahead = next(
        ((one, m) for one, form in _AHEAD if (m := form.search(text, _near(start), start))), None
    )
    behind = next(((one, m) for one, form in _BEHIND if (m := form.match(text, end))), None)
    if behind is not None:
        comparison, span = behind[0], (start, behind[1].end())
    elif ahead is not None:
        comparison, span = ahead[0], (ahead[1].start(), end)
    elif text[start:end].isascii():
        return
    else:
        comparison, span = Comparison.EQUAL, (start, end)
    if comparison is Comparison.EQUAL:
        yield (span, *_least(first))
        yield (span, *_most(last))
    else:
        later = comparison in (Comparison.MORE, Comparison.AT_MOST)
        yield span, comparison, last if later else first


def _near(start: int) -> int:
    """From where on a word that relates a date may stand; longer texts are not looked through for each."""
    return max(0, start - _WORD_AHEAD)


def _least(first: Decimal) -> tuple[Comparison, Decimal]:
    return Comparison.AT_LEAST, first


def _most(last: Decimal) -> tuple[Comparison, Decimal]:
    return Comparison.AT_MOST, last


def _read(text: str, of_year: int | None) -> Iterator[tuple[int, int, Decimal, Decimal]]:
    """Yield each date: where it stands, and its first and last day."""
    stated = [(match, int(match["year"] or match["of"])) for match in _FORM.finditer(text)]
    if of_year is not None:
        stated += [(match, of_year) for match in _OF_THE_YEAR.finditer(text)]
    for match, year in stated:
        groups = match.groupdict()
        named = groups["named"] or groups.get("first") or groups.get("alone")
        month = _MONTHS.index(named[:3]) + 1 if named else _number(groups["month"] or "0")
        day = int(groups["day"] or groups["nth"] or groups["th"] or 0)
        try:
            first = date(year, month or 1, day or 1)
        except ValueError:
            continue
        last = first if day else _before(first, months=1 if month else 12)
        yield match.start(), match.end(), Decimal(first.toordinal()), Decimal(last.toordinal())


def _number(month: str) -> int:
    return int(month) if month.isdigit() else _CHINESE_MONTHS.index(month) + 1


def _before(first: date, months: int) -> date:
    """Return the last day of so many months from the first of one."""
    after = first.year * 12 + first.month - 1 + months
    return date(after // 12, after % 12 + 1, 1) - timedelta(days=1)
