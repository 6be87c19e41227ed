"""Units, bounds and rates of values in a text, and values that can be compared across units."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sextant.text.characters import plain_of
from sextant.text.number_words import SCALE_POWERS

DATE, TIME, SHARE, ORDINAL, WEEKDAY = "date", "time", "share", "ordinal", "weekday"

COUNT, TIMES = "count", "times"

# Canonical unit: (dimension, how many base units of it, how it is written). Units of one dimension are converted.
UNITS: dict[str, tuple[str, Fraction, str]] = {
    "second": ("time", Fraction(1), "seconds?|secs?|(?<= )s|秒钟?"),
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
    "pound": ("POUND", Fraction(1), "pounds?"),
    "TWD": ("TWD", Fraction(1), r"twd|nt\$|新台币|台币"),
    "HKD": ("HKD", Fraction(1), r"hkd|hk\$|港元|港币"),
    "JPY": ("JPY", Fraction(1), "jpy|yen|日元"),
    "CHF": ("CHF", Fraction(1), "chf|(?:swiss )?francs?|瑞士法郎"),
    "kg": ("mass", Fraction(1000), "kg|kilograms?|kilos?|公斤|千克"),
    "g": ("mass", Fraction(1), "g|grams?|克"),
    "mg": ("mass", Fraction(1, 1000), "mg|milligrams?|毫克"),
    "tonne": ("mass", Fraction(10**6), "t|tonnes?|tons?|吨"),
    "µg": ("mass", Fraction(1, 10**6), "[µμ]g|mcg|micrograms?|微克"),
    "lb": ("mass", Fraction(45359237, 100000), "lbs?|磅"),
    "oz": ("mass", Fraction(45359237, 1600000), "oz|ounces?|盎司"),
    "km": ("length", Fraction(1000), "km|kilomet(?:er|re)s?|公里|千米"),
    "m": ("length", Fraction(1), "m|met(?:er|re)s?|米"),
    "cm": ("length", Fraction(1, 100), "cm|centimet(?:er|re)s?|厘米|公分"),
    "mm": ("length", Fraction(1, 1000), "mm|millimet(?:er|re)s?|毫米"),
    "inch": ("length", Fraction(254, 10000), "inch(?:es)?|英寸"),
    "ft": ("length", Fraction(3048, 10000), "ft|foot|feet|英尺"),
    "mile": ("length", Fraction(1609344, 1000), "miles?|英里"),
    "m2": ("area", Fraction(1), "m2|sq ?m|square met(?:er|re)s?|平方米|平米"),
    "km2": ("area", Fraction(10**6), "km2|sq ?km|square kilomet(?:er|re)s?|平方公里|平方千米"),
    "ha": ("area", Fraction(10**4), "ha|hectares?|公顷"),
    "mu": ("area", Fraction(2000, 3), "亩"),
    "acre": ("area", Fraction(40468564224, 10**7), "acres?|英亩"),
    "sq ft": ("area", Fraction(9290304, 10**8), "sq ?ft|square f(?:oo|ee)t|平方英尺"),
    "sq mile": ("area", Fraction(2589988110336, 10**6), "sq ?mi(?:les?)?|square miles?|平方英里"),
    "m3": ("volume", Fraction(10**6), "m3|cubic met(?:er|re)s?|立方米"),
    "mph": ("speed", Fraction(1609344, 10**6), "mph|miles (?:per|an) hour|英里/小时|英里每小时"),
    "m/s": ("speed", Fraction(36, 10), "m/s|met(?:er|re)s? (?:per|a) second|米/秒|米每秒"),
    "km/h": ("speed", Fraction(1), "km/h|kilomet(?:er|re)s? (?:per|an) hour|公里/小时|公里每小时"),
    "kW": ("power", Fraction(1000), "kw|kilowatts?|千瓦"),
    "W": ("power", Fraction(1), "w|watts?|瓦"),
    "V": ("voltage", Fraction(1), "v|volts?|伏特?"),
    "mA": ("current", Fraction(1, 1000), "ma|milliamp(?:ere)?s?|毫安"),
    "A": ("current", Fraction(1), "a(?= (?:type|circuit|fuse))|amp(?:ere)?s?|安培"),
    "Nm": ("torque", Fraction(1), "nm|newton met(?:er|re)s?|牛米"),
    "N": ("force", Fraction(1), "n|newtons?|牛顿?"),
    "kWh": ("energy", Fraction(1), "kwh|kilowatt[- ]?hours?|千瓦时"),
    "Hz": ("frequency", Fraction(1), "hz|hertz|赫兹?"),
    "kHz": ("frequency", Fraction(10**3), "khz|千赫兹?"),
    "MHz": ("frequency", Fraction(10**6), "mhz|兆赫兹?"),
    "GHz": ("frequency", Fraction(10**9), "ghz|吉赫兹?"),
    "dB": ("sound", Fraction(1), r"db(?:\(a\))?|decibels?|分贝"),
    "C": ("temperature", Fraction(1), "°c|℃|degrees?(?: celsius)?|摄氏度|度"),
    "F": ("fahrenheit", Fraction(1), "°f|℉|degrees? fahrenheit|华氏度"),
    "mmol/L": ("mmol/l", Fraction(1), "mmol/l|毫摩尔/升|毫摩尔每升"),
    "ml": ("volume", Fraction(1), "ml|millilit(?:er|re)s?|毫升"),
    "l": ("volume", Fraction(1000), "l|lit(?:er|re)s?|升"),
    "cent": ("cent", Fraction(1), "cents?|美分|欧分"),
    "GB": ("data", Fraction(1024), "gb|gigabytes?"),
    "MB": ("data", Fraction(1), "mb|megabytes?"),
    "TB": ("data", Fraction(1024**2), "tb|terabytes?"),
    "KB": ("data", Fraction(1, 1024), "kb|kilobytes?"),
    "times": ("times", Fraction(1), "times|次(?![数序品要])"),
    "point": ("point", Fraction(1), "percentage points?|个?百分点"),
}

_CURRENCY_CODES = """
aud brl cad chf cny czk dkk eur gbp hkd huf inr isk jpy krw mxn nok nzd pln rmb sek sgd thb twd usd zar
"""

CURRENCIES = frozenset(_CURRENCY_CODES.split())
"""Codes of currencies (ISO 4217), in lower case; RMB is what people call CNY."""

# Longer ones first: 公里/小时 before 公里, mmol/l before m.
UNIT_FORMS = sorted(
    (
        (form, unit)
        for unit, (_, _, forms) in UNITS.items()
        for form in re.split(r"\|(?![^(]*\))", forms)
    ),
    key=lambda one: -len(one[0]),
)

UNIT_PATTERN = re.compile(
    r"(?![ \t\u00a0-]?(?:[\d,.;:)]|\Z))[ \t\u00a0-]?(?:"
    + "|".join(
        f"(?P<u{number}>{form}{'(?![a-z/])' if re.search('[a-z)?]$', form) and not re.search('[一-鿿]', form[-3:]) else ''})"
        for number, (form, _) in enumerate(UNIT_FORMS)
    )
    + ")"
)

# 18日 and 18号 are days of a month, 6场 and 6次 say how often, a pound is money or a weight.
_INTERCHANGED = (
    {ORDINAL, "day"},
    {ORDINAL, COUNT},
    {COUNT, TIMES},
    {"pound", "GBP"},
    {"pound", "lb"},
)


@dataclass(frozen=True, slots=True)
class TextValue:
    """What one number in a text says.

    Attributes:
        number: the number; of a share its part of one, of a time of day its minutes; 0 for a date.
        unit: canonical; "" where none is written.
        bound: `max` or `min` where the text says so.
        date: year, month and day of a date, None for what is not said.
        slack: of what is said to be about so much, by how much what is meant may differ from it.
    """

    number: Fraction
    unit: str = ""
    bound: str = ""
    date: tuple[int | None, int | None, int | None] | None = None
    slack: Fraction = field(default=Fraction(0), compare=False)

    @property
    def dimension(self) -> str:
        """Return what it measures; values of different dimensions do not compete."""
        if self.unit in {"month", "year", "week", "day", "hour", "minute", "workday"}:
            return "period"
        if self.unit == COUNT:
            return ""
        if self.unit in UNITS:
            dimension = UNITS[self.unit][0]
            return "money" if dimension.isupper() else dimension
        return self.unit

    def competes(self, other: TextValue) -> bool:
        """Return whether `other` is of the same kind and differs."""
        return self.dimension == other.dimension and not self.matches(other)

    def matches(self, other: TextValue) -> bool:
        """Return whether `other` is the same or rounds to it, after converting units; a missing unit matches any."""
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
            return self._is_near(other.number)
        if self.unit in UNITS and other.unit in UNITS:
            (dimension, factor, _), (its, its_factor, _) = UNITS[self.unit], UNITS[other.unit]
            return dimension == its and self._is_near(other.number * its_factor / factor)
        return self.unit == other.unit and self._is_near(other.number)

    def _is_near(self, number: Fraction) -> bool:
        return abs(self.number - number) <= self.slack

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
    return name in UNITS or (name.isupper() and name.lower() in CURRENCIES)


def canonical_unit(match: re.Match[str]) -> str:
    """Return the unit that a match of `UNIT_PATTERN` names."""
    return UNIT_FORMS[int(str(match.lastgroup)[1:])][1]


_AT_MOST_AHEAD = re.compile(
    r"(?:at (?:the )?most|up to|not exceed(?:ing)?|no later than|below|under|(?:less|fewer|shorter|smaller|lower|lighter|younger|earlier|sooner|cheaper|narrower|thinner|cooler|colder|closer|nearer) than|maximum(?: of)?|max\.?|limited to|within"
    r"|capped at|cap(?: is| of)?|(?<![a-z])(?:before|until|prior to)|至多|最多(?:可|能)?(?:报销|使用|携带|为|是)?|最高|最大|上限(?:为|是)?|低于|少于|小于|短于|早于|不足|[未不]满|<|≤)[^\d,，。;；]{0,6}\Z"
)

_AT_LEAST_AHEAD = re.compile(
    r"(?:at (?:the )?least|minimum(?: of)?|more than|over|above|exceed(?:s|ing|ed)?|(?<![a-z])(?!other|rather|slower|faster|quicker)[a-z]+er than|(?<![a-z])(?:after|since)"
    r"|至少|最少|最低|超过|高于|多于|大于|晚于|满|>|≥)[^\d,，。;；]{0,6}\Z"
)

# "Must not run with more than 8": a comparison that is denied bounds the other way.
_COMPARISON = re.compile(r"than|below|above|under|over|exceed|超过|[高低多少大小长短早晚]于")

_DENIED = re.compile(
    r"(?:\b(?:not|no|never|cannot|without|nor)\b|n['’]t\b|不|未|勿|禁止|无)[^,，。;；:：]{0,24}\Z"
)

# "No later than ten weeks before the start" is at least ten, no earlier than these at most.
_OF_TIME = re.compile("later|earlier")
_COUNTS_BACK = re.compile(r"\s?(?:before|prior to|ahead of|in advance)(?![a-z])")

_AT_MOST_BEHIND = re.compile(
    r"\s?[^\d\s,，。;；]{0,3}(?:以内|之内|以下|内(?![容部])|之前|以前|or (?:less|fewer|below)|at (?:the )?most|max)"
)

_AT_LEAST_BEHIND = re.compile(
    r"\s?[^\d\s,，。;；]{0,3}(?:以上|之后|以后|or (?:more|above|older|later)|at least)"
)


def with_bound(value: TextValue, start: int, end: int, plain: str) -> TextValue:
    """Return a value with the bound that words ahead of it or behind it give: at most, 以上."""
    behind = plain[end : end + 14]
    most, least = (
        pattern.search(plain, max(0, start - 24), start)
        for pattern in (_AT_MOST_AHEAD, _AT_LEAST_AHEAD)
    )
    if found := most or least:
        is_denied = _COMPARISON.search(found[0]) and _DENIED.search(
            plain, max(0, found.start() - 32), found.start()
        )
        counts_back = (
            value.dimension == "period" and _OF_TIME.search(found[0]) and _COUNTS_BACK.match(behind)
        )
        is_most = bool(most) is (bool(is_denied) is bool(counts_back))
        return replace(value, bound="max" if is_most else "min")
    if _AT_MOST_BEHIND.match(behind):
        return replace(value, bound="max")
    if _AT_LEAST_BEHIND.match(behind):
        return replace(value, bound="min")
    return value


_ABOUT_AHEAD = re.compile(
    r"(?:约|大概|差不多|将近|接近|≈|~|(?<![a-z])(?:about|around|approximately|approx\.?|roughly|circa))[是为]?\s?[^\d\s]{0,4}\s?\Z"
)
_ABOUT_BEHIND = re.compile(r"[^\d\s,，。;；]{0,3}(?:左右|上下)|\s?[a-z]* or so(?![a-z])")
# What "about" leaves open at most, however roughly the number is written.
_MOST_SLACK = Fraction(1, 20)


def slack_of(number: Fraction, place: Fraction, start: int, end: int, plain: str) -> Fraction:
    """Return the slack of a number that a text calls approximate: half of its last place; else 0."""
    is_about = _ABOUT_AHEAD.search(plain, max(0, start - 16), start) or _ABOUT_BEHIND.match(
        plain, end
    )
    return min(place / 2, abs(number) * _MOST_SLACK) if is_about else Fraction(0)


def unit_of_heading(text: str) -> str:
    """Return the unit that a column's head gives its numbers: "Price (CNY)", "Delivery (weeks)"; "" for none."""
    plain = plain_of(text)
    for match in re.finditer(r"(?<![a-z0-9])\S", plain):
        if (unit := UNIT_PATTERN.match(plain, match.start())) and unit.end() > match.start():
            before = plain[match.start() - 1 : match.start()]
            if not ("一" <= plain[match.start()] <= "鿿") or before in {"(", "/", "（"}:
                return canonical_unit(unit)
    return SHARE if "%" in plain else ""


