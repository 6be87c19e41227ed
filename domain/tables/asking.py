"""What a question asks of a table, by rule: an operation, its column, and the rows that count.

It prefers to see nothing over seeing something else: what a question adds that is not understood
(ranks, shares, growth, negation) means that nothing is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from domain.language.designators import marks_in
from domain.language.other_words import said_otherwise
from domain.language.stopwords import ENGLISH_STOP_WORDS
from domain.tables.computing import Condition, Operation, sums_up
from domain.tables.dates import dates_in
from domain.tables.table import Column, DataTable
from domain.tables.units import comparable, counted_in, in_units_of
from domain.tables.values import ValueKind
from domain.tables.wording import (
    DATED,
    GROUPED,
    IMPLIED,
    NOT_ADDED_UP,
    NOT_OURS,
    OF_ALL_ROWS,
    OF_ONE_ROW,
    OPERATIONS,
    ROWS,
    Rank,
    bounds_in,
    find_whole,
    rank_in,
)
from domain.text import has_cjk, normalise

_UNIT = re.compile(r"[(（\[【].*?[)）\]】]")
_WORDS = re.compile(r"[a-z][a-z0-9]{2,}")
# Shorter Latin values (`A`, `B2`) are names only as they are written in the table.
_SHORT = 3
_UNIT_BEHIND = re.compile(r"^\s?(?:[a-z%]{1,3}\b|euros?\b|dollars?\b|[元块圆圓人个個台件])")
_AMOUNT = re.compile(r"[^\w\s]?\s?\d")
_MASK = "\0"


@dataclass(frozen=True, slots=True)
class Asked:
    """One computation. `column` is what it is over (None: the rows), `subject` what names a row.

    `grouped`: the operation is done for the rows of each value of `subject`; `overall` then chooses
    among the groups. `rank`: more than the one largest or smallest.
    """

    operation: Operation
    column: int | None
    conditions: tuple[Condition, ...] = ()
    subject: int | None = None
    grouped: bool = False
    overall: Operation | None = None
    rank: Rank | None = None


@dataclass(slots=True)
class _Reading:
    """The question with what is understood taken out of it, and the columns it names, by place."""

    text: str
    columns: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    lost: bool = False  # something restricts the rows, but it is not clear how

    def take(self, start: int, end: int) -> None:
        self.text = self.text[:start] + _MASK * (end - start) + self.text[end:]


def asked_of(question: str, table: DataTable, columns: Sequence[Column]) -> Asked | None:
    """Return what `question` asks of `table` (whose `columns` are read), None if nothing is sure.

    Args:
        question: in Chinese or English.
        table: the table.
        columns: `table.columns()`.
    """
    reading = _Reading(normalise(question))
    words = _take_names(reading, question, table, columns)
    numbers = [*_take_dates(reading, columns), *_take_bounds(reading, columns)]
    if rank := rank_in(reading.text):
        reading.take(rank.start, rank.end)
    if reading.lost or NOT_OURS.search(reading.text):
        return None
    conditions = (*words, *numbers)
    named = [column for _, column in sorted(reading.columns)]
    read = _Read(reading.text, columns, named, conditions)
    if rank:
        return _ranked(read, rank)
    operations = [one for one, form in OPERATIONS.items() if form.search(reading.text)]
    if not operations and any(columns[at].kind is ValueKind.DATE for at in named):
        operations = [one for one, form in DATED.items() if form.search(reading.text)]
    outermost = [one for one in operations if one in (Operation.MAX, Operation.MIN)]
    others = [one for one in operations if one not in outermost]
    if Operation.COUNT in others:
        others = [
            one for one in others if one is not Operation.SUM
        ]  # 一共有多少家: how many in all
    if len(outermost) > 1 or len(others) > 1:
        return None
    if Operation.COUNT in others:
        return None if outermost else _count(read)
    if not operations:
        return _look_up(read)
    return _computation(read, next(iter(others), None), next(iter(outermost), None))


def computes(question: str) -> bool:
    """Whether a question may ask for something computed, of whatever table: cheap, and often wrong."""
    text = normalise(question)
    forms = (*OPERATIONS.values(), *DATED.values())
    if any(form.search(text) for form in forms):
        return True
    return bool(bounds_in(text) or dates_in(text) or rank_in(text))


def names_column(question: str, name: str) -> bool:
    """Whether a question names a column, by a part of its name or in other words."""
    text, column = normalise(question), normalise(name)
    otherwise = said_otherwise(question).values()
    return (
        find_whole(text, _plain_name(name)) is not None
        or bool(_common(column, text))
        or any(pattern.search(column) for pattern in otherwise)
        or _implied(text, column)
    )


def without_asking(question: str, *, dated: bool) -> str:
    """What a question speaks of, without the words that ask for something computed, and its bounds.

    Args:
        question: the question.
        dated: whether the table has dates that bounds by dates may be about.
    """
    text = normalise(question)
    for start, end in sorted({span for span, *_ in dates_in(text) if dated}, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    for start, end in sorted({span for span, *_ in bounds_in(text)}, reverse=True):
        text = f"{text[:start]} {_UNIT_BEHIND.sub('', text[end:])}"
    if rank := rank_in(text):
        text = f"{text[: rank.start]} {text[rank.end :]}"
    implied = (asks for asks, _ in IMPLIED)
    for form in (*OPERATIONS.values(), *DATED.values(), *implied, GROUPED, ROWS):
        text = form.sub(" ", text)
    return text


def _implied(text: str, column: str) -> bool:
    """Whether a normalised question asks for the most or least of a column by the word for just that."""
    return any(asks.search(text) and kind.search(column) for asks, kind in IMPLIED)


@dataclass(frozen=True, slots=True)
class _Read:
    """The parts of a question: what is left of it, the columns it names in order, its conditions."""

    text: str
    columns: Sequence[Column]
    named: Sequence[int]
    conditions: tuple[Condition, ...]

    @property
    def bound(self) -> set[int]:
        """The columns that conditions are on."""
        return {condition.column for condition in self.conditions}

    @property
    def subject(self) -> int | None:
        """The column that names a row: one that the question names, else the first of words."""
        words = [column.index for column in self.columns if column.kind is ValueKind.TEXT]
        free = [at for at in words if at not in self.bound]
        chosen = [at for at in self.named if at in free]
        return next(iter(chosen or free or words), None)

    @property
    def grouped(self) -> bool:
        """Whether the question asks for each of several groups."""
        return GROUPED.search(self.text) is not None


def _computation(
    read: _Read, over_rows: Operation | None, outermost: Operation | None
) -> Asked | None:
    main = over_rows or outermost or Operation.MAX
    column, subject = _target(read, main), read.subject
    if column is None:
        return None
    together = subject in read.named and _repeats(read.columns[subject or 0])
    if outermost and together and (over_rows or _adds_up(read.text, read.columns[column])):
        # "Which region sells most": a region's rows are taken together.
        operation = over_rows or Operation.SUM
        return Asked(operation, column, read.conditions, subject, grouped=True, overall=outermost)
    if over_rows and outermost:
        return None
    grouped = read.grouped and subject is not None and outermost is None
    return Asked(main, column, read.conditions, subject, grouped)


def _ranked(read: _Read, rank: Rank) -> Asked | None:
    """Rows in the order of a column; where rows are taken together, nothing is sure."""
    said = [one for one, form in OPERATIONS.items() if form.search(read.text)]
    operation = next(iter(said), rank.operation)
    column, subject = _target(read, Operation.MAX), read.subject
    if len(said) > 1 or operation not in (Operation.MAX, Operation.MIN) or column is None:
        return None
    grouped = GROUPED.search(read.text.replace(" by ", " "))  # "the top three by price"
    if grouped or (subject in read.named and _repeats(read.columns[subject or 0])):
        return None
    return Asked(operation, column, read.conditions, subject, rank=rank)


def _count(read: _Read) -> Asked | None:
    """Rows; "how many units" over a column of numbers asks for its value instead."""
    bound = {condition.column for condition in read.conditions if condition.number is not None}
    free = [at for at in read.named if _tells_amounts(read.columns[at])]
    if set(free) - bound:
        return _look_up(read)
    distinct = read.subject if read.subject in read.named else None
    of_rows = ROWS.search(read.text) is not None
    telling = distinct is not None or any(not _names_one(read, one) for one in read.conditions)
    if not (of_rows or telling) or read.grouped:
        return None
    return Asked(Operation.COUNT, distinct, read.conditions, read.subject)


def _names_one(read: _Read, condition: Condition) -> bool:
    """Whether a condition is by name on a column that names each row: how many rows there are is plain."""
    return condition.number is None and not _repeats(read.columns[condition.column])


def _tells_amounts(column: Column) -> bool:
    """Whether most of a column's cells begin with a number, be it "12, pro rata"."""
    filled = [text for value in column.values if (text := value.text.strip())]
    amounts = sum(_AMOUNT.match(text) is not None for text in filled)
    return column.kind is ValueKind.NUMBER or 2 * amounts > len(filled)


