"""Text as the keyword lane compares it, and the n-grams by which an index finds it.

A keyword is contained in a text in the sense of SQL's `ILIKE '%' || keyword || '%'` (wildcards
escaped) if and only if `fold(keyword) in fold(text)`. Limits of the equality: it is that of the
database's built-in Unicode provider, and case pairs newer than Python's Unicode tables are unknown.

The grams are pairs of neighbouring characters where a CJK ideograph takes part and triples where
none does, both inside one run of letters and digits. Whether a window is a gram depends on its own
characters only, so every gram of a keyword is a gram of each text that contains it: the index finds
a superset and the text itself decides (anchors: performance §2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from zlib import crc32

from domain.text import is_cjk

_RUN = re.compile(r"[^\W_]+")
_IDEOGRAPHS = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+")


def fold(text: str) -> str:
    """Lower case, one character for one: PostgreSQL has no final sigma and no dotted capital I."""
    return text.replace("Σ", "σ").replace("İ", "i").lower()


def salted_grams(folded: str, scope_id: int) -> list[int]:
    """The grams of a folded text as the index stores them: scope in the high, CRC-32 in the low half.

    The salt makes one index serve all tenants; without it a common gram lists every tenant's chunks.
    """
    salt = scope_id << 32
    return [salt | crc32(gram.encode()) for gram in set(grams(folded))]


def grams(folded: str) -> Iterator[str]:
    """The grams of a folded text, with repetitions."""
    for run in _RUN.findall(folded):
        if run.isascii():
            yield from map("".join, zip(run, run[1:], run[2:], strict=False))
        elif _IDEOGRAPHS.fullmatch(run):
            yield from map("".join, pairwise(run))
        else:
            yield from _mixed(run)


def _mixed(run: str) -> Iterator[str]:
    ideographs = [is_cjk(char) for char in run]
    for at in range(len(run) - 1):
        if any(ideographs[at : at + 2]):
            yield run[at : at + 2]
        elif at + 2 < len(run) and not ideographs[at + 2]:
            yield run[at : at + 3]
