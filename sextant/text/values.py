"""Read numbers, amounts, shares, dates and times of day in a text as values that can be compared.

168万元, 1,680,000 元, CNY 1680000 and 1.68 million yuan are one value; so are 千分之一 and 0.1 %, three and 3,
2025年3月1日 and 1 March 2025. A statement and its evidence are both read by `normalise_values`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from sextant.text.characters import has_cjk, plain_of, remember_short
from sextant.text.dates import DATE_FORMS, read_date, read_slashed_date, read_weekday
from sextant.text.number_words import (
    HAN_NUMERALS,
    MILLION,
    NUMBER_WORDS,
    ORDINALS,
    SCALE_POWERS,
    parse_any_number,
    parse_chinese_number,
    parse_english_number,
    parse_whole,
)
from sextant.text.units import (
    COUNT,
    DATE,
    ORDINAL,
    SHARE,
    TIME,
    TIMES,
    UNIT_FORMS,
    UNIT_PATTERN,
    UNITS,
    FoundValue,
    TextValue,
    canonical_unit,
    slack_of,
    with_bound,
)

_AN_HOUR = re.compile(r"(?:每小时|时速)[为是]?\s?\Z")
_MONEY_AHEAD = re.compile(
    r"(?:(?:(?P<CNY>cny|rmb|renminbi|人民币|¥|￥)|(?P<USD>usd|us\$|(?<![a-z])\$|美元)|(?P<EUR>eur|€|欧元)|(?P<GBP>gbp|£)"
    r"|(?P<TWD>twd|nt\$|新台币|台币)|(?P<HKD>hkd|hk\$|港币)|(?P<JPY>jpy)|(?P<CHF>chf))[ \t]*)+$"
)
# 人民币 ￥ and the like.
_MONEY_WIDTH = 14

# Letters that are units elsewhere: CNY 1.68m, $2mm, 168w元.
_MONEY_SCALE = re.compile(r"\s?(?P<scale>mm|mio|mln|m|bln|b|trn|tn|w)(?![a-z/²³])")
# Signs that normalising would give another meaning: the M of 1.2M parcels is no metre, 10⁶ is not 106, and a Chinese
# comma is no decimal one.
_WRITTEN = re.compile(r"(?<=\d)(?:M(?=\+?\s+[A-Za-z]|\s?[一-鿿])|[⁻⁺]?[⁰¹²³⁴-⁹]+|，)")
# Raised behind a figure: the power of a ten, else the mark of a note.
_RAISED = r"(?:\^|(?=[⁻⁺⁰¹²³⁴-⁹]))(?P<power>[-−+⁻⁺]?[\d⁰¹²³⁴-⁹]{1,2})(?![\d⁰¹²³⁴-⁹])"
# 4,99 and 1.234,50, as most of Europe writes them.
_DECIMAL_COMMA = r"(?<!\d,)(?:\d{1,3}(?:[.\u2009\u202f ]\d{3}){1,6}|\d+),\d{1,2}(?![\d,])"
_UP_TO = re.compile(rf"\s?(?:[-–—~]|to)\s?{_DECIMAL_COMMA}")
_GROUP, _TEN = 3, 10
_SCALE = "万亿|千亿|百亿|十亿|千万|百万|十万|亿|万|千(?![克米瓦])|百(?!分)|(?:hundred|thousand|million|billion|trillion)(?![a-z])|(?:k|mn|bn)(?![a-z])|\ue000"
_WORD_NUMBER = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_HAN_UNITS = "|".join(["[倍成]", *(form for form, _ in UNIT_FORMS if re.match("[个一-鿿]", form))])
_EN_UNITS = "|".join(form for form, _ in UNIT_FORMS if re.search("[a-z]{2}", form))

_NUMBER_BEGINS = r"(?:(?<![a-z0-9_.^])|(?<=cny|rmb|usd|eur|gbp|twd|hkd|jpy|chf))(?:(?<!\d)[-−])?"
_FORMS: Sequence[tuple[str, str]] = (
    *DATE_FORMS,
    ("fraction", rf"(?P<den>[{HAN_NUMERALS}]{{1,3}}|\d{{1,5}})分之(?P<num>[{HAN_NUMERALS}]{{1,6}}(?:点[{HAN_NUMERALS}]{{1,4}})?|\d+(?:\.\d+)?)"),
    ("quarter", r"(?<![a-z])(?:quarterly(?=[.,;:!?]|\s(?:and|or|in|by|on|at|to|for)\b|\s?\Z)|(?:every|each|per) quarter(?![a-z-]))|[每按]个?季(?:度|(?!节))"),
    ("time", r"(?<![\d:.])(?P<h>[01]?\d|2[0-4]):(?P<min>[0-5]\d)(?!\d)(?:\s?(?P<half>[ap])\.?m\b\.?)?"),
    ("time", r"(?<![\d:.])(?P<h>1[0-2]|[1-9])(?:[:.](?P<min>[0-5]\d))?\s?(?P<half>[ap])\.?m\b\.?"),
    ("han", rf"(?<![{HAN_NUMERALS}午上晨间])(?P<han>[{HAN_NUMERALS}]{{1,8}}点[零一二三四五六七八九〇]{{1,4}}(?:[百千]?[万亿])?)(?={_HAN_UNITS})"),
    ("time", rf"(?P<part>上午|下午|晚上|早上|中午|凌晨|傍晚)?(?P<zh>\d{{1,2}}|[{HAN_NUMERALS}]{{1,3}})[点时](?!间|候|长|段|刻|代|期|效|区|常|限)(?:整|(?P<halfpast>半)|(?P<zmin>\d{{1,2}}|[{HAN_NUMERALS}]{{1,4}})分?)?"),
    ("share", rf"(?P<n>{_DECIMAL_COMMA}|\d+(?:[,]\d{{3}}){{0,8}}(?:\.\d+)?)\s?(?:(?P<pct>%|per ?cent(?!age)|percent(?!age))|(?P<pml>‰|per ?mille?|permille))"),
    ("share", rf"(?<![a-z])(?P<words>(?:{_WORD_NUMBER})(?:[ -](?:{_WORD_NUMBER}|hundred))*) per ?cent(?!age)"),
    # The second half of a year and 另一半 are no half of another number.
    ("share", r"(?<![a-z-])(?<!first )(?<!second )(?<!latter )(?<!last )(?<!other )half(?= (?:of|the|all)(?![a-z]))|半数|(?<!另)一半"),
    ("ordinal", rf"第\s?(?P<zo>\d+|[{HAN_NUMERALS}]{{1,4}})|首(?=[套次年个期批届件笔季])|前(?P<zf>[二两三四五六七八九十]|\d{{1,2}})(?=个?季度)"),
    ("ordinal", r"(?<![a-z])first (?P<fw>two|three)(?= quarters)"),
    ("ordinal", r"(?<![\w.])(?P<eo>\d{1,4})(?:st|nd|rd|th)(?![a-z])"),
    ("ordinal", rf"(?<![a-z-])(?P<ew>{'|'.join(ORDINALS[2:])})(?![a-z])"),
    ("comma", rf"{_NUMBER_BEGINS}(?P<n>{_DECIMAL_COMMA})\s?(?P<scale>{_SCALE})?"),
    ("power", rf"{_NUMBER_BEGINS}(?:(?P<times>\d+(?:\.\d+)?)\s?[x×·⋅*]\s?)?(?P<n>\d+){_RAISED}"),
    ("number", rf"{_NUMBER_BEGINS}(?P<n>\d{{1,3}}(?:[,，\u2009\u202f ]\d{{3}})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d]*\.\d)\s?(?P<scale>{_SCALE})?"),
    ("words", rf"(?<![a-z-])(?P<words>(?:{_WORD_NUMBER})(?:(?:[ -]| and )(?:{_WORD_NUMBER}|hundred|thousand|million|billion))*)(?![a-z])|(?<![a-z])(?P<dozen>a dozen|an?(?= (?:hour|day|week|month|year) and a half)|once(?= (?:an?|per|in|daily|weekly|monthly|yearly)(?![a-z]))|twice|half an?(?= (?:{_EN_UNITS})(?![a-z])))(?![a-z])"),
    ("han", rf"(?<![{HAN_NUMERALS}])(?P<han>[{HAN_NUMERALS}]{{1,16}})(?![{HAN_NUMERALS}])"),
)  # fmt: skip
_PATTERNS = [(kind, re.compile(form)) for kind, form in _FORMS]
# "One" and 一 alone are words; so are numerals in words such as 统一, 一般 and 万一. With a unit they count.
_WEAK = frozenset({"one", "一", "零", "半", "千", "万", "百", "十", "百万"})
_RANGE = re.compile(r"\s?(?:[-–—~～至到]|to|and|或|or|<|≤)\s?(?:[<≤]\s?)?\Z")


# Letters, then digits among them: E42, BM-40, H3-OP, INC-2025-017. CNY1680000 is no name.
NAME = re.compile(r"(?<![a-z0-9])(?=[a-z.-]*\d)[a-z]+(?:[-.]?[a-z0-9]+)*(?![a-z0-9])")
# Longer runs of figures are keys or random numbers; Python reads no number of more than 4,300 figures.
_LONGEST = 200
_TOO_LONG = re.compile(rf"\d{{{_LONGEST + 1},}}")
_CURRENCY_AHEAD = re.compile(r"(?:cny|rmb|usd|us|eur|gbp|twd|nt|hkd|jpy|chf)\d")


@remember_short(8_192)  # citing reads the same clauses of its passages again and again
def normalise_values(text: str) -> tuple[FoundValue, ...]:
    """Return the values of a text in order, at their places in `plain_of(text)`.

    Digits in names (E42, BM-40, 2.8.1) are none. A bare "one" or 一 is none; with a unit it is.
    """
    plain = plain_of(text)
    if len(plain) == len(text):
        for one in _WRITTEN.finditer(text):
            written = MILLION if one[0] == "M" else one[0]
            plain = f"{plain[: one.start()]}{written}{plain[one.end() :]}"
    plain = _TOO_LONG.sub(lambda one: " " * len(one[0]), plain)
    found = list[FoundValue]()
    taken = [False] * (len(plain) + 1)
    for name in NAME.finditer(plain):
        if not _CURRENCY_AHEAD.match(name[0]):
            taken[name.start() : name.end()] = [True] * len(name[0])
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(plain):
            if any(taken[match.start() : match.end()]) or not match[0].strip():
                continue
            if len(match[0]) > _LONGEST:
                continue
            if value := _value_of(kind, match, plain):
                start, end = _with_currency(value[0], match.start(), value[1], plain)
                start = match.start() if any(taken[start : match.start()]) else start
                found.append(FoundValue(value[0], start, end))
                taken[start:end] = [True] * (end - start)
    found.sort(key=lambda one: one.start)
    # A bare 1 says as little as "a".
    return tuple(
        one
        for one in _add_up(list(_with_shared_units(found, plain)), plain)
        if one.value.number != 1 or one.value.unit
    )


_ADDS = re.compile(r"\s?(?:and|零|又)?\s?")


def _add_up(found: Sequence[FoundValue], plain: str) -> Iterator[FoundValue]:
    """Yield the values, adding up those of ever smaller units: 3 hours and 42 minutes."""
    last: FoundValue | None = None
    for one in found:
        total = last and _total_of(last, one, plain)
        if last and not total:
            yield last
        last = total or one
    if last:
        yield last


def _total_of(one: FoundValue, other: FoundValue, plain: str) -> FoundValue | None:
    """Return the sum of two values in the unit of the second; None where they do not belong together."""
    unit, end = other.value.unit, other.end
    if one.value.unit == "hour" and not unit and plain[end : end + 1] == "分":
        unit, end = "minute", end + 1
    if not (one.value.unit in UNITS and unit in UNITS):
        return None
    (dimension, factor, _), (its, its_factor, _) = UNITS[one.value.unit], UNITS[unit]
    is_smaller = dimension == its and other.value.number * its_factor < factor
    if not is_smaller or not _ADDS.fullmatch(plain, one.end, other.start):
        return None
    number = one.value.number * factor / its_factor + other.value.number
    bound = one.value.bound or other.value.bound
    value = replace(other.value, number=number, unit=unit, bound=bound)
    return FoundValue(value, one.start, end)


def _with_currency(value: TextValue, start: int, end: int, plain: str) -> tuple[int, int]:
    """Return the span of a value with the names of its currency: RMB ahead of it, yuan behind it."""
    if value.dimension != "money":
        return start, end
    if ahead := _MONEY_AHEAD.search(plain, max(0, start - _MONEY_WIDTH), start):
        start = ahead.start()
    unit = UNIT_PATTERN.match(plain, end)
    return start, unit.end() if unit and canonical_unit(unit) == value.unit else end


def _with_shared_units(found: Sequence[FoundValue], plain: str) -> Iterator[FoundValue]:
    """Yield values, those of a range with the unit of the next one: 15 ～ 20 g."""
    behind = list(found)
    for at in range(len(behind) - 2, -1, -1):
        one, other = behind[at], behind[at + 1]
        between = plain[one.end : other.start]
        unit = other.value.unit
        shares = unit and not one.value.unit and unit not in {DATE, TIME, ORDINAL}
        if shares and _RANGE.fullmatch(between):
            number = one.value.number / 100 if unit == SHARE else one.value.number
            behind[at] = replace(one, value=replace(one.value, unit=unit, number=number))
    yield from behind


def _value_of(kind: str, match: re.Match[str], plain: str) -> tuple[TextValue, int] | None:
    groups = {name: text for name, text in match.groupdict().items() if text is not None}
    end = match.end()
    if kind in {"date", "slashed"}:
        day = read_date(groups) if kind == "date" else read_slashed_date(groups)
        end += plain.startswith("起", end)
        return (with_bound(day, match.start(), end, plain), end) if day else None
    if kind in {"weekday", "time"}:
        value = _time_of(groups) if kind == "time" else read_weekday(groups)
        unit, behind = _unit_at(match.start(), end, plain)
        if kind == "time" and unit == "hour":  # 0:35 h
            value, end = replace(value, unit="minute"), behind
        return with_bound(value, match.start(), end, plain), end
    if kind == "quarter":
        return TextValue(Fraction(3), "month"), end
    if kind in {"fraction", "share"}:
        share = _share_of(kind, groups)
        place = share if kind == "fraction" else _value_of_last_figure(groups, share)
        slack = slack_of(share, place, match.start(), end, plain)
        return with_bound(TextValue(share, SHARE, slack=slack), match.start(), end, plain), end
    if kind == "ordinal":
        number: int | None
        if "ew" in groups:
            number = ORDINALS.index(groups["ew"]) + 1
        elif "fw" in groups:
            number = int(NUMBER_WORDS[groups["fw"]])
        else:  # 首 has no number
            number = parse_whole(groups.get("zo") or groups.get("eo") or groups.get("zf") or "1")
        bound = "max" if {"zf", "fw"} & groups.keys() else ""
        return (TextValue(Fraction(number), ORDINAL, bound), end) if number is not None else None
    return _number_of(kind, groups, match, plain)


def _share_of(kind: str, groups: dict[str, str]) -> Fraction:
    """Return a share as a part of one."""
    if kind == "fraction":
        over, under = parse_any_number(groups["num"]), parse_any_number(groups["den"])
        return over / (under or Fraction(1))
    is_written = "words" in groups
    share = (
        parse_english_number(groups["words"]) if is_written else _of_digits(groups.get("n", "50"))
    )
    return share / (1000 if "pml" in groups else 100)


def _number_of(
    kind: str, groups: dict[str, str], match: re.Match[str], plain: str
) -> tuple[TextValue, int] | None:
    stated = _read_number(kind, groups, match, plain)
    if stated is None:
        return None
    number, end = stated
    if plain[match.start() : match.start() + 1] in {"-", "−"}:
        number = -number if not plain[: match.start()].rstrip()[-1:].isdigit() else number
    ahead = _HALF_AHEAD.match(plain, end)
    unit, end = _unit_at(match.start(), ahead.end() if ahead else end, plain)
    timed = unit in UNITS and UNITS[unit][0] in {"time", "months"}
    behind = _HALF_BEHIND.match(plain, end) if timed and not ahead else None
    if ahead or behind:
        number, end = number + Fraction(1, 2), behind.end() if behind else end
    if match[0] in {"once", "twice"}:
        unit = TIMES
    if (
        not unit
        and (kind == "han" or match[0].strip() in _WEAK)
        and not _counts(kind, match, plain)
    ):
        return None
    if plain[end - 1 : end] != " " and re.match(r"[a-z]\w?-\d", plain[end : end + 4]):
        return None
    if not unit and number != 1 and (plain[end : end + 1] or " ") in _COUNTERS:
        unit = COUNT
    slack = slack_of(number, _value_of_last_figure(groups, number), match.start(), end, plain)
    return with_bound(TextValue(number, unit, slack=slack), match.start(), end, plain), end


def _value_of_last_figure(groups: dict[str, str], number: Fraction) -> Fraction:
    """Return the value of the last figure that is not 0, a thousand for 12,000; 0 for a number in words."""
    written = re.sub(r"\D", "", groups.get("n", ""))
    figures = str(int(written or 0)).strip("0")  # of any script: ٠ is a 0
    return abs(number) / int(figures) if figures else Fraction(0)


_ARTICLES = {"a dozen": 12, "a": 1, "an": 1, "once": 1, "twice": 2}  # else "half a"


def _read_number(
    kind: str, groups: dict[str, str], match: re.Match[str], plain: str
) -> tuple[Fraction, int] | None:
    """Return a number without its unit, and where it ends; None where there is no number."""
    if kind == "number" or (kind == "comma" and _is_decimal(match, plain)):
        scale, end = groups.get("scale"), match.end()
        if scale is None and (short := _money_scale_at(match.start(), end, plain)):
            scale, end = short["scale"], short.end()
        return _of_digits(groups["n"]) * (10 ** SCALE_POWERS[scale] if scale else 1), end
    number: Fraction | None = None
    if kind == "power":
        number = _power_of(groups)
    elif kind == "words":
        if article := groups.get("dozen"):
            return Fraction(_ARTICLES.get(article, 0.5)), match.end()
        number = parse_english_number(groups["words"])
    elif kind == "han":
        number = parse_chinese_number(groups["han"])
    return None if number is None else (number, match.end())


def _of_digits(digits: str) -> Fraction:
    """Return a number in digits; one or two digits behind its last comma are decimals."""
    whole, comma, fraction = digits.rpartition(",")
    if comma and len(fraction) < _GROUP:
        digits = f"{whole.replace('.', '')}.{fraction}"
    return Fraction(re.sub(r"[,，\u2009\u202f ]", "", digits))


def _is_decimal(match: re.Match[str], plain: str) -> bool:
    """Return whether a comma stands before decimals, and does not separate a list: behind groups, or in an amount."""
    whole = match["n"].partition(",")[0]
    if not whole.isdigit() or _MONEY_AHEAD.search(
        plain, max(0, match.start() - _MONEY_WIDTH), match.start()
    ):
        return True
    until = _UP_TO.match(plain, match.end())
    unit = UNIT_PATTERN.match(plain, until.end() if until else match.end())
    return unit is not None and not has_cjk(unit[0])


def _power_of(groups: dict[str, str]) -> Fraction:
    """Return a power of ten; behind another number a raised figure marks a note, and the number is returned."""
    number = Fraction(groups["n"])
    if number == _TEN:
        number **= int(unicodedata.normalize("NFKC", groups["power"]).replace("−", "-"))
    return number * Fraction(groups.get("times", "1"))


def _money_scale_at(start: int, end: int, plain: str) -> re.Match[str] | None:
    """Return the letter that scales an amount of money; None without a currency ahead of it or behind it."""
    short = _MONEY_SCALE.match(plain, end)
    if short is None or _MONEY_AHEAD.search(plain, max(0, start - _MONEY_WIDTH), start):
        return short
    behind = UNIT_PATTERN.match(plain, short.end())
    is_money = (
        behind is not None and TextValue(Fraction(0), canonical_unit(behind)).dimension == "money"
    )
    return short if is_money else None


def _unit_at(start: int, end: int, plain: str) -> tuple[str, int]:
    """Return the unit of a number that stands there, and where that ends."""
    unit, suffix = "", UNIT_PATTERN.match(plain, end)
    if suffix and suffix.end() > end:
        unit, end = canonical_unit(suffix), suffix.end()
    if unit == "km" and _AN_HOUR.search(plain[max(0, start - 6) : start]):
        unit = "km/h"
    if ahead := _MONEY_AHEAD.search(plain, max(0, start - _MONEY_WIDTH), start):
        unit = str(ahead.lastgroup)
    return unit, end


# 一年半, an hour and a half; 两个半小时, two and a half years.
_HALF_BEHIND = re.compile(r"半(?!数|价|天|年)|\s?and a half(?![a-z])")
_HALF_AHEAD = re.compile(r"个半(?=小时|钟头|月|星期|工作日)|\s?and a half(?![a-z])")


_COUNTERS = "个名位人台件条项次份张辆间层页章节款种类笔套家所具根步门场轮批届期队组级倍副片点只支枚瓶箱袋本座栋颗粒杯盒册篇幅艘头匹株棵首枚"


def _counts(kind: str, match: re.Match[str], plain: str) -> bool:
    """Return whether a numeral without a unit counts something: 两名, 五个; not 一般 nor 统一."""
    if kind != "han" or match[0] in _WEAK:
        return False
    behind = plain[match.end() : match.end() + 1]
    ranged = re.match(rf"[至到~-]\s?[{HAN_NUMERALS}\d]", plain[match.end() : match.end() + 3])
    return len(match[0]) > 1 or behind in _COUNTERS or ranged is not None


def _time_of(groups: dict[str, str]) -> TextValue:
    hour = parse_whole(groups.get("h") or groups["zh"]) or 0
    minute = parse_whole(groups.get("min") or groups.get("zmin") or "0") or 0
    minute = 30 if "halfpast" in groups else minute
    late = groups.get("half") == "p" or groups.get("part") in {"下午", "晚上", "傍晚"}
    hour = hour + 12 if late and hour < 12 else hour
    return TextValue(Fraction(60 * hour + minute), TIME)
