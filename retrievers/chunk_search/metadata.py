"""Ranking chunks by what is known of them beside text and vector (seed 004).

`hybrid = Σ weight · share ÷ Σ weight` over seven signals, each a share of 0..1, then
`final = 0.6 · hybrid + 0.4 · rerank` where a reranker has scored. The seed names weights α to ζ, six
letters for seven signals; the seventh, that of the neighbours, is η here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from domain.documents import Modality
from domain.language.simplified import simplified
from retrievers.chunk_search.weights import MetadataWeights
from retrievers.index.terms import is_pair, terms
from retrievers.lanes.lane import KEYWORD, VECTOR
from retrievers.ranking.decay import age_in_days, time_decay
from retrievers.ranking.normalising import min_max
from stores.chunks.traits import Traits

# Seed 004: "最终得分 = 0.6 * hybrid + 0.4 * rerank".
HYBRID_SHARE, RERANK_SHARE = 0.6, 0.4
HALF_LIFE = 365.0  # days, as in `rank_results`
CONSTANTS = {"hybridShare": HYBRID_SHARE, "rerankShare": RERANK_SHARE, "halfLifeDays": HALF_LIFE}
# Scores are promised to be > 0.
_LEAST_SCORE = 1e-9
# A section's own title says most of what is in it; each level up says less.
_UPWARD = 0.7

_WANTED = {
    Modality.TABLE: re.compile(
        r"表格|列表|清单|一览|[这下上附]表|表\s*\d|\btables?\b", re.IGNORECASE
    ),
    Modality.IMAGE: re.compile(
        r"图片|图像|照片|截图|示意图|流程图|[这下上附]图|图\s*\d|\b(?:images?|figures?|pictures?|photos?|diagrams?)\b",
        re.IGNORECASE,
    ),
}


@dataclass(frozen=True, slots=True)
class Share:
    """What one signal says of a chunk: as it was found, brought to 0..1, and what that is worth.

    `contribution` is its part of the hybrid score; those of all signals sum to it. `rank` is the
    chunk's place in the lane that the signal comes from.
    """

    raw: float
    share: float
    weight: float
    contribution: float
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk by id, its final score, and what each signal said."""

    id: str
    score: float
    signals: Mapping[str, Share]
    hybrid: float
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What the signals need of a question.

    `now` is the moment from which ages count.
    """

    text: str
    now: datetime
    half_life: float = HALF_LIFE
    terms: frozenset[str] = field(init=False)
    _pairs: tuple[str, ...] = field(init=False)
    _words: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Cut the text into terms once."""
        found = frozenset(terms(self.text))
        adjacent = frozenset(term for term in found if is_pair(term))
        object.__setattr__(self, "terms", found)
        object.__setattr__(self, "_pairs", tuple(adjacent))
        object.__setattr__(self, "_words", found - adjacent)

    def among(self, text: str) -> frozenset[str]:
        """The question's terms that are terms of `text`, which is cut only where that is in doubt.

        A pair of ideographs is a term wherever it stands. What a word is stemmed and folded to stands
        in it, too, as long as all is ASCII.
        """
        plain = simplified(text) if self._pairs else text
        held = frozenset(pair for pair in self._pairs if pair in plain)
        if not self._words:
            return held
        lower = text.lower()
        if text.isascii() and not any(word in lower for word in self._words):
            return held
        return held | self._words.intersection(terms(text))


# Of one lane: the chunks that it found with its scores, best first.
Found = Mapping[str, float]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MetadataRanking:
    """Chunks in an order, best first, and how it came about; as arrays, for few of them are shown.

    Attributes:
        ids: the chunks.
        scores: final ones, above 0.
        raw, shares: what each signal said, shape (signals, chunks), signals in the order of
            `MetadataWeights`.
        hybrid: the weighted shares.
        lanes: what the lanes had found.
        reranked: the reranker's shares; None where it did not judge.
    """

    ids: tuple[str, ...]
    scores: Numbers
    raw: Numbers
    shares: Numbers
    hybrid: Numbers
    weights: MetadataWeights
    lanes: Mapping[str, Found]
    reranked: Numbers | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def shown(self, begin: int, end: int) -> list[Ranked]:
        """The chunks of these places, for a reader."""
        ranks = {
            lane: {own: rank for rank, own in enumerate(found, start=1)}
            for lane, found in self.lanes.items()
        }
        weights = asdict(self.weights)
        worth = [(name, weight, weight / sum(weights.values())) for name, weight in weights.items()]
        told = np.stack([self.raw, self.shares])[:, :, begin:end].T.tolist()
        return [self._shown(begin + place, own, worth, ranks) for place, own in enumerate(told)]

    def _shown(
        self,
        place: int,
        told: Sequence[tuple[float, float]],
        worth: Sequence[tuple[str, float, float]],
        ranks: Mapping[str, Mapping[str, int]],
    ) -> Ranked:
        own = self.ids[place]
        signals = {
            name: Share(raw, share, weight, part * share, ranks.get(name, {}).get(own))
            for (raw, share), (name, weight, part) in zip(told, worth, strict=True)
        }
        rerank = None if self.reranked is None else float(self.reranked[place])
        return Ranked(own, float(self.scores[place]), signals, float(self.hybrid[place]), rerank)


def rank_by_metadata(
    question: Question,
    chunks: Sequence[Traits],
    lanes: Mapping[str, Found],
    weights: MetadataWeights,
) -> MetadataRanking:
    """Rank chunks by the seven signals, best first, ties by id.

    Args:
        question: what was asked.
        chunks: what the lanes found, each once.
        lanes: what each lane gave them.
        weights: of the signals.
    """
    raw, shares = _signals(question, chunks, lanes, weights)
    worth = np.array(list(asdict(weights).values()))
    contributions = worth[:, None] * shares / sum(worth.tolist())
    hybrid = np.array([math.fsum(own) for own in contributions.T.tolist()])
    ids = tuple(chunk.id for chunk in chunks)
    return _ordered(MetadataRanking(ids, hybrid, raw, shares, hybrid, weights, lanes))


