"""What a question names of a table, taken out of it part by part: columns, values, dates and bounds."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sextant.tables.cells.computing import Condition, Operation
from sextant.tables.cells.table import DataTable
from sextant.tables.cells.ticks import find_tick
from sextant.tables.cells.values import ValueKind
from sextant.tables.question.by_place import columns_by_place
from sextant.tables.question.comparisons import COMPARING, NONE_OF, bounds_in
from sextant.tables.question.families import implied, related_columns
from sextant.tables.question.rest import PERSONS
from sextant.tables.question.speaking import lists
from sextant.tables.question.states import other_states
from sextant.tables.question.units import in_unit
from sextant.tables.question.wording import OPERATIONS
from sextant.text.characters import IDEOGRAPHS, has_cjk
from sextant.text.designators import marks_in
from sextant.text.other_words import other_names, synonym_patterns, translate_words
from sextant.text.segmenting import words_of
from sextant.text.simplified import plain_of
from sextant.text.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS
from sextant.text.whole_words import find_whole

# Of a column's name nobody says more, and a header cell may be a page of text.
_LONGEST = 60
UNIT = re.compile(r"[(（\[【].{0,200}?[)）\]】]")
_WORDS = re.compile(r"[a-z][a-z0-9]{2,}")
_CHINESE = re.compile(f"[{IDEOGRAPHS}]+")
# Shorter Latin values (`A`, `B2`) are names only as they are written in the table.
_SHORT = 3
_BEST = re.compile(r"\b(?:best|worst)[\s-]$")
_ARTICLE = re.compile(r"\W*A\b(?= [a-z])")
_KINDS = frozenset("级等类组班性档型区款的期量额数")
_UNIT_ASKED = re.compile(
    r"(?:\bhow many |多少)(?P<unit>[a-z]{2,}\b|公里|千米|公斤|千克|小时|分钟|吨|米)"
)
_MASK, VALUE_MASK = "\0", "\x01"
_HOW = re.compile(r"\bhow\s+$|多$")  # how high

# A name of a column, or a value in one, in plain spelling; and how such values are written in the table.
_Called = tuple[str, int]
_Values = dict[_Called, set[str]]


@dataclass(slots=True)
class Reading:
    """The question with what is understood taken out of it; columns, and those of values, by place."""

    text: str
    columns: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    values: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    lost: bool = False  # something restricts the rows, but it is not clear how

    guessed: bool = False  # a bound is on a column that nothing but being the only one speaks for

    def take(self, start: int, end: int, mask: str = _MASK) -> None:
        """Put a mask in the place of what was understood."""
        self.text = self.text[:start] + mask * (end - start) + self.text[end:]


def names_column(question: str, name: str) -> bool:
    """Return whether a question names a column, by a part of its name or in other words."""
    text, column = plain_of(question), plain_of(name)
    otherwise = synonym_patterns(question).values()
    return (
        find_whole(text, plain_name(name)) is not None
        or bool(_common(column, text))
        or any(pattern.search(column) for pattern in otherwise)
        or implied(text, column)
    )


def take_names(reading: Reading, question: str, table: DataTable) -> list[Condition]:
    """Take out the columns and the values of word columns that the question names, longest first."""
    names = [(plain_name(name), index) for index, name in enumerate(table.names)]
    _take_places(reading, table, {name for name, _ in names})
    called = [*names, *((name, index) for own, index in names for name in _also_called(own))]
    values, ticked = _values_of(reading, question, table, called)
    named = _take_whole(reading, question, table, called, values)
    _take_scattered(reading, names)
    _take_partly_named(reading, names if not reading.columns else _wanted(reading, table))
    _take_related(reading, table)
    return [
        Condition(index, words=frozenset(words), blanks=index in ticked)
        for index, words in sorted(named.items())
    ]


def _values_of(
    reading: Reading, question: str, table: DataTable, called: Sequence[_Called]
) -> tuple[_Values, set[int]]:
    """Return what the question may name of word columns, and the columns that are ticked where it is so.

    Where rows are listed or counted, the name of a column that says yes or no is a value of it.
    """
    values, so = _written_values(question, table), dict[int, set[str]]()
    if lists(question) or OPERATIONS[Operation.COUNT].search(reading.text):
        so = {index: _saying_so(values, index) for index in range(len(table.names))}
        values |= {(name, index): so[index] for name, index in called if so[index]}
    for (value, index), written in list(values.items()):
        for other in other_states(value):
            values.setdefault((other, index), written)
    return values, {index for index, words in so.items() if words and ("", index) in values}


def _take_whole(
    reading: Reading,
    question: str,
    table: DataTable,
    called: Sequence[_Called],
    values: _Values,
) -> dict[int, set[str]]:
    """Take out names of columns and values, the longest first; returns the values by column, as written."""
    columns = [(*one, True) for one in called if one[0] and one not in values]
    offered = columns + [(*one, False) for one in sorted(values)]
    named = dict[int, set[str]]()
    for text, index, is_column in sorted(offered, key=lambda one: -len(one[0])):
        if is_column:
            if find := find_whole(reading.text, text):
                reading.columns.append((find[0], index))
                reading.take(*find)
            continue
        written = values[text, index]
        find = _find_value(reading.text, question, {text, *written}) or _find_single(
            reading.text, question, text, table.names[index]
        )
        if find:
            # "Graz", from where or to where?
            reading.lost |= sum((text, at) in values for at in range(len(table.names))) > 1
            named.setdefault(index, set()).update(written)
            reading.values.append((find[0], index))
            reading.take(*find, VALUE_MASK)
    return named


def _take_places(reading: Reading, table: DataTable, names: Collection[str]) -> None:
    """Take the columns that the question calls by their place, unless one is called just so."""
    for span, index in columns_by_place(reading.text, table):
        if index is None or reading.text[slice(*span)] in names:
            reading.lost |= reading.text[slice(*span)] not in names
            continue
        reading.columns.append((span[0], index))
        reading.take(*span)


def _written_values(question: str, table: DataTable) -> _Values:
    """Return how the values of word columns are written, and what they are called in the question's language.

    By what they say in any case and width, since people write one thing in several.
    """
    values: _Values = {}
    for column in table.columns:
        is_read = column.kind is ValueKind.TEXT and not column.stands_for_blanks
        for row in table.records if is_read else ():
            value = row[column.index].strip()
            values.setdefault((plain_of(value), column.index), set()).add(value)
    for word, meant in translate_words(question).items():
        for value, index in [(one, at) for one in meant for at in range(len(table.names))]:
            if (value, index) in values:
                values.setdefault((word, index), set()).update(values[value, index])
    return values


def _saying_so(values: _Values, column: int) -> set[str]:
    """Return what a column that only says yes or no has where it is so: its name is a value, "which fields are required?"."""
    said = {plain: written for (plain, index), written in values.items() if index == column}
    return find_tick(said)


def _wanted(reading: Reading, table: DataTable) -> list[tuple[str, int]]:
    """Return the columns of numbers, by their names with units, where the question needs one and names none.

    "Which models cost over 300 EUR?" names the column `Model` and bounds the column `Price (EUR)`.
    """
    numeric = {column.index for column in table.columns if column.kind is ValueKind.NUMBER}
    needed = bounds_in(reading.text) or any(
        form.search(reading.text) for one, form in OPERATIONS.items() if one is not Operation.COUNT
    )
    if not needed or not numeric.isdisjoint(index for _, index in reading.columns):
        return []
    return [(plain_of(table.names[index])[:_LONGEST], index) for index in sorted(numeric)]


def _also_called(name: str) -> list[str]:
    """Return what else a column is called, in either language, but for words that ask for a computation."""
    forms = (*OPERATIONS.values(), COMPARING)
    return [one for one in other_names(name) if not any(form.fullmatch(one) for form in forms)]


def _take_scattered(reading: Reading, names: Sequence[tuple[str, int]]) -> None:
    """Take the one column of several words that all stand in the question, in whatever order.

    "Which region had the highest revenue in the second half?" names "Second half Revenue".
    """
    held = [
        (len(words), index, words)
        for name, index in names
        if len(words := name.split()) > 1 and all(find_whole(reading.text, one) for one in words)
    ]
    most = max((count for count, *_ in held), default=0)
    chosen = [one for one in held if one[0] == most]
    if len(chosen) != 1:
        return
    _, index, words = chosen[0]
    spans = [span for word in words if (span := find_whole(reading.text, word))]
    reading.columns.append((spans[-1][0], index))
    for span in spans:
        reading.take(*span)


def _take_partly_named(reading: Reading, names: Sequence[tuple[str, int]]) -> None:
    """Take the one column that shares most with the question: 季度销量 for 销量, `unit price` for `price`."""
    shared = sorted(
        (
            (len(part), part, index)
            for name, index in names
            if (part := _common(name, reading.text))
        ),
        reverse=True,
    )
    if shared and (len(shared) == 1 or shared[0][0] > shared[1][0]):
        start = reading.text.find(shared[0][1])
        reading.columns.append((start, shared[0][2]))
        reading.take(start, start + shared[0][0])


def _take_related(reading: Reading, table: DataTable) -> None:
    """Take the columns named by a word of their family, or by the unit in which they count: "how many kilometres"."""
    named = {index for _, index in reading.columns}
    free = [column for column in table.columns if column.index not in named]
    counted, found = _UNIT_ASKED.search(reading.text), list[tuple[tuple[int, int], int]]()
    if counted and not any(table.columns[index].kind is ValueKind.NUMBER for index in named):
        units = in_unit(free, counted["unit"])
        found += [(counted.span("unit"), column.index) for column in units[:1]]
    found += related_columns(reading.text, table.columns, tuple(named))
    for span, index in found:
        if index not in named:
            named.add(index)
            reading.columns.append((span[0], index))
    for span in {span for span, _ in found}:
        if not _BEST.search(reading.text[: span[0]]):  # best paid
            reading.take(*span)


def _common(name: str, text: str) -> str:
    """Return the longest part of a name that the text holds: a Latin word, or two ideographs and more.

    A header cell that is a line of code or a page of text is called by no part of it.
    """
    if len(name) > _LONGEST:
        return ""
    words = [word for word in _WORDS.findall(name) if find_whole(text, word)]
    runs = _CHINESE.findall(name)
    parts = (
        run[start : start + length]
        for length in range(len(name) - 1, 1, -1)
        for run in runs
        for start in range(len(run) - length + 1)
    )
    ideographs = next(filter(text.__contains__, parts), "")
    return max([*words, ideographs], key=len, default="")


def plain_name(name: str) -> str:
    """Return a column's name without its unit, as questions have it."""
    return " ".join(UNIT.sub("", plain_of(name)).replace("_", " ").split())[:_LONGEST]


