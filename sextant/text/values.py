"""Numbers, amounts, shares, dates and times of day in a text, each as one value however it is written.

168万元, 1,680,000 元, CNY 1680000 and 1.68 million yuan are one value; so are 千分之一 and 0.1 %, three and 3,
2025年3月1日 and 1 March 2025. A statement and its evidence are both read by `normalise_values`, so that they can
be compared by what they say.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sextant.text.characters import has_cjk, plain_of
from sextant.text.number_words import chinese_number

DATE, TIME, SHARE, ORDINAL, WEEKDAY = "date", "time", "share", "ordinal", "weekday"
COUNT, TIMES = "count", "times"

# Canonical unit: (dimension, how many base units of it, how it is written). Units of one dimension are converted.
_UNITS: dict[str, tuple[str, Fraction, str]] = {
    "second": ("time", Fraction(1), "seconds?|secs?|秒钟?"),
    "ms": ("time", Fraction(1, 1000), "ms|milliseconds?|毫秒"),
    "minute": ("time", Fraction(60), "minutes?|mins?|分钟"),
    "hour": ("time", Fraction(3600), "hours?|hrs?|h|个?小时|个?钟头"),
    "workday": ("workday", Fraction(1), "(?:working|business|work) ?-?days?|个?工作日"),
    "day": ("time", Fraction(86400), "(?:calendar )?days?|个?自然日|[天日]|号"),
    "week": ("time", Fraction(604800), "weeks?|周|个?星期"),
    "month": ("months", Fraction(1), "months?|个月|个?自然月"),
    "year": ("months", Fraction(12), "years?|周?年(?![级会])|周岁|岁"),
    "CNY": ("CNY", Fraction(1), "cny|rmb|renminbi|(?:chinese )?yuan|元人民币|人民币|元|块钱?|圆"),
    "USD": ("USD", Fraction(1), r"us dollars?|usd|us\$|dollars?|美元|\$"),
    "EUR": ("EUR", Fraction(1), "eur|euros?|欧元|€"),
    "GBP": ("GBP", Fraction(1), "gbp|pounds? sterling|英镑|£"),
    "TWD": ("TWD", Fraction(1), r"twd|nt\$|新台币|台币"),
    "HKD": ("HKD", Fraction(1), r"hkd|hk\$|港元|港币"),
    "JPY": ("JPY", Fraction(1), "jpy|yen|日元"),
    "CHF": ("CHF", Fraction(1), "chf|(?:swiss )?francs?|瑞士法郎"),
    "kg": ("mass", Fraction(1000), "kg|kilograms?|kilos?|公斤|千克"),
    "g": ("mass", Fraction(1), "g|grams?|克"),
    "mg": ("mass", Fraction(1, 1000), "mg|milligrams?|毫克"),
    "tonne": ("mass", Fraction(10**6), "t|tonnes?|tons?|吨"),
    "km": ("length", Fraction(1000), "km|kilomet(?:er|re)s?|公里|千米"),
    "m": ("length", Fraction(1), "m|met(?:er|re)s?|米"),
    "cm": ("length", Fraction(1, 100), "cm|centimet(?:er|re)s?|厘米|公分"),
    "mm": ("length", Fraction(1, 1000), "mm|millimet(?:er|re)s?|毫米"),
    "m/s": ("speed", Fraction(36, 10), "m/s|met(?:er|re)s? (?:per|a) second|米/秒|米每秒"),
    "km/h": ("speed", Fraction(1), "km/h|kilomet(?:er|re)s? (?:per|an) hour|公里/小时|公里每小时"),
    "kW": ("power", Fraction(1000), "kw|kilowatts?|千瓦"),
    "W": ("power", Fraction(1), "w|watts?|瓦"),
    "V": ("voltage", Fraction(1), "v|volts?|伏特?"),
    "mA": ("current", Fraction(1, 1000), "ma|milliamp(?:ere)?s?|毫安"),
    "A": ("current", Fraction(1), "a(?= (?:type|circuit|fuse))|amp(?:ere)?s?|安培"),
    "Nm": ("torque", Fraction(1), "nm|newton met(?:er|re)s?|牛米"),
    "N": ("force", Fraction(1), "n|newtons?|牛顿?"),
    "Hz": ("frequency", Fraction(1), "hz|hertz|赫兹?"),
    "dB": ("sound", Fraction(1), r"db(?:\(a\))?|decibels?|分贝"),
    "C": ("temperature", Fraction(1), "°c|℃|degrees?(?: celsius)?|摄氏度|度"),
    "mmol/L": ("mmol/l", Fraction(1), "mmol/l|毫摩尔/升|毫摩尔每升"),
    "ml": ("volume", Fraction(1), "ml|millilit(?:er|re)s?|毫升"),
    "l": ("volume", Fraction(1000), "l|lit(?:er|re)s?|升"),
    "cent": ("cent", Fraction(1), "cents?|美分|欧分"),
    "GB": ("data", Fraction(1024), "gb|gigabytes?"),
    "MB": ("data", Fraction(1), "mb|megabytes?"),
    "times": ("times", Fraction(1), "times|次(?![数序品要])"),
    "point": ("point", Fraction(1), "percentage points?|个?百分点"),
}
_CURRENCY_CODES = """
aud brl cad chf cny czk dkk eur gbp hkd huf inr isk jpy krw mxn nok nzd pln rmb sek sgd thb twd usd zar
"""
CURRENCIES = frozenset(_CURRENCY_CODES.split())
"""Codes of currencies (ISO 4217), in lower case; RMB is what people call CNY."""
# Longer ones first: 公里/小时 before 公里, mmol/l before m.
_UNIT_FORMS = sorted(
    (
        (form, unit)
        for unit, (_, _, forms) in _UNITS.items()
        for form in re.split(r"\|(?![^(]*\))", forms)
    ),
    key=lambda one: -len(one[0]),
)
_UNIT = re.compile(
    r"[ \t\u00a0-]?(?:"
    + "|".join(
        f"(?P<u{number}>{form}{'(?![a-z/])' if re.search('[a-z)?]$', form) and not re.search('[一-鿿]', form[-3:]) else ''})"
        for number, (form, _) in enumerate(_UNIT_FORMS)
    )
    + ")"
)
_AN_HOUR = re.compile(r"(?:每小时|时速)[为是]?\s?\Z")
_MONEY_AHEAD = re.compile(
    r"(?:(?:(?P<CNY>cny|rmb|renminbi|人民币|¥|￥)|(?P<USD>usd|us\$|(?<![a-z])\$|美元)|(?P<EUR>eur|€|欧元)|(?P<GBP>gbp|£)"
    r"|(?P<TWD>twd|nt\$|新台币|台币)|(?P<HKD>hkd|hk\$|港币)|(?P<JPY>jpy)|(?P<CHF>chf))[ \t]*)+$"
)
# 人民币 ￥ and the like; and a currency named again behind a value: 235万元（人民币）.
_MONEY_WIDTH, _BRACKETED = 14, re.compile(r"\s?[(（]\s*([^()（）\d]{1,12}?)\s*[)）]")

_SCALES = {
    "hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "百": 2, "千": 3, "万": 4, "十万": 5,
    "百万": 6, "千万": 7, "亿": 8, "万亿": 12, "k": 3, "mn": 6, "bn": 9, "m": 6, "mm": 6, "mio": 6, "mln": 6, "b": 9,
    "bln": 9, "tn": 12, "trn": 12, "w": 4,
}  # fmt: skip
_MILLION = "\ue000"
_SCALES[_MILLION] = 6
# Letters that are units elsewhere: CNY 1.68m, $2mm, 168w元.
_MONEY_SCALE = re.compile(r"\s?(?P<scale>mm|mio|mln|m|bln|b|trn|tn|w)(?![a-z/²³])")
# What says something else once it is normalised. 1.2M parcels: a capital letter at a number is no metre; 10⁶ is not
# 106, and no Chinese comma stands before a fraction.
_WRITTEN = re.compile(r"(?<=\d)(?:M(?=\+?\s+[A-Za-z]|\s?[一-鿿])|[⁻⁺]?[⁰¹²³⁴-⁹]+|，)")
# Raised behind a figure: the power of a ten, else the mark of a note.
_RAISED = r"(?:\^|(?=[⁻⁺⁰¹²³⁴-⁹]))(?P<power>[-−+⁻⁺]?[\d⁰¹²³⁴-⁹]{1,2})(?![\d⁰¹²³⁴-⁹])"
# 4,99 and 1.234,50, as most of Europe writes them.
_DECIMAL_COMMA = r"(?<!\d,)(?:\d{1,3}(?:[.\u2009\u202f ]\d{3})+|\d+),\d{1,2}(?![\d,])"
_UP_TO = re.compile(rf"\s?(?:[-–—~]|to)\s?{_DECIMAL_COMMA}")
_GROUP, _TEN = 3, 10
_SCALE = "万亿|千万|百万|十万|亿|万|千(?![克米瓦])|百(?!分)|(?:hundred|thousand|million|billion|trillion)(?![a-z])|(?:k|mn|bn)(?![a-z])|\ue000"
_SMALL = {word: at for at, word in enumerate(
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"])}  # fmt: skip
_TENS = {
    word: 10 * at
    for at, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_ORDINALS = {word: at for at, word in enumerate(
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"], start=1)}  # fmt: skip
_MONTHS = {
    name: at
    for at, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
        start=1,
    )
}
_MONTH = r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
# Short forms that are words of their own count only ahead of what a word does not stand ahead of.
_ENGLISH_DAYS = (
    "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs?|rsday)?|fri(?:day)?|saturday|sunday"
    r"|(?:sat|sun)(?=\.?\s?[-–,:/]|\.?\s\d)"
)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WORD_NUMBER = "|".join([*sorted([*_SMALL, *_TENS], key=len, reverse=True)])
_CAPITALS = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟〇两", "一二三四五六七八九十百千零二")
_HAN_UNITS = "|".join(["[倍成]", *(form for form, _ in _UNIT_FORMS if re.match("[个一-鿿]", form))])
_EN_UNITS = "|".join(form for form, _ in _UNIT_FORMS if re.search("[a-z]{2}", form))
_HAN = "零一二三四五六七八九十百千万亿半两〇壹贰叁肆伍陆柒捌玖拾佰仟"

_NUMBER_BEGINS = r"(?:(?<![a-z0-9_.^])|(?<=cny|rmb|usd|eur|gbp|twd|hkd|jpy|chf))(?:(?<!\d)[-−])?"
_PATTERNS: Sequence[tuple[str, re.Pattern[str]]] = (
    ("weekday", re.compile(rf"(?<![a-z])(?P<day>{_ENGLISH_DAYS})(?:s|\.)?(?![a-z])|(?<![{_HAN}\d])(?:周|星期|礼拜)(?P<zday>[一二三四五六日天])(?![{_HAN}]|[次天个回场节遍小均期程])")),
    ("date", re.compile(r"(?<![\d.])(?P<y>(?:19|20)\d\d)(?:年|[-/.])\s?(?P<m>1[0-2]|0?[1-9])(?:月|[-/.])\s?(?P<d>3[01]|[12]\d|0?[1-9])(?![\d])[日号]?")),
    ("date", re.compile(r"(?<![\d.])(?P<y>(?:19|20)\d\d)\s?年\s?(?P<m>1[0-2]|0?[1-9])\s?月(?:\s?(?P<d>3[01]|[12]\d|0?[1-9])\s?[日号])?")),
    ("date", re.compile(r"(?<![\d.])(?P<m>1[0-2]|0?[1-9])\s?月\s?(?P<d>3[01]|[12]\d|0?[1-9])\s?[日号]?(?!\d)")),
    ("date", re.compile(r"(?P<m>十[一二]?|[一二三四五六七八九])月(?P<d>三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]")),
    ("date", re.compile(rf"(?<![\d.])(?P<d>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?: of)? {_MONTH.format('mon')}(?:,? (?P<y>(?:19|20)\d\d))?(?![a-z])")),
    ("date", re.compile(rf"(?<![a-z]){_MONTH.format('mon')} (?P<d>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?:,? (?P<y>(?:19|20)\d\d))?(?![\d%a-z])")),
    ("date", re.compile(rf"(?<![a-z]){_MONTH.format('mon')},? (?P<y>(?:19|20)\d\d)(?!\d)")),
    ("date", re.compile(r"(?<![\d.])(?P<y>(?:19|20)\d\d)\s?年(?!\d)")),
    ("fraction", re.compile(rf"(?P<den>[{_HAN}]{{1,3}}|\d{{1,5}})分之(?P<num>[{_HAN}]{{1,6}}(?:点[{_HAN}]{{1,4}})?|\d+(?:\.\d+)?)")),
    ("time", re.compile(r"(?<![\d:.])(?P<h>[01]?\d|2[0-4]):(?P<min>[0-5]\d)(?!\d)(?:\s?(?P<half>[ap])\.?m\b\.?)?")),
    ("time", re.compile(r"(?<![\d:.])(?P<h>1[0-2]|[1-9])(?:[:.](?P<min>[0-5]\d))?\s?(?P<half>[ap])\.?m\b\.?")),
    ("han", re.compile(rf"(?<![{_HAN}午上晨间])(?P<han>[{_HAN}]{{1,8}}点[零一二三四五六七八九〇]{{1,4}}(?:[百千]?[万亿])?)(?={_HAN_UNITS})")),
    ("time", re.compile(rf"(?P<part>上午|下午|晚上|早上|中午|凌晨|傍晚)?(?P<zh>\d{{1,2}}|[{_HAN}]{{1,3}})[点时](?!间|候|长|段|刻|代|期|效|区|常|限)(?:整|(?P<halfpast>半)|(?P<zmin>\d{{1,2}}|[{_HAN}]{{1,4}})分?)?")),
    ("fraction", re.compile(rf"(?<![a-z])(?<!and )(?P<num>one|two|three|four|five|a) (?:-)?(?P<en>half|third|quarter|fifth|tenth)s?(?![a-z])|(?<![a-z])(?P<half1>half)(?: of| the| an?)(?! (?:{_EN_UNITS})(?![a-z]))(?![a-z])")),
    ("fraction", re.compile(r"(?P<zhhalf>一半)")),
    ("share", re.compile(rf"(?P<n>{_DECIMAL_COMMA}|\d+(?:[,]\d{{3}})*(?:\.\d+)?)\s?(?:(?P<pct>%|per ?cent(?!age)|percent(?!age))|(?P<pml>‰|per ?mille?|permille))")),
    ("share", re.compile(rf"(?<![a-z])(?P<words>(?:{_WORD_NUMBER})(?:[ -](?:{_WORD_NUMBER}|hundred))*) per ?cent(?!age)")),
    ("share", re.compile(r"(?P<cheng>[一二三四五六七八九])成(?![为立本果功长员交都])")),
    ("ordinal", re.compile(rf"第\s?(?P<zo>\d+|[{_HAN}]{{1,4}})")),
    ("ordinal", re.compile(r"(?<![\w.])(?P<eo>\d{1,4})(?:st|nd|rd|th)(?![a-z])")),
    ("ordinal", re.compile(rf"(?<![a-z-])(?P<ew>{'|'.join(w for w in _ORDINALS if w not in ('first', 'second'))})(?![a-z])")),
    ("comma", re.compile(rf"{_NUMBER_BEGINS}(?P<n>{_DECIMAL_COMMA})\s?(?P<scale>{_SCALE})?")),
    ("power", re.compile(rf"{_NUMBER_BEGINS}(?:(?P<times>\d+(?:\.\d+)?)\s?[x×·⋅*]\s?)?(?P<n>\d+){_RAISED}")),
    ("number", re.compile(rf"{_NUMBER_BEGINS}(?P<n>\d{{1,3}}(?:[,，\u2009\u202f ]\d{{3}})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d]*\.\d)\s?(?P<scale>{_SCALE})?")),
    ("words", re.compile(rf"(?<![a-z-])(?P<words>(?:{_WORD_NUMBER})(?:(?:[ -]| and )(?:{_WORD_NUMBER}|hundred|thousand|million|billion))*)(?![a-z])|(?<![a-z])(?P<dozen>a dozen|an?(?= (?:hour|day|week|month|year) and a half)|once(?= (?:an?|per|every|each|in|daily|weekly|monthly|yearly)(?![a-z]))|twice|half an?(?= (?:{_EN_UNITS})(?![a-z])))(?![a-z])")),
    ("han", re.compile(rf"(?<![{_HAN}])(?P<han>[{_HAN}]{{1,16}})(?![{_HAN}])")),
)  # fmt: skip
# "One" and 一 alone are words; so are numerals in words such as 统一, 一般 and 万一. With a unit they count.
_WEAK = frozenset({"one", "一", "零", "半", "千", "万", "百", "十", "百万"})
_RANGE = re.compile(r"\s?(?:[-–—~～至到]|to|and|或|or|<|≤)\s?(?:[<≤]\s?)?\Z")
_AT_MOST_AHEAD = re.compile(
    r"(?:at (?:the )?most|up to|not exceed(?:ing)?|no later than|below|under|less than|fewer than|maximum(?: of)?|max\.?|limited to|within"
    r"|capped at|cap(?: is| of)?|(?<![a-z])(?:before|until|prior to|earlier than)|至多|最多(?:可|能)?(?:报销|使用|携带|为|是)?|最高|最大|上限(?:为|是)?|低于|少于|小于|短于|早于|不足|[未不]满|<|≤)[^\d,，。;；]{0,6}\Z"
)
_AT_LEAST_AHEAD = re.compile(
    r"(?:at (?:the )?least|minimum(?: of)?|more than|over|above|exceed(?:s|ing|ed)?|longer than|higher than|greater than|larger than|later than|(?<![a-z])(?:after|since)"
    r"|至少|最少|最低|超过|高于|多于|大于|晚于|满|>|≥)[^\d,，。;；]{0,6}\Z"
)
# "Must not run with more than 8": a comparison that is denied bounds the other way.
_COMPARISON = re.compile(r"than|below|above|under|over|exceed|超过|[高低多少大小长短早晚]于")
_DENIED = re.compile(
    r"(?:\b(?:not|no|never|cannot|without|nor)\b|n['’]t\b|不|未|勿|禁止|无)[^,，。;；:：]{0,24}\Z"
)
_AT_MOST_BEHIND = re.compile(
    r"\s?[^\d\s,，。;；]{0,3}(?:以内|之内|以下|内(?![容部])|之前|以前|or (?:less|fewer|below)|at (?:the )?most|max)"
)
_AT_LEAST_BEHIND = re.compile(
    r"\s?[^\d\s,，。;；]{0,3}(?:以上|之后|以后|or (?:more|above|older|later)|at least)"
)


# Letters, then digits among them: E42, BM-40, H3-OP, INC-2025-017. CNY1680000 is no name.
_NAME = re.compile(r"(?<![a-z0-9])(?=[a-z.-]*\d)[a-z]+(?:[-.]?[a-z0-9]+)*(?![a-z0-9])")
_CURRENCY_AHEAD = re.compile(r"(?:cny|rmb|usd|us|eur|gbp|twd|nt|hkd|jpy|chf)\d")


# 18日 and 18号 are days of a month, 6场 and 6次 say how often.
_INTERCHANGED = ({ORDINAL, "day"}, {ORDINAL, COUNT}, {COUNT, TIMES})


@dataclass(frozen=True, slots=True)
class TextValue:
    """What one number in a text says.

    Attributes:
        number: the number; of a share its part of one, of a time of day its minutes; 0 for a date.
        unit: canonical; "" where none is written.
        bound: `max` or `min` where the text says so.
        date: year, month and day of a date, None for what is not said.
    """

    number: Fraction
    unit: str = ""
    bound: str = ""
    date: tuple[int | None, int | None, int | None] | None = None

    @property
    def dimension(self) -> str:
        """Return what it measures; values of different dimensions do not compete."""
        if self.unit in {"month", "year", "week", "day", "hour", "minute", "workday"}:
            return "period"
        if self.unit == COUNT:
            return ""
        if self.unit in _UNITS:
            dimension = _UNITS[self.unit][0]
            return "money" if dimension.isupper() else dimension
        return self.unit

    def matches(self, other: TextValue) -> bool:
        """Return whether `other` says the same number: converted units count, a unit left out is any."""
        if self.date or other.date:
            return self._matches_date(other)
        if "cent" in (self.unit, other.unit) and "money" in (self.dimension, other.dimension):
            cents, whole = (self, other) if self.unit == "cent" else (other, self)
            return cents.number == 100 * whole.number
        if SHARE in (self.unit, other.unit) and self.unit != other.unit:
            return not (self.unit and other.unit) and self._is_percent_of(other)
        is_exact = not {TIME, WEEKDAY}.isdisjoint((self.unit, other.unit))
        is_loose = not (self.unit and other.unit) or {self.unit, other.unit} in _INTERCHANGED
        if is_loose and not is_exact:
            return self.number == other.number
        if self.unit in _UNITS and other.unit in _UNITS:
            (dimension, factor, _), (its, its_factor, _) = _UNITS[self.unit], _UNITS[other.unit]
            return dimension == its and self.number * factor == other.number * its_factor
        return self.unit == other.unit and self.number == other.number

    def opposes(self, other: TextValue) -> bool:
        """Return whether one is a lower and the other an upper bound."""
        return bool(self.bound and other.bound) and self.bound != other.bound

    def _is_percent_of(self, other: TextValue) -> bool:
        share, plain = (self, other) if self.unit == SHARE else (other, self)
        return plain.number == share.number * 100 or plain.number == share.number

    def _matches_date(self, other: TextValue) -> bool:
        if self.date is None or other.date is None:
            plain, day = (other, self) if self.date else (self, other)
            parts = {part for part in day.date or () if part}
            if plain.unit in {"", "year"}:
                return (day.date or (None,))[0] == plain.number
            return plain.unit in {ORDINAL, "day"} and plain.number in parts and len(parts) == 1
        pairs = list(zip(self.date, other.date, strict=True))
        shared = [one == two for one, two in pairs if one is not None and two is not None]
        return (
            bool(shared) and all(shared) and all(two is not None for one, two in pairs[1:] if one)
        )


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value and where it stands in the normalised text."""

    value: TextValue
    start: int
    end: int