def _look_up(read: _Read) -> Asked | None:
    """Single values of the rows that are named; or, with a bound alone, which rows keep it."""
    if not read.conditions:
        return None
    subject, bound = read.subject, read.bound
    asked = [at for at in read.named if at not in bound]
    if not asked and subject is not None:
        asked = [subject] * any(condition.number is not None for condition in read.conditions)
    if not asked:
        numbers = [column.index for column in read.columns if column.kind is ValueKind.NUMBER]
        asked = [at for at in numbers if at not in bound] if len(numbers) == 1 else []
    return Asked(Operation.VALUE, asked[0], read.conditions, subject) if asked else None


def _target(read: _Read, operation: Operation) -> int | None:
    kinds = {ValueKind.NUMBER}
    if operation in (Operation.MAX, Operation.MIN):
        kinds.add(ValueKind.DATE)
    fitting = [at for at in read.named if read.columns[at].kind in kinds]
    free = [at for at in fitting if at not in read.bound]
    if free or fitting:
        return (free or fitting)[0]
    only = [column.index for column in read.columns if column.kind is ValueKind.NUMBER]
    implied = [at for at in only if _implied(read.text, normalise(read.columns[at].name))]
    return next(iter(implied or (only if len(only) == 1 else [])), None)


def _adds_up(text: str, column: Column) -> bool:
    """Whether the most or the least of a column is told of the sums over what names several rows."""
    if OF_ALL_ROWS.search(text):
        return True
    return not (OF_ONE_ROW.search(text) or NOT_ADDED_UP.search(normalise(column.name)))


