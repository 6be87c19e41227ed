"""Bounds that a question sets in words: comparisons and dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from decimal import Decimal

from sextant.tables.cells.arithmetic import Comparison
from sextant.tables.cells.values import CHINESE_NUMBER, SCALE, numbers_in
from sextant.text.number_words import chinese_number

# A run of digits is one number from its first digit on, so that long ones are read in linear time.
_NUMBER = rf"(?:us\$|[$€£¥])?\s?-?(?<!\d)(?<!\d,)\d[\d,]*+(?:\.\d++)?\s?(?:%|{SCALE})?"
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}(?!\d))")
_COMPARISONS = {
    Comparison.AT_LEAST: (
        r"大于等于|不小于|不少于|不低于|至少|>=|≥|at least|(?:no|not) (?:less|fewer|lower|smaller) than"
        r"|greater than or equal to"
    ),
    Comparison.AT_MOST: (
        r"小于等于|不超过|未超过|不超出|不大于|不高于|不多于|至多|<=|≤|at most"
        r"|(?:no|not) (?:more|greater|larger|higher) than|(?:not|cannot) exceed|up to|less than or equal to"
    ),
    Comparison.MORE: (
        r"大于|超过|高于|多于|长于|重于|贵于|超出|>|more expensive than"
        r"|(?:more|greater|larger|bigger|higher|longer|heavier|taller|older|faster|deeper|wider) than"
        r"|over|above|exceed(?:s|ed|ing)?"
    ),
    Comparison.LESS: (
        r"小于|低于|少于|短于|轻于|不足|不到|未达到?|没有?达到|达不到|<"
        r"|(?:less|fewer|lower|smaller|shorter|lighter|cheaper|younger|slower|narrower) than"
        r"|under|below"
    ),
    Comparison.EQUAL: r"等于|正好是|恰好是|=|equals?(?: to)?|exactly",
}
_COMPARISON_BEHIND = {
    Comparison.AT_LEAST: r"(?:及)?以上|or more|or above",
    Comparison.AT_MOST: r"(?:及)?以下|以内|or less|or fewer",
}
# Which side of nothing: a negative balance, 结余为负.
_SIGNS = (
    (Comparison.LESS, re.compile(r"\bnegative\b|\bbelow zero\b|[为是]负(?:数|值|的)?|负(?=\0)")),
    (
        Comparison.MORE,
        re.compile(r"(?<!non-)\bpositive\b|\babove zero\b|[为是]正(?:数|值|的)?(?!常)"),
    ),
    (Comparison.EQUAL, re.compile(r"\b(?:is|are|of|equals?) zero\b|[为是]零")),
)
_UNIT = r"\s*+(?:[^\s\d]{1,2}?\s*+)??"
_NO_TIMES = r"[\0元块$€£¥%克米]|欧元|美元|公斤|千克|公里|(?:eur|euros?|usd|dollars?|pounds?|kg|km|mm|cm|percent)\b"
_COMPARISON_BETWEEN = re.compile(
    rf"(?:(?:between|from|在|介于)\s*+)?({_NUMBER}){_UNIT}(?:and|to|到|至|和|~|-)\s*+({_NUMBER}){_UNIT}之间"
    rf"|between\s+({_NUMBER})\s+and\s+({_NUMBER})"
    # Without those words only of what is no time of the day, nor years.
    rf"|(?:from\s+)?({_NUMBER}){_UNIT}(?:to|到|至|~)\s*+({_NUMBER})(?=\s*(?:{_NO_TIMES}))"
)
_COMPARISON_AHEAD = [
    (comparison, re.compile(rf"(?:{words})\s*({_NUMBER}|{CHINESE_NUMBER})"))
    for comparison, words in _COMPARISONS.items()
]
_AFTER = [
    (
        comparison,
        re.compile(rf"({_NUMBER}|{CHINESE_NUMBER})\s*+(?:[\u4e00-\u9fff]\s*+)??(?:{words})"),
    )
    for comparison, words in _COMPARISON_BEHIND.items()
]

# Before the name of a column, which is masked by \0: "below their minimum stock", 低于其最低库存.
_OWN = r"\s*(?:(?:than|to|the|their|its|own)\s+)*(?:(?:它们?|其|各自|自己|规定|对应)的?)?\s*(?=\0)"
_BY_TIME = {
    Comparison.MORE: r"晚于|迟于|later than|after",
    Comparison.LESS: r"早于|先于|earlier than|before",
}
_AGAINST = [
    (comparison, re.compile(rf"(?:{words}){_OWN}"))
    for among in (_COMPARISONS, _BY_TIME)
    for comparison, words in among.items()
]
# "More stock than their minimum stock", where what is compared stands in between; 库存比最低库存低.
_AGAINST += [
    (Comparison.MORE, re.compile(rf"\b(?:more|greater|larger|higher)\s+\0+\s+than{_OWN}")),
    (Comparison.LESS, re.compile(rf"\b(?:less|fewer|lower|smaller)\s+\0+\s+than{_OWN}")),
    (Comparison.MORE, re.compile(r"比\s*(?=\0+\s*[还要更]?[高多大贵长](?![了出]?[多几]))")),
    (Comparison.LESS, re.compile(r"比\s*(?=\0+\s*[还要更]?[低少小短](?![了出]?[多几]))")),
]
# 没有库存, "no stock": nothing of a column of numbers.
NONE_OF = re.compile(r"(?:没有任何|没有|无|\b(?:no|out of|without(?: any)?))\s*(?=\0)")
# Also where no column follows.
_THAN = (
    r"\b(?:more|less|fewer|greater|larger|higher|lower|smaller)\b(?=.*\bthan\b)"
    r"|比(?=.{1,20}[高低多少大小长短])|[还要更](?=[高低多少大小长短])"
)
COMPARING = re.compile("|".join([*_COMPARISONS.values(), *_BY_TIME.values(), _THAN]))

Bound = tuple[tuple[int, int], Comparison, Decimal]
"""Where a question states a bound, how it compares, and with what."""


def _comparison_number(stated: str) -> Decimal:
    """Return the number of a bound; one or two digits behind a comma are its fraction."""
    digits = numbers_in(_DECIMAL_COMMA.sub(".", stated))
    return digits[0] if digits else chinese_number(stated)


def bounds_in(question: str) -> list[Bound]:
    """Return the numeric conditions that a question states, none inside another's words."""
    found: list[Bound] = []
    for match in _COMPARISON_BETWEEN.finditer(question):
        low, high = (_comparison_number(group) for group in match.groups() if group)
        found.append((match.span(), Comparison.AT_LEAST, low))
        found.append((match.span(), Comparison.AT_MOST, high))
    for comparison, form in (*_COMPARISON_AHEAD, *_AFTER):
        for match in form.finditer(question):
            if _is_disjoint(match, found):
                found.append((match.span(), comparison, _comparison_number(match[1])))
    found += [
        (match.span(), comparison, Decimal(0))
        for comparison, form in _SIGNS
        for match in form.finditer(question)
        if _is_disjoint(match, found)
    ]
    return found


def against_in(question: str) -> list[tuple[tuple[int, int], Comparison]]:
    """Return where a question compares with a column, whose masked name begins at the end, and how."""
    found: list[tuple[tuple[int, int], Comparison]] = []
    for comparison, form in _AGAINST:
        for match in form.finditer(question):
            if _is_disjoint(match, found):
                found.append((match.span(), comparison))
    return found


def _is_disjoint(
    match: re.Match[str], found: Iterable[tuple[tuple[int, int], *tuple[object, ...]]]
) -> bool:
    """Return whether a match has no character of what was found before."""
    return not any(start < match.end() and match.start() < end for (start, end), *_ in found)


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
