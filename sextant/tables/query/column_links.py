"""Finds what a question names of a table, its columns and values, and puts a mask in the place of each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from sextant.tables.cells.arithmetic import Condition, Operation
from sextant.tables.cells.table import Column, DataTable, find_tick
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.comparisons import COMPARING, NONE_OF, bounds_in
from sextant.tables.query.families import find_related, is_implied
from sextant.tables.query.grammar import MASK, VALUE_MASK, Grammar
from sextant.tables.query.places import find_numbered_columns
from sextant.tables.query.units import currencies_in, in_other_currencies, in_unit
from sextant.text.analysis import marks_in
from sextant.text.characters import IDEOGRAPHS, find_whole, has_cjk, plain_of
from sextant.text.segmenter import words_of
from sextant.text.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS
from sextant.text.word_forms import other_names, synonym_patterns, translate_words

_LONGEST = 60  # nobody says more of a column's name, and a header cell may be a page of text
UNIT = re.compile(r"[(（\[【].{0,200}?[)）\]】]")
_WORDS = re.compile(r"[a-z][a-z0-9]{2,}")
_CHINESE = re.compile(f"[{IDEOGRAPHS}]+")
_SHORT = 3  # shorter Latin values (`A`, `B2`) are names only as they are written in the table
_BEST = re.compile(r"\b(?:best|worst)[\s-]$")
# What may follow a value of one ideograph in a word and says only what it is a value of.
_KINDS = frozenset(
    [
        "级",
        "等",
        "类",
        "组",
        "班",
        "性",
        "档",
        "型",
        "区",
        "款",
        "的",
        "期",
        "量",
        "额",
        "数",
        "员工",
        "职工",
        "同事",
        "人员",
        "同学",
        "人",
        "生",
        "士",
    ]
)
_UNIT_ASKED = re.compile(
    r"(?:\bhow many |多少)(?P<unit>[a-z]{2,}\b|公里|千米|公斤|千克|小时|分钟|吨|米)"
)
_HOW = re.compile(r"\bhow\s+$|多$")  # how high
_STATE = re.compile(r"(?P<zh>[未已没])(?P<what>[\u4e00-\u9fff]{1,4})|un(?P<en>[a-z]{3,})")
_NOT_YET = ("未", "没", "没有", "还没", "还没有", "还未", "尚未")

_Values = dict[tuple[str, int], set[str]]
"""How a value in plain spelling is written in a column."""


@dataclass(slots=True)
class QuestionReading:
    """A question with what is understood masked; the columns it names, and those of its values, by position."""

    text: str
    grammar: Grammar
    columns: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    values: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    hidden: Collection[int] = ()  # columns that count in a currency other than the one asked for
    is_lost: bool = False  # something restricts the rows, but it is not clear how
    is_guessed: bool = (
        False  # a bound is on a column that nothing but being the only one speaks for
    )

    def take(self, start: int, end: int, mask: str = MASK) -> None:
        """Put a mask in the place of what was understood."""
        self.text = self.text[:start] + mask * (end - start) + self.text[end:]

    def asks(self, *operations: Operation) -> bool:
        """Return whether one of the operations is asked for."""
        return any(self.grammar.operations[one].search(self.text) for one in operations)


def names_column(question: str, name: str) -> bool:
    """Return whether a question names a column, by a part of its name or in other words."""
    text, column = plain_of(question), plain_of(name)
    return (
        find_whole(text, plain_name(name)) is not None
        or bool(_common(column, text))
        or any(pattern.search(column) for pattern in synonym_patterns(question).values())
        or is_implied(text, Column(0, name, ValueKind.NUMBER, ()))
    )


def plain_name(name: str) -> str:
    """Return a column's name without its unit, as questions have it."""
    return " ".join(UNIT.sub("", plain_of(name)).replace("_", " ").split())[:_LONGEST]