def is_unit(name: str) -> bool:
    """Return whether a name is the symbol of a unit or the code of a currency, in their own case: MB, EUR."""
    return name in _UNITS or (name.isupper() and name.lower() in CURRENCIES)


def normalise_values(text: str) -> list[FoundValue]:
    """Return the values of a text in order, at their places in `plain_of(text)`.

    Digits in names (E42, BM-40, 2.8.1) are none. A bare "one" or 一 is none; with a unit it is.
    """
    plain = plain_of(text)
    if len(plain) == len(text):
        for one in _WRITTEN.finditer(text):
            written = _MILLION if one[0] == "M" else one[0]
            plain = f"{plain[: one.start()]}{written}{plain[one.end() :]}"
    found = list[FoundValue]()
    taken = [False] * (len(plain) + 1)
    for name in _NAME.finditer(plain):
        if not _CURRENCY_AHEAD.match(name[0]):
            taken[name.start() : name.end()] = [True] * len(name[0])
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(plain):
            if any(taken[match.start() : match.end()]) or not match[0].strip():
                continue
            if value := _value_of(kind, match, plain):
                start, end = _with_currency(value[0], match.start(), value[1], plain)
                start = match.start() if any(taken[start : match.start()]) else start
                found.append(FoundValue(value[0], start, end))
                taken[start:end] = [True] * (end - start)
    found.sort(key=lambda one: one.start)
    # One time, one of them: a bare 1 says as little as "a".
    return [
        one for one in _with_shared_units(found, plain) if one.value.number != 1 or one.value.unit
    ]


