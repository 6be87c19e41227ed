"""A part of a passage that is about one thing: a sentence, a clause or a cell, with the texts around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sextant.nodes.citing.terms import Text
from sextant.text.characters import normalise
from sextant.text.units import TextValue
from sextant.text.values import normalise_values

# The level of a term: how much it counts for a part by where it stands. In the part itself; in the subject that it takes
# from another clause; ahead of it in its sentence; in its headings; behind it in its sentence; in the next sentences.
OWN, INHERITED, AHEAD, HEADING, BEHIND, NEAR = 1.0, 0.92, 0.65, 0.7, 0.45, 0.3
# In the names of a table's other columns.
COLUMNS = 0.75


@dataclass(frozen=True, slots=True)
class EvidencePart:
    """A sentence, clause or cell, with the texts around it.

    Attributes:
        passage: the index of its passage.
        span: where its sentence or row stands in the passage's text.
        sentence: the text of that.
        layers: texts with the level of their terms, the part itself first.
        values: its numbers.
        conditions: all numbers of its row or sentence.
        is_row: whether it is a cell of a table.
        is_clause: whether it is a clause of a sentence or cell that is another part.
        inherits: whether it takes its subject from another clause, its second layer.
        label: the terms of a cell's row and column.
        row: the first cell of a cell's row.
        column: the name of a cell's column.
        clauses: of a sentence, as its marks cut it.
        stated: its sentence; an item of a list behind the line that introduces it: "not refunded" of "taxis".
    """

    passage: int
    span: tuple[int, int]
    sentence: str
    layers: tuple[tuple[float, Text], ...]
    values: tuple[TextValue, ...]
    conditions: tuple[TextValue, ...] = ()
    is_row: bool = False
    is_clause: bool = False
    inherits: bool = False
    label: tuple[str, ...] = ()
    row: str = ""
    column: str = ""
    clauses: tuple[Text, ...] = ()
    stated: str = ""

    def speaks_of(self, mark: str) -> bool:
        """Return whether a term stands in a clause or ahead of it in its sentence."""
        return self.owns(mark) or any(
            mark in text.plain or text.has(mark) == 1.0
            for level, text in self.layers
            if level == AHEAD
        )

    def owns(self, mark: str) -> bool:
        """Return whether a term stands in the part itself, or in the clause that it takes its subject from."""
        first = self.layers[: 2 if self.inherits else 1]
        return any(mark in text.plain or text.has(mark) == 1.0 for _, text in first)

    @property
    def names(self) -> tuple[str, str]:
        """Return the names of a cell's row and column, normalised."""
        return normalise(self.row), normalise(self.column)

    def is_called(self, value: TextValue) -> bool:
        """Return whether a value is in the name of a cell's row or column."""
        named = normalise_values(f"{self.row} | {self.column}") if self.is_row else ()
        return any(value.matches(one.value) for one in named)

    def level(self, term: str) -> float:
        """Return the level of a term, 0..1; 0 where it does not stand near."""
        return max((level * text.has(term) for level, text in self.layers), default=0.0)

    def measure(self, terms: Sequence[str], values: Sequence[TextValue]) -> float:
        """Return the share (0..1) of terms and values that stand in the part or in its headings."""
        stated = sum(any(map(value.matches, self.values + self.conditions)) for value in values)
        found = sum(level for term in terms if (level := self.level(term)) >= HEADING)
        return (found + stated) / (len(terms) + len(values) or 1)

    def level_of(self, pattern: re.Pattern[str]) -> float:
        """Return the level of words that match a pattern."""
        found = (level for level, text in self.layers if pattern.search(text.plain))
        return next(found, 0.0)


def has_value(values: Sequence[TextValue], asked: TextValue) -> bool:
    """Return whether a value itself is among these, and not only a range that it lies in."""
    return any(is_exactly(asked, value) for value in values)


def is_exactly(asked: TextValue, value: TextValue) -> bool:
    """Return whether a value is the one asked for; "less than ten" is not ten."""
    is_below = value.bound == "max" and asked.bound != "max"
    return asked.matches(value) and not asked.opposes(value) and not is_below


def holds_value(values: Sequence[TextValue], asked: TextValue) -> bool:
    """Return whether one of these values is the same, or a range of two or a bound has it within."""
    if any(asked.matches(value) and not asked.opposes(value) for value in values):
        return True
    alike = [v for v in values if v.date is None and (v.unit == asked.unit or not v.unit)]
    return any(_is_in_range(low, high, asked) for low, high in pairwise([None, *alike, None]))


def _is_in_range(low: TextValue | None, high: TextValue | None, asked: TextValue) -> bool:
    """Return whether two values that follow each other are a range with a value, or one is its bound and the other of no range.

    What is at least ten does not lie below ten.
    """
    reaches = low is not None and asked.number >= low.number
    stays = high is not None and (
        asked.number < high.number or (asked.number == high.number and not asked.opposes(high))
    )
    is_range = low and high and low.number < high.number
    if is_range and low and high and low.bound != "max" and high.bound != "min":
        return reaches and stays
    return bool(
        (low and low.bound == "min" and reaches) or (high and high.bound == "max" and stays)
    )
