"""Which computation the parts of a question ask for: an operation, the column it is over, and what names a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from domain.language.simplified import plain_of
from domain.tables.computing import Condition, Operation
from domain.tables.meaning import adds_up, outermost_of
from domain.tables.reading import implied, names_column
from domain.tables.table import Column
from domain.tables.values import ValueKind
from domain.tables.wording import (
    APART,
    BESIDE,
    BY_TIME,
    DATED,
    DISTINCT,
    GROUPED,
    NOT_OURS,
    OF_ALL_ROWS,
    OPERATIONS,
    ROWS,
    Rank,
)

_AMOUNT = re.compile(r"[^\w\s]?\s?\d")
_AGES = re.compile(r"\bage\b|年龄")
# The most of something that is named, and is no name of a column; units and sales may be what any counts.
_OF_OTHERS = re.compile(
    r"\b(?:most|fewest|least)\s+(?!(?:units|sales|goods|items|things|pieces|times)\b)(?:[a-z]{3,}[^\Ws]s|people|staff)\b"
    r"|(?:人|员工|职工|人员|同事|雇员|学生|同学|队员|会员)数?量?最[多少]"
)
_WHICH = re.compile(r"哪|\bwhich\b")
_PAIR = 2
# So far apart in parts of one of them.
_RELATIVE = re.compile(r"%|百分|倍|\bpercent(?:age)?\b|\btimes\b")


@dataclass(frozen=True, slots=True)
class Asked:
    """One computation. `column` is what it is over (None: the rows), `subject` what names a row.

    `grouped`: the operation is done for the rows of each value of `subject`; `overall` then chooses
    among the groups. `rank`: more than the one largest or smallest. `guessed`: a bound is on the only
    column of numbers, which the question does not name. `rest` is what was not understood.
    """

    operation: Operation
    column: int | None
    conditions: tuple[Condition, ...] = ()
    subject: int | None = None
    grouped: bool = False
    overall: Operation | None = None
    rank: Rank | None = None
    guessed: bool = field(default=False, compare=False)
    rest: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class QuestionParts:
    """The parts of a question: what is left of it, the columns it names in order, its conditions.

    `counted`: those of the columns of which it asks how many there are. `listing`: it asks for all rows
    that are so. `group`: the column for each of whose values it asks.
    """

    text: str
    columns: Sequence[Column]
    named: Sequence[int]
    conditions: tuple[Condition, ...]
    counted: frozenset[int]
    listing: bool
    group: int | None

    @property
    def bound(self) -> set[int]:
        """The columns that conditions are on."""
        both = ({condition.column, condition.other} for condition in self.conditions)
        return {column for one in both for column in one if column is not None}

    @property
    def subject(self) -> int | None:
        """The column that names a row: one that the question names, else the first of words."""
        words = self.of_kind(ValueKind.TEXT)
        # All but one thing are called what that one is.
        denied = {one.column for one in self.conditions if one.denied} & set(words[:1])
        free = [at for at in words if at not in self.bound or at in denied]
        chosen = [at for at in self.named if at in free]
        return next(iter(chosen or free or words), None)

    def of_kind(self, kind: ValueKind) -> list[int]:
        """The columns of one kind, of all that the table has."""
        return [column.index for column in self.columns if column.kind is kind]

    def named_of(self, kind: ValueKind) -> list[int]:
        """Those of one kind that the question names."""
        return [at for at in dict.fromkeys(self.named) if self.columns[at].kind is kind]

    def repeats(self, column: int | None) -> bool:
        """Whether several rows have the same value of a column."""
        return column is not None and self.columns[column].repeats

    @property
    def grouped(self) -> bool:
        """Whether the question asks for each of several groups."""
        return GROUPED.search(self.text) is not None


def computation_of(read: QuestionParts, rank: Rank | None) -> Asked | None:
    """The one computation that the parts of a question ask for, None if nothing is sure."""
    return _ranked(read, rank) if rank else _unranked(read)


def _unranked(read: QuestionParts) -> Asked | None:
    operations = [one for one, form in OPERATIONS.items() if form.search(read.text)]
    if not operations and read.named_of(ValueKind.DATE):
        operations = [one for one, form in DATED.items() if form.search(read.text)]
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
        return _distinct(read) or _look_up(read)
    return _computation(read, next(iter(others), None), next(iter(outermost), None))


def apart_of(read: QuestionParts) -> Asked | None:
    """How far two rows, both named by values of one column, are apart in a column that is named, too."""
    if not APART.search(read.text) or read.grouped:
        return None
    rest = BESIDE.sub(" ", APART.sub(" ", read.text))
    if _RELATIVE.search(rest):
        return None
    pairs = [one for one in read.conditions if len(one.words) == _PAIR and not one.denied]
    others = any(form.search(rest) for form in OPERATIONS.values())
    if len(pairs) != 1 or others or NOT_OURS.search(rest):
        return None
    named = [at for at in read.named_of(ValueKind.NUMBER) if at not in read.bound]
    meant = named or _implied(read, read.of_kind(ValueKind.NUMBER))
    subject = pairs[0].column
    one = len(meant) == 1
    return Asked(Operation.DIFFERENCE, meant[0], read.conditions, subject) if one else None


def _distinct(read: QuestionParts) -> Asked | None:
    """All values of a column of words, where a question asks for them and for nothing else.

    What the rows are called may stand before it: 课程分布在哪些校区.
    """
    if read.conditions or not DISTINCT.fullmatch(read.text.strip()):
        return None
    column = read.columns[read.named[-1]]
    worded = column.kind is ValueKind.TEXT
    return Asked(Operation.DISTINCT, column.index, subject=column.index) if worded else None


def _computation(
    read: QuestionParts, over_rows: Operation | None, outermost: Operation | None
) -> Asked | None:
    main = over_rows or outermost or Operation.MAX
    column, subject = _target(read, main), read.subject
    if column is None:
        return None
    dates = read.named_of(ValueKind.DATE)
    if outermost and column not in dates:
        if _counts_rows(read, column):
            return None
        subject = next((at for at in dates if at not in read.bound), subject)  # "which year"
    if outermost and not over_rows:
        outermost = outermost_of(outermost, read.columns[column], read.text)
        if outermost is None:
            return None
        main = outermost
    each = outermost is not None and over_rows is None and _of_each(read, column)
    subject = read.group if each else subject
    together = not each and subject in read.named and read.repeats(subject)
    if outermost and together and (over_rows or adds_up(read.columns[column], read.text)):
        # "Which region sells most": a region's rows are taken together.
        operation = over_rows or Operation.SUM
        return Asked(operation, column, read.conditions, subject, grouped=True, overall=outermost)
    if over_rows and outermost:
        return None
    several = subject is not None and (main is not Operation.MEAN or read.repeats(subject))
    grouped = each or (read.grouped and several and outermost is None)  # a mean of one row is none
    return Asked(main, column, read.conditions, subject, grouped)


def _of_each(read: QuestionParts, column: int) -> bool:
    """Whether the most of each group is asked for, or which row of it has that, and not which group."""
    if read.group in (None, column) or read.columns[column].kind is not ValueKind.NUMBER:
        return False
    return not _WHICH.search(read.text) or not {column, read.group}.issuperset(read.named)


def _ranked(read: QuestionParts, rank: Rank) -> Asked | None:
    """Rows in the order of a column; where rows are taken together, nothing is sure."""
    said = [one for one, form in OPERATIONS.items() if form.search(read.text)]
    operation = next(iter(said), rank.operation)
    column, subject = _target(read, Operation.MAX), read.subject
    if len(said) > 1 or operation not in (Operation.MAX, Operation.MIN) or column is None:
        return None
    operation = outermost_of(operation, read.columns[column], read.text)
    if operation is None:
        return None
    grouped = GROUPED.search(read.text.replace(" by ", " "))  # "the top three by price"
    if grouped or (subject in read.named and read.repeats(subject)):
        return None
    return Asked(operation, column, read.conditions, subject, rank=rank)


def _count(read: QuestionParts) -> Asked | None:
    """Rows; "how many units" over a column of numbers asks for its value instead."""
    bound = {condition.column for condition in read.conditions if condition.bounds}
    bound |= {condition.other for condition in read.conditions if condition.other is not None}
    free = [at for at in read.named if _tells_amounts(read.columns[at])]
    if over := [at for at in free if at not in bound]:
        return _summed(read, over[0]) or _look_up(read)
    if read.group is not None or read.grouped:
        return _count_groups(read)
    distinct = read.subject if read.subject in read.counted else None
    of_rows = ROWS.search(read.text) is not None
    telling = distinct is not None or any(not _names_one(read, one) for one in read.conditions)
    if not (of_rows or telling):
        return None
    return Asked(Operation.COUNT, distinct, read.conditions, read.subject)


def _summed(read: QuestionParts, column: int) -> Asked | None:
    """What a column of amounts adds up to over the rows of a value: the people of all departments in Graz."""
    several = any(not one.bounds and not _names_one(read, one) for one in read.conditions)
    if not several or read.grouped or not adds_up(read.columns[column], ""):
        return None
    return Asked(Operation.SUM, column, read.conditions, read.subject)


def _count_groups(read: QuestionParts) -> Asked | None:
    """Rows, or what another column names, for each value of a column: "how many parts per supplier"."""
    group = read.group
    words = read.named_of(ValueKind.TEXT)
    others = [at for at in words if at != group]
    if group not in words or len(others) > 1 or not read.repeats(group):
        return None
    counted = next(iter(others), None)
    return Asked(Operation.COUNT, counted, read.conditions, group, grouped=True)


def _names_one(read: QuestionParts, condition: Condition) -> bool:
    """Whether a condition is by name on a column that names each row: how many rows there are is plain."""
    return not condition.bounds and not read.repeats(condition.column)


def _tells_amounts(column: Column) -> bool:
    """Whether most of a column's cells begin with a number, be it "12, pro rata"."""
    filled = [text for value in column.values if (text := value.text.strip())]
    amounts = sum(_AMOUNT.match(text) is not None for text in filled)
    return column.kind is ValueKind.NUMBER or 2 * amounts > len(filled)


