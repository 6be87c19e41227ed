"""Which computation the parts of a question ask for: an operation, the column it is over, and what names a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sextant.tables.cells.computing import Operation
from sextant.tables.cells.values import ValueKind
from sextant.tables.computation.across import OF_PERIOD, across_of
from sextant.tables.computation.asked import Asked, QuestionParts
from sextant.tables.computation.counting import count_of, summed
from sextant.tables.computation.relating import pairs_of, rival_of
from sextant.tables.question.families import implied
from sextant.tables.question.meaning import adds_up, is_amount, outermost_of
from sextant.tables.question.ranks import Rank
from sextant.tables.question.reading import names_column, plain_name
from sextant.tables.question.wording import (
    BY_TIME,
    DATED,
    DISTINCT,
    GROUPED,
    HOW_MUCH,
    IMPLIED,
    OF_ALL_ROWS,
    OF_ONE_KIND,
    OPERATIONS,
)
from sextant.text.simplified import plain_of

_AGES = re.compile(r"\bage\b|年龄")
# The most of something that is named, and is no name of a column; units and sales may be what any counts.
_OF_OTHERS = re.compile(
    r"\b(?:most|fewest|least)\s+(?!(?:units|sales|goods|items|things|pieces|times)\b)(?:[a-z]{3,}[^\Ws]s|people|staff)\b"
    r"|(?:人|员工|职工|人员|同事|雇员|学生|同学|队员|会员)数?量?最[多少]"
)
# What kind of column a question asks a single value of.
_OF_KIND = (
    (re.compile(r"\b(?:who|whose|where)\b|谁|哪里|哪儿"), ValueKind.TEXT),
    (re.compile(r"\bwhen\b|什么时候|何时|哪一?天"), ValueKind.DATE),
)
_WHICH = re.compile(r"哪|\bwhich\b")
_OF_KINDS = re.compile(r"每[一]?[类种组级层]")
_WHO = re.compile(r"谁|\bwho\b")
# What a column is called that says whose a row is.
_OF_PERSONS = re.compile(
    r"客户|姓名|人$|人员|员$|经理|司机|医生|老师|教师|作者|\b(?:customer|client|owner|name|assignee|driver|teacher|author|manager|buyer|doctor|lead)\b"
)


def computation_of(read: QuestionParts, rank: Rank | None) -> Asked | None:
    """Return the one computation that the parts of a question ask for, None if nothing is sure."""
    return _ranked(read, rank) if rank else _unranked(read)


def _unranked(read: QuestionParts) -> Asked | None:
    operations = [one for one, form in OPERATIONS.items() if form.search(read.text)]
    if not operations and read.named_of(ValueKind.DATE):
        operations = [one for one, form in DATED.items() if form.search(read.text)]
    outermost: list[Operation] = [
        one for one in operations if one in (Operation.MAX, Operation.MIN)
    ]
    others = _over_rows([one for one in operations if one not in outermost])
    if not outermost and (across := across_of(read)):
        return across
    if not outermost and (rival := rival_of(read)):
        return _rivals(read, next(iter(others), None), rival)
    of_kinds = Operation.MEAN in others and read.group is None and _OF_KINDS.search(read.text)
    if len(outermost) > 1 or len(others) > 1 or of_kinds:
        return None
    if Operation.COUNT in others:
        return None if outermost else count_of(read, _look_up)
    if not operations:
        return _distinct(read) or _how_much(read) or _look_up(read)
    return _computation(read, next(iter(others), None), next(iter(outermost), None))


def _over_rows(asked: Sequence[Operation]) -> list[Operation]:
    """Return what is asked to be computed over rows: 一共有多少家 is how many in all, 平均多少次 so many on average."""
    if Operation.MEAN in asked:
        return [one for one in asked if one is not Operation.COUNT]
    return [one for one in asked if one is not Operation.SUM or Operation.COUNT not in asked]


def _distinct(read: QuestionParts) -> Asked | None:
    """Return all values of a column of words, where a question asks for them and for nothing else.

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
    if column is None or _says_otherwise(read, over_rows, outermost, column):
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
    if outermost and subject is not None and read.asks_besides(subject, outermost):
        subject = next(iter(read.of_kind(ValueKind.TEXT)), subject)
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
    also = _besides(read, column, subject) if outermost and not grouped else ()
    return Asked(main, column, read.conditions, subject, grouped, also=also)


def _says_otherwise(
    read: QuestionParts, over_rows: Operation | None, outermost: Operation | None, column: int
) -> bool:
    """Return whether a question asks whether ("is B the best?"), or for a sum of what does not add up and is not named."""
    whether = outermost is not None and any(map(read.is_of_one, read.conditions))
    guessed = over_rows is Operation.SUM and column not in read.named
    return whether or (guessed and not is_amount(read.columns[column]))