def unit_of_heading(text: str) -> str:
    """Return the unit that a column's head gives its numbers: "Price (CNY)", "Delivery (weeks)"; "" for none."""
    plain = plain_of(text)
    for match in re.finditer(r"(?<![a-z0-9])\S", plain):
        if (unit := _UNIT.match(plain, match.start())) and unit.end() > match.start():
            before = plain[match.start() - 1 : match.start()]
            if not ("一" <= plain[match.start()] <= "鿿") or before in {"(", "/", "（"}:
                return _canonical(unit)
    return SHARE if "%" in plain else ""


def _with_currency(value: TextValue, start: int, end: int, plain: str) -> tuple[int, int]:
    """Return where a value stands with the names of its currency: RMB ahead of it, (CNY) behind it."""
    if value.dimension != "money":
        return start, end
    if ahead := _MONEY_AHEAD.search(plain, max(0, start - _MONEY_WIDTH), start):
        start = ahead.start()
    brackets = _BRACKETED.match(plain, end)
    unit = _UNIT.fullmatch(brackets[1]) if brackets else _UNIT.match(plain, end)
    if unit and _canonical(unit) == value.unit:
        end = brackets.end() if brackets else unit.end()
    return start, end


def _with_shared_units(found: Sequence[FoundValue], plain: str) -> Iterator[FoundValue]:
    """Yield values with the unit that stands behind the last of a range: 15 ～ 20 g."""
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
    if kind == "date":
        year = int(groups["y"]) if "y" in groups else None
        month = _MONTHS[groups["mon"][:3]] if "mon" in groups else _number_or_none(groups.get("m"))
        day = TextValue(Fraction(0), DATE, "", (year, month, _number_or_none(groups.get("d"))))
        return _bounded_value(day, match.start(), end, plain), end
    if kind in {"weekday", "time"}:
        value = _time_of(groups) if kind == "time" else _weekday_of(groups)
        return _bounded_value(value, match.start(), end, plain), end
    if kind == "fraction":
        return _bounded_value(
            TextValue(_fraction_of(groups), SHARE), match.start(), end, plain
        ), end
    if kind == "share":
        return _bounded_value(TextValue(_share_of(groups), SHARE), match.start(), end, plain), end
    if kind == "ordinal":
        raw = groups.get("zo") or groups.get("eo")
        number = _ORDINALS[groups["ew"]] if raw is None else _whole(raw)
        return (TextValue(Fraction(number), ORDINAL), end) if number is not None else None
    return _number_of(kind, groups, match, plain)