def _repeats(column: Column) -> bool:
    texts = [value.text.strip() for value in column.values if value.text.strip()]
    return len(set(texts)) < len(texts)


def _take_names(
    reading: _Reading, question: str, table: DataTable, columns: Sequence[Column]
) -> list[Condition]:
    """Take out the columns and the values of word columns that the question names, longest first."""
    names = [(_plain_name(name), index) for index, name in enumerate(table.names)]
    values = {
        (row[column.index].strip(), column.index)
        for column in columns
        if column.kind is ValueKind.TEXT
        for row in table.rows
        if not sums_up(row)
    }
    named = dict[int, set[str]]()
    offered = [(name, index, True) for name, index in names if name]
    offered += [(value, index, False) for value, index in sorted(values)]
    for text, index, is_column in sorted(offered, key=lambda one: -len(one[0])):
        find = (
            find_whole(reading.text, text)
            if is_column
            else _find_value(reading.text, question, text)
        )
        if find and is_column:
            reading.columns.append((find[0], index))
            reading.take(*find)
        elif find:
            named.setdefault(index, set()).add(text)
            reading.take(*find)
    _take_partly_named(reading, names if not reading.columns else _wanted(reading, table, columns))
    return [Condition(index, words=frozenset(words)) for index, words in sorted(named.items())]


