"""Whether a part of a passage has the words of a fact, in one place that speaks of its subject."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sextant.nodes.citing.evidence import NEAR, EvidencePart
from sextant.nodes.citing.evidence_index import (
    ENOUGH,
    Assessment,
    StatedFact,
    Support,
)
from sextant.nodes.citing.sentence_look import OF_CITED, competes
from sextant.nodes.citing.subject_look import SubjectLook
from sextant.nodes.citing.subjects import (
    subject_words,
)
from sextant.text.units import TextValue

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
        about = {id(part): self._covered(part, asked) for part in self._whole}
        named = [about[id(part)] for part in self._whole if self._has_codes(part, fact)]
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
            (self._is_brief and not (is_near and self._is_together(part, telling)))
            or not self._has_codes(part, fact)
            or self._misses_name(fact, (part,))
            or self._replaces(part, fact)
            or (len(fact.terms) <= _FEW and self._is_swapped_in(part, fact))
            or self._is_at_another_value(part, fact)
        ):
            return Assessment(Support.PARTIAL, coverage, (part,))
        return Assessment(Support.SUPPORTED, coverage, (part,))

    @property
    def _is_brief(self) -> bool:
        """Return whether the sentence says little more than what relates to the subject."""
        return len({term for fact in self._facts for term in fact.new}) <= _SHORT

    def _is_at_another_value(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a passage says a fact beside another value than the one that is asked for, which stands elsewhere."""
        clauses = [one for one in self._parts if one.values and one.passage == part.passage]
        own = [one for one in clauses if fact.new and all(map(one.owns, fact.new))]
        return any(
            own
            and any(_has_value(one, value) for one in clauses)
            and all(_competes(one, value) and not _has_value(one, value) for one in own)
            for value in self._evidence.asked_values
        )

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
