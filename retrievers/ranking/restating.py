"""Whether a sentence of a passage says what the question says, in its words.

The scores of words add up over a whole passage, and a walk leads on to what passages mention. Neither knows whether
the words stand together: "In which year was the bridge of Arta rebuilt?" is answered where one sentence has
the year, the bridge and that it was rebuilt, not where one of them has each.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import TypeVar

from sextant.domain.retrieval import LaneScore, RetrievedItem, rerank_item, rescore
from sextant.retrievers.index.words.lexical import is_pair, question_terms, terms
from sextant.text.simplified import simplify

RESTATING = "restating"
READ = 20
"""Passages that are read for it, the best ones. Of ten, two questions of lihua lack theirs."""

# What the lead of the passage that restates the question counts beside the score of the best, 1: as much as the lead
# of the one that fits best (`sextant.retrievers.ranking.mixing`). Chosen on half of the questions of eight sets, on which it
# loses none among the first two and five; three times puts drcd's right passage first for four more there, and loses
# twowiki one among five.
_LEAD = 2.0
# What the passage that fits best has of the first one's score at least, to stand before it by saying more. Where a walk
# of several hops has led away from it, it has less (0.1 to 0.6 on musique). drcd, of which this is known: MRR 94.5 to
# 95.1, 9 questions won and none lost, half of them on each half; no question of 14 other sets moves. With 0.6 two of
# musique_openie are lost, with 0.75 to 0.8 drcd wins 6.
_CLOSE = 2 / 3
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
class Asked:
    """The words of a question, and which of them stand side by side there.

    Attributes:
        tells: what each term tells.
        starts: how each is written at least: the first letters of a word, whose stem need not stand in a text.
        spelled: what runs of three ideographs tell, as the second of the two terms that they are.
        joined: the same of neighbours of which one at least is a word.
        whole: what all terms tell.
    """

    tells: Mapping[str, float]
    starts: Mapping[str, str]
    spelled: Mapping[str, float]
    joined: Mapping[Neighbours, float]
    whole: float

    @classmethod
    def of(cls, question: str, information: Callable[[str], float]) -> Asked:
        """Read a question; `information`: what a term tells, 0 or more."""
        found = question_terms(question)
        tells = {term: information(term) for term in found}
        beside = dict.fromkeys(pairwise(found))
        runs = [two for two in beside if _is_run(two)]
        return cls(
            tells,
            {term: term if is_pair(term) else term[:_START] for term in tells},
            {first + second[1]: tells[second] for first, second in runs},
            {two: tells[two[1]] for two in beside if not _is_run(two)},
            sum(tells.values()),
        )

    def restated(self, title: str, text: str) -> float:
        """Return how much of the question the best sentence of a passage says, 0..1; what the title says, all of them say.

        Half is for the question's words, half for those that stand beside the same one as there.
        """
        return self.share(_Read(self, title, text).restated(0.0))

    def share(self, said: float) -> float:
        """Of all that the question tells, its words and who stands beside whom."""
        return said / (2 * self.whole) if self.whole else 0.0

    def spelled_in(self, text: str) -> float:
        """Return what the question's runs of ideographs in a text tell."""
        return sum([tells for run, tells in self.spelled.items() if run in text])


class _Read:
    """A passage beside a question: what it may say at most, which is soon known, and what its best sentence says."""

    def __init__(self, asked: Asked, title: str, text: str) -> None:
        self._asked = asked
        self._text = _plain(text)
        self._titled = asked.tells.keys() & set(terms(title))
        self._starts = [
            (term, start) for term, start in asked.starts.items() if start in self._text
        ]
        held = self._titled.union([term for term, _ in self._starts])
        joined = [two for two in asked.joined if held.issuperset(two)]
        beside = asked.spelled_in(self._text) + _sum(asked.joined, joined)
        self.at_most = _sum(asked.tells, held) + beside

    def restated(self, least: float) -> float:
        """Return what the best sentence says; `least` where none says more, so that fewer need be looked at closely."""
        asked, best = self._asked, least
        for sentence in _sentences(self._text):
            held = {term for term, start in self._starts if start in sentence}
            # Words are cut from the few sentences that may say more: `held` has parts of other words, too.
            if 2 * _sum(asked.tells, held | self._titled) <= best:
                continue
            beside = asked.spelled_in(sentence)
            if not all(map(is_pair, held)):
                said = terms(sentence)
                held &= set(said)
                beside += _sum(asked.joined, asked.joined.keys() & set(pairwise(said)))
            best = max(best, _sum(asked.tells, held | self._titled) + beside)
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


def _sum(tells: Mapping[_Key, float], some: Iterable[_Key]) -> float:
    return sum([tells[one] for one in some])


def by_restating(
    asked: Asked, passages: Sequence[RetrievedItem], fits: str | None = None
) -> list[RetrievedItem]:
    """Return the passages in order once the one of the first `READ` that restates the question best has gained by its lead.

    Where several say as much, none gains. Then the passage that `fits` stands before the first, if it comes close to it
    and a sentence of it says more. The best score is 1 at most. What a passage has gained is told as the lane
    `restating`: how much more of the question it says than another, 0..1, with its weight.

    Args:
        asked: the question.
        passages: best first, with their texts; the best has the score 1.
        fits: the passage that fits best by words and meaning, where names lead the walk; None: the walk decides.
    """
    read = {one.id: _Read(asked, _headings(one), one.text) for one in passages[:READ]}
    found = list(passages)
    if len(read) < 2:
        return found
    leader, said = _leader(read)
    if (lead := asked.share(said)) >= _NOTHING:
        found = _gained(found, leader, lead, _LEAD)
    first = found[0]
    best = next((one for one in found if one.id == fits and one.id in read), first)
    if best is first or best.score < _CLOSE * first.score:
        return found
    more = asked.share(read[best.id].restated(0.0) - read[first.id].restated(0.0))
    if more < _NOTHING:
        return found
    return _gained(found, best.id, more, 1 + (first.score - best.score) / more)


def _leader(read: Mapping[str, _Read]) -> tuple[str, float]:
    """Return the passage whose best sentence says most, and how much more than that of any other."""
    best, second, leader = 0.0, 0.0, ""
    # Those that may say most come first: behind two of them the others need not be read.
    for own in sorted(read, key=lambda own: -read[own].at_most):
        if read[own].at_most <= second:
            break
        restated = read[own].restated(second)
        if restated > best:
            best, second, leader = restated, best, own
        else:
            second = max(second, restated)
    return leader, best - second


def _gained(
    passages: Sequence[RetrievedItem], own: str, lead: float, weight: float
) -> list[RetrievedItem]:
    """Return the passages in order once one of them has gained by its lead; the best score is 1 at most."""
    scored = [_told(one, lead, weight) if one.id == own else one for one in passages]
    most = max(1.0, *(one.score for one in scored))
    return sorted((rescore(one, one.score / most) for one in scored), key=_SCORE, reverse=True)


def _told(passage: RetrievedItem, lead: float, weight: float) -> RetrievedItem:
    gain, before = weight * lead, passage.lanes.get(RESTATING)
    whole = gain + ((before.contribution or 0.0) if before is not None else 0.0)
    lanes = {**passage.lanes, RESTATING: LaneScore(1, lead, weight, whole)}
    return rerank_item(passage, passage.score + gain, lanes)


def _headings(passage: RetrievedItem) -> str:
    told = passage.metadata
    return " ".join([told.get("title") or "", *told.get("section_path", ())])
