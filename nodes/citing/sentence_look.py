"""One sentence before its evidence: what parts of passages say of its terms."""

from __future__ import annotations

from collections.abc import Sequence

from sextant.nodes.citing.evidence import EvidencePart
from sextant.nodes.citing.evidence_index import (
    EvidenceIndex,
    StatedFact,
    language_of_sentence,
)
from sextant.nodes.citing.terms import is_code, other_words, phrases_of, terms_of
from sextant.text.characters import plain_of
from sextant.text.units import TextValue

OF_CITED = 0.05
"""Of several parts that say it one of a passage that the model cites goes first."""


def competes(value: TextValue, other: TextValue) -> bool:
    """Return whether two values answer the same question differently."""
    return value.dimension == other.dimension and not value.matches(other)


def is_of_same_sentence(one: EvidencePart, other: EvidencePart) -> bool:
    """Return whether two parts stand in one sentence, or in one row."""
    return (one.passage, one.span) == (other.passage, other.span)


def is_of_same_row(one: EvidencePart, other: EvidencePart) -> bool:
    """Return whether two cells stand in one row."""
    return one.is_row and other.is_row and is_of_same_sentence(one, other)


def is_of_same_column(one: EvidencePart, other: EvidencePart) -> bool:
    """Return whether two cells stand in one column that has a name."""
    return (
        one.is_row
        and other.is_row
        and one.passage == other.passage
        and one.column == other.column != ""
    )


class SentenceLook:
    """A sentence with its facts, and the parts of passages that may support it."""

    def __init__(
        self,
        evidence: EvidenceIndex,
        sentence: str,
        facts: Sequence[StatedFact],
        withheld: frozenset[int],
        preferred: frozenset[int],
        *,
        swapped: frozenset[str],
    ) -> None:
        self._swapped = swapped
        self._evidence = evidence
        self._sentence = sentence
        self._facts = facts
        self._preferred = preferred
        self._parts = [part for part in evidence.parts if part.passage not in withheld]
        self._whole = [part for part in self._parts if not part.is_clause]
        self._language = language_of_sentence(sentence)
        self._question = plain_of(evidence.question)
        self._others = other_words(f"{sentence} {evidence.question}")
        self._anywhere: dict[str, bool] = {}
        self._values = [value for fact in facts for value in fact.values]
        self._subject = {term: evidence.weight(term) for term in evidence.asked}
        self._spoken = set[tuple[int, tuple[int, int]]]()
        asked = phrases_of(evidence.question, numbered=True)
        self._asked_phrases = [one for one in asked if evidence.has_phrase(one)]
        stated = phrases_of(sentence) - asked
        self._phrases = [*self._asked_phrases, *filter(evidence.has_phrase, stated)]

    def _touches(self) -> bool:
        """Return whether a sentence speaks at all of what the question or the passages speak of."""
        asked = set(self._evidence.asked)
        terms = [term for fact in self._facts for term in fact.terms]
        known = [term for term in terms if term in asked or self._evidence.is_known(term)]
        return bool(known) and 3 * len(known) >= len(terms)

    def _nearest(self) -> tuple[EvidencePart, ...]:
        terms = self._terms_of_all()
        best = max(self._parts, key=lambda part: self._covered(part, terms), default=None)
        return (best,) if best is not None and self._covered(best, terms) > 0.3 else ()

    def _terms_of_all(self) -> dict[str, float]:
        return {term: self._evidence.weight(term) for fact in self._facts for term in fact.terms}

    def _is_foreign(self, part: EvidencePart) -> bool:
        return self._evidence.languages[part.passage] != self._language

    def _level(self, part: EvidencePart, term: str) -> float:
        level = part.level(term)
        if level < 1.0:
            for terms, pattern in self._others:
                if term in terms:
                    level = max(level, 0.95 * part.level_of(pattern))
        return level

    def _covered(self, part: EvidencePart, terms: dict[str, float]) -> float:
        """Return the share of terms, by weight, that say something for a part."""
        known = {
            term: weight
            for term, weight in terms.items()
            if self._is_anywhere(term) and self._may_be_in(part, term)
        }
        whole = sum(known.values())
        if not whole:
            return 0.0
        return sum(weight * self._level(part, term) for term, weight in known.items()) / whole

    def _may_be_in(self, part: EvidencePart, term: str) -> bool:
        """Return whether a part could have a term: in another language only where its other words are known, or it is a name."""
        if (
            not self._is_foreign(part)
            or is_code(term)
            or any(term in terms for terms, _ in self._others)
        ):
            return True
        return part.level(term) > 0

    def _is_anywhere(self, term: str) -> bool:
        """Return whether any part has a term, or other words for it; what none has tells them not apart."""
        if term not in self._anywhere:
            self._anywhere[term] = any(self._level(part, term) for part in self._parts)
        return self._anywhere[term]

    def _is_known(self, term: str) -> bool:
        return self._evidence.is_known(term)

    def _subject_of(self, fact: StatedFact) -> dict[str, float]:
        """Return what a fact is about: its own terms, the question's and, less, those of the rest of its sentence."""
        subject = dict(self._subject)
        ahead = self._sentence.partition(fact.text)[0]
        for term in terms_of(ahead):
            subject[term] = max(subject.get(term, 0.0), 0.5 * self._evidence.weight(term))
        for term in fact.terms:
            subject[term] = self._evidence.weight(term)
        return subject
