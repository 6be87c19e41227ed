"""Numbers as they are written out, in English and Chinese."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

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


SCALE_POWERS = {
    "hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "百": 2, "千": 3, "万": 4, "十万": 5,
    "百万": 6, "千万": 7, "亿": 8, "万亿": 12, "k": 3, "mn": 6, "bn": 9, "m": 6, "mm": 6, "mio": 6, "mln": 6, "b": 9,
    "bln": 9, "tn": 12, "trn": 12, "w": 4,
}  # fmt: skip

MILLION = "\ue000"

SCALE_POWERS[MILLION] = 6

SMALL_NUMBERS = {word: at for at, word in enumerate(
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"])}  # fmt: skip

TENS = {
    word: 10 * at
    for at, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}

_CAPITALS = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟〇两", "一二三四五六七八九十百千零二")


def parse_any_number(text: str) -> Fraction:
    """Return a number in figures or Chinese numerals; 0 for what is none."""
    return Fraction(text) if text[0].isdigit() else (parse_chinese_number(text) or Fraction(0))


def parse_chinese_number(text: str) -> Fraction | None:
    """Return Chinese numerals with fractions, 三点五万, halves and digits alone, 二〇二五; None for what is no number."""
    plain = text.translate(_CAPITALS)
    if "点" in plain:
        whole, _, digits = plain.partition("点")
        digits, scale = digits.rstrip("百千万亿"), digits.lstrip("零一二三四五六七八九")
        decimals = "".join(str("零一二三四五六七八九".find(sign)) for sign in digits)
        number = parse_chinese_number(whole)
        if number is None or not decimals.isdigit():
            return None
        return (number + Fraction(f"0.{decimals}")) * Fraction(10 ** SCALE_POWERS.get(scale, 0))
    if "半" in plain:
        return Fraction(1, 2) if plain == "半" else None
    if len(plain) > 1 and not set(plain) & set("十百千万亿"):
        return Fraction("".join(str("零一二三四五六七八九".index(sign)) for sign in plain))
    return Fraction(chinese_number(plain))


def parse_english_number(groups: dict[str, str]) -> Fraction:
    """Return the number of a match that has `words`, or `dozen` for an article or another word that counts."""
    if word := groups.get("dozen"):
        return {
            "a dozen": Fraction(12),
            "a": Fraction(1),
            "an": Fraction(1),
            "once": Fraction(1),
            "twice": Fraction(2),
        }.get(word, Fraction(1, 2))
    total = section = 0
    for word in re.split(r"[ -]+", groups["words"]):
        if word in SMALL_NUMBERS or word in TENS:
            section += SMALL_NUMBERS.get(word, TENS.get(word, 0))
        elif word == "hundred":
            section *= 100
        elif word in SCALE_POWERS:
            total, section = total + section * 10 ** SCALE_POWERS[word], 0
    return Fraction(total + section)


def parse_whole(text: str) -> int | None:
    """Return a whole number in figures or Chinese numerals."""
    if text.isdigit():
        return int(text)
    number = parse_chinese_number(text)
    return int(number) if number is not None else None


HAN_NUMERALS = "零一二三四五六七八九十百千万亿半两〇壹贰叁肆伍陆柒捌玖拾佰仟"
