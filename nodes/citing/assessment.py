"""Whether passages support a sentence: by what it says, not by how much it shares with them.

A sentence is cut into facts. Of each, its numbers (as values) and the terms that the question does not have must
stand in one part of a passage, a clause or a cell, that speaks of the same subject at least as much as any other
part with a number of that kind. What the question says needs no support.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from math import log

from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.citing.evidence import (
    AHEAD,
    HEADING,
    NEAR,
    OWN,
    EvidencePart,
    Text,
    all_parts,
    find_counts,
    is_code,
    names_in,
    other_words,
    phrases_of,
    terms_of,
    wording_of,
)
from sextant.nodes.citing.statements import states
from sextant.nodes.citing.subjects import (
    SubjectWord,
    contains_mark,
    find_misnamed,
    find_swapped,
    subject_words,
)
from sextant.nodes.citing.support import SupportedQuote, headings, is_opposed
from sextant.text.characters import IDEOGRAPHS, language_of, normalise, plain_of
from sextant.text.identifiers import codes_in, find_unmentioned
from sextant.text.negation import demands, leaves_free, negates
from sextant.text.values import TIMES, WEEKDAY, TextValue, normalise_values, rates_in


class Support(IntEnum):
    """How far passages say what a sentence says, worst first."""

    CONTRADICTED = 0
    UNSUPPORTED = 1
    PARTIAL = 2
    FOREIGN = 3
    SUPPORTED = 4


# A part that speaks of the subject by so much more than the one with the number makes the number another's.
_LEAD = 0.1
# The support of what is supported is at least this.
_LEAST_SUPPORT = 0.5
# A part that has so much of it speaks of it for certain.
_SURELY = 0.5
# Of several that say it a passage that the model cites goes first.
_OF_CITED = 0.05
# Of two rows that have as much of the subject the one with fewer other words is meant: the Heron 3, not the Heron 3 XL.
_PER_EXTRA, _MOST_EXTRA = 0.008, 10
# What stands side by side in it counts besides.
_OF_PHRASES = 0.05
# Of sentences that say another fact of the statement, too.
_OF_SPOKEN = 0.1
# So much of the subject a part must have.
_SUBJECT = 0.35
# So much of a fact's own terms must stand in its part, and of those that stand in any passage.
_OF_TERMS, _OF_KNOWN = 0.5, 0.66
# Where its number stands there, too.
_OF_STATED = 0.2
# Less of the subject than this share of what the best part has of it.
_OF_BEST, _OF_BEST_SHORT = 0.6, 0.85
# So much of the question's terms.
_OF_ASKED = 0.4
_LEAST_STEM = 5
# Each of them must stand so close to the rest.
_CLOSE = 0.5
# A fact of no more terms of its own says little more than its relation to the subject.
_SHORT = 3
_FULL_NAME = re.compile(
    r"(?<![A-Za-zÀ-ž])[A-ZÀ-ÞĀ-Ž][a-zß-ÿā-ž]+(?: [A-Z]\.)*(?: [A-ZÀ-ÞĀ-Ž][a-zß-ÿā-ž]+)+(?![A-Za-zÀ-ž])"
)
_FACTS = re.compile(
    r"[，;；。]|,(?!\d)|、|\s(?=(?:and|but|while|whereas) )|(?<=[\u4e00-\u9fff])(?:而且|并且|以及|但|而)(?=[\u4e00-\u9fff])"
)
_ASKS_WHETHER = re.compile(
    r"\A\s*(?:is|are|was|were|do|does|did|can|could|may|must|should|will|has|have)\b|吗\s*[?？]?\s*\Z|[能可]否|是否",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"其他|其它|其余|\bothers?\b|\belse\b|\bremaining\b|\ball other\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Assessment:
    """What became of a sentence, how much of it is supported, and the parts that say it."""

    support: Support
    share: float
    parts: tuple[EvidencePart, ...] = ()


@dataclass(frozen=True, slots=True)
class _Fact:
    """One thing that a sentence says: its terms, those of them that the question lacks, and its values."""

    text: str
    terms: tuple[str, ...]
    new: tuple[str, ...]
    values: tuple[TextValue, ...]
    rates: frozenset[str] = frozenset()


class AnswerEvidence:
    """The passages of an answer, in which sentences are looked up.

    Args:
        items: the passages.
        question: what was asked.
    """

    def __init__(self, items: Sequence[RetrievedItem], question: str = "") -> None:
        self._items = items
        self._question = question
        self._asked = terms_of(question)
        self._asked_values = tuple(one.value for one in normalise_values(question))
        self._frequencies: dict[str, int] = {}

    @cached_property
    def _parts(self) -> list[EvidencePart]:
        return all_parts(self._items)

    @cached_property
    def _said(self) -> str:
        return "\n".join(normalise(f"{headings(item)} {item.text}") for item in self._items)

    @cached_property
    def _languages(self) -> list[str]:
        return [language_of(item.text) for item in self._items]

    def assess(
        self,
        sentence: str,
        *,
        preferred: Collection[int] = (),
        withheld: Collection[int] = (),
    ) -> Assessment:
        """Return how the passages support a sentence.

        Args:
            sentence: without markers.
            preferred: passages that it cites: of several that say it, one of these.
            withheld: passages that may no longer be cited.
        """
        swapped = find_swapped(sentence, self._question)
        found = self._assess(sentence, preferred, withheld, swapped)
        if swapped and found.support is Support.SUPPORTED:
            # What names something else than the question must stand by itself.
            return self._without_question._assess(sentence, preferred, withheld, swapped)
        return found

    @cached_property
    def _without_question(self) -> AnswerEvidence:
        evidence = AnswerEvidence(self._items)
        evidence._parts = self._parts
        return evidence

    def _assess(
        self,
        sentence: str,
        preferred: Collection[int],
        withheld: Collection[int],
        swapped: frozenset[str] = frozenset(),
    ) -> Assessment:
        facts = self._facts(sentence)
        if not facts:
            return Assessment(Support.UNSUPPORTED, 0.0)
        hidden, chosen = frozenset(withheld), frozenset(preferred)
        found = _Look(self, sentence, facts, hidden, chosen, swapped=swapped).assessed()
        passages = dict.fromkeys(part.passage for part in found.parts)
        if found.support is not Support.SUPPORTED or (
            len(passages) == 1 and chosen.issuperset(passages)
        ):
            return found
        # The fewer passages are cited, the better; of these those that the model cites.
        every = frozenset(range(len(self._items)))
        for few in dict.fromkeys([chosen - hidden, *(frozenset({one}) for one in passages)]):
            if few and (len(passages) > 1 or few == chosen - hidden):
                alone = _Look(
                    self, sentence, facts, every - few, chosen, swapped=swapped
                ).assessed()
                if alone.support is Support.SUPPORTED:
                    return alone
        return found

    def _facts(self, sentence: str) -> list[_Fact]:
        facts = list[_Fact]()
        for text in _FACTS.split(sentence):
            if not text or not states(text):
                continue
            terms = terms_of(text)
            # A day of the week stays a word of a statement; where the question names one, it tells clauses apart.
            found = [one.value for one in normalise_values(text)]
            values = tuple(value for value in found if value.unit != WEEKDAY)
            own = tuple(
                one for one in values if not any(one == asked for asked in self._asked_values)
            )
            new = tuple(term for term in terms if not self._is_asked(term))
            if terms or values:
                facts.append(_Fact(text, terms, new, own, frozenset(rates_in(text).values())))
        telling = [fact for fact in facts if fact.new or fact.values]
        return telling or facts

    def _is_asked(self, term: str) -> bool:
        """Return whether the question has a term, or a longer word of it: who supplies, asked for suppliers; 药物, for 药."""
        longer = term.isascii() and len(term) >= _LEAST_STEM
        return (
            term in self._asked
            or (longer and any(w.startswith(term) for w in self._asked))
            or (not term.isascii() and len(term) == 2 and term[0] in self._asked)
        )

    def weight(self, term: str) -> float:
        """Return how telling a term is: rarer ones are more so, single ideographs less."""
        if term not in self._frequencies:
            self._frequencies[term] = sum(
                part.layers[0][1].has(term) > 0 for part in self._parts if not part.is_clause
            )
        # What no passage has may be another word for what one has.
        seen = self._frequencies[term] or len(self._parts) // 8
        rare = log(1 + (len(self._parts) + 1) / (seen + 1))
        return rare * (0.4 if len(term) == 1 else 1.0)

    def has_phrase(self, phrase: str) -> bool:
        """Return whether two words stand side by side in any passage."""
        return any(phrase in part.layers[0][1].plain for part in self._parts if not part.is_clause)

    def is_known(self, term: str) -> bool:
        """Return whether any passage has the term."""
        self.weight(term)
        return self._frequencies[term] > 0

    def invents(self, sentence: str) -> bool:
        """Return whether a sentence has a code or a full name that no passage has.

        A name counts by its last word, since first names and titles are left out at will.
        """
        if not self._items:
            return False
        names = [normalise(name.split()[-1]) for name in _FULL_NAME.findall(sentence)]
        if not (names or codes_in(sentence)):
            return False
        said = f"{self._said}\n{normalise(self._question)}"
        return any(name not in said for name in names) or bool(find_unmentioned(sentence, [said]))

    def denies(self, sentence: str, passages: Collection[int]) -> bool:
        """Return whether these passages, in its language, lack a number of a sentence or say the opposite."""
        others = frozenset(range(len(self._items))).difference(passages)
        if any(self._languages[index] != language_of_sentence(sentence) for index in passages):
            return False
        found = self.assess(sentence, withheld=others)
        return found.support is Support.CONTRADICTED or not self.has_numbers(sentence, passages)

    def has_numbers(self, sentence: str, passages: Collection[int]) -> bool:
        """Return whether these passages, in whatever language, have all numbers of a sentence but the question's."""
        there = [v for part in self._parts if part.passage in passages for v in part.values]
        return all(
            any(one.value.matches(value) for value in (*there, *self._asked_values))
            for one in normalise_values(sentence)
        )

    def quote(
        self,
        part: EvidencePart,
        parts: Sequence[EvidencePart],
        share: float,
        *,
        foreign: bool = False,
    ) -> SupportedQuote:
        """Return the span of a passage that holds these parts of it, or the part alone where they lie far apart."""
        item = self._items[part.passage]
        offset = int(item.metadata.get("start") or 0)
        start, end = min(one.span[0] for one in parts), max(one.span[1] for one in parts)
        lying = {
            one.span
            for one in self._parts
            if one.passage == part.passage and start <= one.span[0] < end
        }
        if len(lying) > len({one.span for one in parts}) + _BETWEEN:
            start, end = part.span
        return SupportedQuote(item.text[start:end], offset + start, offset + end, share, foreign)


