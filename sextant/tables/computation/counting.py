"""What "how many" asks for: rows, the different values of a column, or what a column of amounts adds up to."""

from __future__ import annotations

import re
from collections.abc import Callable

from sextant.tables.cells.computing import Operation
from sextant.tables.cells.table import Column
from sextant.tables.cells.values import ValueKind
from sextant.tables.computation.asked import Asked, QuestionParts
from sextant.tables.question.meaning import adds_up, is_amount, is_code
from sextant.tables.question.wording import HOW_MUCH, OPERATIONS, ROWS

_AMOUNT = re.compile(r"[^\w\s]?\s?\d")


def count_of(read: QuestionParts, look_up: Callable[[QuestionParts], Asked | None]) -> Asked | None:
    """Return rows; "how many units" over a column of numbers asks for its value or its sum instead.

    Args:
        read: the parts of a question that asks how many.
        look_up: reads single values of the rows that are named.
    """
    codes = [at for at in read.counted if is_code(read.columns[at])]
    if codes and read.telling and not read.grouped:
        return Asked(Operation.COUNT, codes[0], read.conditions, read.subject)
    bound = {condition.column for condition in read.conditions if condition.bounds}
    bound |= {condition.other for condition in read.conditions if condition.other is not None}
    free = [at for at in read.named if _tells_amounts(read.columns[at])]
    counts_names = any(not _tells_amounts(read.columns[at]) for at in read.counted)
    if not counts_names and (over := [at for at in free if at not in bound]):
        return summed(read, over[0]) or look_up(read)
    if read.group is not None or read.grouped:
        return _count_groups(read)
    if not read.telling:  # how many of what no row is
        return None
    distinct = read.subject if read.subject in read.counted else None
    of_rows = ROWS.search(read.text) is not None
    telling = distinct is not None or any(not read.names_one(one) for one in read.conditions)
    if not (of_rows or telling):
        return None
    return Asked(Operation.COUNT, distinct, read.conditions, read.subject)


def summed(read: QuestionParts, column: int) -> Asked | None:
    """Return what a column of amounts adds up to: the people of all departments in Graz, or what was sold in all.

    Over all rows only where the question says nothing else, for that might be what keeps rows out.
    """
    asked = column in read.counted or HOW_MUCH.search(read.text) is not None
    amounts = asked and is_amount(read.columns[column])
    if read.grouped or not (amounts or adds_up(read.columns[column], "")):
        return None
    several = any(not one.bounds and not read.names_one(one) for one in read.conditions)
    whole = not read.conditions and read.telling and not _asks_outermost(read.text)
    return Asked(Operation.SUM, column, read.conditions, read.subject) if several or whole else None


def _asks_outermost(text: str) -> bool:
    return any(OPERATIONS[one].search(text) for one in (Operation.MAX, Operation.MIN))


def _count_groups(read: QuestionParts) -> Asked | None:
    """Return rows, or what another column names, for each value of a column: "how many parts per supplier"."""
    group = read.group
    words = read.named_of(ValueKind.TEXT)
    others = [at for at in words if at != group]
    if group not in words or len(others) > 1 or not read.repeats(group):
        return None
    counted = next(iter(others), None)
    return Asked(Operation.COUNT, counted, read.conditions, group, grouped=True)


def _tells_amounts(column: Column) -> bool:
    """Return whether most of a column's cells begin with a number, be it "12, pro rata"."""
    filled = [text for value in column.values if (text := value.text.strip())]
    amounts = sum(_AMOUNT.match(text) is not None for text in filled)
    return column.kind is ValueKind.NUMBER or 2 * amounts > len(filled)