def _number_of(
    kind: str, groups: dict[str, str], match: re.Match[str], plain: str
) -> tuple[TextValue, int] | None:
    stated = _stated_number(kind, groups, match, plain)
    if stated is None:
        return None
    number, end = stated
    if plain[match.start() : match.start() + 1] in {"-", "−"}:
        number = -number if not plain[: match.start()].rstrip()[-1:].isdigit() else number
    ahead = _HALF_AHEAD.match(plain, end)
    unit, end = _unit_at(match.start(), ahead.end() if ahead else end, plain)
    timed = unit in _UNITS and _UNITS[unit][0] in {"time", "months"}
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
    if not unit and number != 1 and plain[end : end + 1] in set(_COUNTERS):
        unit = COUNT
    return _bounded_value(TextValue(number, unit), match.start(), end, plain), end


def _stated_number(
    kind: str, groups: dict[str, str], match: re.Match[str], plain: str
) -> tuple[Fraction, int] | None:
    """Return a number without its unit, and where it ends; None for what is none."""
    if kind == "number" or (kind == "comma" and _is_decimal(match, plain)):
        return _scaled_number(groups, match, plain)
    number: Fraction | None = None
    if kind == "power":
        number = _power_of(groups)
    elif kind == "words":
        number = _of_words(groups)
    elif kind == "han":
        number = _of_han(groups["han"])
    return None if number is None else (number, match.end())


