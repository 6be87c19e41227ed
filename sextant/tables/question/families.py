"""Columns that a question names by another word of the same family: sold and Sales, visited and Visitors, 卖 and 销量.

The families that no ending tells are listed in `related_words.txt`; adjectives, each with what columns of just that
are called, in `sextant.tables.question.wording`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from importlib.resources import files

from sextant.tables.cells.table import Column
from sextant.tables.cells.values import ValueKind
from sextant.tables.question.wording import IMPLIED, MEASURES, OPERATIONS
from sextant.text.simplified import plain_of
from sextant.text.stems import stem
from sextant.text.stopwords import ENGLISH_STOP_WORDS

_WORD = re.compile(r"(?<![\w-])[a-z]{4,}(?![\w-])")
# Who does it, or that it is done: visitor, payment, attendance.
_DERIVED = re.compile(r"(?<=\w{4})(?:er|or|ment|ance)$")
_MONEY = re.compile(
    r"额|收入|金额|元|[$€£¥]|\b(?:revenue|amounts?|turnover|value|money|usd|eur|gbp|cny)\b"
)
_OF_MONEY = re.compile(r"\bhow much\b|钱|元")
_OF_PIECES = re.compile(rf"(?:多少|几)[{MEASURES}]|\bhow many\b")
_WHO = re.compile(r"\bwho(?:se)?\b|谁")
# 医生 names 医生数.
_NUMBER_OF = re.compile(r"(?P<what>[\u4e00-\u9fff]{2,})(?:人数|总数|数量|数)")
_LONGEST = 60  # a header cell may be a page of text

_FAMILIES = defaultdict[str, set[int]](set)
for _at, _line in enumerate(
    (files("sextant.tables.question") / "related_words.txt").read_text(encoding="utf-8").split("\n")
):
    for _listed in () if _line.startswith("#") else filter(None, _line.split(", ")):
        _FAMILIES[_listed].add(_at)


def _anywhere(words: Sequence[str]) -> str:
    """Return a pattern of the words in a normalised text: English ones whole, longest first."""
    first = sorted(words, key=len, reverse=True)
    return "|".join(rf"(?<![\w-]){one}(?![\w-])" if one.isascii() else one for one in first)


_LISTED = re.compile(_anywhere(list(_FAMILIES)))


def related_columns(
    text: str, columns: Sequence[Column], named: Collection[int] = ()
) -> list[tuple[tuple[int, int], int]]:
    """Return where a normalised question has a word of a column's family, and which; none where it may mean several.

    Of amounts and of money that one verb may mean, both, in the order in which it is likely to mean them. A word
    that is of the family of a column that is `named` already says that again.
    """
    found = list[tuple[tuple[int, int], int]]()
    names = {column.index: plain_of(column.name)[:_LONGEST] for column in columns}
    for span, families, root in _words(text):
        meant = [
            column
            for column in columns
            if any(
                families & other or (root and root == own and text[slice(*span)] != word)
                for word, other, own in _parts(names[column.index])
            )
        ]
        if not any(one.index in named for one in meant):
            found += [(span, one.index) for one in _chosen(meant, text)]
    for column in columns:
        number = _NUMBER_OF.match(names[column.index])
        if column.index not in named and number and (at := text.find(number["what"])) >= 0:
            found.append(((at, at + len(number["what"])), column.index))
    return found


def of_one_family(word: str, text: str) -> bool:
    """Return whether a normalised text has another word of a word's families."""
    own = _FAMILIES.get(word, set())
    return any(own & families for _, families, _ in _words(text))


def implied_of(text: str, columns: Sequence[Column]) -> list[int]:
    """Return the columns of which a normalised question asks for the most or least by the word for just that.

    Else the only one of numbers.
    """
    numbers = [column for column in columns if column.kind is ValueKind.NUMBER]
    said = [one.index for one in numbers if implied(text, plain_of(one.name))]
    return said or ([numbers[0].index] if len(numbers) == 1 else [])


def implied(text: str, column: str) -> bool:
    """Return whether a normalised question asks for the most or least of a column by the word for just that."""
    return any(asks.search(text) and kind.search(column) for asks, kind in IMPLIED)


def _chosen(meant: Sequence[Column], text: str) -> Sequence[Column]:
    if len(meant) <= 1:
        return meant
    words = [column for column in meant if column.kind is ValueKind.TEXT]
    if (
        len(words) == 1
        and _WHO.search(text)
        and not any(form.search(text) for form in OPERATIONS.values())
    ):
        return words
    numbers = [column for column in meant if column.kind is ValueKind.NUMBER]
    paid = [column for column in numbers if _MONEY.search(plain_of(_told_of(column)))]
    counted = [column for column in numbers if column not in paid]
    if len(numbers) <= 1:
        return numbers
    if len(paid) != 1 or len(counted) != 1:
        return []
    of_money, of_pieces = _OF_MONEY.search(text), _OF_PIECES.search(text)
    if of_pieces and not of_money:
        return counted
    return [*paid, *counted] if of_money else [*counted, *paid]


def _told_of(column: Column) -> str:
    return f"{column.name} {''.join(column.unit or ())}"


def _words(text: str) -> Iterator[tuple[tuple[int, int], set[int], str]]:
    """Yield the words of a text that may be of a family: where each stands, its listed families, its root without endings."""
    for match in _LISTED.finditer(text):
        yield match.span(), _FAMILIES[match[0]], _root(match[0])
    listed = {match.start() for match in _LISTED.finditer(text)}
    for match in _WORD.finditer(text):
        if match.start() not in listed and match[0] not in ENGLISH_STOP_WORDS:
            yield match.span(), set(), _root(match[0])


def _parts(name: str) -> Iterator[tuple[str, set[int], str]]:
    return ((name[slice(*span)], families, root) for span, families, root in _words(name))


def _root(word: str) -> str:
    return _DERIVED.sub("", stem(word)) if word.isascii() and " " not in word else ""