def link_names(reading: QuestionReading, question: str, table: DataTable) -> list[Condition]:
    """Mask the columns and the values of word columns that a question names, longest first."""
    reading.hidden = in_other_currencies(table.columns, reading.text)
    columns = [one for one in table.columns if one.index not in reading.hidden]
    names = [(plain_name(one.name), one.index) for one in columns]
    _take_numbered(reading, table, {name for name, _ in names})
    called = [*names, *((name, at) for whole, at in names for name in _also_called(whole, reading))]
    values, ticked = _values_of(reading, question, table, called)
    named = _take_whole(reading, question, table, called, values)
    _take_scattered(reading, names)
    if not reading.columns or _needs_number(reading, table):
        _take_partly_named(reading, names if not reading.columns else _numeric(columns))
    _take_related(reading, columns)
    for span in currencies_in(reading.text):
        reading.take(*span, " ")
    return [
        Condition(index, words=frozenset(words), blanks=index in ticked)
        for index, words in sorted(named.items())
    ]


def _take_numbered(reading: QuestionReading, table: DataTable, names: Collection[str]) -> None:
    """Take the columns that the question calls by their number, unless one is called just so."""
    for span, index in find_numbered_columns(reading.text, table):
        if reading.text[slice(*span)] in names:
            continue
        if index is None:
            reading.is_lost = True
            continue
        reading.columns.append((span[0], index))
        reading.take(*span)


def _also_called(name: str, reading: QuestionReading) -> list[str]:
    """Return what else a column is called, in either language, but for words that ask for a computation."""
    forms = (*reading.grammar.operations.values(), COMPARING)
    return [one for one in other_names(name) if not any(form.fullmatch(one) for form in forms)]


def _values_of(
    reading: QuestionReading, question: str, table: DataTable, called: Sequence[tuple[str, int]]
) -> tuple[_Values, set[int]]:
    """Return what the question may name of word columns, and the columns that are ticked where it is so.

    Values are compared in any case and width. Where rows are listed or counted, the name of a column that says yes
    or no is a value of it: "which fields are required?".
    """
    values: _Values = {}
    for column in table.columns:
        is_read = column.kind is ValueKind.TEXT and not column.stands_for_blanks
        for row in table.records if is_read else ():
            value = row[column.index].strip()
            values.setdefault((plain_of(value), column.index), set()).add(value)
    for word, meant in translate_words(question).items():
        for key in [(one, at) for one in meant for at in range(table.width)]:
            if key in values:
                values.setdefault((word, key[1]), set()).update(values[key])
    ticked = dict[int, set[str]]()
    if reading.grammar.lists.search(reading.text) or reading.asks(Operation.COUNT):
        for at in range(table.width):
            spellings = {
                plain: written for (plain, index), written in values.items() if index == at
            }
            ticked[at] = find_tick(spellings)
        values |= {(name, at): ticked[at] for name, at in called if ticked[at]}
    for (value, index), written in list(values.items()):
        for other in _other_states(value):
            values.setdefault((other, index), written)
    return values, {index for index, words in ticked.items() if words and ("", index) in values}


def _other_states(value: str) -> Iterator[str]:
    """Yield what else a value is called that tells whether something is done: 还没付款 for 未付, "not paid yet"."""
    match = _STATE.fullmatch(value)
    if match is None:
        return
    if match["en"]:
        yield from (
            f"{words} {match['en']}" for words in ("not", "not yet", "not been", "not yet been")
        )
    else:
        yield from (
            f"{words}{match['what']}"
            for words in (("已", "已经") if match["zh"] == "已" else _NOT_YET)
        )


def _take_whole(
    reading: QuestionReading,
    question: str,
    table: DataTable,
    called: Sequence[tuple[str, int]],
    values: _Values,
) -> dict[int, set[str]]:
    """Take whole names of columns and values, the longest first; return the values by column, as written."""
    columns = [(*one, True) for one in called if one[0] and one not in values]
    offered = columns + [(*one, False) for one in sorted(values)]
    named = dict[int, set[str]]()
    for text, index, is_column in sorted(offered, key=lambda one: -len(one[0])):
        if is_column:
            if find := find_whole(reading.text, text):
                reading.columns.append((find[0], index))
                reading.take(*find)
            continue
        if text[:1] not in reading.text:  # cheap, for tables of many thousand values
            continue
        written = values[text, index]
        find = _find_value(reading.text, question, {text, *written}) or _find_single(
            reading.text, question, text, table.names[index]
        )
        if find:
            # "Graz", from where or to where?
            reading.is_lost |= sum((text, at) in values for at in range(table.width)) > 1
            named.setdefault(index, set()).update(written)
            reading.values.append((find[0], index))
            reading.take(*find, VALUE_MASK)
    return named