def _scaled_number(
    groups: dict[str, str], match: re.Match[str], plain: str
) -> tuple[Fraction, int]:
    """Return a number in digits with its scale, and where that ends."""
    number = _written_number(groups["n"])
    scale, end = groups.get("scale"), match.end()
    if scale is None and (short := _money_scale_at(match.start(), end, plain)):
        scale, end = short["scale"], short.end()
    return number * (10 ** _SCALES[scale] if scale else 1), end


def _written_number(digits: str) -> Fraction:
    """Return a number by its digits; one or two behind its last comma are a fraction."""
    whole, comma, fraction = digits.rpartition(",")
    if comma and len(fraction) < _GROUP:
        digits = f"{whole.replace('.', '')}.{fraction}"
    return Fraction(re.sub(r"[,，\u2009\u202f ]", "", digits))


def _is_decimal(match: re.Match[str], plain: str) -> bool:
    """Return whether a comma stands before a fraction, and parts no list: behind groups, or in an amount."""
    whole = match["n"].partition(",")[0]
    if not whole.isdigit() or _MONEY_AHEAD.search(
        plain, max(0, match.start() - _MONEY_WIDTH), match.start()
    ):
        return True
    until = _UP_TO.match(plain, match.end())
    unit = _UNIT.match(plain, until.end() if until else match.end())
    return unit is not None and not has_cjk(unit[0])