def _rivals(read: QuestionParts, over_rows: Operation | None, outermost: Operation) -> Asked | None:
    """Return which of two that are named has more: one row of each, or the rows of each taken together."""
    pair, column = pairs_of(read)[0].column, _target(read, outermost)
    if column is None or over_rows is Operation.COUNT:
        return None
    outermost = outermost_of(outermost, read.columns[column], read.text) or outermost
    if not read.repeats(pair):
        chosen = Asked(outermost, column, read.conditions, pair)
        return None if over_rows else chosen
    if over_rows is None and not is_amount(read.columns[column]):
        return None
    together = over_rows or Operation.SUM
    return Asked(together, column, read.conditions, pair, grouped=True, overall=outermost)


def _how_much(read: QuestionParts) -> Asked | None:
    """Return the sum of a column of which a question asks how much it is, and does not say of what: "how much was spent?"."""
    amounts = [at for at in read.named_of(ValueKind.NUMBER) if at not in read.bound]
    asks = HOW_MUCH.search(read.text) is not None
    return summed(read, amounts[0]) if asks and len(amounts) == 1 else None


def _besides(read: QuestionParts, column: int, subject: int | None) -> tuple[int, ...]:
    """Return what else a question asks of the rows that it leads to: "and what is their no-show rate?"."""
    told = {column, subject, read.group, *read.bound}
    persons = [
        at
        for at in read.of_kind(ValueKind.TEXT)
        if _OF_PERSONS.search(plain_of(read.columns[at].name))
    ]
    whose = persons if _WHO.search(read.text) and len(persons) == 1 else []
    return tuple(at for at in dict.fromkeys([*read.named, *whose]) if at not in told)


def _of_each(read: QuestionParts, column: int) -> bool:
    """Return whether the most of each group is asked for, or which row of it has that, and not which group."""
    if read.group in (None, column) or read.columns[column].kind is not ValueKind.NUMBER:
        return False
    return not _WHICH.search(read.text) or not {column, read.group}.issuperset(read.named)


def _ranked(read: QuestionParts, rank: Rank) -> Asked | None:
    """Return rows in the order of a column; where rows are taken together, nothing is sure."""
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


def _look_up(read: QuestionParts) -> Asked | None:
    """Return single values of the rows that are named; or, with a bound alone or "which ones", which rows these are."""
    if not read.conditions:
        return None
    subject, bound = read.subject, read.bound
    asked = [at for at in read.named if at not in bound]
    if asked and (kind := next((one for form, one in _OF_KIND if form.search(read.text)), None)):
        asked = [at for at in asked if read.columns[at].kind is kind]
        if not asked:  # "who approved the budget?"
            return None
    if not asked and subject is not None:
        bounded = any(condition.bounds for condition in read.conditions)
        asked = [subject] * (bounded or read.listing)
    if asked and OF_PERIOD.match(read.columns[asked[0]].name) and not read.telling:
        return None  # the profit of the second quarter, where that has the sales
    if not asked and read.telling:
        numbers = read.of_kind(ValueKind.NUMBER)
        sure = len(numbers) == 1 and not _asks_other(read, numbers[0])
        asked = [at for at in numbers if at not in bound] if sure else []
    if not asked:
        return None
    conditions = tuple(replace(one, of=asked[0]) if one.denied else one for one in read.conditions)
    alike = {plain_name(read.columns[at].name) for at in bound}
    also = tuple(
        at
        for at in dict.fromkeys(asked[1:])
        if at not in (asked[0], subject) and plain_name(read.columns[at].name) not in alike
    )
    return Asked(Operation.VALUE, asked[0], conditions, subject, also=also)


def _asks_other(read: QuestionParts, column: int) -> bool:
    """Return whether a question asks for somebody, a time, or by a word for just that for another kind of numbers."""
    kinds = (*(form for form, _ in _OF_KIND), *(asks for asks, _ in IMPLIED))
    return any(form.search(read.text) for form in kinds) and column not in _implied(read, [column])


def _counts_rows(read: QuestionParts, column: int) -> bool:
    """Return whether "the most employees" asks for the number of rows, and not for the most of a column."""
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
        return _nearest(read, free or fitting, operation)
    only = read.of_kind(ValueKind.NUMBER)
    if meant := _implied(read, only):
        return meant[0] if len(meant) == 1 else None
    sure = len(only) == 1 and read.telling and not OF_ONE_KIND.search(read.text)
    return only[0] if sure else None


def _nearest(read: QuestionParts, columns: Sequence[int], operation: Operation) -> int:
    """Return the one of several columns of which the most is asked: named right behind the word, in Chinese before it."""
    word = OPERATIONS[operation].search(read.text)
    if word is None or len(columns) == 1:
        return columns[0]
    before = [at for place, at in read.places if place < word.start() and at in columns]
    behind = [at for place, at in read.places if place >= word.end() and at in columns]
    if behind and (word[0].isascii() or not before):
        return behind[0]
    last = max(place for place, at in read.places if at in before and place < word.start())
    return next(at for place, at in read.places if place == last and at in before)


def _implied(read: QuestionParts, columns: Sequence[int]) -> list[int]:
    """Return the columns whose most or least the question asks for by their own word, as "cheapest" does for prices."""
    return [at for at in columns if implied(read.text, plain_of(read.columns[at].name))]