# So many sentences or rows that say nothing of it may lie between those that are quoted together.
_BETWEEN = 3


class _Look:
    """One look for a sentence."""

    def __init__(
        self,
        evidence: AnswerEvidence,
        sentence: str,
        facts: Sequence[_Fact],
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
        self._parts = [part for part in evidence._parts if part.passage not in withheld]
        self._whole = [part for part in self._parts if not part.is_clause]
        self._language = language_of_sentence(sentence)
        self._question = plain_of(evidence._question)
        self._others = other_words(f"{sentence} {evidence._question}")
        self._anywhere: dict[str, bool] = {}
        self._values = [value for fact in facts for value in fact.values]
        self._subject = {term: evidence.weight(term) for term in evidence._asked}
        self._spoken = set[tuple[int, tuple[int, int]]]()
        asked = phrases_of(evidence._question, numbered=True)
        self._asked_phrases = [one for one in asked if evidence.has_phrase(one)]
        said = phrases_of(sentence) - asked
        self._phrases = [*self._asked_phrases, *filter(evidence.has_phrase, said)]

    def assessed(self) -> Assessment:
        if self._evidence.invents(self._sentence):
            return Assessment(Support.UNSUPPORTED, 0.0, self._nearest())
        outcomes = self._with_names([self._of(fact) for fact in self._facts])
        parts = tuple(dict.fromkeys(part for one in outcomes for part in one.parts))
        worst = min(one.support for one in outcomes)
        best = max(one.support for one in outcomes)
        share = sum(one.share for one in outcomes) / len(outcomes)
        if worst >= Support.SUPPORTED:
            if self._is_denied(parts) or self._is_denied_elsewhere(parts):
                return Assessment(Support.CONTRADICTED, share, parts)
            return Assessment(Support.SUPPORTED, share, parts)
        if worst == Support.CONTRADICTED:
            return Assessment(worst, share, parts)
        if worst == Support.FOREIGN:
            return Assessment(worst, share, parts)
        partial = best >= Support.PARTIAL or self._touches()
        return Assessment(Support.PARTIAL if partial else Support.UNSUPPORTED, share, parts)

    @staticmethod
    def _with_names(outcomes: list[Assessment]) -> list[Assessment]:
        """In another language a part that says a number of the sentence is believed what stands with it."""
        sure = {
            (part.passage, part.span)
            for one in outcomes
            for part in one.parts
            if one.support is Support.SUPPORTED and part.values
        }
        return [
            replace(one, support=Support.SUPPORTED)
            if one.support is Support.FOREIGN
            and one.parts
            and all((part.passage, part.span) in sure for part in one.parts)
            else one
            for one in outcomes
        ]

    def _touches(self) -> bool:
        """Return whether a sentence speaks at all of what the question or the passages speak of."""
        asked = set(self._evidence._asked)
        terms = [term for fact in self._facts for term in fact.terms]
        known = [term for term in terms if term in asked or self._evidence.is_known(term)]
        return bool(known) and 3 * len(known) >= len(terms)

    def _is_denied(self, parts: Sequence[EvidencePart]) -> bool:
        same = [part for part in parts if not self._is_foreign(part)]
        if not same:
            return False
        whole = " ".join(dict.fromkeys(part.sentence for part in same))
        return is_opposed(self._sentence, whole)

    def _is_denied_elsewhere(self, parts: Sequence[EvidencePart]) -> bool:
        """Return whether a clause denies what the sentence affirms of the same things, or the question asks for.

        A sentence that says a number may rest on one that does not speak of them at all.
        """
        if negates(self._sentence) or not _ASKS_WHETHER.search(self._evidence._question):
            stated = [(fact.text, fact.terms) for fact in self._facts if fact.values]
        else:
            stated = [(self._evidence._question, tuple(self._subject))]
        said = [Text(part.sentence) for part in parts]
        unsaid = [
            (text, terms)
            for text, terms in stated
            if not any(all(one.has(term) == 1.0 for term in terms) for one in said)
        ]
        return any(self._is_opposed(text, terms) for text, terms in unsaid) or any(
            self._demands_or_frees(fact) for fact in self._facts
        )

    def _demands_or_frees(self, fact: _Fact) -> bool:
        """Return whether a fact demands what a clause leaves free, or the other way round."""
        tests = demands, leaves_free
        for mine, its in (tests, tests[::-1]):
            clauses = self._clauses_with(fact.terms) if mine(fact.text) else []
            if clauses and all(its(clause.plain) for clause in clauses):
                return True
        return False

    def _is_opposed(self, text: str, terms: Collection[str]) -> bool:
        """Return whether of the clauses that have all of some terms one denies, and none says the same without denial."""
        if negates(text) or not terms:
            return False
        clauses = self._clauses_with(terms)
        return bool(clauses) and all(negates(clause.plain) for clause in clauses)

    def _clauses_with(self, terms: Collection[str]) -> list[Text]:
        """Return the clauses, in the language of the sentence, that have all of some terms."""
        return [
            clause
            for part in self._whole
            if terms and not part.is_row and not self._is_foreign(part)
            for clause in part.clauses or (part.layers[0][1],)
            if all(clause.has(term) == 1.0 for term in terms)
        ]

    def _nearest(self) -> tuple[EvidencePart, ...]:
        terms = self._terms_of_all()
        best = max(self._parts, key=lambda part: self._covered(part, terms), default=None)
        return (best,) if best is not None and self._covered(best, terms) > 0.3 else ()

    def _terms_of_all(self) -> dict[str, float]:
        return {term: self._evidence.weight(term) for fact in self._facts for term in fact.terms}

    def _is_foreign(self, part: EvidencePart) -> bool:
        return self._evidence._languages[part.passage] != self._language

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

    def _of(self, fact: _Fact) -> Assessment:
        """Return one fact: first its numbers, bound to their subject; then its words."""
        subject = self._subject_of(fact)
        if fact.values:
            return self._of_values(fact, subject)
        return self._of_words(fact, subject)

    def _subject_of(self, fact: _Fact) -> dict[str, float]:
        """Return what a fact is about: its own terms, the question's and, less, those of the rest of its sentence."""
        subject = dict(self._subject)
        ahead = self._sentence.partition(fact.text)[0]
        for term in terms_of(ahead):
            subject[term] = max(subject.get(term, 0.0), 0.5 * self._evidence.weight(term))
        for term in fact.terms:
            subject[term] = self._evidence.weight(term)
        return subject

    # numbers

    def _of_values(self, fact: _Fact, subject: dict[str, float]) -> Assessment:
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
        outcomes = self._without_conditions(found, outcomes)
        worst = min(outcomes, key=lambda one: one.support)
        parts = tuple(dict.fromkeys(part for one in outcomes for part in one.parts))
        if worst.support != Support.SUPPORTED:
            return Assessment(worst.support, worst.share, parts)
        words = self._words_in(fact, parts)
        told = self._of_subject(fact, parts, words)
        if told is not Support.SUPPORTED:
            return Assessment(told, words, parts)
        self._spoken.update((part.passage, part.span) for part in parts)
        return Assessment(Support.SUPPORTED, max(0.5, worst.share), parts)

    def _of_subject(self, fact: _Fact, parts: Sequence[EvidencePart], words: float) -> Support:
        """Return whether the parts that say a fact's numbers say them of what it speaks of."""
        if self._counts_another(fact, parts):
            return Support.CONTRADICTED
        same = not all(map(self._is_foreign, parts))
        if (
            (same and (words < _OF_STATED or not self._counts_the_same(fact, parts)))
            or not all(self._has_codes(part, fact) for part in parts)
            or self._misses_name(fact, parts)
            or any(self._replaces(part, fact) for part in parts)
        ):
            return Support.PARTIAL
        misnamed = self._find_misnamed(fact, parts)
        if misnamed is None:
            return Support.SUPPORTED
        owned = self._is_of_rival(misnamed.term, fact, parts)
        return Support.CONTRADICTED if owned else Support.PARTIAL

    @staticmethod
    def _without_conditions(
        found: Sequence[tuple[TextValue, Assessment]], outcomes: list[Assessment]
    ) -> list[Assessment]:
        """Leave out numbers that stand elsewhere in the row that says another one: 66 dB(A) at 1 m."""
        rows = [
            p for one in outcomes if one.support is Support.SUPPORTED for p in one.parts if p.is_row
        ]
        beside = [
            one
            for value, one in found
            if any(map(value.matches, (v for p in rows for v in p.conditions)))
        ]
        return [one for one in outcomes if one.support is Support.SUPPORTED or one not in beside]

    def _score(self, part: EvidencePart, subject: dict[str, float]) -> float:
        covered = self._covered(part, subject)
        if asked := self._evidence._asked_values:
            held = sum(
                1.0
                if _holds(part.conditions if part.is_row else part.values, value)
                else 0.5 * _holds(part.conditions, value)
                for value in asked
            )
            covered += 0.3 * held / len(asked)
        if self._phrases:
            covered += _OF_PHRASES * sum(map(part.owns, self._phrases)) / len(self._phrases)
        if part.is_row and part.label:
            extra = [term for term in part.label if term not in subject and self._level(part, term)]
            covered -= _PER_EXTRA * min(_MOST_EXTRA, len(extra))
        return covered

    def _of_value(self, value: TextValue, fact: _Fact, scores: dict[int, float]) -> Assessment:
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
            key=lambda p: scores[id(p)] + _OF_CITED * (p.passage in self._preferred),
            default=None,
        )
        rivals = self._rivals(value, carriers, best)
        rival = max(rivals, key=lambda p: scores[id(p)], default=None)
        if best is None:
            if rival and scores[id(rival)] >= _SURELY:
                return Assessment(Support.CONTRADICTED, 0.0, (rival,))
            return Assessment(Support.UNSUPPORTED, 0.0)
        score = scores[id(best)]
        if self._is_exchanged(value, fact, best):
            return Assessment(Support.CONTRADICTED, score, (best,))
        if (
            any(self._owns_more(one, best, fact) for one in rivals)
            or self._names_another_cell(best, rivals)
            or self._names_rival(fact, best, rivals)
        ):
            return Assessment(Support.CONTRADICTED, score, (best,))
        if rival and self._owns_more(best, rival, fact):
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
            and any(_competes(value, other) and bound in ("", other.bound) for other in p.values)
            and not any(mine.matches(other) for mine in self._values for other in p.values)
        ]
        rivals = [p for p in rivals if not best or not self._codes_in(best) > self._codes_in(p)]
        # 90 minutes beside every 4,000 hours are no rival.
        return [p for p in rivals if not best or not _of_same_row(p, best) or _has_unit(p, value)]

    def _is_exchanged(self, value: TextValue, fact: _Fact, best: EvidencePart) -> bool:
        """Return whether the clause with another number of the sentence speaks of this fact instead: two were exchanged."""
        own = {term for term in fact.terms if best.owns(term)}
        others = [
            part
            for part in self._parts
            if part.is_clause
            and best.is_clause
            and (part.passage, part.span) == (best.passage, best.span)
            and any(_competes(value, other) for other in part.values)
            and not any(mine.matches(other) for mine in fact.values for other in part.values)
        ]
        return any({term for term in fact.terms if part.owns(term)} > own for part in others)

    def _names_another_cell(self, best: EvidencePart, rivals: Sequence[EvidencePart]) -> bool:
        """Return whether the sentence names another column or row than that of its number: Heron 3, not Heron 3 XL."""
        said = plain_of(self._sentence)
        columns = {part.column for part in self._parts if part.values and _of_same_row(part, best)}
        rows = {part.row for part in rivals if part.column == best.column and terms_of(part.row)}
        return any(
            its and plain_of(its) not in said and any(map(said.__contains__, map(plain_of, others)))
            for its, others in ((best.column, columns - {""}), (best.row, rows - {""}))
        )

    def _names_rival(self, fact: _Fact, best: EvidencePart, rivals: Sequence[EvidencePart]) -> bool:
        """Return whether a fact has just the names of another clause, of which that of its number has one more."""
        mine = self._names_in(fact.text)
        its = self._names_in(best.layers[0][1].plain)
        return not best.is_row and any(
            mine == self._names_in(rival.layers[0][1].plain) < its
            for rival in rivals
            if mine and rival.passage == best.passage
        )

    def _names_in(self, text: str) -> frozenset[str]:
        words = (one for one in subject_words(text) if not (one.is_predicate or one.is_measure))
        return frozenset(one.term for one in words)

    def _codes_in(self, part: EvidencePart) -> frozenset[str]:
        """Return the codes of what is asked or said that a clause has itself; none of other parts."""
        codes = {*self._subject, *(term for fact in self._facts for term in fact.terms)}
        return frozenset(
            code for code in codes if part.is_clause and is_code(code) and part.owns(code)
        )

    def _between(
        self, best: EvidencePart, score: float, rival: EvidencePart | None, scores: dict[int, float]
    ) -> Support:
        """Return how a part with a number stands against the best one with another."""
        against = scores[id(rival)] if rival else 0.0
        of_rows = best.is_row and rival is not None and rival.is_row
        if against > score + (_PER_EXTRA / 2 if of_rows else _LEAD):
            return Support.CONTRADICTED if against >= _SURELY else Support.PARTIAL
        foreign = self._is_foreign(best)
        if score < _SUBJECT * (0.5 if foreign else 1.0) and self._subject:
            return Support.FOREIGN if foreign else Support.PARTIAL
        tied = of_rows and (against >= score - _PER_EXTRA / 2 or not self._is_told_apart(best))
        if tied and not _OTHERS.search(best.sentence):
            return Support.PARTIAL
        return Support.SUPPORTED

    def _is_told_apart(self, row: EvidencePart) -> bool:
        """Return whether what is asked or said names a row, not only its columns."""
        stated = {*self._subject, *(term for fact in self._facts for term in fact.terms)}
        asked = self._evidence._asked_values
        return (
            self._is_foreign(row)
            or any(_holds(row.conditions, value) for value in asked)
            or any(map(row.is_named_by, (*self._phrases, *stated)))
            or any(row.level_of(pattern) == OWN for _, pattern in self._others)
        )

    @staticmethod
    def _counts_another(fact: _Fact, parts: Sequence[EvidencePart]) -> bool:
        """Return whether what a fact counts, its part counts with another number only: two adults for one."""
        there = [pair for part in parts for pair in find_counts(part.sentence)]
        return any(
            (numbers := [value for value, its in there if its == thing])
            and not any(value.matches(number) for number in numbers)
            for value, thing in find_counts(fact.text)
        )

    def _counts_the_same(self, fact: _Fact, parts: Sequence[EvidencePart]) -> bool:
        """Return whether what is counted by a number without a unit stands in its part, too, or in the question."""
        plain = plain_of(fact.text)
        for one in normalise_values(fact.text):
            if one.value.unit or one.value not in fact.values:
                continue
            counted = terms_of(
                " ".join(plain[one.end :].split()[:3])
                if plain.isascii()
                else plain[one.end : one.end + 5]
            )[:2]
            known = [
                term
                for term in counted
                if term in self._evidence._asked or any(self._level(p, term) for p in parts)
            ]
            named = [term for term in fact.terms if any(p.is_row and p.owns(term) for p in parts)]
            if counted and not (known or named):
                return False
        return True

    def _has_codes(self, part: EvidencePart, fact: _Fact) -> bool:
        """Return whether a part speaks of the things that are named by a code, as far as any does."""
        codes = [term for term in (*self._subject, *fact.terms) if is_code(term)]
        return all(self._level(part, code) >= NEAR or not self._is_anywhere(code) for code in codes)

    def _misses_name(self, fact: _Fact, parts: Sequence[EvidencePart]) -> bool:
        """Return whether a fact names what the question does not, nor, near what it says, its parts in the same language."""
        same = [part for part in parts if not self._is_foreign(part)]
        names = names_in(fact.text).intersection(fact.new) if same else ()
        return any(all(self._level(part, name) < NEAR for part in same) for name in names)

    def _replaces(self, part: EvidencePart, fact: _Fact) -> bool:
        """Return whether a fact says another word between the same two words: 归乙方所有 for 归甲方所有."""
        if part.is_row or self._is_foreign(part):
            return False
        said, there = wording_of(fact.text), wording_of(part.sentence)
        matcher = SequenceMatcher(None, said, there, autojunk=False)
        return any(
            one.tag == "replace"
            and one.end - one.start == 1
            and one.width == 1
            and one.start > 0
            and one.end < len(said)
            and self._is_swapped(said[one.start], there[one.at], part, fact)
            for one in _changes(matcher)
        )

    def _is_swapped(self, said: str, there: str, part: EvidencePart, fact: _Fact) -> bool:
        mine, its = terms_of(said), terms_of(there)
        stated = {*self._subject, *(term for one in self._facts for term in one.terms)}
        return (
            bool(mine and its)
            and all(
                term in fact.new and self._is_known(term) and self._level(part, term) < OWN
                for term in mine
            )
            and stated.isdisjoint(its)
        )

    def _find_misnamed(self, fact: _Fact, parts: Sequence[EvidencePart]) -> SubjectWord | None:
        """Return a word of a fact that names something else than what its parts speak of."""
        swapped = self._swapped.union(*(find_swapped(fact.text, part.sentence) for part in parts))
        return find_misnamed(
            fact.text,
            swapped,
            lambda word: self._is_vouched(word, parts, is_swapped=word.term in swapped),
            self._is_measure,
        )

    def _is_swapped_in(self, part: EvidencePart, fact: _Fact) -> bool:
        """Return whether a word of a fact stands in the place of one of the question or of the part."""
        swapped = self._swapped | find_swapped(fact.text, part.sentence)
        words = (one for one in subject_words(fact.text) if one.term in swapped)
        return any(not self._is_vouched(word, (part,), is_swapped=True) for word in words)

    def _is_vouched(
        self, word: SubjectWord, parts: Sequence[EvidencePart], *, is_swapped: bool
    ) -> bool:
        """Return whether the question has a word, or one of the parts, or what it stands under.

        In the place of another word only what names the part itself counts.
        """
        least = HEADING if is_swapped or word.is_attribute else AHEAD
        if word.is_mark:
            return contains_mark(self._question, word) or all(
                any(
                    contains_mark(text.plain, word) for level, text in part.layers if level >= least
                )
                for part in parts
            )
        return self._evidence._is_asked(word.term) or any(
            self._level(part, word.term) >= least for part in parts
        )

    def _is_measure(self, word: SubjectWord) -> bool:
        """Return whether a word says only what is measured, or asked for in other words: the price, asked how much."""
        return word.is_measure or any(
            word.term in terms and pattern.search(self._question) for terms, pattern in self._others
        )

    def _is_of_rival(self, term: str, fact: _Fact, parts: Sequence[EvidencePart]) -> bool:
        """Return whether a part with another number of a kind that the fact has speaks of a term."""
        return any(
            part.owns(term)
            and any(_competes(value, other) for value in fact.values for other in part.values)
            for part in self._parts
            if part not in parts and not self._is_foreign(part)
        )

    def _is_of_another(self, part: EvidencePart, fact: _Fact) -> bool:
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
        fact: _Fact | None = None,
    ) -> bool:
        """Return whether the pieces of a sentence that say something speak of less of a subject than others do.

        Of clauses only those count that have a subject of their own, which a fact does not name.
        """
        says = [bool(new) and all(one.has(term) == 1.0 for term in new) for one in pieces]
        named = [
            {mark for mark in marks if mark in one.plain or one.has(mark) == 1.0} for one in pieces
        ]
        own = [fact is None or _has_subject(one, new, fact) for one in pieces]
        return any(says) and all(
            is_own
            and any(
                more > about and (about or fact)
                for more, others in zip(named, says, strict=True)
                if not others
            )
            for about, is_said, is_own in zip(named, says, own, strict=True)
            if is_said
        )

    def _owns_more(self, rival: EvidencePart, best: EvidencePart, fact: _Fact) -> bool:
        """Return whether of two clauses of one sentence the other one speaks of the subject, all that this one does and more.

        What stands ahead of a clause in its sentence it speaks of, too.
        """
        if not (rival.is_clause and best.is_clause) or (rival.passage, rival.span) != (
            best.passage,
            best.span,
        ):
            return False
        if self._codes_in(rival) > self._codes_in(best):
            return True
        about = terms_of(plain_of(fact.text)[: _first_number(fact.text)])
        own = {term for term in about if rival.owns(term)}
        if own > {term for term in about if best.speaks_of(term)}:
            return True
        stated = {*self._subject, *(term for fact in self._facts for term in fact.terms)}
        marks = [*self._phrases, *filter(self._is_anywhere, stated)]
        return {one for one in marks if rival.speaks_of(one)} > {
            one for one in marks if best.speaks_of(one)
        }

    @staticmethod
    def _is_at_another_rate(part: EvidencePart, fact: _Fact) -> bool:
        """Return whether both count by a period, and not by the same: 60 a day is not 60 an hour."""
        return bool(fact.rates and part.rates) and fact.rates.isdisjoint(part.rates)

    def _is_on_another_day(self, part: EvidencePart) -> bool:
        """Return whether a part speaks of days of the week, and not of the one that is asked for."""
        asked = [value for value in self._evidence._asked_values if value.unit == WEEKDAY]
        days = [value for value in part.values if value.unit == WEEKDAY]
        return bool(asked and days) and not any(_holds(days, value) for value in asked)

    def _words_in(self, fact: _Fact, parts: Sequence[EvidencePart]) -> float:
        """Return the share of a fact's own terms in the parts that say its numbers, among those that count."""
        held = {t for t in fact.new if any(self._level(part, t) >= NEAR for part in parts)}
        relating = {
            word.term
            for word in subject_words(fact.text)
            if word.is_predicate or word.is_verb or self._is_measure(word)
        }
        counted = {t: self._evidence.weight(t) for t in fact.new if t in held or t not in relating}
        if len(counted) < 2:
            return 1.0
        return sum(counted[term] for term in held) / sum(counted.values())

    # words

    def _of_words(self, fact: _Fact, subject: dict[str, float]) -> Assessment:
        new = {term: self._evidence.weight(term) for term in fact.new or fact.terms}
        known = {term: weight for term, weight in new.items() if self._is_known(term)}
        asked = {term: weight for term, weight in subject.items() if term not in new}
        # A sentence that has some of the question's words says itself what it is about.
        stated = {term for fact in self._facts for term in fact.terms}
        own = {term: weight for term, weight in asked.items() if term in stated}
        asked = own if sum(own.values()) >= _OF_ASKED * sum(asked.values()) else asked
        about = {id(part): self._covered(part, asked) for part in self._whole}
        named = [about[id(part)] for part in self._whole if self._has_codes(part, fact)]
        most = max(named, default=0.0)
        found = [(self._held(part, new), about[id(part)], part) for part in self._whole]
        carrier = max(
            found,
            key=lambda one: one[0] + 0.6 * one[1] + _OF_CITED * (one[2].passage in self._preferred),
            default=None,
        )
        if carrier is None:
            return Assessment(Support.UNSUPPORTED, 0.0)
        held, near, part = carrier
        of_known = self._held(part, known) if known else 0.0
        if self._is_foreign(part) and held < _OF_TERMS:
            return Assessment(Support.FOREIGN, held, (part,))
        is_short = len(fact.new) <= _SHORT
        of_best = _OF_BEST_SHORT if is_short else _OF_BEST
        unknown = sum(len(term) > 1 for term in new if term not in known)
        if is_short and (unknown or not self._is_together(part, known)):
            return Assessment(Support.PARTIAL if held > 0.3 else Support.UNSUPPORTED, held, (part,))
        if (
            not self._has_codes(part, fact)
            or self._misses_name(fact, (part,))
            or self._is_of_another(part, fact)
            or self._replaces(part, fact)
            or self._is_swapped_in(part, fact)
        ):
            return Assessment(Support.PARTIAL, held, (part,))
        if held >= _OF_TERMS and of_known >= _OF_KNOWN and (near >= of_best * most or not fact.new):
            return Assessment(Support.SUPPORTED, held, (part,))
        return Assessment(Support.PARTIAL if held > 0.3 else Support.UNSUPPORTED, held, (part,))

    def _is_together(self, part: EvidencePart, terms: Collection[str]) -> bool:
        """Return whether terms stand in one clause of a part, or in its headings."""
        if not all(self._level(part, term) >= _CLOSE for term in terms):
            return False
        own = [term for term in terms if part.layers[0][1].has(term)]
        return (
            len(own) < 2
            or not part.clauses
            or any(all(c.has(t) for t in own) for c in part.clauses)
        )

    def _is_known(self, term: str) -> bool:
        return self._evidence.is_known(term)

    def _held(self, part: EvidencePart, terms: dict[str, float]) -> float:
        whole = sum(terms.values())
        if not whole:
            return 0.0
        return (
            sum(weight * min(1.0, self._level(part, term) * 1.4) for term, weight in terms.items())
            / whole
        )


