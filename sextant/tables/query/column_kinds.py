"""What columns are called and are of: another word of the same family (sold, Sales), amounts, prices, codes.

The kinds are listed in `columns.txt`, the families that no ending tells in `related_words.txt`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from importlib.resources import files
from itertools import pairwise

from sextant.tables.cells.table import Column
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.lexicon import COLUMNS, WORDS
from sextant.text.characters import plain_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS
from sextant.text.word_forms import stem

_WORD = re.compile(r"(?<![\w-])[a-z]{4,}(?![\w-])")
# Who does it, or that it is done: visitor, payment, attendance.
_DERIVED = re.compile(r"(?<=\w{4})(?:er|or|ment|ance)$")
_RUN = 3  # so many numbers in a row count their rows, from 1 also two
_LONGEST = 60  # a header cell may be a page of text
# What a question asks for by a word for just its kind: "cheapest" for a price.
_ASKED_BY_KIND = frozenset(["price", "age", "weight", "pay", "height", "length", "distance"])
_FAMILIES = defaultdict[str, set[int]](set)
for _at, _line in enumerate(
    (files("sextant.tables.query") / "related_words.txt").read_text(encoding="utf-8").split("\n")
):
    for _listed in () if _line.startswith("#") else filter(None, _line.split(", ")):
        _FAMILIES[_listed].add(_at)
_LISTED = re.compile(
    "|".join(
        rf"(?<![\w-]){one}(?![\w-])" if one.isascii() else one
        for one in sorted(_FAMILIES, key=len, reverse=True)
    )
)


def read_kinds(column: Column) -> set[str]:
    """Return what the name of a column says of its numbers."""
    return COLUMNS.collect_kinds(plain_of(column.name)[:_LONGEST].strip())


def find_by_kind(text: str, columns: Sequence[Column]) -> list[int]:
    """Return the columns that a question asks for by a word for just their kind."""
    asked = _senses_of(text)
    return [column.index for column in columns if asked & read_kinds(column)]


def asks_for_other(text: str, columns: Sequence[Column]) -> bool:
    """Return whether a question has a word for a kind of column of which none is given."""
    return not _senses_of(text) <= {kind for column in columns for kind in read_kinds(column)}


def _senses_of(text: str) -> set[str]:
    senses = {sense for _, meanings in WORDS.find(text) for _, sense in meanings}
    return senses & _ASKED_BY_KIND


def find_related(
    text: str, columns: Sequence[Column], named: Collection[int], kind: ValueKind
) -> list[tuple[tuple[int, int], int]]:
    """Find the words that name a column by another word of its family, and which.

    Args:
        text: the question, in plain spelling.
        columns: of the table.
        named: those that are named already, which a word may name again.
        kind: of which kind a column is rather meant, where there are several.
    """
    found = list[tuple[tuple[int, int], int]]()
    names = {column.index: plain_of(column.name)[:_LONGEST] for column in columns}
    kinds = {column.index: column.kind for column in columns}
    for span, families, root in _words(text):
        meant = [
            at
            for at, name in names.items()
            if any(
                families & other or (root and root == base and text[slice(*span)] != word)
                for word, other, base in _parts(name)
            )
        ]
        again = [at for at in meant if at in named]
        alike = [at for at in meant if kinds[at] is kind]
        if again or len(meant) == 1 or len(alike) == 1:
            found.append((span, (again or alike or meant)[0]))
    return found


def _words(text: str) -> Iterator[tuple[tuple[int, int], set[int], str]]:
    """Yield the words that may be of a family: where each stands, its families, its root without endings."""
    listed = set[int]()
    for match in _LISTED.finditer(text):
        listed.add(match.start())
        yield match.span(), _FAMILIES[match[0]], _root(match[0])
    for match in _WORD.finditer(text):
        if match.start() not in listed and match[0] not in ENGLISH_STOP_WORDS:
            yield match.span(), set(), _root(match[0])


def _parts(name: str) -> Iterator[tuple[str, set[int], str]]:
    return ((name[slice(*span)], families, root) for span, families, root in _words(name))


def _root(word: str) -> str:
    return _DERIVED.sub("", stem(word)) if word.isascii() and " " not in word else ""


def is_code(column: Column) -> bool:
    """Return whether the numbers of a column only name its rows."""
    return "code" in read_kinds(column) or (column.index == 0 and is_run(column))


def is_amount(column: Column) -> bool:
    """Return whether the numbers of a column may add up, as far as its name and unit tell."""
    is_rate = "rate" in read_kinds(column) or "%" in (column.unit or ())
    return column.kind is ValueKind.NUMBER and not is_rate and not is_code(column)


def is_surely_amount(column: Column) -> bool:
    """Return whether the name of a column says that its numbers add up."""
    return is_amount(column) and "amount" in read_kinds(column)


def is_run(column: Column) -> bool:
    """Return whether each row has a whole number without unit, and these go up by one from row to row."""
    numbers = [value.number for value in column.values if value.kind is ValueKind.NUMBER]
    is_whole = column.unit == ("", "") and len(numbers) == len(column.values)
    is_long = len(numbers) >= _RUN or (len(numbers) > 1 and numbers[0] == 1)
    return is_whole and is_long and all(other - one == 1 for one, other in pairwise(numbers))


def counts_things(column: Column) -> bool:
    """Return whether the numbers of a column say how many there are: its name does, or is in the plural (Rooms, not Room)."""
    name = plain_of(column.name).partition("(")[0].strip()
    is_plural = name.endswith("s") and not name.endswith("ss")
    return is_surely_amount(column) or (is_amount(column) and is_plural)