def _look_up(read: QuestionParts) -> Asked | None:
    """Single values of the rows that are named; or, with a bound alone or "which ones", which rows these are."""
    if not read.conditions:
        return None
    subject, bound = read.subject, read.bound
    asked = [at for at in read.named if at not in bound]
    if not asked and subject is not None:
        bounded = any(condition.bounds for condition in read.conditions)
        asked = [subject] * (bounded or read.listing)
    if not asked:
        numbers = read.of_kind(ValueKind.NUMBER)
        asked = [at for at in numbers if at not in bound] if len(numbers) == 1 else []
    if not asked:
        return None
    conditions = tuple(replace(one, of=asked[0]) if one.denied else one for one in read.conditions)
    return Asked(Operation.VALUE, asked[0], conditions, subject)


def _counts_rows(read: QuestionParts, column: int) -> bool:
    """Whether "the most employees" asks for the number of rows, or of what no column tells, and not for the most of one."""
    if not OF_ALL_ROWS.search(read.text):
        return False
    words = read.named_of(ValueKind.TEXT)
    together = any(map(read.repeats, words))
    others = len(words) > 1 or (together and _OF_OTHERS.search(read.text) is not None)
    return column in read.bound or (column not in read.named and others)


def _target(read: QuestionParts, operation: Operation) -> int | None:
    of_time = operation in (Operation.MAX, Operation.MIN) and BY_TIME.search(read.text)
    kind = ValueKind.DATE if of_time else ValueKind.NUMBER
    fitting = read.named_of(kind)
    if of_time and not fitting:
        aged = [one.index for one in read.columns if _AGES.search(plain_of(one.name))]
        ages = [at for at in aged if at in {*read.named, *_implied(read, aged)}]
        dated = read.of_kind(ValueKind.DATE)
        partly = (at for at in dated if names_column(read.text, read.columns[at].name))
        return next(iter(ages), next(partly, None))
    free = [at for at in fitting if at not in read.bound]
    if free or fitting:
        return (free or fitting)[0]
    only = read.of_kind(ValueKind.NUMBER)
    return next(iter(_implied(read, only) or (only if len(only) == 1 else [])), None)


def _implied(read: QuestionParts, columns: Sequence[int]) -> list[int]:
    """Those of the columns of which the question asks for the most or least by the word for just that."""
    return [at for at in columns if implied(read.text, plain_of(read.columns[at].name))]