def _wanted(
    reading: _Reading, table: DataTable, columns: Sequence[Column]
) -> list[tuple[str, int]]:
    """The columns of numbers, by their names with units, where the question needs one and names none.

    "Which models cost over 300 EUR?" names the column `Model` and bounds the column `Price (EUR)`.
    """
    numeric = {column.index for column in columns if column.kind is ValueKind.NUMBER}
    needed = bounds_in(reading.text) or any(
        form.search(reading.text) for one, form in OPERATIONS.items() if one is not Operation.COUNT
    )
    if not needed or not numeric.isdisjoint(index for _, index in reading.columns):
        return []
    return [(normalise(table.names[index])[:60], index) for index in sorted(numeric)]


def _take_partly_named(reading: _Reading, names: Sequence[tuple[str, int]]) -> None:
    """The one column that shares most with the question: 季度销量 for 销量, `unit price` for `price`."""
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
    """The longest part of a name that the text holds: a Latin word, or two ideographs and more."""
    words = [word for word in _WORDS.findall(name) if find_whole(text, word)]
    parts = (
        name[start : start + length]
        for length in range(len(name) - 1, 1, -1)
        for start in range(len(name) - length + 1)
    )
    ideographs = next((part for part in parts if all(map(has_cjk, part)) and part in text), "")
    return max([*words, ideographs], key=len, default="")


def _plain_name(name: str) -> str:
    return " ".join(_UNIT.sub("", normalise(name)).replace("_", " ").split())[:60]


def _find_value(text: str, question: str, value: str) -> tuple[int, int] | None:
    if not value or value.isdigit() or (len(value) == 1 and has_cjk(value)):
        return None
    if len(value) < _SHORT and value.isascii() and not find_whole(question, value):
        return None
    if value.lower() in ENGLISH_STOP_WORDS and value not in marks_in(question):
        return None
    return find_whole(text, normalise(value))


def _take_dates(reading: _Reading, columns: Sequence[Column]) -> Iterator[Condition]:
    """Conditions on dates, each on the column that the question names, else on the only one of dates."""
    dated = [column for column in columns if column.kind is ValueKind.DATE]
    taken = {index for _, index in reading.columns}
    named = [one for one in dated if one.index in taken or names_column(reading.text, one.name)]
    chosen = named[:1] or (dated if len(dated) == 1 else [])
    spans = set[tuple[int, int]]()
    for span, comparison, day in dates_in(reading.text) if chosen else ():
        spans.add(span)
        yield Condition(chosen[0].index, comparison, day)
    for span in spans:
        reading.take(*span)


def _take_bounds(reading: _Reading, columns: Sequence[Column]) -> Iterator[Condition]:
    """Conditions on numbers, each on the column named last before it, else first after it.

    Of several prices the one in the bound's unit is meant, named or not.
    """
    numeric = [column.index for column in columns if column.kind is ValueKind.NUMBER]
    named = sorted(place for place in reading.columns if place[1] in numeric)
    for (start, end), comparison, number in bounds_in(reading.text):
        before = [column for at, column in named if at < start]
        after = [column for at, column in named if at >= end]
        bound = reading.text[start:end].rstrip()
        behind = reading.text[start + len(bound) :]
        in_unit = counted_in([columns[at] for at in numeric], bound, behind)
        only = next((one for one in (in_unit, numeric) if len(one) == 1), [])
        near = [*before[::-1], *after]
        column = next(
            iter([*(at for at in near if at in in_unit), *(only if in_unit else near), *only]), None
        )
        reading.take(start, end)
        if column is None or not comparable(bound, behind, columns[column]):
            reading.lost = True
        else:
            counted = in_units_of(columns[column], number, bound, behind)
            yield Condition(column, comparison, counted)
