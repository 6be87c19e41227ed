"""One computation that a question asks for, and the parts of a question from which that is told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sextant.tables.cells.computing import Condition, Operation
from sextant.tables.cells.table import Column
from sextant.tables.cells.values import ValueKind
from sextant.tables.question.ranks import Rank
from sextant.tables.question.wording import GROUPED, OPERATIONS

_CLAUSE = re.compile(r"[,，;；、]|\band\b")


@dataclass(frozen=True, slots=True)
class Asked:
    """One computation. `column` is what it is over (None: the rows), `subject` what names a row.

    `grouped`: the operation is done for the rows of each value of `subject`; `overall` then chooses
    among the groups. `rank`: more than the one largest or smallest. `also`: columns that are asked of the
    rows found besides, or for a difference the other one of the two. `guessed`: a bound is on the only
    column of numbers, which the question does not name. `rest` is what was not understood.
    """

    operation: Operation
    column: int | None
    conditions: tuple[Condition, ...] = ()
    subject: int | None = None
    grouped: bool = False
    overall: Operation | None = None
    rank: Rank | None = None
    also: tuple[int, ...] = ()
    guessed: bool = field(default=False, compare=False)
    rest: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class QuestionParts:
    """The parts of a question: what is left of it, the columns it names by place, its conditions.

    `counted`: those of the columns of which it asks how many there are. `listing`: it asks for all rows
    that are so. `group`: the column for each of whose values it asks. `telling`: what is left says nothing
    that the table might not have.
    """

    text: str
    columns: Sequence[Column]
    places: Sequence[tuple[int, int]]
    conditions: tuple[Condition, ...]
    counted: frozenset[int]
    listing: bool
    group: int | None
    telling: bool = True

    @property
    def named(self) -> list[int]:
        """Return the columns that the question names, in its order."""
        return [column for _, column in self.places]

    @property
    def bound(self) -> set[int]:
        """Return the columns that conditions are on."""
        both = ({condition.column, condition.other} for condition in self.conditions)
        return {column for one in both for column in one if column is not None}

    @property
    def subject(self) -> int | None:
        """Return the column that names a row: one that the question names, else the first of words."""
        words = self.of_kind(ValueKind.TEXT)
        # All but one thing are called what that one is.
        denied = {one.column for one in self.conditions if one.denied} & set(words[:1])
        free = [at for at in words if at not in self.bound or at in denied]
        chosen = [at for at in self.named if at in free]
        return next(iter(chosen or free or words), None)

    def of_kind(self, kind: ValueKind) -> list[int]:
        """Return the columns of one kind, of all that the table has."""
        return [column.index for column in self.columns if column.kind is kind]

    def named_of(self, kind: ValueKind) -> list[int]:
        """Return the columns of one kind that the question names."""
        return [at for at in dict.fromkeys(self.named) if self.columns[at].kind is kind]

    def repeats(self, column: int | None) -> bool:
        """Return whether several rows have the same value of a column."""
        return column is not None and self.columns[column].repeats

    def names_one(self, condition: Condition) -> bool:
        """Return whether a condition is by name on a column that names each row: how many rows there are is plain."""
        return not condition.bounds and not self.repeats(condition.column)

    def is_of_one(self, condition: Condition) -> bool:
        """Return whether a condition leaves the one row that it names."""
        return self.names_one(condition) and len(condition.words) == 1 and not condition.denied

    def asks_besides(self, column: int, operation: Operation) -> bool:
        """Return whether a column is first named in a clause behind the one that asks for the most or least."""
        word = OPERATIONS[operation].search(self.text)
        behind = _CLAUSE.search(self.text, word.end()) if word else None
        first = min((place for place, at in self.places if at == column), default=-1)
        return behind is not None and first >= behind.end()

    @property
    def grouped(self) -> bool:
        """Return whether the question asks for each of several groups."""
        return GROUPED.search(self.text) is not None