def _power_of(groups: dict[str, str]) -> Fraction:
    """Return a number with a raised one: of ten its power, of any other the number, at which a note's mark stands."""
    number = Fraction(groups["n"])
    if number == _TEN:
        number **= int(unicodedata.normalize("NFKC", groups["power"]).replace("−", "-"))
    return number * Fraction(groups.get("times", "1"))


def _money_scale_at(start: int, end: int, plain: str) -> re.Match[str] | None:
    """Return the letter that scales an amount of money, which a currency ahead or behind shows it to be."""
    short = _MONEY_SCALE.match(plain, end)
    if short is None or _MONEY_AHEAD.search(plain, max(0, start - _MONEY_WIDTH), start):
        return short
    behind = _UNIT.match(plain, short.end())
    is_money = (
        behind is not None and TextValue(Fraction(0), _canonical(behind)).dimension == "money"
    )
    return short if is_money else None


def _unit_at(start: int, end: int, plain: str) -> tuple[str, int]:
    """Return the unit of a number that stands there, and where that ends."""
    unit, suffix = "", _UNIT.match(plain, end)
    if suffix and suffix.end() > end and not _inside_a_word(plain, suffix.end(), suffix[0]):
        unit, end = _canonical(suffix), suffix.end()
    if unit == "km" and _AN_HOUR.search(plain[max(0, start - 6) : start]):
        unit = "km/h"
    if ahead := _MONEY_AHEAD.search(plain, max(0, start - _MONEY_WIDTH), start):
        unit = str(ahead.lastgroup)
    return unit, end