def with_rerank(ranking: MetadataRanking, scores: Sequence[float]) -> MetadataRanking:
    """The order after a reranker has scored the first: `0.6 · hybrid + 0.4 · rerank`.

    Its scores are brought to 0..1 among those it gave; chunks that it did not read get 0.
    """
    shares = np.zeros(len(ranking))
    shares[: len(scores)] = min_max(scores)
    final = HYBRID_SHARE * ranking.hybrid + RERANK_SHARE * shares
    return _ordered(replace(ranking, scores=final, reranked=shares))


def _ordered(ranking: MetadataRanking) -> MetadataRanking:
    """The same by its scores, which come to lie above 0."""
    ids, scores = ranking.ids, np.maximum(ranking.scores, _LEAST_SCORE)
    key = scores.tolist()
    best_first = sorted(range(len(ids)), key=lambda place: (-key[place], ids[place]))
    order = np.array(best_first, dtype=np.intp)
    return MetadataRanking(
        ids=tuple(ids[place] for place in best_first),
        scores=scores[order],
        raw=ranking.raw[:, order],
        shares=ranking.shares[:, order],
        hybrid=ranking.hybrid[order],
        weights=ranking.weights,
        lanes=ranking.lanes,
        reranked=None if ranking.reranked is None else ranking.reranked[order],
    )


def _signals(
    question: Question,
    chunks: Sequence[Traits],
    lanes: Mapping[str, Found],
    weights: MetadataWeights,
) -> tuple[Numbers, Numbers]:
    """Raw values and shares of each signal, in the order of `MetadataWeights`."""
    cosines, near = _by_vector(chunks, lanes.get(VECTOR, {}))
    counted, words = _by_keyword(chunks, lanes.get(KEYWORD, {}))
    ages, fresh = _by_age(question, chunks)
    hierarchy = _by_titles(question, chunks)
    topic = [topic_share(question, chunk) for chunk in chunks]
    modality = _by_modality(question.text, chunks)
    beside = _by_neighbours(chunks, _found(near, words, weights))
    return (
        np.array([cosines, counted, hierarchy, ages, topic, modality, beside]),
        np.array([near, words, hierarchy, fresh, topic, modality, beside]),
    )


def _by_vector(chunks: Sequence[Traits], found: Found) -> tuple[Numbers, Numbers]:
    """Cosines, the farthest that the lane found at 0; what it did not find has 0, too."""
    raw = np.array([found.get(chunk.id, 0.0) for chunk in chunks])
    there = np.array([chunk.id in found for chunk in chunks], dtype=bool)
    share = np.zeros(len(chunks))
    share[there] = min_max(raw[there])
    return raw, share


def _by_keyword(chunks: Sequence[Traits], found: Found) -> tuple[Numbers, Numbers]:
    """The lane's score as a share of the best: about how many of the keywords found are in it."""
    raw = np.array([found.get(chunk.id, 0.0) for chunk in chunks])
    return raw, raw / (raw.max(initial=0.0) or 1.0)


def _by_age(question: Question, chunks: Sequence[Traits]) -> tuple[list[float], list[float]]:
    """Age in days, and what is left of a whole that halves every half-life."""
    ages = [age_in_days(chunk.created_at, question.now) for chunk in chunks]
    return ages, [time_decay(age, question.half_life) for age in ages]


def _by_titles(question: Question, chunks: Sequence[Traits]) -> list[float]:
    """Chunks of a section have their titles in common."""
    known: dict[tuple[str, ...], float] = {}
    shares = []
    for chunk in chunks:
        titles = tuple(chunk.titles)
        if titles not in known:
            known[titles] = hierarchy_share(question, titles)
        shares.append(known[titles])
    return shares


def hierarchy_share(question: Question, titles: Sequence[str]) -> float:
    """How far a title above a chunk is what the question asks for, 0..1.

    Of each title the share of its terms that the question has, times 0.7 for each level up from the
    section's own; the best of them. The document's title is the topmost.
    """
    return max(
        (_held(question, title) * _UPWARD**level for level, title in enumerate(reversed(titles))),
        default=0.0,
    )


def _held(question: Question, title: str) -> float:
    held = question.among(title)
    return len(held) / len(set(terms(title))) if held else 0.0


def topic_share(question: Question, chunk: Traits) -> float:
    """The share of the question's terms that the chunk's topics, keywords and entities have, 0..1."""
    if not question.terms:
        return 0.0
    return len(question.among(chunk.said)) / len(question.terms)


def _by_modality(question: str, chunks: Sequence[Traits]) -> list[float]:
    """1 for a chunk of the kind that the question asks for, else 0; 1 for all where it asks for none."""
    wanted = {kind for kind, words in _WANTED.items() if words.search(question)}
    return [float(not wanted or chunk.modality in wanted) for chunk in chunks]


def _found(near: Numbers, words: Numbers, weights: MetadataWeights) -> Numbers:
    whole = weights.vector + weights.keyword or 1.0
    found: Numbers = (weights.vector * near + weights.keyword * words) / whole
    return found


def _by_neighbours(chunks: Sequence[Traits], found: Numbers) -> list[float]:
    """Of each, how well the better one of the chunks beside it was found by vector and keywords."""
    worth = {chunk.id: score for chunk, score in zip(chunks, found.tolist(), strict=True)}
    return [max((worth.get(own, 0.0) for own in chunk.neighbours), default=0.0) for chunk in chunks]
