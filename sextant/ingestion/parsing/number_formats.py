"""Numbers, dates and durations as a spreadsheet shows them (number formats: ECMA-376, part 1, 18.8.31)."""

from __future__ import annotations

import datetime as dt
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from itertools import pairwise

_TOKEN = re.compile(
    r'"(?P<literal>[^"]*)"?|[\\!](?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>general)|(?P<half>a/p|am/pm|上午/下午)|(?P<exponent>e[+-])(?=[0#?])"
    r"|(?P<date>y+|m+|d+|a{3,4}|h+|s+(?:\.0+)?|b+|g+|e+)|(?P<digit>[0#?])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_COMPARES: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}
_LONGEST_CODE = 255  # that a spreadsheet takes
_SIGNIFICANT = 15  # digits that a spreadsheet keeps of a number
_PLAIN_FROM, _PLAIN_TO = -10, 21  # powers of ten between which a number has no exponent
_WIDE = Context(prec=2 * 308)  # for any float, with any number of places
_LEAP_DAY = 60  # 29 February 1900, which never was: days before it are counted from one day later
_NULL_DAY = dt.date(1899, 12, 30)
_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class _FormatToken:
    """A part of a format: a literal, a place for a digit, a part of a date."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Section:
    """One of the up to four forms of a format, and the numbers it is for (None: by its position)."""

    tokens: tuple[_FormatToken, ...]
    condition: tuple[str, Decimal] | None

    def has(self, *kinds: str) -> bool:
        """Return whether it has a token of these kinds."""
        return any(token.kind in kinds for token in self.tokens)

    @property
    def is_date(self) -> bool:
        """Return whether it shows a number as a day or a time."""
        return self.has("date", "elapsed")


def format_value(value: float | str, code: str, first_day: int = 0) -> str:
    """Return a cell's value as its reader sees it under the number format `code`.

    A day is written as ISO 8601 has it (2026-03-15, 2026-03 where the format has no day), since 03/04 is read in
    two ways; times, durations (26:30), percent, currency and leading zeros as the format has them. Colours, fill and
    padding are left out.

    Args:
        value: a number, of days where the format is of dates, or a text.
        code: the number format.
        first_day: the day from which the workbook counts, in days from 1900.
    """
    try:
        sections = _parse(code[:_LONGEST_CODE])
        if isinstance(value, str):
            return _format_text(value, sections)
        exact = value if isinstance(value, int) else f"{value:.{_SIGNIFICANT}g}"
        section, number = _choose(sections, Decimal(exact))
        if section.is_date:
            return _format_date(float(number) + first_day * (not section.has("elapsed")), section)
        return _format_number(number, section)
    except (ArithmeticError, ValueError):  # no spreadsheet would take such a format, or such a date
        return str(value)


@lru_cache(maxsize=512)
def _parse(code: str) -> tuple[_Section, ...]:
    sections, tokens, condition = list[_Section](), list[_FormatToken](), None
    for token in _tokens(code):
        if token.kind == "end":
            sections.append(_Section(tuple(tokens), condition))
            tokens, condition = [], None
        elif token.kind == "bracket" and (found := _CONDITION.fullmatch(token.text)):
            condition = found[1], Decimal(found[2])
        elif token.kind != "bracket":
            tokens.append(token)
    return (*sections, _Section(tuple(tokens), condition))


def _tokens(code: str) -> Iterator[_FormatToken]:
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or ""
        text = match[kind]
        match kind:
            case "literal" | "escaped":
                yield _FormatToken("literal", text)
            case "space":
                yield _FormatToken("literal", " ")
            case "bracket" if text.startswith("$"):  # a currency: `$€-407`, `$€-de-DE`
                yield _FormatToken("literal", text[1:].partition("-")[0])
            case "bracket":  # `h` counts hours beyond a day, the rest shows nothing
                is_elapsed = {*text.lower()} in ({"h"}, {"m"}, {"s"})
                yield _FormatToken("elapsed" if is_elapsed else "bracket", text.lower())
            case "other":
                yield _FormatToken({";": "end", "@": "text"}.get(text, "sign"), text)
            case "fill":
                pass
            case _:
                yield _FormatToken(kind, text.lower())


def _format_text(value: str, sections: Sequence[_Section]) -> str:
    last = sections[-1]
    if len(sections) < 4 and not last.has("text"):
        return value
    shown = {"text": value, "general": value}
    return "".join(
        shown.get(token.kind, token.text)
        for token in last.tokens
        if token.kind in {*shown, "literal", "sign"}
    )


def _choose(sections: Sequence[_Section], number: Decimal) -> tuple[_Section, Decimal]:
    """Return the section for a number, and the number as it is written there: without its sign where the section shows that otherwise."""
    if any(section.condition for section in sections):
        for section in sections:
            sign, bound = section.condition or ("", number)
            if not sign or _COMPARES[sign](number, bound):
                return section, number
        return sections[-1], number
    # What writes texts alone is no form of a number.
    is_for_text = len(sections) > 1 and sections[-1].has("text") and not sections[-1].has("digit")
    signed = sections[:-1][:3] if is_for_text else sections[:3]
    if number < 0 and len(signed) > 1:
        is_told_by_colour = signed[1].tokens == signed[0].tokens
        return signed[1], number if is_told_by_colour else -number
    return signed[2 if number == 0 and len(signed) == 3 else 0], number


def _general(number: Decimal) -> str:
    if number and not _PLAIN_FROM < number.adjusted() < _PLAIN_TO:
        return f"{number.normalize():E}"
    shown = f"{number:f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _format_number(number: Decimal, section: _Section) -> str:
    tokens = section.tokens
    if section.has("general", "text") or not section.has("digit"):
        sign = "-" if tokens and number < 0 and not section.has("general", "text") else ""
        parts = (_general(number) if t.kind in {"general", "text"} else t.text for t in tokens)
        return (sign + "".join(parts)).strip()
    scaled = number.scaleb(2 * tokens.count(_FormatToken("sign", "%")))
    sign, scaled = ("-" if scaled < 0 else ""), abs(scaled)
    if section.has("exponent"):
        return sign + _scientific(scaled, tokens)
    if _FormatToken("sign", "/") in tokens:  # 1 1/4 says no more than 1.25
        return sign + _general(scaled)
    shown = _decimals(scaled, tokens)
    if scaled >= 1 and not any(map(str.isdigit, shown)):
        return sign + _general(scaled)  # a format that we do not read leaves no number out
    return (sign if any(digit in "123456789" for digit in shown) else "") + shown


def _decimals(number: Decimal, tokens: Sequence[_FormatToken]) -> str:
    """Return digits in their places, literals between them; the first place takes all digits in front of it."""
    places = [at for at, token in enumerate(tokens) if token.kind == "digit"]
    point = _find_sign(tokens, ".")
    whole, part = [at for at in places if at < point], [at for at in places if at > point]
    commas = [at for at, token in enumerate(tokens) if token == _FormatToken("sign", ",")]
    grouped = bool(whole) and any(whole[0] < at < whole[-1] for at in commas)
    # Each comma directly behind the last digit divides by a thousand.
    behind = _run_behind(commas, whole) + _run_behind(commas, part)
    number = number.scaleb(-3 * len(behind)).quantize(
        Decimal(1).scaleb(-len(part)), ROUND_HALF_UP, _WIDE
    )
    integer, _, fraction = f"{number:f}".partition(".")
    zeros = [at for at in whole if tokens[at].text == "0"]
    integer = integer.lstrip("0").rjust(len(whole) - whole.index(zeros[0]) if zeros else 0, "0")
    if grouped:
        integer = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", integer)
    digits = re.findall(r"\d,?", integer)
    extra = max(len(digits) - len(whole), 0)
    written = dict(zip(reversed(whole), reversed(digits), strict=False))
    if whole and extra:
        written[whole[0]] = "".join(digits[: extra + 1])
    keep = max((n for n, at in enumerate(part, 1) if tokens[at].text == "0"), default=0)
    fraction = fraction[: max(keep, len(fraction.rstrip("0")))]
    written |= zip(part, fraction, strict=False)
    dropped = {*behind, *(commas if grouped else ()), *([point] if part and not fraction else ())}
    if not whole and fraction:
        written[point] = integer + "."
    return "".join(
        written.get(at, "" if token.kind == "digit" else token.text)
        for at, token in enumerate(tokens)
        if at not in dropped and token.kind in {"digit", "literal", "sign"}
    ).strip()


def _find_sign(tokens: Sequence[_FormatToken], sign: str) -> int:
    """Return where a sign stands, the number of tokens if nowhere."""
    return next((at for at, t in enumerate(tokens) if t == _FormatToken("sign", sign)), len(tokens))


def _run_behind(commas: Sequence[int], places: Sequence[int]) -> list[int]:
    """Return the commas directly behind the last place."""
    run = list[int]()
    while places and places[-1] + len(run) + 1 in commas:
        run.append(places[-1] + len(run) + 1)
    return run


def _scientific(number: Decimal, tokens: Sequence[_FormatToken]) -> str:
    """Return a number with its power of ten: 1.23E+04."""
    cut = next(at for at, token in enumerate(tokens) if token.kind == "exponent")
    point = min(_find_sign(tokens, "."), cut)
    decimals, digits = (
        sum(token.kind == "digit" for token in some) for some in (tokens[point:cut], tokens[cut:])
    )
    rounded = Context(prec=decimals + 1, rounding=ROUND_HALF_UP).plus(number)
    power = rounded.adjusted() if rounded else 0
    sign = "-" if power < 0 else tokens[cut].text[1:].replace("-", "")
    return f"{rounded.scaleb(-power):.{decimals}f}E{sign}{str(abs(power)).zfill(digits)}"


def _format_date(days: float, section: _Section) -> str:
    parts = [*_date_parts(section.tokens)]
    kinds = {kind for kind, _ in parts}
    if section.has("elapsed") or not kinds & set("ymd"):
        return _times(parts, days * _DAY_SECONDS, section)
    whole, second = divmod(round(days * _DAY_SECONDS), _DAY_SECONDS)
    day = _NULL_DAY + dt.timedelta(days=whole + (1 <= whole < _LEAP_DAY))
    if "y" not in kinds and len(kinds & {"m", "d"}) == 1:
        return _name_date(parts, day)
    shown = day.isoformat()
    if "d" not in kinds:
        shown = shown[:7] if "m" in kinds else shown[:4]
    time = str(dt.timedelta(seconds=second)).rjust(8, "0")[: 8 if "s" in kinds else 5]
    return f"{shown} {time}" if "h" in kinds else shown


def _date_parts(tokens: Sequence[_FormatToken]) -> Iterator[tuple[str, _FormatToken]]:
    """Yield each token with what it shows of a date: y, m, d, h, n (minutes), s; "" for any other.

    `m` beside hours or seconds stands for minutes.
    """
    dates = [token for token in tokens if token.kind in {"date", "elapsed"}]
    minutes = set[int]()
    for one, other in pairwise(dates):
        if one.text[0] == "h" and other.text[0] == "m":
            minutes.add(id(other))
        if other.text[0] == "s" and one.text[0] == "m":
            minutes.add(id(one))
    for token in tokens:
        if token.kind in {"date", "elapsed"}:
            is_minute = id(token) in minutes or (token.kind == "elapsed" and token.text[0] == "m")
            first = token.text[0]
            yield "n" if is_minute else {"e": "y", "b": "y", "a": "d"}.get(first, first), token
        else:
            yield "", token


def _times(parts: Sequence[tuple[str, _FormatToken]], seconds: float, section: _Section) -> str:
    """Return hours, minutes and seconds; those in brackets count on beyond a day, an hour or a minute."""
    sign, seconds = ("-" if seconds < 0 else ""), round(abs(seconds), 3)
    decimals = [len(token.text.partition(".")[2]) for kind, token in parts if kind == "s"]
    seconds = round(seconds + 1e-9, min(max(decimals, default=0), 3))
    whole = int(seconds)
    units = {"h": (whole // 3600, 24), "n": (whole // 60, 60), "s": (whole, 60)}
    is_afternoon = whole // 3600 % 24 >= 12
    shown = list[str]()
    for kind, token in parts:
        if kind not in units:
            half = token.text.upper().split("/")[-1 if is_afternoon else 0]
            others = {"half": half, "literal": token.text, "sign": token.text}
            shown.append(others.get(token.kind, ""))
            continue
        count, limit = units[kind]
        count = count if token.kind == "elapsed" else count % limit
        if kind == "h" and section.has("half"):
            count = count % 12 or 12
        letters, _, part = token.text.partition(".")
        shown.append(
            str(count).zfill(len(letters) if token.kind == "elapsed" else min(len(letters), 2))
        )
        if part:
            shown.append(f"{seconds % 1:.{min(len(part), 3)}f}"[1:])
    return sign + "".join(shown).strip()


def _name_date(parts: Sequence[tuple[str, _FormatToken]], day: dt.date) -> str:
    """Return a month or a day of the week by its name, or a number of either."""
    forms = {
        "m": {1: f"{day.month}", 2: f"{day:%m}", 3: f"{day:%b}", 4: f"{day:%B}", 5: f"{day:%b}"[0]},
        "d": {1: f"{day.day}", 2: f"{day:%d}", 3: f"{day:%a}", 4: f"{day:%A}"},
    }
    return "".join(
        forms[kind].get(len(token.text), "") if kind in forms else token.text * (not kind)
        for kind, token in parts
    ).strip()