_MONEY_NAMES = [
    (form, unit) for form, unit in UNIT_FORMS if TextValue(Fraction(0), unit).dimension == "money"
]
_MONEY_NAME = "|".join(f"(?P<{{0}}{at}>{form})" for at, (form, _) in enumerate(_MONEY_NAMES))
# In millions of CHF, USD '000, €m, 单位：万元, 金额（亿元）; "3 million cars" scales itself.
_HEADING_SCALE = re.compile(
    rf"(?:(?<![a-z])(?:{_MONEY_NAME.replace('{0}', 'a')})\s?)?(?:in\s)?"
    rf"(?:(?<![a-z0-9])(?<!\d\s)(?P<en>thousand|million|billion|trillion)s?(?![a-z])|(?P<noughts>['’]000)(?!\d)|(?<=[$€£])\s?(?P<short>mn?|bn|k)(?![a-z]))"
    rf"(?:\s(?:of\s)?(?:{_MONEY_NAME.replace('{0}', 'b')})(?![a-z]))?"
    rf"|(?:单位\s?[:：]?|[(（/,，])\s?(?:人民币)?(?P<zh>[十百千]?[万亿]|[百千](?![克米瓦分]))(?:{_MONEY_NAME.replace('{0}', 'c')}|[^\W\d]{{0,2}})(?=[)）\s;；,，]|\Z)"
)


def scale_of_heading(text: str) -> tuple[int, str] | None:
    """Return the power of ten and the unit (or "") that a heading gives its numbers: "in millions of CHF"; None for neither."""
    found = _HEADING_SCALE.search(plain_of(text))
    if found is None:
        return None
    named = next(
        (name for name, form in found.groupdict().items() if form and name[1:].isdigit()), None
    )
    scale = found["en"] or found["short"] or found["zh"]
    return (SCALE_POWERS[scale] if scale else 3, _MONEY_NAMES[int(named[1:])][1] if named else "")
