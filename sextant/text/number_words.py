"""Small numbers as they are written out, in English and Chinese."""

from __future__ import annotations

import re
from decimal import Decimal

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
    """Return `text` with the numbers from two to twelve in digits: "more than five years"."""
    return _WRITTEN.sub(lambda word: str(CARDINALS.index(word[0].lower())), text)


def number_of(written: str) -> int:
    """Return the number that figures say, or one Chinese digit: 12, 十."""
    return int(written) if written.isdigit() else CHINESE_DIGITS.index(written)


# Powers of ten.
SCALES = {
    "百": 2,
    "千": 3,
    "万": 4,
    "萬": 4,
    "十万": 5,
    "百万": 6,
    "千万": 7,
    "亿": 8,
    "億": 8,
    "十亿": 9,
    "百亿": 10,
    "千亿": 11,
    "万亿": 12,
    "thousand": 3,
    "million": 6,
    "billion": 9,
    "trillion": 12,
}
_ONES = {
    "零": 0,
    "〇": 0,
    "两": 2,
    "兩": 2,
    **{one: at for at, one in enumerate("一二三四五六七八九", 1)},
}
_TENS = {"十": 10, "百": 100, "千": 1000}


def chinese_number(written: str) -> Decimal:
    """Return the value of Chinese numerals: 三十, 一百零五, 一万五 (15,000), 两亿三千万."""
    total = section = digit = 0
    last = 1  # what the digit behind counts a tenth of
    for sign in written:
        if sign in _ONES:
            digit = _ONES[sign]
            last = last if digit else 1
        elif sign in _TENS:
            last = _TENS[sign]
            section, digit = section + (digit or 1) * last, 0
        else:
            last = 10 ** SCALES[sign]
            section = (section + digit) or int(not total)
            total = (total + section) * last if last > 10**4 else total + section * last
            section = digit = 0
    behind = last // 10 if len(written) > 1 and written[-2] not in _ONES else 1
    return Decimal(total + section + digit * max(behind, 1))
