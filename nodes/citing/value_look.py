"""Whether a part that speaks of a fact's subject has its words, and the part that speaks most of it its numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import combinations, pairwise

from sextant.nodes.citing.evidence import NEAR, EvidencePart
from sextant.nodes.citing.evidence_index import ENOUGH, Assessment, StatedFact, Support
from sextant.nodes.citing.former import is_of_past, is_replaced
from sextant.nodes.citing.sentence_look import (
    OF_CITED,
    SubjectLook,
    asks_whether,
    competes,
    is_of_same_column,
    is_of_same_row,
    is_of_same_sentence,
)
from sextant.nodes.citing.subjects import subject_words
from sextant.nodes.citing.terms import is_code, terms_of
from sextant.text.characters import plain_of
from sextant.text.statements import negates
from sextant.text.units import TIMES, WEEKDAY, TextValue

# A sentence of few words must speak of the subject nearly as much as any part does.
_OF_BEST = 0.85
# So much of the question's terms.
_OF_ASKED = 0.4
# Each of them must stand so close to the rest.
_CLOSE = 0.5
# A sentence of no more terms of its own says little more than their relation to the subject.
_SHORT = 4
# In a longer fact a word in another's place is mostly another word for the same.
_FEW = 7


class WordLook(SubjectLook):
    """Looks for the words of facts without numbers."""

    def _of_words(self, fact: StatedFact, subject: dict[str, float]) -> Assessment:
        new = {term: self._evidence.weight(term) for term in fact.new or fact.terms}
        asked = {term: weight for term, weight in subject.items() if term not in new}
        # A sentence that has some of the question's words says itself what it is about.
        stated = {term for fact in self._facts for term in fact.terms}
        restated = {term: weight for term, weight in asked.items() if term in stated}
        asked = restated if sum(restated.values()) >= _OF_ASKED * sum(asked.values()) else asked
        about = {id(part): self._share_covered(part, asked) for part in self._whole}
        codes = [term for term in (*subject, *fact.terms) if is_code(term)]
        named = [
            about[id(part)]
            for part in self._whole
            if all(self._level(part, code) >= NEAR for code in codes)
        ]
        best_about = max(named, default=0.0)
        found = [(self._coverage_of(part, new), about[id(part)], part) for part in self._whole]
        carrier = max(
            found,
            key=lambda one: one[0] + 0.6 * one[1] + OF_CITED * (one[2].passage in self._preferred),
            default=None,
        )
        if carrier is None:
            return Assessment(Support.UNSUPPORTED, 0.0)
        coverage, near, part = carrier
        if self._is_foreign(part) and coverage < ENOUGH:
            return Assessment(Support.FOREIGN, coverage, (part,))
        telling = [t for t in new if self._is_known(t) or (len(t) > 1 and t in fact.new)]
        is_near = near >= _OF_BEST * best_about or not fact.new
        if (
            self._parts_codes(fact)
            or (self._is_brief and not (is_near and self._is_together(part, telling)))
            or self._misses_name(fact, (part,))
            or self._replaces(part, fact)
            or self._is_no_more(part, fact)
            or self._restates_what_is_not_said(part, fact)
            or self._names_what_follows(part, fact)
            or (len(fact.terms) <= _FEW and self._is_swapped_in(part, fact))
            or self._is_at_another_value(part, fact)
        ):
            return Assessment(Support.PARTIAL, coverage, (part,))
        return Assessment(Support.SUPPORTED, coverage, (part,))

    def _restates_what_is_not_said(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a fact affirms a question with a word that its part lacks: that it is open, where it is closed."""
        affirms = not fact.new and not part.is_row and not negates(self._sentence)
        return (
            affirms
            and asks_whether(self._evidence.question)
            and not all(self._level(part, term) for term in fact.terms)
        )

    def _is_no_more(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a part says that a fact was so once, and the fact that it is."""
        stated = [all(clause.has(term) == 1.0 for term in fact.new) for clause in part.clauses]
        clauses = [clause.plain for clause in part.clauses]
        return bool(fact.new) and not is_of_past(fact.text) and is_replaced(clauses, stated)

    def _parts_codes(self, fact: StatedFact) -> bool:
        """Return whether passages have each code of the question and of a fact, but no part has all: E51 and MC-200."""
        codes = {term for term in (*self._evidence.asked, *fact.terms) if is_code(term)}
        return all(map(self._is_known, codes)) and not any(
            all(self._level(part, code) >= NEAR for code in codes) for part in self._whole
        )

    @property
    def _is_brief(self) -> bool:
        """Return whether the sentence says little more than what relates to the subject."""
        return len({term for fact in self._facts for term in fact.new}) <= _SHORT

    def _is_at_another_value(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a passage says a fact only of other values than the one that is asked for.

        It is said beside another one, while the one that is asked for stands elsewhere, or of a range without it.
        """
        clauses = [one for one in self._parts if one.values and one.passage == part.passage]
        terms = fact.new or tuple(filter(self._is_known, fact.terms))
        own = [one for one in clauses if terms and all(map(one.owns, terms))]
        here = [one for one in own if one.span == part.span]
        is_denied = negates(self._sentence) and not negates(part.sentence)
        for value in self._evidence.asked_values:
            there = [one for one in clauses if _has_value(one, value)]
            if not here and any(one.span == part.span for one in there):
                continue
            others = [one for one in own if _competes(one, value) and one not in there]
            if fact.new and there and own == others != []:
                return True
            if here and not is_denied and all(_is_of_other_range(one, value) for one in here):
                return True
        return False

    def _is_together(self, part: EvidencePart, terms: Collection[str]) -> bool:
        """Return whether terms stand in one clause of a part, or in its headings."""
        if not all(self._level(part, term) >= _CLOSE for term in terms):
            return False
        in_text = [term for term in terms if part.layers[0][1].has(term)]
        return (
            len(in_text) < 2
            or not part.clauses
            or any(all(c.has(t) for t in in_text) for c in part.clauses)
        )

    def _coverage_of(self, part: EvidencePart, terms: dict[str, float]) -> float:
        whole = sum(terms.values())
        if not whole:
            return 0.0
        return (
            sum(weight * min(1.0, self._level(part, term) * 1.4) for term, weight in terms.items())
            / whole
        )

    def _words_in(self, fact: StatedFact, parts: Sequence[EvidencePart]) -> float:
        """Return the share of a fact's own terms in the parts that say its numbers, among those that count."""
        present = {t for t in fact.new if any(self._level(part, t) >= NEAR for part in parts)}
        relating = {
            word.term
            for word in subject_words(fact.text)
            if word.is_predicate or word.is_verb or self._is_measure(word)
        }
        counted = {
            t: self._evidence.weight(t) for t in fact.new if t in present or t not in relating
        }
        if len(counted) < 2:
            return 1.0
        return sum(counted[term] for term in present) / sum(counted.values())


def _has_value(part: EvidencePart, value: TextValue) -> bool:
    return any(map(value.matches, part.values))


def _competes(part: EvidencePart, value: TextValue) -> bool:
    return any(competes(value, other) and other.unit == value.unit for other in part.values)


# A part that speaks of the subject by so much more than the one with the number makes the number another's.
_LEAD = 0.1
# A part that has so much of it speaks of it for certain.
_SURELY = 0.5
# Of two rows that have as much of the subject the one with fewer other words is meant: the Heron 3, not the Heron 3 XL.
_PER_EXTRA, _MOST_EXTRA = 0.008, 10
# What stands side by side in it counts besides.
_OF_PHRASES = 0.05
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
        scores = {id(part): self._score(part, subject) for part in self._parts if part.values}
        found = self._without_names([(v, self._of_value(v, fact, scores)) for v in fact.values])
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
        worst = min(outcomes, key=lambda one: one.support)
        parts = tuple(dict.fromkeys(part for one in outcomes for part in one.parts))
        if worst.support != Support.SUPPORTED:
            return Assessment(worst.support, worst.share, parts)
        words = self._words_in(fact, parts)
        support = self._of_subject(fact, parts, words)
        if support is not Support.SUPPORTED:
            return Assessment(support, words, parts)
        return Assessment(Support.SUPPORTED, max(ENOUGH, worst.share), parts)

    def _of_subject(self, fact: StatedFact, parts: Sequence[EvidencePart], words: float) -> Support:
        """Return whether the parts that say a fact's numbers say them of what it speaks of."""
        is_foreign = all(map(self._is_foreign, parts))
        if (words < _OF_STATED and not is_foreign) or self._misses_name(fact, parts):
            return Support.PARTIAL
        if any(self._replaces(part, fact) for part in parts):
            return Support.PARTIAL
        misnamed = self._find_misnamed(fact, parts)
        if misnamed is None:
            return Support.SUPPORTED
        owned = self._is_of_rival(misnamed.term, fact, parts)
        return Support.CONTRADICTED if owned else Support.PARTIAL

    @staticmethod
    def _without_names(
        found: Sequence[tuple[TextValue, Assessment]],
    ) -> Sequence[tuple[TextValue, Assessment]]:
        """Drop values that only name the row or the column where another one stands: seniors (65+), 4 EUR."""
        return [
            (value, one)
            for value, one in found
            if not any(
                part.is_called(value)
                for other, its in found
                if other is not value and its.support is Support.SUPPORTED
                for part in its.parts
            )
        ] or found

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

    def _score(self, part: EvidencePart, subject: dict[str, float]) -> float:
        covered = self._share_covered(part, subject)
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
        own = self._conditions_of(part)
        if not self._is_said(value):
            return 1.0 if _holds(own, value) else 0.5 * _holds(part.conditions, value)
        if any(_is_exactly(value, v) for v in own):
            return 1.0
        return 0.5 * any(_is_exactly(value, v) for v in part.conditions)

    def _is_meant_instead(self, rival: EvidencePart, best: EvidencePart, fact: StatedFact) -> bool:
        """Return whether another part with another number is the one that speaks of what is asked."""
        if best.is_row and terms_of(best.row) and plain_of(best.row) in plain_of(fact.text):
            return False
        if is_of_same_sentence(rival, best) and self._is_in_asked_range(rival, best):
            return True
        return self._owns_more(rival, best, fact) and not self._is_in_asked_range(best, rival)

    def _is_in_asked_range(self, part: EvidencePart, other: EvidencePart) -> bool:
        """Return whether a part speaks of a range that has a value of the question, and the other one does not."""
        return any(
            _holds(self._conditions_of(part), value)
            and not _holds(self._conditions_of(other), value)
            for value in self._evidence.asked_values
        )

    def _conditions_of(self, part: EvidencePart) -> list[TextValue]:
        """Return the values of a part, of a row all of them, that the sentence does not answer with."""
        return [
            one
            for one in (part.conditions if part.is_row else part.values)
            if not any(mine.matches(one) for mine in self._values)
        ]

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
        if (
            self._is_exchanged(value, fact, best)
            or any(self._is_meant_instead(one, best, fact) for one in rivals)
            or self._names_another_cell(best, fact)
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

    def _is_on_another_day(self, part: EvidencePart) -> bool:
        """Return whether a part speaks of days of the week, and not of the one that is asked for."""
        asked = [value for value in self._evidence.asked_values if value.unit == WEEKDAY]
        days = [value for value in part.values if value.unit == WEEKDAY]
        return bool(asked and days) and not any(_holds(days, value) for value in asked)


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


def _is_of_other_range(part: EvidencePart, asked: TextValue) -> bool:
    """Return whether the values of a part bound what is asked for, and leave its value out."""
    bounds = [one for one in part.values if one.bound and not one.date and one.unit == asked.unit]
    return bool(bounds) and not _holds(bounds, asked)


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
