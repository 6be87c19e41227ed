"""Rescorers: steps that change the scores of passages once their texts are read.

A mode lists its rescorers (`sextant.retrievers.modes.ModeSpec`). Each declares the scale of the scores that it
takes and keeps to, and gets them on it, whichever lanes found the passages and whichever rescorers came before.

`SentenceMatch` reads sentences. The scores of words add up over a whole passage, and a walk leads on to what
passages mention; neither knows whether the words stand together. "In which year was the bridge of Arta rebuilt?"
is answered where one sentence has the year, the bridge and that it was rebuilt, not where one of them has each.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise
from operator import attrgetter
from typing import Protocol, TypeVar

from sextant.domain.retrieval import LaneScore, RetrievedItem, rerank_item, rescore
from sextant.text.analysis import is_pair, question_terms, terms
from sextant.text.characters import simplify


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
# Letters of a word that no other spelling of it (colour, centre, defence) has otherwise.
_START = 3
# Cheaper than `sextant.text.sentences`, which knows abbreviations: a sentence cut in two says a little less.
_STOPS = ("。", "！", "？", "!", "?", "；", ";", ". ")
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff\u0300-\u036f\uff21-\uff5a]")
_ACCENT = re.compile("[\u0300-\u036f]")
_SCORE = attrgetter("score")

Neighbours = tuple[str, str]
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The words of a question, and which of them stand side by side there.

    Attributes:
        tells: what each term tells.
        starts: how each is written at least: the first letters of a word, whose stem need not stand in a text.
        spelled: what runs of three ideographs tell, as the second of the two terms that they are.
        joined: the same of neighbours of which one at least is a word.
        whole: what all terms tell.
        reach: so many times what its terms tell a sentence says at most; 2, unless the question repeats a word.
    """

    tells: Mapping[str, float]
    starts: Mapping[str, str]
    spelled: Mapping[str, float]
    joined: Mapping[Neighbours, float]
    whole: float
    reach: int

    @classmethod
    def of(cls, question: str, information: Callable[[str], float]) -> QuestionTerms:
        """Read a question; `information`: what a term tells, 0 or more."""
        found = question_terms(question)
        weights = {term: information(term) for term in found}
        neighbours = dict.fromkeys(pairwise(found))
        runs = [two for two in neighbours if _is_run(two)]
        return cls(
            weights,
            {term: term if is_pair(term) else term[:_START] for term in weights},
            {first + second[1]: weights[second] for first, second in runs},
            {two: weights[two[1]] for two in neighbours if not _is_run(two)},
            sum(weights.values()),
            1 + max(Counter(second for _, second in neighbours).values(), default=0),
        )

    def sentence_overlap(self, title: str, text: str) -> float:
        """Return how much of the question the best sentence of a passage says, 0..1; what the title says, all of them say.

        Half is for the question's words, half for those that stand beside the same one as there.
        """
        return self.share(_Passage(self, title, text).best_sentence(0.0))

    def share(self, weight: float) -> float:
        """Of all that the question tells, its words and who stands beside whom."""
        return weight / (2 * self.whole) if self.whole else 0.0

    def spelled_in(self, text: str) -> float:
        """Return what the question's runs of ideographs in a text tell."""
        return sum([weight for run, weight in self.spelled.items() if run in text])


class _Passage:
    """A passage beside a question: what it may say at most, which is soon known, and what its best sentence says."""

    def __init__(self, question: QuestionTerms, title: str, text: str) -> None:
        self._question = question
        self._text = _plain(text)
        self._titled = question.tells.keys() & set(terms(title))
        self._starts = [
            (term, start) for term, start in question.starts.items() if start in self._text
        ]
        found = self._titled.union([term for term, _ in self._starts])
        joined = [two for two in question.joined if found.issuperset(two)]
        joint = question.spelled_in(self._text) + _sum(question.joined, joined)
        self.at_most = _sum(question.tells, found) + joint

    def best_sentence(self, least: float) -> float:
        """Return what the best sentence says; `least` where none says more, so that fewer need be looked at closely."""
        question, best = self._question, least
        for sentence in _sentences(self._text):
            found = {term for term, start in self._starts if start in sentence}
            # Words are cut from the few sentences that may say more: `held` has parts of other words, too.
            if question.reach * _sum(question.tells, found | self._titled) <= best:
                continue
            joint = question.spelled_in(sentence)
            if not all(map(is_pair, found)):
                sentence_terms = terms(sentence)
                found &= set(sentence_terms)
                joint += _sum(
                    question.joined, question.joined.keys() & set(pairwise(sentence_terms))
                )
            best = max(best, _sum(question.tells, found | self._titled) + joint)
        return best


def _plain(text: str) -> str:
    """Return the text as terms are written; only what has accents or wide letters is taken apart, which takes long."""
    if text.isascii():
        return text.lower()
    if _ACCENTED.search(text):
        text = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    return simplify(text.lower())


def _sentences(text: str) -> list[str]:
    for stop in _STOPS:
        text = text.replace(stop, "\n")
    return text.split("\n")


def _is_run(two: Neighbours) -> bool:
    first, second = two
    return is_pair(first) and is_pair(second) and first[1] == second[0]


def _sum(weights: Mapping[_Key, float], some: Iterable[_Key]) -> float:
    return sum([weights[one] for one in some])


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
    read = {one.id: _Passage(question, _headings(one), one.text) for one in passages[:candidates]}
    if len(read) < 2:
        return list(passages)
    leader, best = _find_leader(read)
    lead = question.share(best)
    return list(passages) if lead < _NOTHING else _raise_passage(passages, leader, lead, weight)


def _find_leader(read: Mapping[str, _Passage]) -> tuple[str, float]:
    """Return the passage whose best sentence says most, and how much more than that of any other."""
    best, second, leader = 0.0, 0.0, ""
    # Those that may say most come first: behind two of them the others need not be read.
    for id_ in sorted(read, key=lambda id_: -read[id_].at_most):
        if read[id_].at_most <= second:
            break
        sentence = read[id_].best_sentence(second)
        if sentence > best:
            best, second, leader = sentence, best, id_
        else:
            second = max(second, sentence)
    return leader, best - second


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
    return rerank_item(passage, passage.score + gain, lanes)


def _headings(passage: RetrievedItem) -> str:
    metadata = passage.metadata
    return " ".join([metadata.get("title") or "", *metadata.get("section_path", ())])
