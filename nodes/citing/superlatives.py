"""Check superlatives: what is called the highest must have the highest number of those it is compared with."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sextant.nodes.citing.evidence_part import EvidencePart
from sextant.nodes.citing.terms import Text
from sextant.tables.cells.table import sums_up
from sextant.tables.query.tokens import WORDS
from sextant.text.characters import plain_of
from sextant.text.units import TextValue

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
