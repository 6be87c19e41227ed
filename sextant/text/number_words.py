"""Numbers as they are written out, in English and Chinese."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

_CARDINALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"

# From 0 on, and from 1 on.
CARDINALS, ORDINALS = tuple(_CARDINALS.split()), tuple(_ORDINALS.split())
NUMBER_WORDS = {
    **{word: at for at, word in enumerate(CARDINALS)},
    **{word: 10 * at for at, word in enumerate(_TENS.split(), start=2)},
}
CHINESE_DIGITS = "零一二三四五六七八九十"
HAN_NUMERALS = "零一二三四五六七八九十百千万亿半两〇壹贰叁肆伍陆柒捌玖拾佰仟"

# "One" is rarely a number ("which one"), and "two hundred" is not 2.
_WRITTEN = re.compile(
    rf"\b({'|'.join(CARDINALS[2:])})\b(?![ -](?:hundred|thousand|million|billion|dozen)|-)",
    re.IGNORECASE,
)


def in_digits(text: str) -> str:
    """Return `text` with the numbers from two to nineteen in digits: "more than five years"."""
    return _WRITTEN.sub(lambda word: str(CARDINALS.index(word[0].lower())), text)


# Powers of ten.
SCALES = {
    "百": 2, "千": 3, "万": 4, "萬": 4, "十万": 5, "百万": 6, "千万": 7, "亿": 8, "億": 8, "十亿": 9, "百亿": 10,
    "千亿": 11, "万亿": 12, "thousand": 3, "million": 6, "billion": 9, "trillion": 12,
}  # fmt: skip
MILLION = "\ue000"
"""Stands for a capital M that is a scale."""
SCALE_POWERS = SCALES | {
    "hundred": 2, "k": 3, "m": 6, "mm": 6, "mn": 6, "mio": 6, "mln": 6, "b": 9, "bn": 9, "bln": 9, "tn": 12, "trn": 12,
    "w": 4, MILLION: 6,
}  # fmt: skip

_CAPITALS = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟〇两兩", "一二三四五六七八九十百千零二二")
_CHINESE_TENS = {"十": 10, "百": 100, "千": 1000}


def chinese_number(written: str) -> Decimal:
    """Return the value of Chinese numerals: 三十, 一百零五, 一万五 (15,000), 两亿三千万."""
    plain = written.translate(_CAPITALS)
    total = section = digit = 0
    last = 1  # what the digit behind counts a tenth of
    for sign in plain:
        if sign in CHINESE_DIGITS[:10]:
            digit = CHINESE_DIGITS.index(sign)
            last = last if digit else 1
        elif sign in _CHINESE_TENS:
            last = _CHINESE_TENS[sign]
            section, digit = section + (digit or 1) * last, 0
        else:
            last = 10 ** SCALES[sign]
            section = (section + digit) or int(not total)
            total = (total + section) * last if last > 10**4 else total + section * last
            section = digit = 0
    behind = last // 10 if len(plain) > 1 and plain[-2] not in CHINESE_DIGITS[:10] else 1
    return Decimal(total + section + digit * max(behind, 1))


def parse_chinese_number(text: str) -> Fraction | None:
    """Return Chinese numerals with fractions, 三点五万, halves and digits alone, 二〇二五; None for what is no number."""
    plain = text.translate(_CAPITALS)
    if "点" in plain:
        whole, _, behind = plain.partition("点")
        digits = behind.rstrip("百千万亿")
        number, decimals = parse_chinese_number(whole), "".join(map(_as_digit, digits))
        if number is None or not decimals.isdigit():
            return None
        scale = Fraction(10 ** SCALES.get(behind[len(digits) :], 0))
        return (number + Fraction(f"0.{decimals}")) * scale
    if "半" in plain:
        return Fraction(1, 2) if plain == "半" else None
    if len(plain) > 1 and not set(plain) & set("十百千万亿"):
        return Fraction("".join(map(_as_digit, plain)))
    return Fraction(chinese_number(plain))


def _as_digit(sign: str) -> str:
    return str(CHINESE_DIGITS[:10].find(sign))


def parse_any_number(text: str) -> Fraction:
    """Return a number in figures or Chinese numerals; 0 for what is none."""
    return Fraction(text) if text[0].isdigit() else (parse_chinese_number(text) or Fraction(0))


def parse_english_number(words: str) -> Fraction:
    """Return a number in English words: two hundred and five."""
    total = section = 0
    for word in re.split(r"[ -]+", words):
        if word in NUMBER_WORDS:
            section += NUMBER_WORDS[word]
        elif word == "hundred":
            section *= 100
        elif word in SCALES:
            total, section = total + section * 10 ** SCALES[word], 0
    return Fraction(total + section)


def parse_whole(text: str) -> int | None:
    """Return a whole number in figures or Chinese numerals."""
    number = parse_chinese_number(text) if not text.isdigit() else Fraction(text)
    return None if number is None else int(number)