@dataclass(frozen=True, slots=True)
class _Change:
    """Words of a statement from `start` to `end`, and as many as `width` from `at` on that stand for them."""

    tag: str
    start: int
    end: int
    at: int
    width: int


def _changes(matcher: SequenceMatcher[str]) -> Iterator[_Change]:
    for tag, start, end, at, until in matcher.get_opcodes():
        yield _Change(tag, start, end, at, until - at)


def _first_number(text: str) -> int:
    """Return where the first number of a text stands; 0 for none."""
    return next((one.start for one in normalise_values(text) if one.value.unit != WEEKDAY), 0)


def _has_subject(clause: Text, new: Collection[str], fact: _Fact) -> bool:
    """Return whether words that a fact does not say stand in a clause ahead of what is new in it."""
    start = min((at for term in new if (at := clause.plain.find(term)) >= 0), default=0)
    return bool(set(terms_of(clause.plain[:start])).difference(fact.terms))


def language_of_sentence(text: str) -> str:
    """Return `zh` or `en`; one Chinese name in an English sentence makes it no Chinese one."""
    if len(_LATIN_WORD.findall(text)) >= _FEW_WORDS and len(_HAN_RUN.findall(text)) == 1:
        return "en"
    return language_of(text)


_LATIN_WORD, _HAN_RUN, _FEW_WORDS = re.compile(r"[A-Za-z]{2,}"), re.compile(f"[{IDEOGRAPHS}]+"), 3


