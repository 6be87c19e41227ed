"""Numbers, dates and durations as a spreadsheet shows them (number formats: ECMA-376, part 1, 18.8.31)."""

from __future__ import annotations

import datetime as dt
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

Shown = int | float | dt.datetime | dt.date | dt.time | dt.timedelta | str

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|[\\!](?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>general)|(?P<half>a/p|am/pm|上午/下午)|(?P<exponent>e[+-])(?=[0#?])"
    r"|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|b+|g+|e+)|(?P<digit>[0#?])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
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
_NULL_DAY = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - a spreadsheet's dates have no zone


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


def format_value(value: Shown, code: str) -> str:
    """Return a cell's value as its reader sees it under the number format `code`.

    A day is written as ISO 8601 has it (2026-03-15, 2026-03 where the format has no day), since 03/04 is read in
    two ways; times, durations (26:30), percent, currency and leading zeros as the format has them. Colours, fill and
    padding are left out.
    """
    try:
        return _format(value, _parse(code[:_LONGEST_CODE]))
    except (ArithmeticError, ValueError):  # no spreadsheet would take such a format, or such a date
        return str(value)


def _format(value: Shown, sections: Sequence[_Section]) -> str:
    if isinstance(value, str):
        return _format_text(value, sections)
    if not isinstance(value, int | float):
        return _format_date(value, sections[0])
    section, number = _choose(sections, _decimal(value))
    if section.has("date", "elapsed"):
        is_early = 1 <= number < _LEAP_DAY and not section.has("elapsed")
        days = float(number) + is_early
        return _format_date(_NULL_DAY + dt.timedelta(days=days), section)
    return _format_number(number, section)


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
        if kind in {"quoted", "escaped"}:
            yield _FormatToken("literal", text)
        elif kind == "space":
            yield _FormatToken("literal", " ")
        elif kind == "bracket":
            yield _bracket(text)
        elif kind == "other":
            yield _FormatToken({";": "end", "@": "text"}.get(text, "sign"), text)
        elif kind != "fill":
            yield _FormatToken(kind, text.lower())


def _bracket(text: str) -> _FormatToken:
    """Return what stands in brackets: `$€-407` is a currency, `h` counts hours beyond a day, the rest shows nothing."""
    if text.startswith("$"):
        return _FormatToken("literal", text[1:].rpartition("-")[0] if "-" in text else text[1:])
    return _FormatToken("elapsed" if _ELAPSED.fullmatch(text) else "bracket", text.lower())


def _format_text(value: str, sections: Sequence[_Section]) -> str:
    last = sections[-1]
    if len(sections) < 4 and not last.has("text"):
        return value
    return "".join(
        value if token.kind in {"text", "general"} else token.text
        for token in last.tokens
        if token.kind in {"text", "general", "literal", "sign"}
    )


def _choose(sections: Sequence[_Section], number: Decimal) -> tuple[_Section, Decimal]:
    """Return the section for a number, and the number as it is written there: without its sign where the section has one."""
    if any(section.condition for section in sections):
        for section in sections:
            if section.condition is None or _COMPARES[section.condition[0]](
                number, section.condition[1]
            ):
                return section, number
        return sections[-1], number
    # What writes texts alone is no form of a number.
    is_for_text = len(sections) > 1 and sections[-1].has("text") and not sections[-1].has("digit")
    signed = sections[:-1][:3] if is_for_text else sections[:3]
    if number < 0 and len(signed) > 1:
        return signed[1], -number
    return signed[2 if number == 0 and len(signed) == 3 else 0], number


def _decimal(value: float) -> Decimal:
    return Decimal(value) if isinstance(value, int) else Decimal(f"{value:.{_SIGNIFICANT}g}")


def _general(number: Decimal) -> str:
    if number and not _PLAIN_FROM < number.adjusted() < _PLAIN_TO:
        return f"{number.normalize():E}"
    shown = f"{number:f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _format_number(number: Decimal, section: _Section) -> str:
    tokens = section.tokens
    if not tokens or section.has("general", "text") or not section.has("digit"):
        sign = "-" if number < 0 and not section.has("general", "text") else ""
        parts = (_general(number) if t.kind in {"general", "text"} else t.text for t in tokens)
        return (sign * bool(tokens) + "".join(parts)).strip()
    scaled = number.scaleb(2 * sum(token == _FormatToken("sign", "%") for token in tokens))
    sign, scaled = ("-" if scaled < 0 else ""), abs(scaled)
    if section.has("exponent"):
        return sign + _scientific(scaled, tokens)
    slash = next((at for at, t in enumerate(tokens) if t == _FormatToken("sign", "/")), None)
    if slash is not None:
        above = _without_blank(tokens[:slash][::-1])[::-1]
        around = (*above, tokens[slash], *_without_blank(tokens[slash + 1 :]))
        if _is_fraction(around, len(above)):
            return sign + _fraction(scaled, around, len(above))
    shown = _decimals(scaled, tokens)
    if scaled >= 1 and not any(map(str.isdigit, shown)):
        return sign + _general(scaled)  # a format that we do not read leaves no number out
    return (sign if any(digit in "123456789" for digit in shown) else "") + shown


def _without_blank(tokens: Sequence[_FormatToken]) -> Sequence[_FormatToken]:
    """Return the tokens without a blank at their beginning."""
    return tokens[1:] if tokens[:1] == (_FormatToken("sign", " "),) else tokens


def _is_fraction(tokens: Sequence[_FormatToken], slash: int) -> bool:
    behind = "".join(token.text for token in tokens[slash + 1 : slash + 2])
    return slash > 0 and tokens[slash - 1].kind == "digit" and bool(re.match(r"[?#\d]", behind))


def _decimals(number: Decimal, tokens: Sequence[_FormatToken]) -> str:
    """Return digits in their places, literals between them; the first place takes all digits in front of it."""
    positions = [at for at, token in enumerate(tokens) if token.kind == "digit"]
    point = next((at for at, t in enumerate(tokens) if t == _FormatToken("sign", ".")), len(tokens))
    whole, part = [at for at in positions if at < point], [at for at in positions if at > point]
    commas = [at for at, token in enumerate(tokens) if token == _FormatToken("sign", ",")]
    last = max(whole, default=-1)
    grouped = any(whole and whole[0] < at < last for at in commas)
    behind = _run_behind(commas, last) + (_run_behind(commas, part[-1]) if part else [])
    number = number.scaleb(-3 * len(behind)).quantize(
        Decimal(1).scaleb(-len(part)), ROUND_HALF_UP, _WIDE
    )
    integer, _, fraction = f"{number:f}".partition(".")
    integer = integer.lstrip("0")
    written = dict(
        zip(reversed(whole), reversed(_fill(integer, [tokens[at] for at in whole])), strict=True)
    )
    if grouped:
        written = _with_commas(written)
    keep = max((n for n, at in enumerate(part, 1) if tokens[at].text == "0"), default=0)
    fraction = fraction[: max(keep, len(fraction.rstrip("0")))]
    written |= dict(zip(part, [*fraction, *[""] * (len(part) - len(fraction))], strict=True))
    dropped = {*behind, *(commas if grouped else ())} | (
        {point} if part and not fraction else set()
    )
    if not whole and fraction:
        written[point] = (integer or "") + "."
    return "".join(
        written.get(at, token.text)
        for at, token in enumerate(tokens)
        if at not in dropped and token.kind in {"digit", "literal", "sign"}
    ).strip()


def _run_behind(commas: Sequence[int], last: int) -> list[int]:
    """Return the commas directly behind the last digit: each divides by a thousand."""
    run = list[int]()
    while last + len(run) + 1 in commas:
        run.append(last + len(run) + 1)
    return run


def _fill(integer: str, tokens: Sequence[_FormatToken]) -> list[str]:
    """Return the digits of a whole number for its places from left to right."""
    if not tokens:
        return []
    digits = integer.rjust(len(tokens))
    extra = len(digits) - len(tokens)
    each = [digits[: extra + 1], *digits[extra + 1 :]]
    first = next((at for at, digit in enumerate(each) if digit.strip()), len(each))
    zero = next((at for at, token in enumerate(tokens) if token.text == "0"), len(tokens))
    return [
        digit.strip() or ("0" if at >= min(first, zero) else "") for at, digit in enumerate(each)
    ]


def _with_commas(written: dict[int, str]) -> dict[int, str]:
    """Put commas between groups of three; keys from the last place to the first."""
    result, count = dict[int, str](), 0
    for at, digits in written.items():
        shown = ""
        for digit in reversed(digits):
            shown = digit + ("," if count and count % 3 == 0 else "") + shown
            count += 1
        result[at] = shown
    return result


def _scientific(number: Decimal, tokens: Sequence[_FormatToken]) -> str:
    cut = next(at for at, token in enumerate(tokens) if token.kind == "exponent")
    point = next((at for at, t in enumerate(tokens[:cut]) if t.text == "."), cut)
    places = max(sum(token.kind == "digit" for token in tokens[:point]), 1)
    decimals = sum(token.kind == "digit" for token in tokens[point:cut])
    digits = sum(token.kind == "digit" for token in tokens[cut:])
    # The power is a multiple of the places before the point: thousands for `##0.0E+0`.
    power = number.adjusted() // places * places
    mantissa = _shift(number, power, decimals)
    if mantissa.adjusted() >= places:  # rounded up to one place more
        power += places
        mantissa = _shift(number, power, decimals)
    sign = "-" if power < 0 else tokens[cut].text[1:].replace("-", "")
    return f"{mantissa:f}E{sign}{str(abs(power)).zfill(digits)}"


def _shift(number: Decimal, power: int, decimals: int) -> Decimal:
    places = Decimal(1).scaleb(-decimals)
    return number.scaleb(-power).quantize(places, ROUND_HALF_UP, _WIDE)


def _fraction(number: Decimal, tokens: Sequence[_FormatToken], slash: int) -> str:
    behind = "".join(token.text for token in tokens[slash + 1 :])
    fixed = re.match(r"\d+", behind)
    above = next((at for at in range(slash - 1, -1, -1) if tokens[at].kind != "digit"), -1)
    has_whole = any(token.kind == "digit" for token in tokens[: above + 1])
    whole = int(number) if has_whole else 0
    rest = Fraction(number) - whole
    if fixed and int(fixed[0]):
        part, below = int(rest * int(fixed[0]) + Fraction(1, 2)), int(fixed[0])
    else:
        width = len(re.match(r"[?#]*", behind)[0])  # type: ignore[index]
        near = rest.limit_denominator(max(10**width - 1, 1))
        part, below = near.numerator, near.denominator
    if has_whole and part == below:
        whole, part = whole + 1, 0
    shown = f"{part}/{below}" if part or not has_whole else ""
    return " ".join(filter(None, (str(whole) if has_whole and (whole or not part) else "", shown)))


def _format_date(value: Shown, section: _Section) -> str:
    tokens = [token for token in section.tokens if token.kind not in {"digit", "exponent"}]
    if isinstance(value, dt.timedelta) or section.has("elapsed"):
        return _times(tokens, _seconds(value), section)
    kinds = _kinds(tokens)
    if not isinstance(value, dt.date) or not kinds & set("ymd"):
        return _times(tokens, _seconds(value), section) if kinds & set("hns") else str(value)
    if not kinds & {"y"} and len(kinds & {"m", "d"}) == 1:
        return _format_date_name(tokens, value)
    day = value.isoformat()[:10]
    if not kinds & {"d"}:
        day = day[:7] if kinds & {"m"} else day[:4]
    if not kinds & {"h"}:
        return day
    if not kinds & {"s"} or not isinstance(value, dt.datetime):
        return f"{day} {value:%H:%M}"
    rounded = value + dt.timedelta(milliseconds=500)
    return (
        f"{rounded:%Y-%m-%d %H:%M:%S}"
        if len(day) == len("2026-01-31")
        else f"{day} {rounded:%H:%M:%S}"
    )


def _kinds(tokens: Sequence[_FormatToken]) -> set[str]:
    """Return what a format shows of a date: y, m, d, h, n (minutes), s."""
    return {kind for kind, _ in _date_parts(tokens)} - {""}


def _date_parts(tokens: Sequence[_FormatToken]) -> Iterator[tuple[str, _FormatToken]]:
    """Yield each token with its kind; `m` beside hours or seconds stands for minutes."""
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
            yield (
                ("n" if is_minute else {"e": "y", "b": "y"}.get(token.text[0], token.text[0])),
                token,
            )
        else:
            yield "", token


def _seconds(value: Shown) -> float:
    match value:
        case dt.timedelta():
            return value.total_seconds()
        case dt.datetime():
            return (value.replace(tzinfo=None) - _NULL_DAY).total_seconds()
        case dt.time():
            return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
        case _:
            return 0.0


def _times(tokens: Sequence[_FormatToken], seconds: float, section: _Section) -> str:
    """Return hours, minutes and seconds; those in brackets count on beyond a day, an hour or a minute."""
    sign, seconds = ("-" if seconds < 0 else ""), round(abs(seconds), 3)
    parts = [token.text.partition(".")[2] for kind, token in _date_parts(tokens) if kind == "s"]
    seconds = round(seconds + 1e-9, min(max(map(len, parts), default=0), 3))
    whole = int(seconds)
    units = {"h": (whole // 3600, 24), "n": (whole // 60, 60), "s": (whole, 60)}
    shown = list[str]()
    for kind, token in _date_parts(tokens):
        if kind not in units:
            half = "PM" if whole // 3600 % 24 >= 12 else "AM"
            shown.append(
                half
                if token.kind == "half"
                else token.text
                if token.kind in {"literal", "sign"}
                else ""
            )
            continue
        count, limit = units[kind]
        count = count if token.kind == "elapsed" else count % limit
        if kind == "h" and section.has("half"):
            count = count % 12 or 12
        letters, _, part = token.text.partition(".")
        shown.append(
            f"{count:0{min(len(letters), 2) if token.kind != 'elapsed' else len(letters)}d}"
        )
        if part:
            shown.append(f"{seconds % 1:.{min(len(part), 3)}f}"[1:])
    return sign + "".join(shown).strip()


def _format_date_name(tokens: Sequence[_FormatToken], day: dt.date) -> str:
    """Return a month or a day of the week by its name, or a number of either."""
    forms = {
        "m": {1: f"{day.month}", 2: f"{day:%m}", 3: f"{day:%b}", 4: f"{day:%B}", 5: f"{day:%b}"[0]},
        "d": {1: f"{day.day}", 2: f"{day:%d}", 3: f"{day:%a}", 4: f"{day:%A}"},
    }
    return "".join(
        forms[kind].get(len(token.text), "") if kind in forms else token.text * (not kind)
        for kind, token in _date_parts(tokens)
    ).strip()
