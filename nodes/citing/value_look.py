"""Whether the part that speaks most of a fact's subject has its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, pairwise

from sextant.nodes.citing.evidence import COLUMNS, NEAR, EvidencePart
from sextant.nodes.citing.evidence_index import (
    ENOUGH,
    Assessment,
    StatedFact,
    Support,
)
from sextant.nodes.citing.sentence_look import (
    OF_CITED,
    competes,
    is_of_same_column,
    is_of_same_row,
    is_of_same_sentence,
)
from sextant.nodes.citing.subjects import subject_words
from sextant.nodes.citing.terms import Text, find_bases, find_measure
from sextant.nodes.citing.word_look import WordLook
from sextant.text.units import TIMES, WEEKDAY, TextValue

# A part that speaks of the subject by so much more than the one with the number makes the number another's.
_LEAD = 0.1
# A part that has so much of it speaks of it for certain.
_SURELY = 0.5
# Of two rows that have as much of the subject the one with fewer other words is meant: the Heron 3, not the Heron 3 XL.
_PER_EXTRA, _MOST_EXTRA = 0.008, 10
# What stands side by side in it counts besides.
_OF_PHRASES = 0.05
# Of sentences that say another fact of the statement, too.
_OF_SPOKEN = 0.1
# So much of the subject a part must have.
_SUBJECT = 0.35
# Where its number stands there, too.
_OF_STATED = 0.2
_OTHERS = re.compile(
    r"其他|其它|其余|\bothers?\b|\belse\b|\bremaining\b|\ball other\b", re.IGNORECASE
)


class ValueLook(WordLook):
    """Looks for the numbers of facts, bound to their subject."""

    def _of_values(self, fact: StatedFact, subject: dict[str, float]) -> Assessment:
        scores = {
            id(part): self._score(part, subject)
            + _OF_SPOKEN * (part.is_clause and (part.passage, part.span) in self._spoken)
            for part in self._parts
            if part.values
        }
        found = [(value, self._of_value(value, fact, scores)) for value in fact.values]
        # Once says no more than "a", unless it is told how often else.
        outcomes = [
            one
            for value, one in found
            if value.number != 1 or value.unit != TIMES or one.support is Support.CONTRADICTED
        ]
        if not outcomes:
            return self._of_words(fact, subject)
        if self._is_scattered(found):
            return Assessment(
                Support.CONTRADICTED, 0.0, tuple(p for _, one in found for p in one.parts)
            )
        outcomes = self._without_conditions(found, outcomes)
        worst = min(outcomes, key=lambda one: one.support)
        parts = tuple(dict.fromkeys(part for one in outcomes for part in one.parts))
        if worst.support != Support.SUPPORTED:
            return Assessment(worst.support, worst.share, parts)
        words = self._words_in(fact, parts)
        support = self._of_subject(fact, parts, words)
        if support is not Support.SUPPORTED:
            return Assessment(support, words, parts)
        self._spoken.update((part.passage, part.span) for part in parts)
        return Assessment(Support.SUPPORTED, max(ENOUGH, worst.share), parts)

    def _of_subject(self, fact: StatedFact, parts: Sequence[EvidencePart], words: float) -> Support:
        """Return whether the parts that say a fact's numbers say them of what it speaks of."""
        if (
            (words < _OF_STATED and not all(map(self._is_foreign, parts)))
            or not all(self._has_codes(part, fact) for part in parts)
            or self._misses_name(fact, parts)
            or self._is_share_of_another(fact, parts)
            or any(self._is_said_of_other(part, fact) for part in parts)
            or any(self._replaces(part, fact) for part in parts)
        ):
            return Support.PARTIAL
        misnamed = self._find_misnamed(fact, parts)
        if misnamed is None:
            return Support.SUPPORTED
        owned = self._is_of_rival(misnamed.term, fact, parts)
        return Support.CONTRADICTED if owned else Support.PARTIAL

    def _is_share_of_another(self, fact: StatedFact, parts: Sequence[EvidencePart]) -> bool:
        """Return whether a fact says a share of what its parts in the same language do not name: of the rent."""
        same = [part for part in parts if not self._is_foreign(part)]
        return bool(same) and any(
            set(base).isdisjoint(self._subject)
            and not any(self._level(part, term) >= COLUMNS for part in same for term in base)
            for base in find_bases(fact.text)
        )

    def _is_said_of_other(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a part names, ahead of its number, nothing of what a fact is about, which another part names."""
        if part.is_row or self._is_foreign(part):
            return False
        about = _named_ahead(fact.text) or list(self._subject)
        subject = [term for term in about if term in self._subject and self._is_known(term)]
        own, stated = _named_ahead(part.wording), Text(" ".join(about))
        return (
            len(own) > 1  # one word may point back: the nation
            and bool(subject)
            and not any(map(stated.has, own))
            and all(self._level(part, term) <= NEAR for term in subject)
            and any(all(map(other.owns, subject)) for other in self._whole)
        )

    @staticmethod
    def _is_scattered(found: Sequence[tuple[TextValue, Assessment]]) -> bool:
        """Return whether two numbers of a fact stand apart, each with another one of the other's kind: two were exchanged."""
        said = [
            (value, part)
            for value, one in found
            if one.support is Support.SUPPORTED
            for part in one.parts
        ]
        stated = [value for value, _ in found]
        return any(
            not is_of_same_row(part, other)
            and _has_instead(its, part, other, stated)
            and _has_instead(value, other, part, stated)
            for (value, part), (its, other) in combinations(said, 2)
            if part is not other
        )

    @staticmethod
    def _without_conditions(
        found: Sequence[tuple[TextValue, Assessment]], outcomes: list[Assessment]
    ) -> list[Assessment]:
        """Leave out numbers that stand elsewhere in the row that says another one: 66 dB(A) at 1 m."""
        rows = [
            p for one in outcomes if one.support is Support.SUPPORTED for p in one.parts if p.is_row
        ]
        conditions = [
            one
            for value, one in found
            if any(map(value.matches, (v for p in rows for v in p.conditions)))
        ]
        return [
            one for one in outcomes if one.support is Support.SUPPORTED or one not in conditions
        ]

    def _score(self, part: EvidencePart, subject: dict[str, float]) -> float:
        covered = self._covered(part, subject)
        if asked := self._evidence.asked_values:
            matching = sum(self._share_of_asked(part, value) for value in asked)
            covered += 0.3 * matching / len(asked)
        if self._phrases:
            covered += _OF_PHRASES * sum(map(part.owns, self._phrases)) / len(self._phrases)
        if part.is_row and part.label:
            extra = [term for term in part.label if term not in subject and self._level(part, term)]
            covered -= _PER_EXTRA * min(_MOST_EXTRA, len(extra))
        return covered

    def _share_of_asked(self, part: EvidencePart, value: TextValue) -> float:
        """Return how far a part speaks of a value of the question; a range only where no other part has the value itself."""
        own = part.conditions if part.is_row else part.values
        if not self._is_said(value):
            return 1.0 if _holds(own, value) else 0.5 * _holds(part.conditions, value)
        if any(_is_exactly(value, v) for v in own):
            return 1.0
        return 0.5 * any(_is_exactly(value, v) for v in part.conditions)

    def _is_said(self, value: TextValue) -> bool:
        every = (v for part in self._parts for v in part.values)
        return any(v.unit == value.unit and _is_exactly(value, v) for v in every)

    def _of_value(self, value: TextValue, fact: StatedFact, scores: dict[int, float]) -> Assessment:
        """Return one number: said by the part that speaks most of the subject, of those with a number of its kind."""
        among = [part for part in self._parts if part.values]
        carriers = [
            p
            for p in among
            if any(value.matches(v) and not value.opposes(v) for v in p.values)
            and not self._is_at_another_rate(p, fact)
            and not self._is_on_another_day(p)
        ]
        best = max(
            carriers,
            key=lambda p: scores[id(p)] + OF_CITED * (p.passage in self._preferred),
            default=None,
        )
        rivals = self._rivals(value, carriers, best)
        rival = max(rivals, key=lambda p: scores[id(p)], default=None)
        if best is None:
            if rival and scores[id(rival)] >= _SURELY:
                return Assessment(Support.CONTRADICTED, 0.0, (rival,))
            return Assessment(Support.UNSUPPORTED, 0.0)
        score = scores[id(best)]
        if measure := "" if best.is_row else find_measure(fact.text, value):
            beside = [p for p in self._parts if p.is_clause and is_of_same_sentence(p, best)]
            if find_measure(best.wording, value) == measure:
                rivals = [p for p in rivals if p not in beside]
                rival = max(rivals, key=lambda p: scores[id(p)], default=None)
            elif any(_measures(p, measure, value) for p in beside):
                return Assessment(Support.CONTRADICTED, score, (best,))
            else:
                measure = ""
        if not measure and self._is_exchanged(value, fact, best):
            return Assessment(Support.CONTRADICTED, score, (best,))
        if (
            any(self._owns_more(one, best, fact) for one in rivals)
            or self._names_another_cell(best)
            or self._names_rival(fact, best, rivals)
        ):
            return Assessment(Support.CONTRADICTED, score, (best,))
        is_beside = (
            rival
            and scores[id(rival)] <= score
            and is_of_same_row(rival, best)
            and _is_in_other_unit(rival, value)
        )
        if rival and (is_beside or self._owns_more(best, rival, fact)):
            rival = None
        return Assessment(self._between(best, score, rival, scores), score, (best,))

    def _rivals(
        self, value: TextValue, carriers: Sequence[EvidencePart], best: EvidencePart | None
    ) -> list[EvidencePart]:
        """Part with another number of the same kind, that the sentence does not say, too."""
        alike = any(value.bound == v.bound and value.matches(v) for p in carriers for v in p.values)
        bound = value.bound if alike else ""
        rivals = [
            p
            for p in self._parts
            if p not in carriers
            and (
                any(competes(value, other) and bound in ("", other.bound) for other in p.values)
                or (best and p.values and is_of_same_column(p, best))
            )
            and not any(mine.matches(other) for mine in self._values for other in p.values)
        ]
        rivals = [p for p in rivals if not best or not self._codes_in(best) > self._codes_in(p)]
        # 90 minutes beside every 4,000 hours are no rival.
        return [p for p in rivals if not best or not is_of_same_row(p, best) or _has_unit(p, value)]

    def _between(
        self, best: EvidencePart, score: float, rival: EvidencePart | None, scores: dict[int, float]
    ) -> Support:
        """Return how a part with a number stands against the best one with another."""
        against = scores[id(rival)] if rival else 0.0
        of_rows = best.is_row and rival is not None and rival.is_row
        if against > score + (_PER_EXTRA / 2 if of_rows else _LEAD):
            return Support.CONTRADICTED if against >= _SURELY else Support.PARTIAL
        foreign = self._is_foreign(best)
        if foreign and rival and against >= score:
            return Support.PARTIAL  # no word tells which of its numbers is meant
        if score < _SUBJECT * (0.5 if foreign else 1.0) and self._subject:
            return Support.FOREIGN if foreign else Support.PARTIAL
        tied = of_rows and against >= score - _PER_EXTRA / 2
        if tied and not _OTHERS.search(best.sentence):
            return Support.PARTIAL
        return Support.SUPPORTED

    @staticmethod
    def _is_at_another_rate(part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether both count by a period, and not by the same: 60 a day is not 60 an hour."""
        return bool(fact.rates and part.rates) and fact.rates.isdisjoint(part.rates)

    def _is_on_another_day(self, part: EvidencePart) -> bool:
        """Return whether a part speaks of days of the week, and not of the one that is asked for."""
        asked = [value for value in self._evidence.asked_values if value.unit == WEEKDAY]
        days = [value for value in part.values if value.unit == WEEKDAY]
        return bool(asked and days) and not any(_holds(days, value) for value in asked)


def _named_ahead(text: str) -> list[str]:
    """Return the terms ahead of the first value of a text that relate to nothing and measure nothing."""
    words = (one for one in subject_words(text) if one.is_ahead and not one.is_mark)
    return [one.term for one in words if not (one.is_predicate or one.is_measure)]


def _has_instead(
    value: TextValue, part: EvidencePart, other: EvidencePart, stated: Sequence[TextValue]
) -> bool:
    """Return whether a part has, instead of a value that stands in another one, a number of its kind that is not stated.

    Of two clauses of one sentence each has only its own numbers.
    """
    is_near = is_of_same_sentence(part, other)
    return any(
        competes(value, v) and v.unit == value.unit and not any(s.matches(v) for s in stated)
        for v in (part.values if is_near or not part.conditions else part.conditions)
    )


def _measures(part: EvidencePart, measure: str, value: TextValue) -> bool:
    """Return whether a part measures the same as `value` does, with another number."""
    return any(competes(value, v) and find_measure(part.wording, v) == measure for v in part.values)


def _has_unit(part: EvidencePart, value: TextValue) -> bool:
    return any(
        v.unit == value.unit or value.dimension == v.dimension == "money" for v in part.values
    )


def _is_in_other_unit(part: EvidencePart, value: TextValue) -> bool:
    """Return whether a value has a unit, and a part none of it: the price in euros beside that in yuan."""
    return bool(value.unit) and all(v.unit not in ("", value.unit) for v in part.values)


def _holds(values: Sequence[TextValue], asked: TextValue) -> bool:
    """Return whether a value lies among these: one is the same, or two, or one that is a bound, have it between them."""
    if any(asked.matches(value) and not asked.opposes(value) for value in values):
        return True
    alike = [v for v in values if v.date is None and (v.unit == asked.unit or not v.unit)]
    return any(_is_in_range(low, high, asked) for low, high in pairwise([None, *alike, None]))


def _is_exactly(asked: TextValue, value: TextValue) -> bool:
    """Return whether a value is the one that is asked for; what is less than ten is not said of ten."""
    is_below = value.bound == "max" and asked.bound != "max"
    return asked.matches(value) and not asked.opposes(value) and not is_below


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
