"""Compare what a sentence says with what stands beside it: clauses about other things, and what has the highest number."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from sextant.nodes.citing.evidence_part import EvidencePart, holds_value
from sextant.nodes.citing.terms import CLAUSE, Text, cut, terms_of
from sextant.tables.cells.table import sums_up
from sextant.tables.query.tokens import WORDS
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


# Senses of superlatives that a greater number means: heaviest. Which is best, or fastest, the numbers do not tell.
_OF_NUMBERS = {"", "most", "price", "weight", "length", "height", "distance"}
# "The maximum load" is the name of a number.
_NAMES = {"maximum", "max", "minimum", "min", "top"}
# What is most accurate may have the least number.
_OF_EITHER = {"most", "least"}


class Superlative:
    """The highest or lowest number that a text speaks of, or the second or third of them."""

    def __init__(self, text: str) -> None:
        plain = plain_of(text)
        found = [
            (plain[slice(*span)], kind, sense)
            for span, meanings in WORDS.find(plain)
            for kind, sense in meanings
        ]
        self._words = {
            word: kind
            for word, kind, sense in found
            if kind in ("max", "min") and sense in _OF_NUMBERS and word not in _NAMES
        }
        self._rank = next((int(sense) for _, kind, sense in found if kind == "nth"), 1)

    def __bool__(self) -> bool:
        return bool(self._words)

    def is_missed(
        self,
        values: Collection[TextValue],
        best: EvidencePart,
        parts: Sequence[EvidencePart],
        asked: Sequence[str],
    ) -> bool:
        """Return whether a part has one of some values, but none of these has the rank among numbers like it.

        Those are the numbers of its column, in rows that have as much of what is asked, or of its sentence.
        """
        if len(set(self._words.values())) != 1 or any(
            word in text.plain for word in self._words for _, text in best.layers
        ):
            return False
        alike = [one for one in parts if _is_like(one, best)]
        shared = [sum(map(Text(one.sentence).has, asked)) if one.is_row else 0 for one in alike]
        level = max((has for one, has in zip(alike, shared, strict=True) if one is best), default=0)
        numbers = {
            one.values[0].number for one, has in zip(alike, shared, strict=True) if has >= level
        }
        ranked = sorted(numbers, reverse="max" in self._words.values())
        if self._words.keys() & _OF_EITHER:
            ends = {*ranked[self._rank - 1 : self._rank], *ranked[-self._rank :][:1]}
        else:
            ends = set(ranked[self._rank - 1 : self._rank])
        return len(ranked) > 1 and not any(value.number in ends for value in values)


def _is_like(one: EvidencePart, best: EvidencePart) -> bool:
    """Return whether a part has a number that is compared with that of another one."""
    is_beside = (
        one.is_row and one.column == best.column and not sums_up(one.names[:1])
        if best.is_row
        else one.is_clause and one.span == best.span
    )
    return (
        is_beside
        and one.passage == best.passage
        and len(one.values) == 1
        and not one.values[0].date
        and not one.values[0].bound
        and bool(best.values)
        and one.values[0].unit == best.values[0].unit
    )
