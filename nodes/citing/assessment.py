"""Assess whether passages support a sentence.

A sentence is cut into facts. The numbers of a fact, compared as values, and its terms that the question lacks must stand in
one part of a passage: a clause or a cell of a table. That part must be about the fact's subject at least as much as any
other part with a number of the same kind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.candidates import Sentence, read_sentences
from sextant.models.offline.features import Evidence, load_weights
from sextant.nodes.citing.evidence_index import (
    Assessment,
    EvidenceIndex,
    Support,
)
from sextant.nodes.citing.evidence_part import EvidencePart
from sextant.nodes.citing.support import SupportedQuote
from sextant.nodes.citing.terms import Text, numbers_in, terms_of
from sextant.nodes.citing.value_check import ValueCheck
from sextant.nodes.citing.word_check import OF_ASKED, SHORT
from sextant.text.characters import language_of
from sextant.text.units import TextValue
from sextant.text.values import normalise_values

# The most other sentences or rows between parts that are quoted together.
_BETWEEN = 3
# Sentences of more characters or facts are compared as a whole alone: each fact is checked against all parts.
_LONGEST, _MOST_FACTS = 1_500, 40


class AnswerEvidence(EvidenceIndex):
    """The passages of an answer, which sentences are assessed against."""

    def assess(
        self,
        sentence: str,
        *,
        preferred: Collection[int] = (),
        withheld: Collection[int] = (),
    ) -> Assessment:
        """Return how far the passages support a sentence.

        Args:
            sentence: without markers.
            preferred: indexes of passages that it cites, which are chosen before others that support it.
            withheld: indexes of passages that may not be cited.
        """
        hidden, chosen = frozenset(withheld), frozenset(preferred)
        facts = self.find_facts(sentence) if len(sentence) <= _LONGEST else None
        if facts is None or len(facts) > _MOST_FACTS:
            return self._assess_whole(sentence, hidden)
        if not facts:
            return Assessment(Support.UNSUPPORTED, 0.0)
        found = ValueCheck(self, sentence, facts, hidden, chosen).assess()
        passages = dict.fromkeys(part.passage for part in found.parts)
        if found.support is not Support.SUPPORTED or (
            len(passages) == 1 and chosen.issuperset(passages)
        ):
            return found
        # Cite as few passages as support it, those that the model cites first.
        every = frozenset(range(len(self.items)))
        for few in dict.fromkeys([chosen - hidden, *(frozenset({one}) for one in passages)]):
            if few and (len(passages) > 1 or few == chosen - hidden):
                alone = ValueCheck(self, sentence, facts, every - few, chosen).assess()
                if alone.support is Support.SUPPORTED:
                    return alone
        return found

    def _assess_whole(self, sentence: str, hidden: Collection[int]) -> Assessment:
        """Return how far the passages support a long sentence: supported word for word, or sharing words or numbers."""
        shown = [one for one in self.parts if one.passage not in hidden]
        if same := self.quoted(sentence, shown):
            return Assessment(Support.SUPPORTED, 1.0, same)
        terms, values = terms_of(sentence), numbers_in(sentence)
        shares = any(one.measure(terms, values) for one in shown)
        return Assessment(Support.PARTIAL if shares else Support.UNSUPPORTED, 0.0)

    def is_outdone(self, sentence: str) -> bool:
        """Return whether a bare answer stands in a sentence that answers the question clearly worse than another one.

        A bare answer is a few words or a value, without what the question asks about.
        """
        facts = self.find_facts(sentence)
        words = {term for fact in facts for term in fact.new}
        values = [value for fact in facts for value in fact.values]
        restated = {term for fact in facts for term in fact.terms if self.is_asked(term)}
        is_bare = len(words) <= SHORT and not (words and values)
        if not is_bare or len(restated) >= OF_ASKED * len(self.asked):
            return False
        return self._competitors.outdo(words, values)

    @cached_property
    def _competitors(self) -> Competitors:
        return Competitors(self.question, self.items)

    def denies(self, sentence: str, passages: Collection[int]) -> bool:
        """Return whether these passages contradict a sentence in their language, or lack one of its numbers."""
        others = frozenset(range(len(self.items))).difference(passages)
        if any(self.languages[index] != language_of(sentence) for index in passages):
            return False
        found = self.assess(sentence, withheld=others)
        return found.support is Support.CONTRADICTED or not self.has_numbers(sentence, passages)

    def find_quote(self, passage: int, statement: str) -> SupportedQuote | None:
        """Return the sentence or row of a passage with most of a statement's words and numbers.

        It is None where none has any. Of a passage in another language that shares nothing, it is the whole passage.
        """
        terms, values = terms_of(statement), numbers_in(statement)
        whole = [part for part in self.parts if part.passage == passage and not part.is_clause]
        best = max(whole, key=lambda part: part.measure(terms, values), default=None)
        share = best.measure(terms, values) if best else 0.0
        foreign = self.languages[passage] != language_of(statement)
        if best and share:
            return self.quote(best, [best], share, foreign=foreign)
        item = self.items[passage]
        offset = int(item.metadata.get("start") or 0)
        if foreign and item.text and (terms or values):
            return SupportedQuote(item.text, offset, offset + len(item.text), 0.0, foreign=True)
        return None

    def quote(
        self,
        part: EvidencePart,
        parts: Sequence[EvidencePart],
        share: float,
        *,
        foreign: bool = False,
    ) -> SupportedQuote:
        """Return the span of a passage that holds these parts; where they lie far apart, the span of `part` alone."""
        item = self.items[part.passage]
        offset = int(item.metadata.get("start") or 0)
        start, end = min(one.span[0] for one in parts), max(one.span[1] for one in parts)
        lying = {
            one.span
            for one in self.parts
            if one.passage == part.passage and start <= one.span[0] < end
        }
        if len(lying) > len({one.span for one in parts}) + _BETWEEN:
            start, end = part.span
        return SupportedQuote(item.text[start:end], offset + start, offset + end, share, foreign)


def supporting(evidence: AnswerEvidence, found: Assessment) -> Iterator[tuple[int, SupportedQuote]]:
    """Yield the indexes of passages that support a sentence, each with its quote."""
    by_passage: dict[int, list[EvidencePart]] = {}
    for part in found.parts:
        by_passage.setdefault(part.passage, []).append(part)
    foreign = found.support is Support.FOREIGN
    for index, parts in by_passage.items():
        share = min(1.0, found.share)
        yield index, evidence.quote(parts[0], parts, share, foreign=foreign)


# The difference in score from which one sentence answers clearly better than another. It was fitted so that at most one
# in a hundred right answers is refused (docs/experiments/citing.md).
_MARGIN = 2.25


class Competitors:
    """The sentences and rows of passages, scored by how well they answer a question."""

    def __init__(self, question: str, items: Sequence[RetrievedItem]) -> None:
        self._sentences = read_sentences(question, items)
        evidence = Evidence(question, items, self._sentences, language_of(question))
        self._scores = load_weights().score(evidence.measure_sentences()).tolist()

    def outdo(self, terms: Collection[str], values: Sequence[TextValue]) -> bool:
        """Return whether a sentence without these answers clearly better than all that have most of them.

        Where there are values, only a sentence with another value of their kind is a competitor.
        """
        read = [_Wording(one) for one in self._sentences]
        held = [one.count(terms, values) for one in read]
        most = max(held, default=0)
        holders = [score for score, count in zip(self._scores, held, strict=True) if count == most]
        kinds = {value.dimension for value in values}
        competitors = [
            score
            for score, count, wording in zip(self._scores, held, read, strict=True)
            if count < most and (not kinds or kinds & wording.kinds)
        ]
        return bool(most and competitors) and max(competitors) > max(holders) + _MARGIN


class _Wording:
    """The words and values of a sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self._text = Text(sentence.meaning)
        self._values = [found.value for found in normalise_values(sentence.meaning)]
        self.kinds = {value.dimension for value in self._values}

    def count(self, terms: Collection[str], values: Sequence[TextValue]) -> int:
        """Return how many of some terms and values the sentence has."""
        stated = (any(map(value.matches, self._values)) for value in values)
        return sum(self._text.has(term) > 0.5 for term in terms) + sum(stated)
