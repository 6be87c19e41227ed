"""Small numbers as they are written out, in English and Chinese."""

from __future__ import annotations

import re

_CARDINALS = "zero one two three four five six seven eight nine ten eleven twelve"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"

# From 0 on, and from 1 on.
CARDINALS, ORDINALS = tuple(_CARDINALS.split()), tuple(_ORDINALS.split())
CHINESE_DIGITS = "零一二三四五六七八九十"

# "One" is rarely a number ("which one"), and "two hundred" is not 2.
_WRITTEN = re.compile(
    rf"\b({'|'.join(CARDINALS[2:])})\b(?![ -](?:hundred|thousand|million|billion|dozen)|-)",
    re.IGNORECASE,
)


def in_digits(text: str) -> str:
    """`text` with the numbers from two to twelve in digits: "more than five years"."""
    return _WRITTEN.sub(lambda word: str(CARDINALS.index(word[0].lower())), text)


def number_of(written: str) -> int:
    """The number that figures say, or one Chinese digit: 12, 十."""
    return int(written) if written.isdigit() else CHINESE_DIGITS.index(written)