# 一年半, an hour and a half; 两个半小时, two and a half years.
_HALF_BEHIND = re.compile(r"半(?!数|价|天|年)|\s?and a half(?![a-z])")
_HALF_AHEAD = re.compile(r"个半(?=小时|钟头|月|星期|工作日)|\s?and a half(?![a-z])")
_RATE = re.compile(
    # "Within a year" is a period, no rate.
    r"(?:(?<![a-z])(?:(?:per|each|every|(?<!in )(?<!for )(?<!within )(?<!of )(?<!after )(?<!half )(?<!about )(?<!than )(?<!once )an?)\s|/\s?)"
    r"(?:[a-z]+ and )?(?P<en>hour|day|night|week|month|quarter|year|annum)(?![a-z]| and a half)"
    r"|(?<![a-z])(?P<adverb>hourly|daily|nightly|weekly|monthly|quarterly|yearly|annual)(?:ly)?(?![a-z])"
    rf"|每(?:个|一)?(?P<zh>小时|工作日|自然日|[天日晚周月年]|星期|季度?)(?![{_HAN}日底初末])|[/／](?P<slash>小时|[天日晚周月年]))"
)
_RATES = {
    "小时": "hour", "天": "day", "日": "day", "工作日": "day", "自然日": "day", "晚": "day", "周": "week", "星期": "week",
    "月": "month", "季": "quarter", "季度": "quarter", "年": "year", "annum": "year", "annual": "year", "night": "day",
    "nightly": "day", "daily": "day",
}  # fmt: skip


def rates_in(text: str) -> dict[tuple[int, int], str]:
    """Return the periods that a text counts by, "a year", 每月, per hour, by where they stand in `plain_of(text)`."""
    return {found.span(): _rate_of(found) for found in _RATE.finditer(plain_of(text))}


def _rate_of(found: re.Match[str]) -> str:
    word = next(text for text in found.groups() if text)
    return _RATES.get(word, word.removesuffix("ly"))


_COUNTERS = "个名位人台件条项次份张辆间层页章节款种类笔套家所具根步门场轮批届期队组级倍副片点只支枚瓶箱袋本座栋颗粒杯盒册篇幅艘头匹株棵首枚"


