"""Check a sentence by its words: find the parts of passages that have them, and those that deny it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from itertools import permutations

from sextant.nodes.citing.comparisons import Mark, group_clauses
from sextant.nodes.citing.evidence_index import (
    ENOUGH,
    Assessment,
    EvidenceIndex,
    StatedFact,
    Support,
)
from sextant.nodes.citing.evidence_part import OWN, EvidencePart
from sextant.nodes.citing.support import is_opposed
from sextant.nodes.citing.terms import (
    is_code,
    names_in,
    other_words,
    terms_of,
    wording_of,
)
from sextant.text.characters import language_of
from sextant.text.statements import negates
from sextant.text.values import normalise_values
from sextant.text.word_forms import is_opposite

# The least level of a name. 滤波 for 滤波器, half of a longer word, has this much.
_LEAST_OF_NAME = 0.25
OF_CITED = 0.05
"""What a part of a cited passage scores more, to be preferred to others like it."""
# The share of the best part's words of the question that the part behind a short sentence must have.
_OF_BEST = 0.85
OF_ASKED = 0.4
"""A sentence with this share of the question's terms repeats the question."""
# The least level of each word of a short sentence in the part that supports it.
_CLOSE = 0.5
SHORT = 4
"""A sentence is short if it has at most so many terms that the question lacks."""
# The share of a fact's words that it has in the order of a part which it repeats.
_REPEATED = 0.8
# The share of a sentence's words from which it is supported in part.
_PARTLY = 0.3
# How much less a fact is about the question for each term of the sentence that the question lacks.
_PER_TERM = 0.35


