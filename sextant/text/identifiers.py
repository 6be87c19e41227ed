"""Names of one thing and no other: E47, BM-40, INC-2025-017, Heron 5.

Whoever asks by such a name means that thing. What documents say of Heron 3 answers no question about
Heron 5, however much of its other words they share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sextant.text.characters import normalise
from sextant.text.stopwords import ENGLISH_STOP_WORDS

# "a" and "I" are words as well: they single out only where nothing follows that they could belong to.
_DESIGNATED = re.compile(
    r"\b(?P<kind>[A-Za-z]{3,}) "
    r"(?P<mark>[b-hj-zB-HJ-Z]|A|\d{1,3}|[aI](?=\s*(?:[?.!,)]|$|(?:is|are|was|has|does|used|for|in)\b)))"
    r"(?![\w'’.%-]\w|\w)"
)


def designators_in(question: str) -> list[str]:
    """Return what `question` singles out so, kind and mark as they are written: `grade c`."""
    return [
        match[0]
        for match in _DESIGNATED.finditer(question)
        if match["kind"].lower() not in ENGLISH_STOP_WORDS
    ]


def marks_in(question: str) -> frozenset[str]:
    """Return the letters and numbers alone: `c`."""
    return frozenset(one.rpartition(" ")[2] for one in designators_in(question))


# Letters first: "1980s" and "20th" name nothing.
_CODE = re.compile(r"(?<![^\W_])[A-Za-z]+(?:[-.]?[A-Za-z0-9]+)*(?![^\W_])", re.ASCII)
_DIGIT = re.compile(r"\d")
# A name with the number of its model, no date and no quantity. Units follow the number in Chinese.
_LATIN_MODEL = re.compile(r"\b([A-Z][A-Za-z]+) (\d{1,2})\b(?![.,:/%-]?\d)")
_MONTH = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)
CHINESE_UNITS = (
    "年月日号號时時点點分秒天周个個人名位次元块塊万萬亿億千百"
    "米公克斤吨升度种種条條台件层層楼樓岁歲世代届屆章节節款页頁后後以之到至"
)
"""What may follow a number that counts or measures, and names nothing."""

_CHINESE_MODEL = re.compile(
    rf"([\u4e00-\u9fff]{{2}})(\d{{1,2}})(?![A-Za-z\d.,:/%％{CHINESE_UNITS}~～-])"
)
# The number of a version: of three parts anywhere (2025.3.14 is a date), of two behind a word for it.
_VERSION = re.compile(
    r"(?<![\w.])(\d{1,3}\.\d{1,3}\.\d{1,3})(?![\w.]*\d)"
    r"|(?:\b(?:version|release|firmware|revision)|版本号?)\s?(\d+\.\d+)(?![\w.]*\d)",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[^\W\d_]+|\d+")


def find_unmentioned(question: str, texts: Iterable[str]) -> list[str]:
    """Return the names in `question` that no text has, as they were asked by.

    A code (letters, then digits among them) and the number of a version are missed where they do not
    stand. A name with a number is missed where the name stands with other numbers only.

    Args:
        question: as it was asked.
        texts: what was found for it.
    """
    codes, models = codes_in(question), _models_in(question)
    versions = [one or two for one, two in _VERSION.findall(question)]
    if not (codes or models or versions):
        return []
    text = normalise("\n".join(texts))
    missed = [code for code in codes if not _wherever(code).search(text)]
    missed += [
        version
        for version in versions
        if not re.search(rf"(?<![\d.]){re.escape(version)}(?!\d)", text)
    ]
    missed += [
        f"{name} {number}" if name.isascii() else name + number
        for name, number in models
        if _wherever(name, r"[\W_]?\d").search(text)
        and not _wherever(f"{name} {number}").search(text)
    ]
    return list(dict.fromkeys(missed))


def _models_in(question: str) -> list[tuple[str, str]]:
    found = (*_LATIN_MODEL.findall(question), *_CHINESE_MODEL.findall(question))
    return [(name, number) for name, number in found if not _MONTH.match(name)]


def codes_in(question: str) -> list[str]:
    """Return the codes in `question`: letters, then digits among them."""
    return [code for code in _CODE.findall(question) if _DIGIT.search(code)]


def _wherever(name: str, follows: str = r"(?![a-z\d])") -> re.Pattern[str]:
    return re.compile(spelling_of(name, follows))


def spelling_of(name: str, follows: str = r"(?![a-z\d])") -> str:
    """Return a pattern of `name` as a normalised text may write it: BM-40, bm 40, BM40; v2.8 as 2.8, too."""
    parts = [re.escape(part) for part in _PARTS.findall(normalise(name))]
    if parts[0] == "v":
        parts[:2] = [f"v?{parts[1]}"]
    before = r"(?<![a-z\d])" if name.isascii() else ""
    return before + r"[\W_]?".join(parts) + follows