def _competes(value: TextValue, other: TextValue) -> bool:
    """Return whether two values answer the same question differently."""
    return value.dimension == other.dimension and not value.matches(other)


def _of_same_row(one: EvidencePart, other: EvidencePart) -> bool:
    return one.is_row and other.is_row and (one.passage, one.span) == (other.passage, other.span)


def _has_unit(part: EvidencePart, value: TextValue) -> bool:
    return any(
        v.unit == value.unit or value.dimension == v.dimension == "money" for v in part.values
    )


def _holds(values: Sequence[TextValue], asked: TextValue) -> bool:
    """Return whether a value lies among these: one is the same, or two, or one that is a bound, have it between them."""
    if any(asked.matches(value) for value in values):
        return True
    alike = [v for v in values if v.date is None and (v.unit == asked.unit or not v.unit)]
    for low, high in pairwise(alike):
        if low.number <= asked.number <= high.number and low.number < high.number:
            return True
    return any(
        (v.bound == "min" and asked.number >= v.number)
        or (v.bound == "max" and asked.number <= v.number)
        for v in alike
    )


def supporting(evidence: AnswerEvidence, found: Assessment) -> Iterator[tuple[int, SupportedQuote]]:
    """Yield the quotes that support a sentence, one a passage."""
    by_passage: dict[int, list[EvidencePart]] = {}
    for part in found.parts:
        by_passage.setdefault(part.passage, []).append(part)
    foreign = found.support is Support.FOREIGN
    for index, parts in by_passage.items():
        share = min(1.0, found.share if foreign else max(_LEAST_SUPPORT, found.share))
        yield index, evidence.quote(parts[0], parts, share, foreign=foreign)