def _counts(kind: str, match: re.Match[str], plain: str) -> bool:
    """Return whether a numeral without a unit counts something: 两名, 五个; not 一般 nor 统一."""
    if kind != "han" or match[0] in _WEAK:
        return False
    behind = plain[match.end() : match.end() + 1]
    ranged = re.match(rf"[至到~-]\s?[{_HAN}\d]", plain[match.end() : match.end() + 3])
    return len(match[0]) > 1 or behind in _COUNTERS or ranged is not None


def _inside_a_word(plain: str, end: int, unit: str) -> bool:
    """Return whether what looks like a Chinese unit begins a longer word: 日 in 日期, 元 in 元件."""
    return plain[end : end + 1] in {
        "日": "期常志报程",
        "天": "线气",
        "元": "件素",
        "年": "级龄会",
        "度": "假",
        "m": "",
    }.get(unit.strip(), "") and bool(plain[end : end + 1])


def _canonical(match: re.Match[str]) -> str:
    return _UNIT_FORMS[int(str(match.lastgroup)[1:])][1]


def _bounded_value(value: TextValue, start: int, end: int, plain: str) -> TextValue:
    behind = plain[end : end + 14]
    most, least = (
        pattern.search(plain, max(0, start - 24), start)
        for pattern in (_AT_MOST_AHEAD, _AT_LEAST_AHEAD)
    )
    if found := most or least:
        is_denied = _COMPARISON.search(found[0]) and _DENIED.search(
            plain, max(0, found.start() - 32), found.start()
        )
        return replace(value, bound="max" if bool(most) is not bool(is_denied) else "min")
    if _AT_MOST_BEHIND.match(behind):
        return replace(value, bound="max")
    if _AT_LEAST_BEHIND.match(behind):
        return replace(value, bound="min")
    return value


def _time_of(groups: dict[str, str]) -> TextValue:
    hour = _whole(groups.get("h") or groups["zh"]) or 0
    minute = _whole(groups.get("min") or groups.get("zmin") or "0") or 0
    minute = 30 if "halfpast" in groups else minute
    late = groups.get("half") == "p" or groups.get("part") in {"下午", "晚上", "傍晚"}
    hour = hour + 12 if late and hour < 12 else hour
    return TextValue(Fraction(60 * hour + minute), TIME)


def _weekday_of(groups: dict[str, str]) -> TextValue:
    if day := groups.get("day"):
        return TextValue(Fraction(1 + _DAYS.index(day[:3])), WEEKDAY)
    return TextValue(Fraction(1 + min(6, "一二三四五六日天".index(groups["zday"]))), WEEKDAY)


def _share_of(groups: dict[str, str]) -> Fraction:
    if "cheng" in groups:
        return Fraction(_whole(groups["cheng"]) or 0, 10)
    number = _written_number(groups["n"]) if "n" in groups else _of_words(groups)
    return number / (1000 if "pml" in groups else 100)


def _fraction_of(groups: dict[str, str]) -> Fraction:
    if groups.keys() & {"half1", "zhhalf"}:
        return Fraction(1, 2)
    if "en" in groups:
        parts = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}[groups["en"]]
        return Fraction(_SMALL.get(groups["num"], 1), parts)
    over, under = _of_any(groups["num"]), _of_any(groups["den"]) or Fraction(1)
    return over / under


def _of_any(text: str) -> Fraction:
    return Fraction(text) if text[0].isdigit() else (_of_han(text) or Fraction(0))


def _of_han(text: str) -> Fraction | None:
    plain = text.translate(_CAPITALS)
    if "点" in plain:
        whole, _, digits = plain.partition("点")
        digits, scale = digits.rstrip("百千万亿"), digits.lstrip("零一二三四五六七八九")
        decimals = "".join(str("零一二三四五六七八九".find(sign)) for sign in digits)
        number = _of_han(whole)
        if number is None or not decimals.isdigit():
            return None
        return (number + Fraction(f"0.{decimals}")) * Fraction(10 ** _SCALES.get(scale, 0))
    if "半" in plain:
        return Fraction(1, 2) if plain == "半" else None
    if len(plain) > 1 and not set(plain) & set("十百千万亿"):
        return Fraction("".join(str("零一二三四五六七八九".index(sign)) for sign in plain))
    return Fraction(chinese_number(plain))


def _of_words(groups: dict[str, str]) -> Fraction:
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
        if word in _SMALL or word in _TENS:
            section += _SMALL.get(word, _TENS.get(word, 0))
        elif word == "hundred":
            section *= 100
        elif word in _SCALES:
            total, section = total + section * 10 ** _SCALES[word], 0
    return Fraction(total + section)


def _whole(text: str) -> int | None:
    if text.isdigit():
        return int(text)
    number = _of_han(text)
    return int(number) if number is not None else None


def _number_or_none(text: str | None) -> int | None:
    return None if text is None else _whole(text)
