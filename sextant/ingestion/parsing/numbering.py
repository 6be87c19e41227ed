"""Headings recognised by their numbers: 第三章, 3.1, 一、, （二）, Chapter 4, Article 5."""

from __future__ import annotations

import re

_HAN = "[一二三四五六七八九十百零〇\\d]{1,6}"
# In the order in which documents nest them; decimals come last and nest by their depth.
_KINDS = (
    re.compile(rf"第\s*{_HAN}\s*(?:[编篇卷]|部分)|(?:Part|PART)\s+(?:[IVX]+|\d+)\b"),
    re.compile(
        rf"第\s*{_HAN}\s*章|(?:Chapter|CHAPTER)\s+(?:[IVX]+|\d+)\b|附[录件]\s*[A-Z一二三四五六七八九十\d]?(?=\W|$)|(?:Appendix|APPENDIX)\s+[A-Z\d]\b"
    ),
    re.compile(rf"第\s*{_HAN}\s*节|(?:Section|SECTION)\s+\d+\b"),
    re.compile(rf"第\s*{_HAN}\s*条|(?:Article|ARTICLE)\s+(?:[IVX]+|\d+)\b"),
    re.compile(r"[一二三四五六七八九十]{1,3}\s*、"),
    re.compile(r"[（(][一二三四五六七八九十]{1,3}[）)]"),
)
_DECIMAL = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})(?:[.、．]\s*|\s+)(?=[^\W\d_a-z])")
_MAX_WIDTH = 80  # columns, of which an ideograph takes two
_STOPS = tuple("。；，、：:;,.!?！？…")


def number_rank(line: str) -> int | None:
    """Return how high a numbered line stands: 0 for 第一编, 1 for 第一章, …, 6 + depth for 3.1; else None.

    Only the order of ranks means anything; a document's own levels come from those it uses.
    """
    line = line.strip()
    for rank, pattern in enumerate(_KINDS):
        if pattern.match(line):
            return rank
    decimal = _DECIMAL.match(line)
    return len(_KINDS) + decimal[1].count(".") + 1 if decimal else None


def without_number(line: str) -> str:
    """Return a heading without the number that it begins with: 付款节点 of "3.1 付款节点"; as it is where it is only that."""
    line = line.strip()
    found = (pattern.match(line) for pattern in (*_KINDS, _DECIMAL))
    number = next(filter(None, found), None)
    return line[number.end() :].lstrip(" :：、.．") or line if number else line


def is_strong(rank: int | None) -> bool:
    """Return whether a number of this rank makes a heading by itself: list items have none of these.

    `1. apples` and `（一）` number lists as often as headings; 第三章, 一、 and 3.1 rarely do.
    """
    return rank is not None and rank not in {5, len(_KINDS) + 1}


def could_be_heading(line: str) -> bool:
    """Return whether a line is short, says something, and does not end as a sentence or clause does."""
    line = line.strip()
    if len(line) > _MAX_WIDTH:  # a whole paragraph: its width need not be counted
        return False
    return (
        0 < width(line) <= _MAX_WIDTH and not line.endswith(_STOPS) and any(map(str.isalpha, line))
    )


def width(text: str) -> int:
    """Return columns a text takes in a fixed-width font; East Asian characters take two."""
    return len(text) + sum(char >= "\u2e80" for char in text)
