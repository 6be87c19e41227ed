"""What a question asks of two numbers of a table: how far they are apart, which is larger, one's share of all."""

from __future__ import annotations

import re

from sextant.tables.cells.computing import Condition, Operation
from sextant.tables.cells.values import ValueKind
from sextant.tables.computation.asked import Asked, QuestionParts
from sextant.tables.question.families import implied_of
from sextant.tables.question.meaning import is_amount
from sextant.tables.question.wording import (
    APART,
    BESIDE,
    IS_IT,
    LARGER,
    NOT_OURS,
    OPERATIONS,
    ROWS,
    SHARE,
    SMALLER,
    WHETHER,
)

_PAIR = 2
# So far apart in parts of one of them.
_RELATIVE = re.compile(r"%|百分|倍|\bpercent(?:age)?\b|\btimes\b")
_WHICH = re.compile(r"谁|哪|\b(?:which|who)\b")


def relation_of(read: QuestionParts) -> Asked | None:
    """Return the difference or share that the parts of a question ask for; None where it is not sure, or they ask for none."""
    if SHARE.search(read.text):
        return _share(read)
    return _apart(read) if APART.search(read.text) or _asks_whether(read.text) else None


def _asks_whether(text: str) -> bool:
    """Return whether a question asks whether one is more than another: "did C sell more than A?", C卖得比A多吗."""
    return WHETHER.match(text) is not None


def without_relating(text: str) -> str:
    """Return what else a question says whose difference or share was understood."""
    return BESIDE.sub(" ", IS_IT.sub(" ", APART.sub(" ", SHARE.sub(" ", text))))


def rival_of(read: QuestionParts) -> Operation | None:
    """Return which end is asked for where two things are named: "which sold more, A or B?", A和B哪个贵."""
    if not _WHICH.search(read.text) or len(pairs_of(read)) != 1:
        return None
    larger, smaller = LARGER.search(read.text), SMALLER.search(read.text)
    if bool(larger) == bool(smaller):
        return None
    return Operation.MAX if larger else Operation.MIN


def _apart(read: QuestionParts) -> Asked | None:
    """Return how far two rows, both named by values of one column, are apart in a column; or two columns of one row."""
    rest = without_relating(read.text)
    others = any(form.search(rest) for form in OPERATIONS.values())
    if read.grouped or _RELATIVE.search(rest) or others or NOT_OURS.search(rest):
        return None
    named = [at for at in read.named_of(ValueKind.NUMBER) if at not in read.bound]
    pairs = pairs_of(read)
    if len(pairs) == 1:
        meant = named or implied_of(read.text, read.columns)
        subject, single = pairs[0].column, len(meant) == 1
        return (
            Asked(Operation.DIFFERENCE, meant[0], read.conditions, subject)
            if single and (named or read.telling)
            else None
        )
    one_row = len(read.conditions) == 1 and len(read.conditions[0].words) == 1
    if not one_row or len(named) != _PAIR or not read.names_one(read.conditions[0]):
        return None
    one, other = named
    return Asked(
        Operation.DIFFERENCE, one, read.conditions, read.conditions[0].column, also=(other,)
    )


def pairs_of(read: QuestionParts) -> list[Condition]:
    """Return the conditions by which two things are named, values of one column."""
    return [one for one in read.conditions if len(one.words) == _PAIR and not one.denied]


def _share(read: QuestionParts) -> Asked | None:
    """Return what the rows of a condition have of all that a column adds up to, or what part of the rows they are."""
    rest = without_relating(read.text)
    asked = [one for one, form in OPERATIONS.items() if form.search(rest)]
    if set(asked) - {Operation.SUM} or NOT_OURS.search(rest) or read.grouped:
        return None
    if len({condition.column for condition in read.conditions}) != 1:
        return None
    named = [at for at in read.named_of(ValueKind.NUMBER) if at not in read.bound]
    if read.named and read.columns[read.named[0]].kind is ValueKind.TEXT:  # "what share of routes"
        named = []
    if not named and read.telling:
        if ROWS.search(rest) or not all(map(read.names_one, read.conditions)):
            return Asked(Operation.SHARE, None, read.conditions, read.subject)
        numbers = read.of_kind(ValueKind.NUMBER)
        named = numbers if len(numbers) == 1 else []
    if len(named) != 1 or not is_amount(read.columns[named[0]]):
        return None
    return Asked(Operation.SHARE, named[0], read.conditions, read.conditions[0].column)
