"""Rescorers: steps that change the scores of passages once their texts are read.

A mode lists its rescorers (`sextant.retrievers.modes.ModeSpec`). Each declares the scale of the scores that it
takes and keeps to, and gets them on it, whichever lanes found the passages and whichever rescorers came before.

`SentenceMatch` reads sentences. The scores of words add up over a whole passage, and a walk leads on to what
passages mention; neither knows whether the words stand together. "In which year was the bridge of Arta rebuilt?"
is answered where one sentence has the year, the bridge and that it was rebuilt, not where one of them has each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum, auto
from heapq import nlargest
from itertools import pairwise
from operator import attrgetter
from typing import Protocol

from sextant.domain.retrieval import LaneScore, RetrievedItem, rescore
from sextant.text.analysis import question_terms, terms


class ScoreScale(Enum):
    """The scale of scores, all above 0."""

    SHARE_OF_BEST = (
        auto()
    )  # up to 1, the score of the best in the scope, which a filter may keep out
    AS_RANKED = auto()  # any; only their order says something


@dataclass(frozen=True, slots=True)
class RescoringQuery:
    """What rescorers know of a question.

    Attributes:
        text: the question.
        information: how much a term of it tells among the passages, 0 or more.
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
    def scale(self) -> ScoreScale:
        """Return the scale of the scores that it takes."""
        ...

    @property
    def candidates(self) -> int:
        """Return how many passages it wants to read at least, however few are asked for."""
        ...

    def rescore(
        self, query: RescoringQuery, passages: Sequence[RetrievedItem]
    ) -> list[RetrievedItem]:
        """Return the passages in their new order, scores descending and above 0.

        Args:
            query: the question.
            passages: best first, with their texts, and with scores on `scale`.
        """
        ...


def run_rescorer(
    rescorer: Rescorer,
    query: RescoringQuery,
    passages: Sequence[RetrievedItem],
    scale: ScoreScale = ScoreScale.AS_RANKED,
) -> list[RetrievedItem]:
    """Run one rescorer over passages, best first, whose scores are on `scale`."""
    if rescorer.scale is ScoreScale.SHARE_OF_BEST and scale is not rescorer.scale and passages:
        best = passages[0].score
        passages = [rescore(one, one.score / best) for one in passages]
    return rescorer.rescore(query, passages)


RESTATING = "restating"

# Sums of the same numbers in another order differ by less.
_NOTHING = 1e-9
# Cheaper than `sextant.text.sentences`, which knows abbreviations: a sentence cut in two says a little less.
_SENTENCE_END = re.compile(r"[。！？!?；;\n]|\. ")
_SCORE = attrgetter("score")


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The words of a question, and which of them stand side by side there.

    Attributes:
        tells: what each term tells.
        neighbours: what terms that stand side by side tell, as the second of them.
    """

    tells: Mapping[str, float]
    neighbours: Mapping[tuple[str, str], float]

    @classmethod
    def of(cls, question: str, information: Callable[[str], float]) -> QuestionTerms:
        """Read a question; `information`: what a term tells, 0 or more."""
        found = question_terms(question)
        tells = {term: information(term) for term in found}
        return cls(tells, {two: tells[two[1]] for two in pairwise(found)})

    def sentence_overlap(self, title: str, text: str) -> float:
        """Return how much of the question the best sentence of a passage says, 0..1; what the title says, all of them say.

        Half is for the question's words, half for those that stand beside the same one as there.
        """
        whole = 2 * sum(self.tells.values())
        titled = set(terms(title))
        sentences = map(terms, _SENTENCE_END.split(text))
        return max(self._said(one, titled) for one in sentences) / whole if whole else 0.0

    def _said(self, sentence: Sequence[str], titled: Set[str]) -> float:
        words = self.tells.keys() & (titled | set(sentence))
        neighbours = self.neighbours.keys() & set(pairwise(sentence))
        return math.fsum(
            [*map(self.tells.__getitem__, words), *map(self.neighbours.__getitem__, neighbours)]
        )


@dataclass(frozen=True, slots=True)
class SentenceMatch:
    """Raises the passage with the sentence that says most of the question, by how far it leads there.

    Where several say as much, none gains. What a passage has gained is told as the lane `restating`: how much
    more of the question it says than another, 0..1, with its weight.

    Attributes:
        weight: what a lead of 1 adds to a score, where the best has 1.
        candidates: number of passages that are read, the best ones.
    """

    weight: float = 2.0
    candidates: int = 20
    name: str = RESTATING
    scale: ScoreScale = ScoreScale.SHARE_OF_BEST

    def rescore(
        self, query: RescoringQuery, passages: Sequence[RetrievedItem]
    ) -> list[RetrievedItem]:
        """Return the passages in order once the one whose best sentence says most of the question has gained."""
        question = QuestionTerms.of(query.text, query.information)
        return boost_sentence_match(question, passages, self.weight, self.candidates)


def boost_sentence_match(
    question: QuestionTerms, passages: Sequence[RetrievedItem], weight: float, candidates: int
) -> list[RetrievedItem]:
    """Return the passages as `SentenceMatch` orders them; the best has the score 1, and has it again."""
    read = {
        one.id: question.sentence_overlap(_headings(one), one.text) for one in passages[:candidates]
    }
    if len(read) < 2:
        return list(passages)
    leader, second = nlargest(2, read, key=read.__getitem__)
    lead = read[leader] - read[second]
    return list(passages) if lead < _NOTHING else _raise_passage(passages, leader, lead, weight)


def _raise_passage(
    passages: Sequence[RetrievedItem], id_: str, lead: float, weight: float
) -> list[RetrievedItem]:
    """Return the passages in order once one of them has gained by its lead; the best score is 1 at most."""
    scored = [_boost_passage(one, lead, weight) if one.id == id_ else one for one in passages]
    most = max(1.0, *(one.score for one in scored))
    return sorted((rescore(one, one.score / most) for one in scored), key=_SCORE, reverse=True)


def _boost_passage(passage: RetrievedItem, lead: float, weight: float) -> RetrievedItem:
    gain = weight * lead
    lanes = {**passage.lanes, RESTATING: LaneScore(1, lead, weight, gain)}
    return replace(passage, score=passage.score + gain, lanes=lanes)


def _headings(passage: RetrievedItem) -> str:
    metadata = passage.metadata
    return " ".join([metadata.get("title") or "", *metadata.get("section_path", ())])