def _find_value(text: str, question: str, written: Collection[str]) -> tuple[int, int] | None:
    """Return where a question has a value, by any of the ways in which the table writes it."""
    found = (_find_written(text, question, value) for value in sorted(written))
    return next(filter(None, found), None)


def _find_written(text: str, question: str, value: str) -> tuple[int, int] | None:
    if not value or value.isdigit() or (len(value) == 1 and has_cjk(value)):
        return None
    if len(value) < _SHORT and value.isascii() and not find_whole(question, value):
        return None
    if value.lower() in ENGLISH_STOP_WORDS and value not in marks_in(question):
        return _find_capitals(text, question, value)
    found = find_whole(text, plain_of(value))
    return None if found and _HOW.search(text[: found[0]]) else found


def _find_capitals(text: str, question: str, value: str) -> tuple[int, int] | None:
    """Return where a word that commonly says nothing is a name, as its capitals tell: IT, US, A; not in "NO stock"."""
    alone = value == "A" and _ARTICLE.match(question)  # "A week has how many days?"
    found = find_whole(question, value) if value.isupper() and value != "I" and not alone else None
    named = found and text[slice(*found)] == value.lower() and not NONE_OF.match(text, found[0])
    return found if named else None


def _find_single(text: str, question: str, value: str, column: str) -> tuple[int, int] | None:
    """Return where a value of one ideograph stands as a word of its own: 甲, 甲级, 女员工; not in 最高 or 大学生."""
    if len(value) != 1 or not has_cjk(value) or value in CHINESE_STOP_WORDS:
        return None
    at = 0
    for word in words_of(plain_of(question)):
        if word.startswith(value) and text[at : at + 1] == value and says_kind(word[1:], column):
            return at, at + 1
        at += len(word)
    return None


def says_kind(noun: str, column: str) -> bool:
    """Return whether what follows a value in a word only says what it is a value of: 员工 in 女员工, 部 in 市场部."""
    return not noun or noun in PERSONS or noun in _KINDS or noun in plain_of(column)
