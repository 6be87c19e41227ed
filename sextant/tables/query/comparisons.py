"""What a question compares with: a number ("at least 5,000", 5000元以上) or another column ("below their minimum")."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
_BEHIND = {
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
_BETWEEN = re.compile(
    rf"(?:(?:between|from|在|介于)\s*+)?({_NUMBER}){_UNIT}(?:and|to|到|至|和|~|-)\s*+({_NUMBER}){_UNIT}之间"
    rf"|between\s+({_NUMBER})\s+and\s+({_NUMBER})"
    # Without those words only of what is no time of the day, nor years.
    rf"|(?:from\s+)?({_NUMBER}){_UNIT}(?:to|到|至|~)\s*+({_NUMBER})(?=\s*(?:{_NO_TIMES}))"
)
_AHEAD = [
    (comparison, re.compile(rf"(?:{words})\s*({_NUMBER}|{CHINESE_NUMBER})"))
    for comparison, words in _COMPARISONS.items()
]
_AFTER = [
    (
        comparison,
        re.compile(rf"({_NUMBER}|{CHINESE_NUMBER})\s*+(?:[\u4e00-\u9fff]\s*+)??(?:{words})"),
    )
    for comparison, words in _BEHIND.items()
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


def _number(stated: str) -> Decimal:
    """Return the number of a bound; one or two digits behind a comma are its fraction."""
    digits = numbers_in(_DECIMAL_COMMA.sub(".", stated))
    return digits[0] if digits else chinese_number(stated)


def bounds_in(question: str) -> list[Bound]:
    """Return the numeric conditions that a question states, none inside another's words."""
    found: list[Bound] = []
    for match in _BETWEEN.finditer(question):
        low, high = (_number(group) for group in match.groups() if group)
        found.append((match.span(), Comparison.AT_LEAST, low))
        found.append((match.span(), Comparison.AT_MOST, high))
    for comparison, form in (*_AHEAD, *_AFTER):
        for match in form.finditer(question):
            if _is_disjoint(match, found):
                found.append((match.span(), comparison, _number(match[1])))
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
