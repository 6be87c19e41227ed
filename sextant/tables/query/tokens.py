"""Cut a question over a table into tokens: names in the table, numbers, dates, and words by what they ask for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from sextant.tables.cells.values import YEARS
from sextant.text.characters import IDEOGRAPHS, has_cjk
from sextant.text.number_words import parse_any_number
from sextant.text.segmenter import words_of
from sextant.text.units import DATE, ORDINAL, UNIT_FORMS, UNIT_PATTERN, UNITS, TextValue
from sextant.text.values import normalise_values
from sextant.text.word_forms import Lexicon

WORDS = Lexicon(__package__, "english.txt", "chinese.txt")
"""What the words of questions ask for."""
COLUMNS = Lexicon(__package__, "columns.txt", plurals=True)
"""What the names of columns say about their numbers."""
COLUMN, VALUE, NUMBER, DAY, WORD = "COLUMN", "VALUE", "NUMBER", "DATE", "WORD"
"""The kinds of tokens that are in no list."""
NAME_WORDS = re.compile(r"[a-z]+(?:[’'-][a-z]+)*|\d+(?:[.,]\d+)*|[^\W\da-z_]+")
"""The words and numbers of a name."""
_PIECE = re.compile(rf"[a-z]+(?:[’'-][a-z]+)*|\d+(?:[.,]\d+)*|[{IDEOGRAPHS}]+|[^\w\s\0]|\w")
_CURRENCIES = [(form, unit) for form, unit in UNIT_FORMS if UNITS[unit][0].isupper()]
_CURRENCY = re.compile("|".join(f"({form})" for form, _ in _CURRENCIES))
MAX_QUESTION_CHARS = 1_000
MAX_NAME_CHARS = 60  # of a column's name; a header cell may be a page of text
_NUMERALS = frozenset("一二两三四五六七八九十")
_WEAK = frozenset({"sum", "apart"})  # words of one ideograph for these may be part of another word
_SAYS_NOTHING = frozenset("?.!\"'“”‘’()[]<>:*_/-–—…#&;")
HARMLESS = frozenset({
    "filler", "measure", "of", "to", "from", "within", "since", "until", "and", "which", "what", "who", "when", "whether",
    "exist", "with", "list", "different", "how_much", "rows", "than", "more", "unit", "suffix", "comma", "by",
    "CONDITION",
})  # fmt: skip
"""Kinds of words that exclude no row and ask for nothing by themselves."""


@dataclass(frozen=True, slots=True)
class QuestionToken:
    """A piece of a question.

    Attributes:
        kind: its kind in the grammar.
        start, end: its span in the question's plain text.
        text: the text of the span.
        sense: sense of a word by its list, such as `price` for "cheapest".
        column: the column that is named or has the value.
        amount: the number.
        days: first and last day of a date.
    """

    kind: str
    start: int
    end: int
    text: str
    sense: str = ""
    column: int = -1
    amount: TextValue | None = None
    days: tuple[date, date] | None = None


@dataclass(slots=True)
class Question:
    """A question in plain spelling, with the names in it that were linked to the table."""

    text: str
    year: int | None = None
    names: list[QuestionToken] = field(default_factory=list[QuestionToken])

    def link(self, kind: str, start: int, end: int, column: int) -> None:
        """Add a name in the table."""
        self.names.append(QuestionToken(kind, start, end, self.text[start:end], column=column))

    @property
    def free(self) -> str:
        """Return the text with every name replaced by NULs."""
        text = self.text
        for one in self.names:
            text = text[: one.start] + "\0" * (one.end - one.start) + text[one.end :]
        return text

    def tokens(self) -> list[QuestionToken]:
        """Return all tokens in order, without punctuation that has no meaning."""
        text = self.free[:MAX_QUESTION_CHARS]
        found = list(self.names)
        months = [one for one in _words(text) if one.kind == "month"]
        currencies = [
            QuestionToken("unit", start, end, text[start:end])
            for (start, end), _ in find_currencies(text)
        ]
        values = _values(text, self.year)
        offered = [*values, *_months(months, self.year), *currencies, *_words(text)]
        for one in sorted(offered, key=lambda one: one.start - one.end):
            if all(one.end <= other.start or other.end <= one.start for other in found):
                found.append(one)
        taken = Question(text, names=found).free
        found += [
            _make_piece(match) for match in _PIECE.finditer(taken) if match[0] not in _SAYS_NOTHING
        ]
        return _join_measures(sorted(found, key=lambda one: one.start))


def _make_piece(match: re.Match[str]) -> QuestionToken:
    """Return the token of a piece that no list has: punctuation, a unit, a word, or a bare 1."""
    kind, amount, text = WORD, None, match[0]
    if text.isdecimal() or set(text) <= _NUMERALS:
        kind, amount = NUMBER, TextValue(parse_any_number(text))
    elif text in {",", ";"}:
        kind = "comma"
    elif UNIT_PATTERN.fullmatch(text):
        kind = "unit"
    return QuestionToken(kind, match.start(), match.end(), text, amount=amount)


def _join_measures(tokens: Sequence[QuestionToken]) -> list[QuestionToken]:
    """Join question words and measure words: 哪家, 哪几个; 多少人 becomes a count."""
    joined = list[QuestionToken]()
    for one in tokens:
        last = joined[-1] if joined else one
        asks = last.end == one.start and last.kind in {"which", "list", "how_much"}
        counts = last.kind == "how_much" and one.kind in {"measure", "rows"}
        if asks and counts:
            joined[-1] = replace(last, kind="count")
            joined += [one] if one.kind == "rows" else []
        elif not (asks and last.kind != "how_much" and one.kind in {"measure", "suffix"}):
            joined.append(one)
    return joined


def collect_kinds(text: str, *, whole: bool = False) -> set[str]:
    """Return the kinds of the words of a question, whatever the table.

    Args:
        text: the question in plain spelling.
        whole: ignore 总 within another word (总统), but not in 总销量.
    """
    words = set(words_of(text)) if whole and has_cjk(text) else set[str]()
    return {
        one.kind
        for one in Question(text).tokens()
        if not whole or len(one.text) > 1 or one.kind not in _WEAK or one.text in words
    }


def _words(text: str) -> Iterator[QuestionToken]:
    for (start, end), [(kind, sense), *_] in WORDS.find(text):
        yield QuestionToken(kind, start, end, text[start:end], sense)


def find_currencies(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the spans of currencies in a text, with the currency; 元 may also be part of another word (单元)."""
    for match in _CURRENCY.finditer(text):
        ahead, behind = text[: match.start()][-1:], text[match.end() :][:1]
        is_part = match[0].isascii() and any(
            at.isascii() and at.isalpha() for at in (ahead, behind)
        )
        is_amount = ahead.isdigit() or ahead in {*"万亿千百少几"}
        if (match[0] != "元" or is_amount) and not (match[0][0].isalpha() and is_part):
            yield match.span(), _CURRENCIES[(match.lastindex or 1) - 1][1]