def _numeric(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """Return the columns of numbers by their names with units."""
    return [
        (plain_of(one.name)[:_LONGEST], one.index)
        for one in columns
        if one.kind is ValueKind.NUMBER
    ]


def _needs_number(reading: QuestionReading, table: DataTable) -> bool:
    """Return whether a question is about numbers and names no column of them: "which models cost over 300 EUR?"."""
    others = [one for one in reading.grammar.operations if one is not Operation.COUNT]
    if not (bounds_in(reading.text) or reading.asks(*others)):
        return False
    return all(table.columns[at].kind is not ValueKind.NUMBER for _, at in reading.columns)


def _take_scattered(reading: QuestionReading, names: Sequence[tuple[str, int]]) -> None:
    """Take the one column whose several words all stand in the question, in any order.

    "Which region had the highest revenue in the second half?" names "Second half Revenue".
    """
    candidates = [
        (len(words), index, words)
        for name, index in names
        if len(words := name.split()) > 1 and all(find_whole(reading.text, one) for one in words)
    ]
    most = max((count for count, *_ in candidates), default=0)
    chosen = [one for one in candidates if one[0] == most]
    if len(chosen) != 1:
        return
    _, index, words = chosen[0]
    spans = [span for word in words if (span := find_whole(reading.text, word))]
    reading.columns.append((spans[-1][0], index))
    for span in spans:
        reading.take(*span)


def _take_partly_named(reading: QuestionReading, names: Sequence[tuple[str, int]]) -> None:
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


def _common(name: str, text: str) -> str:
    """Return the longest part of a name that the text holds: a Latin word, or two ideographs and more."""
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
    return max([*words, next(filter(text.__contains__, parts), "")], key=len, default="")


def _take_related(reading: QuestionReading, columns: Sequence[Column]) -> None:
    """Take the columns named by a word of their family, or by the unit in which they count: "how many kilometres"."""
    named = {index for _, index in reading.columns}
    found = list[tuple[tuple[int, int], int | None]]()
    counted = _UNIT_ASKED.search(reading.text)
    kinds = {one.index: one.kind for one in columns}
    if counted and all(kinds.get(at) is not ValueKind.NUMBER for at in named):
        units = in_unit([one for one in columns if one.index not in named], counted["unit"])
        found += [(counted.span("unit"), column.index) for column in units[:1]]
    kind = ValueKind.TEXT if reading.grammar.who.search(reading.text) else ValueKind.NUMBER
    found += find_related(reading.text, columns, named, kind)
    for span, index in found:
        if index is not None and index not in named:
            named.add(index)
            reading.columns.append((span[0], index))
        if _BEST.search(reading.text[: span[0]]):  # best paid
            continue
        if index is not None or not reading.text[slice(*span)].isascii():
            reading.take(*span)
        else:
            reading.take(*span, " ")


def _find_value(text: str, question: str, written: Collection[str]) -> tuple[int, int] | None:
    """Find where a question has a value, by any of the ways in which the table writes it."""
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
    """Find a word that commonly says nothing where its capitals make it a name: IT, US, A; not in "NO stock"."""
    found = find_whole(question, value) if value.isupper() and value != "I" else None
    is_name = found and text[slice(*found)] == value.lower() and not NONE_OF.match(text, found[0])
    return found if is_name else None


def _find_single(text: str, question: str, value: str, column: str) -> tuple[int, int] | None:
    """Find a value of one ideograph where it is a word of its own: 甲, 甲级, 女员工; not in 最高 or 大学生."""
    if len(value) != 1 or not has_cjk(value) or value in CHINESE_STOP_WORDS:
        return None
    at = 0
    for word in words_of(plain_of(question)):
        noun = word[1:]
        is_kind = not noun or noun in _KINDS or noun in plain_of(column)
        if word.startswith(value) and text[at : at + 1] == value and is_kind:
            return at, at + 1
        at += len(word)
    return None
