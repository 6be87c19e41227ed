"""Rescorers: steps that change the scores of passages once their texts are read.

A mode lists its rescorers (`sextant.retrievers.modes.ModeSpec`). The scores that a rescorer gets and returns lie in 0..1,
whichever lanes and rescorers came before: 1 is the best passage in the scope, which a filter may exclude.

`SentenceMatch` looks for the words of the question within one sentence. BM25 adds up words over a whole passage: "In
which year was the bridge of Arta rebuilt?" is answered by one sentence with the year, the bridge and "rebuilt".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import pairwise
from operator import attrgetter
from typing import Protocol

from sextant.domain.retrieval import LaneScore, RetrievedItem, rescore
from sextant.text.analysis import question_terms, terms


@dataclass(frozen=True, slots=True)
class RescoringQuery:
    """A question for rescorers.

    Attributes:
        text: the question.
        information: returns the idf of a term among the passages.
    """

    text: str
    information: Callable[[str], float]


class Rescorer(Protocol):
    """One step of rescoring."""

    @property
    def name(self) -> str:
        """Return its name in timings and `RetrievedItem.lanes`."""
        ...

    @property
    def candidates(self) -> int:
        """Return the number of passages that it reads, even if fewer are asked for."""
        ...

    def rescore(
        self, query: RescoringQuery, passages: Sequence[RetrievedItem]
    ) -> list[RetrievedItem]:
        """Return the passages in their new order, scores descending, above 0 to 1.

        Args:
            query: the question.
            passages: best first, with their texts, and with scores above 0 to 1.
        """
        ...


RESTATING = "restating"

# A smaller lead is a rounding error.
_MIN_LEAD = 1e-9
# Cheaper than `sextant.text.sentences`, which knows abbreviations.
_SENTENCE_END = re.compile(r"[。！？!?；;\n]|\. ")
_SCORE = attrgetter("score")


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The terms of a question, and its pairs of adjacent terms.

    Attributes:
        terms: term → idf.
        pairs: pair of adjacent terms → idf of the second.
    """

    terms: Mapping[str, float]
    pairs: Mapping[tuple[str, str], float]

    @classmethod
    def of(cls, question: str, information: Callable[[str], float]) -> QuestionTerms:
        """Return the terms of a question; `information` returns the idf of a term."""
        found = question_terms(question)
        weights = {term: information(term) for term in found}
        return cls(weights, {pair: weights[pair[1]] for pair in pairwise(found)})

    def sentence_overlap(self, title: str, text: str) -> float:
        """Return the share of the question's idf in the best sentence of a passage, 0..1.

        Half is for terms, half for pairs of adjacent terms. The terms of the title count for every sentence.
        """
        total = 2 * sum(self.terms.values())
        title_terms = self.terms.keys() & terms(title)
        weights = [self._weight(title_terms, ())]
        for sentence in map(terms, _SENTENCE_END.split(text)):
            found = self.terms.keys() & sentence
            if found:
                weights.append(self._weight(found | title_terms, sentence))
        return max(weights) / total if total else 0.0

    def _weight(self, found: Set[str], sentence: Sequence[str]) -> float:
        pairs = self.pairs.keys() & pairwise(sentence)
        return math.fsum(
            [*(self.terms[term] for term in found), *(self.pairs[pair] for pair in pairs)]
        )


@dataclass(frozen=True, slots=True)
class SentenceMatch:
    """Raises the score of the passage whose best sentence has most of the question, by its lead over the second.

    The lead (0..1) and its weight are told as the lane `restating`.

    Attributes:
        weight: what a lead of 1 adds to a score; the best score is 1.
        candidates: number of passages that it reads, the best ones.
    """

    weight: float = 2.0
    candidates: int = 20
    name: str = RESTATING

    def rescore(
        self, query: RescoringQuery, passages: Sequence[RetrievedItem]
    ) -> list[RetrievedItem]:
        """Return the passages in order after the leader has been raised; the best score is 1 before and after."""
        question = QuestionTerms.of(query.text, query.information)
        read = dict[str, float]()
        for one in passages[: self.candidates]:
            titles = [one.metadata.get("title") or "", *one.metadata.get("section_path", ())]
            read[one.id] = question.sentence_overlap(" ".join(titles), one.text)
        if len(read) < 2:
            return list(passages)
        leader, second = nlargest(2, read, key=read.__getitem__)
        lead = read[leader] - read[second]
        if lead < _MIN_LEAD:
            return list(passages)
        gain = self.weight * lead
        restating = {RESTATING: LaneScore(1, lead, self.weight, gain)}
        scored = [
            replace(one, score=one.score + gain, lanes={**one.lanes, **restating})
            if one.id == leader
            else one
            for one in passages
        ]
        most = max(1.0, *(one.score for one in scored))
        return sorted((rescore(one, one.score / most) for one in scored), key=_SCORE, reverse=True)