class WordCheck:
    """Checks the facts of one sentence against the parts of the passages.

    Args:
        evidence: the passages.
        sentence: without markers.
        facts: what it says.
        withheld: indexes of passages that may not be cited.
        preferred: indexes of passages that it cites.
    """

    def __init__(
        self,
        evidence: EvidenceIndex,
        sentence: str,
        facts: Sequence[StatedFact],
        withheld: frozenset[int],
        preferred: frozenset[int],
    ) -> None:
        self._evidence = evidence
        self._sentence = sentence
        self._facts = facts
        self._preferred = preferred
        about = evidence.parts_about(sentence)
        self._parts = [part for part in about if part.passage not in withheld]
        self._whole = [part for part in self._parts if not part.is_clause]
        self._others = other_words(f"{sentence} {evidence.question}")
        self._anywhere: dict[str, bool] = {}
        self._values = [value for fact in facts for value in fact.values]
        self._stated = {term for fact in facts for term in fact.terms}
        # A bare value is in the language of the question.
        self._language = language_of(sentence if self._stated else evidence.question)
        self._asked = {term: evidence.weight(term) for term in evidence.asked}

    def assess(self) -> Assessment:
        """Return how far the parts support the whole sentence."""
        if quoted := self._evidence.quoted(self._sentence, self._parts):
            return Assessment(Support.SUPPORTED, 1.0, quoted)
        if self._evidence.invents(self._sentence):
            return Assessment(Support.UNSUPPORTED, 0.0)
        outcomes = self._check_facts()
        parts = tuple(dict.fromkeys(part for one in outcomes for part in one.parts))
        worst = min(one.support for one in outcomes)
        share = sum(one.share for one in outcomes) / len(outcomes)
        if worst is Support.SUPPORTED and share >= ENOUGH:
            denied = self._is_denied(parts) or any(
                self._is_opposite(fact, part)
                for fact, one in zip(self._facts, outcomes, strict=True)
                for part in one.parts
            )
            return Assessment(Support.CONTRADICTED if denied else worst, share, parts)
        if worst in {Support.CONTRADICTED, Support.FOREIGN}:
            return Assessment(worst, share, parts)
        partial = share > _PARTLY or self._is_related()
        return Assessment(Support.PARTIAL if partial else Support.UNSUPPORTED, share, parts)

    def _check_facts(self) -> list[Assessment]:
        """Return how far each fact is supported."""
        return [self._check_words(fact) for fact in self._facts]

    def _check_words(self, fact: StatedFact) -> Assessment:
        """Check a fact by the part that has most of its words and speaks of what is asked."""
        subject = self._weigh_subject(fact)
        new = {term: self._evidence.weight(term) for term in fact.new or fact.terms}
        asked = {term: weight for term, weight in subject.items() if term not in new}
        # Of a sentence that repeats some of the question, only what it repeats counts.
        restated = {term: weight for term, weight in asked.items() if term in self._stated}
        asked = restated if sum(restated.values()) >= OF_ASKED * sum(asked.values()) else asked
        found = [
            (self._measure_coverage(part, new), self._measure_share(part, asked), part)
            for part in self._whole
        ]
        if not found:
            return Assessment(Support.UNSUPPORTED, 0.0)
        coverage, near, part = max(
            found,
            key=lambda one: one[0] + 0.6 * one[1] + OF_CITED * (one[2].passage in self._preferred),
        )
        if self._is_foreign(part) and coverage < ENOUGH:
            return Assessment(Support.FOREIGN, coverage, (part,))
        telling = [t for t in new if self._evidence.is_known(t) or (len(t) > 1 and t in fact.new)]
        codes = [term for term in (*subject, *fact.terms) if is_code(term)]
        named = (about for _, about, one in found if all(map(one.level, codes)))
        is_near = near >= _OF_BEST * max(named, default=0.0) or not fact.new
        is_apart = self._is_brief and not (is_near and self._is_together(part, telling))
        if is_apart or self._misses_name(fact, (part,)) or self._is_of_another(part, fact):
            return Assessment(Support.PARTIAL, coverage, (part,))
        return Assessment(Support.SUPPORTED, coverage, (part,))

    def _weigh_subject(self, fact: StatedFact) -> dict[str, float]:
        """Return the terms that a fact is about, by weight.

        They are its own terms, those ahead of it in its sentence and those of the question, which count the less the more
        the sentence says itself.
        """
        own = {term for one in self._facts for term in one.new if self._evidence.is_known(term)}
        left_out = max(0.0, 1.0 - _PER_TERM * len(own))
        subject = {
            term: weight if is_code(term) else left_out * weight
            for term, weight in self._asked.items()
        }
        for term in terms_of(self._sentence.partition(fact.text)[0]):
            subject[term] = max(subject.get(term, 0.0), 0.5 * self._evidence.weight(term))
        return subject | {term: self._evidence.weight(term) for term in fact.terms}

    def _is_related(self) -> bool:
        """Return whether a third of a sentence's terms stand in the question or the passages."""
        terms = [term for fact in self._facts for term in fact.terms]
        known = [term for term in terms if term in self._asked or self._evidence.is_known(term)]
        return bool(known) and 3 * len(known) >= len(terms)

    def _is_foreign(self, part: EvidencePart) -> bool:
        return self._evidence.languages[part.passage] != self._language

    def _level(self, part: EvidencePart, term: str) -> float:
        """Return the level of a term, or of a synonym, in a part."""
        level = part.level(term)
        if level < OWN:
            others = (part.level_of(found) for terms, found in self._others if term in terms)
            level = max(level, 0.95 * max(others, default=0.0))
        return level

    def _measure_share(self, part: EvidencePart, terms: dict[str, float]) -> float:
        """Return the share of terms, by weight and level, that a part has, of those that any part has."""
        known = {term: weight for term, weight in terms.items() if self._is_anywhere(term)}
        whole = sum(known.values())
        if not whole:
            return 0.0
        return sum(weight * self._level(part, term) for term, weight in known.items()) / whole

    def _is_anywhere(self, term: str) -> bool:
        """Return whether any part has a term or a synonym of it."""
        if term not in self._anywhere:
            self._anywhere[term] = any(self._level(part, term) for part in self._parts)
        return self._anywhere[term]

    def _measure_coverage(self, part: EvidencePart, terms: dict[str, float]) -> float:
        """Return the share of terms, by weight, that a part has; what its heading has counts whole."""
        whole = sum(terms.values())
        if not whole:
            return 0.0
        found = (weight * min(1.0, self._level(part, term) * 1.4) for term, weight in terms.items())
        return sum(found) / whole

    @property
    def _is_brief(self) -> bool:
        """Return whether the sentence has few words that the question lacks."""
        return len({term for fact in self._facts for term in fact.new}) <= SHORT

    def _is_together(self, part: EvidencePart, terms: Collection[str]) -> bool:
        """Return whether terms stand in one clause of a part, or in its headings.

        What a part takes from the sentence before it is its subject, so it does not stand behind other terms of it.
        """
        if not all(self._level(part, term) >= _CLOSE for term in terms):
            return False
        is_own = [part.layers[0][1].has(term) > 0 for term in terms]
        if part.inherits and sorted(is_own) != is_own:
            return False
        in_text = [term for term, own in zip(terms, is_own, strict=True) if own]
        return (
            len(in_text) < 2
            or not part.clauses
            or any(all(c.has(t) for t in in_text) for c in part.clauses)
        )

    def _misses_name(self, fact: StatedFact, parts: Sequence[EvidencePart]) -> bool:
        """Return whether a fact has a name that neither the question nor any of its parts in the same language has."""
        same = [part for part in parts if not self._is_foreign(part)]
        names = names_in(fact.text).intersection(fact.new) if same else ()
        return any(all(self._level(part, name) < _LEAST_OF_NAME for part in same) for name in names)

    def _is_of_another(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a part says the same of something else."""
        return self._replaces_words(part, fact) or self._joins_clauses(part, fact)

    def _joins_clauses(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a fact says the beginning of one clause with the end of another: A 3 days and B 5, as A 5 days."""
        if part.is_row or self._is_foreign(part):
            return False
        stated: list[Mark] = [*fact.terms, *fact.values]
        asked: list[Mark] = [*self._asked, *self._evidence.asked_values]
        groups = group_clauses(part.sentence)
        return any(one.joins(other, stated, asked) for one, other in permutations(groups, 2))

    def _replaces_words(self, part: EvidencePart, fact: StatedFact) -> bool:
        """Return whether a fact repeats a part but for words of another part in the place of some: 归乙方所有 for 归甲方所有."""
        if part.is_row or self._is_foreign(part):
            return False
        stated, quoted = wording_of(fact.text), wording_of(part.sentence)
        changes = SequenceMatcher(None, stated, quoted, autojunk=False).get_opcodes()
        kept = sum(end - start for tag, start, end, _, _ in changes if tag == "equal")
        return any(
            tag == "replace"
            and kept >= _REPEATED * len(stated)
            and self._is_swapped(stated[start:end], quoted[at:until], part)
            for tag, start, end, at, until in changes
        )

    def _is_swapped(self, stated: Sequence[str], quoted: Sequence[str], part: EvidencePart) -> bool:
        """Return whether words of other parts stand where this part has words that the sentence lacks."""
        is_known = any(
            not self._evidence.is_asked(term)
            and self._evidence.is_known(term)
            and self._level(part, term) < _CLOSE
            for term in terms_of(" ".join(stated))
        )
        own = terms_of(" ".join(quoted))
        return is_known and any(term not in self._stated for term in own)

    def _is_denied(self, parts: Sequence[EvidencePart]) -> bool:
        """Return whether either the sentence or the parts deny what the other says."""
        same = [part for part in parts if not self._is_foreign(part)]
        if not same:
            return False
        # Sentences with all of its words are compared, if there are any, but not where cells say it.
        closer = [
            part
            for part in self._whole
            if not (part.is_row or all(one.is_row for one in same))
            and all(map(part.owns, self._stated))
        ]
        whole = " ".join(dict.fromkeys(part.stated or part.sentence for part in closer or same))
        is_denied = is_opposed(self._sentence, whole, self._evidence.question)
        return is_denied or self._is_bounded_otherwise(whole)

    def _is_opposite(self, fact: StatedFact, part: EvidencePart) -> bool:
        """Return whether the clause with most of a fact's words and numbers has the opposite of one: rose, fell."""
        own = part.layers[0][1]
        values = [one.value for one in normalise_values(fact.text)]
        shared = [
            sum(map(one.has, fact.terms))
            + sum(any(map(found.value.matches, values)) for found in normalise_values(one.plain))
            for one in part.clauses
        ]
        least = max(len(fact.terms) / 3, max(shared, default=0))
        clauses = [one for one, has in zip(part.clauses, shared, strict=True) if has >= least]
        # Of a part in another language only a clause with the same number is certainly meant.
        if self._is_foreign(part) and not (part.is_clause and fact.values):
            return False
        return any(
            negates(fact.text) is negates(clause.plain) and is_opposite(fact.text, clause.plain)
            for clause in (clauses if part.clauses else [own])
        )

    def _is_bounded_otherwise(self, whole: str) -> bool:
        """Return whether a text has a number of the sentence only with the opposite bound: at most for more than."""
        quoted = [one.value for one in normalise_values(whole)]
        stated = (one.value for one in normalise_values(self._sentence))
        return any(
            (same := [other for other in quoted if value.matches(other)])
            and all(map(value.opposes, same))
            for value in stated
        )
