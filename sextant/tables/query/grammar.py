"""What a grammar of one language knows: the words by which a question asks for each part of a query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sextant.tables.cells.arithmetic import Operation

MASK, VALUE_MASK = "\0", "\x01"
"""What stands in the place of a column's name and of a value, once they are understood."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The patterns of one language, over a question in plain spelling whose names are masked.

    Attributes:
        operations: by which words each operation is asked for.
        ranks: forms that say how many rows (`n`) or which (`nth`) are asked for; `behind`: not taken out.
        rank_orders: which end a rank means that names none.
        group: what stands before the column for each of whose values it is asked.
        apart: asks how far two numbers are apart; `whether`: whether one is more than the other.
        beside: what stands between the two.
        greater, smaller: comparatives, in "which sold more, A or B?".
        share: asks what part one is of all.
        lists: asks for all rows that are so; `distinct`: for all values of the last column.
        which, who, when: asks for a thing, a person, a date.
        periods: says that all columns of periods are meant; `subjects`: all columns of numbers.
        denied: denies the values behind it.
        by_time: the first or last in time; `best`: best or worst; `quick`, `old`: turned round for times and dates.
        taken_together: the most of what names several rows is a sum; `of_one_row`: never is.
        how_much: asks for a sum of amounts.
        refused: whatever else is understood, the question asks for something else.
        filler: words that keep no row out.
    """

    operations: Mapping[Operation, re.Pattern[str]]
    ranks: tuple[re.Pattern[str], ...]
    group: re.Pattern[str]
    apart: re.Pattern[str]
    whether: re.Pattern[str]
    beside: re.Pattern[str]
    greater: re.Pattern[str]
    smaller: re.Pattern[str]
    share: re.Pattern[str]
    lists: re.Pattern[str]
    distinct: re.Pattern[str]
    which: re.Pattern[str]
    who: re.Pattern[str]
    when: re.Pattern[str]
    rows: re.Pattern[str]
    periods: re.Pattern[str]
    subjects: re.Pattern[str]
    denied: re.Pattern[str]
    by_time: re.Pattern[str]
    best: re.Pattern[str]
    quick: re.Pattern[str]
    old: re.Pattern[str]
    taken_together: re.Pattern[str]
    of_one_row: re.Pattern[str]
    how_much: re.Pattern[str]
    refused: re.Pattern[str]
    filler: re.Pattern[str]
    joined: re.Pattern[str]
    """Computations that are joined before one noun: `first`, `noun`, `more`."""
