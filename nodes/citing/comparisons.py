"""Compare what a sentence says with clauses that stand beside each other and are about other things."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from sextant.nodes.citing.evidence_part import holds_value
from sextant.nodes.citing.terms import CLAUSE, cut, terms_of
from sextant.text.characters import plain_of
from sextant.text.units import WEEKDAY, TextValue
from sextant.text.values import normalise_values

Mark = str | TextValue
"""A term or a number."""

# A clause with one of these says like things as another one with one.
_RELATES = re.compile(r"\b(?:is|are|was|were|by|from)\b|[是为由]")
# Longer clauses that share words are seldom about like things (docs/experiments/citing.md).
_MOST_OWN = 6
_MOST_CLAUSES = 40  # each is compared with all others


class ClauseGroup:
    """Clauses about one thing: their terms and numbers in order."""

    def __init__(self, clauses: Sequence[str]) -> None:
        self._marks = [mark for clause in clauses for mark in _read_marks(clause)]
        self._values = [mark for mark in self._marks if isinstance(mark, TextValue)]

    def joins(self, other: ClauseGroup, stated: Sequence[Mark], asked: Sequence[Mark]) -> bool:
        """Return whether what is stated is the beginning of these clauses with the end of others: A takes 5 days.

        What is asked counts as stated, unless both have something of it.
        """
        own = [mark for mark in self._marks if not other._has(mark)]
        its = [mark for mark in other._marks if not self._has(mark)]
        if not (own and its) or max(len(own), len(its)) > _MOST_OWN:
            return False
        is_asked = [
            any(group._is_among(mark, asked) for mark in marks)
            for group, marks in ((self, own), (other, its))
        ]
        return any(
            self._is_among(own[0], said)
            and not self._is_among(own[-1], said)
            and not other._is_among(its[0], said)
            and other._is_among(its[-1], said)
            for said in (stated, [*stated, *(asked if not all(is_asked) else ())])
        )

    def _has(self, mark: Mark) -> bool:
        if isinstance(mark, str):
            return mark in self._marks
        return any(mark.matches(value) for value in self._values)

    def _is_among(self, mark: Mark, stated: Sequence[Mark]) -> bool:
        """Return whether a term of these clauses is stated; or for a number, one that theirs have within their range."""
        if isinstance(mark, str):
            return mark in stated
        return any(
            isinstance(one, TextValue)
            and one.dimension == mark.dimension
            and holds_value(self._values, one)
            for one in stated
        )


def group_clauses(sentence: str) -> list[ClauseGroup]:
    """Return the clauses of a sentence by what they are about. Of a long list, the first ones.

    A clause like the first one of a group opens the next group, as does the last of several: "A …, B …, and both …".
    """
    groups = list[list[str]]()
    clauses = cut(CLAUSE, sentence)
    for before, clause in pairwise(["", *clauses[:_MOST_CLAUSES]]):
        is_last = len(groups) > 1 and before.endswith(",") and clause.startswith("and ")
        is_like = any(_is_parallel(clause, group[0]) for group in groups)
        if groups and not (is_last or is_like):
            groups[-1].append(clause)
        else:
            groups.append([clause])
    return list(map(ClauseGroup, groups))


def _is_parallel(clause: str, other: str) -> bool:
    """Return whether two clauses say like things of different subjects."""
    one, two = set(terms_of(clause)), set(terms_of(other))
    return one != two and bool(one & two or all(map(_RELATES.search, (clause, other))))


def _read_marks(text: str) -> list[Mark]:
    plain, marks, start = plain_of(text), list[Mark](), 0
    for found in normalise_values(text):
        if found.value.unit != WEEKDAY:
            marks += [*terms_of(plain[start : found.start]), found.value]
            start = found.end
    return [*marks, *terms_of(plain[start:])]