def _values(text: str, year: int | None) -> Iterator[QuestionToken]:
    """Yield numbers and dates; `year` is that of dates without one."""
    for one in normalise_values(text):
        amount, start, end = one.value, one.start, one.end
        end -= len(text[start:end]) - len(text[start:end].rstrip())
        token = QuestionToken(NUMBER, start, end, text[start:end], amount=amount)
        if amount.unit == ORDINAL:
            yield replace(token, kind="nth", sense=str(amount.number))
        elif amount.unit == DATE:
            if days := _days(*(amount.date or (None, None, None)), year):
                yield replace(token, kind=DAY, days=days)
        elif text[end : end + 1] == "月" and not amount.unit:
            if days := _days(None, int(amount.number), None, year):
                end += 2 if text[end + 1 : end + 2] == "份" else 1
                yield replace(token, kind=DAY, end=end, text=text[start:end], days=days)
        else:
            yield token


def _months(months: Sequence[QuestionToken], year: int | None) -> Iterator[QuestionToken]:
    for one in months:
        if days := _days(None, int(one.sense), None, year):
            yield replace(one, kind=DAY, days=days)


def _days(
    year: int | None, month: int | None, day: int | None, default: int | None
) -> tuple[date, date] | None:
    """Return the first and last day of a year, a month or a day; None for no date."""
    year = year or default
    if year is None:
        return None
    try:
        first = date(year, month or 1, day or 1)
    except ValueError:
        return None
    if day:
        return first, first
    after = date(year + 1, 1, 1) if month in (None, 12) else date(year, (month or 0) + 1, 1)
    return first, after - timedelta(days=1)


def read_year(token: QuestionToken) -> tuple[date, date] | None:
    """Return the first and last day of the year that a number may be."""
    number = None if token.amount is None or token.amount.unit else token.amount.number
    if number is None or number.denominator != 1 or int(number) not in YEARS:
        return None
    return date(int(number), 1, 1), date(int(number), 12, 31)


def match_at(
    tokens: Sequence[QuestionToken], start: int, pattern: str, skipped: Collection[str] = HARMLESS
) -> list[int]:
    """Return the positions of the tokens that a pattern matches from `start` on; [] if it does not match.

    A pattern is a list of kinds: `cmp NUMBER`, `not? VALUE|COLUMN`. Tokens of `skipped` kinds may stand between.
    """
    at, found = start, list[int]()
    for element in pattern.split():
        kinds = element.rstrip("?").split("|")
        position = at
        while found and position < len(tokens) and tokens[position].kind not in kinds:
            if tokens[position].kind not in skipped:
                break
            position += 1
        if position < len(tokens) and tokens[position].kind in kinds:
            found.append(position)
            at = position + 1
        elif not element.endswith("?"):
            return []
    return found


def find_all(
    tokens: Sequence[QuestionToken], pattern: str, skipped: Collection[str] = HARMLESS
) -> Iterator[list[int]]:
    """Yield the positions of the tokens of each match of a pattern; matches do not overlap."""
    start = 0
    while start < len(tokens):
        found = match_at(tokens, start, pattern, skipped)
        if found:
            yield found
        start = found[-1] + 1 if found else start + 1
