"""Columns of tables: their kinds (amounts, prices, codes), words related to their names (sold, Sales), and units.

`columns.txt` lists the kinds, `related_words.txt` related words without a common stem. A number in a question is converted
to the unit of a column: 100 EUR, 500 MB, 450万元.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from importlib.resources import files
from itertools import pairwise

from sextant.tables.cells.table import Column
from sextant.tables.cells.values import SCALE, ValueKind
from sextant.tables.query.tokens import COLUMNS, MAX_NAME_CHARS, WORDS, find_currencies
from sextant.text.characters import plain_of
from sextant.text.number_words import SCALES
from sextant.text.stopwords import ENGLISH_STOP_WORDS
from sextant.text.units import COUNT, SHARE, TIMES, UNITS, TextValue, unit_of_heading
from sextant.text.word_forms import stem

_WORD = re.compile(r"(?<![\w-])[a-z]{4,}(?![\w-])")
# Endings of derived nouns: visitor, payment, attendance.
_DERIVED = re.compile(r"(?<=\w{4})(?:er|or|ment|ance)$")
_RUN = 3  # consecutive numbers that number the rows; two if they begin with 1
# Kinds that a question may ask for by an adjective: "cheapest" for a price.
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
    """Return the kinds of a column by its name."""
    return COLUMNS.collect_kinds(plain_of(column.name)[:MAX_NAME_CHARS].strip())


def find_by_kind(text: str, columns: Sequence[Column]) -> list[int]:
    """Return the columns whose kind the question asks for by a word such as "cheapest"."""
    senses = {sense for _, meanings in WORDS.find(text) for _, sense in meanings} & _ASKED_BY_KIND
    return [column.index for column in columns if senses & read_kinds(column)]


def find_related(
    text: str, columns: Sequence[Column], named: Collection[int], kind: ValueKind
) -> list[tuple[tuple[int, int], int]]:
    """Return the spans of words that are related to a column's name, with the column.

    Args:
        text: the question in plain spelling.
        columns: of the table.
        named: columns that are named already; they go first.
        kind: kind of column that is preferred.
    """
    found = list[tuple[tuple[int, int], int]]()
    names = {column.index: plain_of(column.name)[:MAX_NAME_CHARS] for column in columns}
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
    """Yield the span of each word that may be related, its families, and its root without endings."""
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
    """Return whether the numbers of a column identify its rows."""
    return "code" in read_kinds(column) or (column.index == 0 and is_run(column))


def is_amount(column: Column) -> bool:
    """Return whether the numbers of a column may be added up, by its name and unit."""
    kinds = read_kinds(column)
    is_rate = "rate" in kinds or "%" in (column.unit or ())
    is_order = "amount" not in kinds and not kinds.isdisjoint({"rank", "year"})
    return column.kind is ValueKind.NUMBER and not (is_rate or is_order or is_code(column))


def is_surely_amount(column: Column) -> bool:
    """Return whether the name of a column says that its numbers may be added up."""
    return is_amount(column) and "amount" in read_kinds(column)


def is_run(column: Column) -> bool:
    """Return whether the column has consecutive whole numbers without a unit."""
    numbers = [value.number for value in column.values if value.kind is ValueKind.NUMBER]
    is_whole = column.unit == ("", "") and len(numbers) == len(column.values)
    is_long = len(numbers) >= _RUN or (len(numbers) > 1 and numbers[0] == 1)
    return is_whole and is_long and all(other - one == 1 for one, other in pairwise(numbers))


def counts_things(column: Column) -> bool:
    """Return whether the numbers of a column are counts: by its name, or by a plural (Rooms, not Room)."""
    name = plain_of(column.name).partition("(")[0].strip()
    is_plural = name.endswith("s") and not name.endswith("ss")
    return is_surely_amount(column) or (is_amount(column) and is_plural)


# The scale of a column, in brackets after its name: 销售额（万元）.
_SCALED = re.compile(rf"(?<=[(（\[【])([^)）\]】\d]{{0,20}}?)({SCALE})")


def find_unit(column: Column) -> str:
    """Return the unit of a column, by its name or its cells; "" if it is unknown."""
    named = unit_of_heading(_SCALED.sub(r"\1", plain_of(column.name[:MAX_NAME_CHARS])))
    written = plain_of("".join(column.unit or ()))
    return named or (unit_of_heading(f"({written})") if written else "")


def find_other_currencies(columns: Sequence[Column], text: str) -> set[int]:
    """Return the columns in another currency than the question names.

    "The average price in euros" says nothing of `Price (CNY)`.
    """
    named = {unit for _, unit in find_currencies(text)}
    counted = {one.index: find_unit(one) for one in columns if one.kind is ValueKind.NUMBER}
    other = {at: unit for at, unit in counted.items() if named and unit not in named}
    return {at for at, unit in other.items() if unit in UNITS and UNITS[unit][0].isupper()}


def convert_to_column(column: Column, amount: TextValue | None, written: str) -> Decimal | None:
    """Return a number in the unit of a column: 450 for 450万元 in a column of 万元; None for another unit.

    Args:
        column: a column of numbers.
        amount: the number; None for zero.
        written: the number as the question has it.
    """
    if amount is None:
        return Decimal(0)
    if column.unit is None:
        return None
    stated, counted = amount.unit if amount.unit != COUNT else "", find_unit(column)
    if stated != counted and stated and (counted or stated in {SHARE, TIMES, "point"}):
        return None
    number = Decimal(amount.number.numerator) / Decimal(amount.number.denominator)
    if stated == SHARE:
        return number * 100
    scale = _SCALED.search(plain_of(column.name))
    if scale is None or not (stated or any(map(written.__contains__, SCALES))):
        return number
    return number.scaleb(-SCALES[scale[2]]).normalize()
