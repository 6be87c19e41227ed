"""Whether a part of a passage has the words of a fact, in one place that speaks of its subject."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sextant.nodes.citing.evidence import NEAR, OWN, EvidencePart
from sextant.nodes.citing.evidence_index import (
    Assessment,
    StatedFact,
    Support,
)
from sextant.nodes.citing.sentence_look import OF_CITED, competes
from sextant.nodes.citing.subject_look import SubjectLook
from sextant.nodes.citing.subjects import (
    subject_words,
)
from sextant.nodes.citing.terms import Text, terms_of
from sextant.text.units import TextValue

# So much of a fact's own terms must stand in its part, and of those that stand in any passage.
_OF_TERMS, _OF_KNOWN = 0.5, 0.66
# Less of the subject than this share of what the best part has of it.
_OF_BEST, _OF_BEST_SHORT = 0.6, 0.85
# So much of the question's terms.
_OF_ASKED = 0.4
# Each of them must stand so close to the rest.
_CLOSE = 0.5
# A fact of no more terms of its own says little more than its relation to the subject.
_SHORT = 3


class WordLook(SubjectLook):
    """Looks for the words of facts without numbers."""

    def _of_words(self, fact: StatedFact, subject: dict[str, float]) -> Assessment:
        new = {term: self._evidence.weight(term) for term in fact.new or fact.terms}
        known = {term: weight for term, weight in new.items() if self._is_known(term)}
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
        of_known = self._coverage_of(part, known) if known else 0.0
        if self._is_foreign(part) and coverage < _OF_TERMS:
            return Assessment(Support.FOREIGN, coverage, (part,))
        is_short = len(fact.new) <= _SHORT
        of_best = _OF_BEST_SHORT if is_short else _OF_BEST
        unknown = sum(len(term) > 1 for term in new if term not in known)
        if is_short and (unknown or not self._is_together(part, known)):
            return Assessment(
                Support.PARTIAL if coverage > 0.3 else Support.UNSUPPORTED, coverage, (part,)
            )
        if (
            not self._has_codes(part, fact)
            or self._misses_name(fact, (part,))
            or self._is_of_another(part, fact)
            or self._replaces(part, fact)
            or self._is_swapped_in(part, fact)
            or self._is_at_another_value(part, fact)
        ):
            return Assessment(Support.PARTIAL, coverage, (part,))
        if (
            coverage >= _OF_TERMS
            and of_known >= _OF_KNOWN
            and (near >= of_best * best_about or not fact.new)
        ):
            return Assessment(Support.SUPPORTED, coverage, (part,))
        return Assessment(
            Support.PARTIAL if coverage > 0.3 else Support.UNSUPPORTED, coverage, (part,)
        )

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

    def _is_of_another(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a sentence says what is new in a fact of something else than what is asked."""
        named_here = set(self._subject).intersection(fact.terms)
        terms = [term for term in named_here or self._subject if self._is_anywhere(term)]
        marks = terms if named_here else [*self._asked_phrases, *terms]
        new = [term for term in fact.new if part.level(term) >= OWN]
        return self._is_said_of_another(part.statements, new, marks) or (
            bool(named_here) and self._is_said_of_another(part.clauses, new, marks, fact)
        )

    @staticmethod
    def _is_said_of_another(
        pieces: Sequence[Text],
        new: Collection[str],
        marks: Collection[str],
        fact: StatedFact | None = None,
    ) -> bool:
        """Return whether the pieces of a sentence that say something speak of less of a subject than others do.

        Of clauses only those count that have a subject of their own, which a fact does not name.
        """
        says = [bool(new) and all(one.has(term) == 1.0 for term in new) for one in pieces]
        named = [
            {mark for mark in marks if mark in one.plain or one.has(mark) == 1.0} for one in pieces
        ]
        have_subject = [fact is None or _has_subject(one, new, fact) for one in pieces]
        return any(says) and all(
            is_own
            and any(
                more > about and (about or fact)
                for more, others in zip(named, says, strict=True)
                if not others
            )
            for about, is_said, is_own in zip(named, says, have_subject, strict=True)
            if is_said
        )


def _has_value(part: EvidencePart, value: TextValue) -> bool:
    return any(map(value.matches, part.values))


def _competes(part: EvidencePart, value: TextValue) -> bool:
    return any(competes(value, other) and other.unit == value.unit for other in part.values)


def _has_subject(clause: Text, new: Collection[str], fact: StatedFact) -> bool:
    """Return whether words that a fact does not say stand in a clause ahead of what is new in it."""
    start = min((at for term in new if (at := clause.plain.find(term)) >= 0), default=0)
    return bool(set(terms_of(clause.plain[:start])).difference(fact.terms))
