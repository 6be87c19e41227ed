"""Which of two documents of a series is newer, by their names: `policy-v2` and `policy-v3`, minutes by their days."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sextant.text.characters import normalise
from sextant.text.number_words import CHINESE_DIGITS

_CHINESE = {word: str(number) for number, word in enumerate(CHINESE_DIGITS)}
# Names with a year or the number of a version; the 3 of "Heron 3" and of INC-2025-003 names another thing.
_DATED = re.compile(
    r"(?<!\d)(?:19|20)\d\d(?!\d)|\b(?:v|ver|version|rev|revision|edition|issue|release|draft)\W?\d|第\w{1,3}[版期次届季]|版本?\W?\d|\d版",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![A-Za-z])[A-Z]{2,}[-_]?\d")
_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)(0[1-9]|1[0-2])([0-3]\d)(?!\d)")
_BOUNDARY = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")
# The day of a name, the number of a version; 第二季度 and Q2 are numbers of parts of a year.
_NUMBER = re.compile(r"\d+|(?<=第)[一二三四五六七八九十](?=[季版期次届])")
# What stands around such a number and is no part of what the series is called.
_AROUND = re.compile(
    r"\b(?:v|ver|version|rev|revision|edition|issue|release|draft|q)\b|[年月日号版第期次届]|季度|版本|修订|[\W_]+"
)


@dataclass(frozen=True, slots=True)
class Edition:
    """What a series is called, and the numbers that set one document of it apart from the others."""

    series: str
    numbers: tuple[int, ...]

    def newer_than(self, other: Edition) -> bool:
        """Return whether both are of one series and this one is the later; one without numbers is the earliest."""
        alike = self.series == other.series and len(other.numbers) in {0, len(self.numbers)}
        return bool(self.series) and alike and self.numbers > other.numbers


def edition_of(name: str) -> Edition:
    """Return the edition that a name of a document says it is; one without numbers where it tells of none."""
    plain = _DAY.sub(r"\1-\2-\3", name.replace("_", " "))
    if _CODE.search(plain) or not _DATED.search(plain):
        return Edition(_AROUND.sub("", normalise(name)), ())
    plain = _BOUNDARY.sub(" ", normalise(plain))
    numbers = (int(_CHINESE.get(one, one)) for one in _NUMBER.findall(plain))
    return Edition(_AROUND.sub("", _NUMBER.sub(" ", plain)), tuple(numbers))


def newer(names: Sequence[str], others: Sequence[str], years_asked: Collection[int] = ()) -> bool:
    """Return whether a document is of a later edition than another, by the first of their names that tells.

    Args:
        names: those of the one: of its file, its title.
        others: those of the other, in the same order.
        years_asked: numbers that a question has; an edition that is asked for by its own gives way to none.
    """
    for one, other in zip(map(edition_of, names), map(edition_of, others), strict=True):
        if one.newer_than(other):
            return set(other.numbers).difference(one.numbers).isdisjoint(years_asked)
        if other.newer_than(one):
            return False
    return False
