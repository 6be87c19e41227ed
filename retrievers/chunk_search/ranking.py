"""Rank chunks by seven signals of 0..1 each: what is known of them beside text and vector, too.

`hybrid = Σ weight · share ÷ Σ weight` over the signals, then `final = 0.6 · hybrid + 0.4 · rerank` where a reranker has
scored; weights and shares are settings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from sextant.domain.documents import Modality
from sextant.domain.retrieval import LEAST_SCORE
from sextant.retrievers.arrays import min_max
from sextant.retrievers.chunk_search.weights import MetadataWeights
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR
from sextant.retrievers.ranking.result_ranker import age_in_days, time_decay
from sextant.stores.chunks.stored import ChunkMetadata
from sextant.text.analysis import is_pair, terms
from sextant.text.characters import simplify

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


# Of one lane: the chunks that it found with its scores, best first.
Found = Mapping[str, float]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QuestionSignals:
    """What the signals need of a question.

    `now` is the moment from which ages count, `half_life` the days after which half of recency is left.
    """

    text: str
    now: datetime
    half_life: float
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
        """Return the question's terms that are terms of `text`, which is cut only where that is in doubt.

        A pair of ideographs is a term wherever it stands. What a word is stemmed and folded to stands
        in it, too, as long as all is ASCII.
        """
        plain = simplify(text) if self._pairs else text
        pairs = frozenset(pair for pair in self._pairs if pair in plain)
        if not self._words:
            return pairs
        lower = text.lower()
        if text.isascii() and not any(word in lower for word in self._words):
            return pairs
        return pairs | self._words.intersection(terms(text))


def signals_of(
    question: QuestionSignals,
    chunks: Sequence[ChunkMetadata],
    lanes: Mapping[str, Found],
    weights: MetadataWeights,
) -> tuple[Numbers, Numbers]:
    """Return raw values and shares of each signal, in the order of `MetadataWeights`."""
    cosines, near = _by_vector(chunks, lanes.get(VECTOR, {}))
    counted, words = _by_keyword(chunks, lanes.get(KEYWORD, {}))
    ages, fresh = _by_age(question, chunks)
    hierarchy = _by_titles(question, chunks)
    topic = [topic_share(question, chunk) for chunk in chunks]
    modality = _by_modality(question.text, chunks)
    neighbours = _by_neighbours(chunks, _lane_scores(near, words, weights))
    return (
        np.array([cosines, counted, hierarchy, ages, topic, modality, neighbours]),
        np.array([near, words, hierarchy, fresh, topic, modality, neighbours]),
    )


def _by_vector(chunks: Sequence[ChunkMetadata], found: Found) -> tuple[Numbers, Numbers]:
    """Return cosines, the farthest that the lane found at 0; what it did not find has 0, too."""
    raw = np.array([found.get(chunk.id, 0.0) for chunk in chunks])
    there = np.array([chunk.id in found for chunk in chunks], dtype=bool)
    share = np.zeros(len(chunks))
    share[there] = min_max(raw[there])
    return raw, share


def _by_keyword(chunks: Sequence[ChunkMetadata], found: Found) -> tuple[Numbers, Numbers]:
    """Return the lane's score as a share of the best: about how many of the keywords found are in it."""
    raw = np.array([found.get(chunk.id, 0.0) for chunk in chunks])
    return raw, raw / (raw.max(initial=0.0) or 1.0)


def _by_age(
    question: QuestionSignals, chunks: Sequence[ChunkMetadata]
) -> tuple[list[float], list[float]]:
    """Return age in days, and what is left of a whole that halves every half-life."""
    ages = [age_in_days(chunk.created_at, question.now) for chunk in chunks]
    return ages, [time_decay(age, question.half_life) for age in ages]


def _by_titles(question: QuestionSignals, chunks: Sequence[ChunkMetadata]) -> list[float]:
    """Return chunks of a section have their titles in common."""
    known: dict[tuple[str, ...], float] = {}
    shares = []
    for chunk in chunks:
        titles = tuple(chunk.titles)
        if titles not in known:
            known[titles] = hierarchy_share(question, titles)
        shares.append(known[titles])
    return shares


def hierarchy_share(question: QuestionSignals, titles: Sequence[str]) -> float:
    """Return how far a title above a chunk is what the question asks for, 0..1.

    Of each title the share of its terms that the question has, times 0.7 for each level up from the
    section's own; the best of them. The document's title is the topmost.
    """
    return max(
        (
            _title_overlap(question, title) * _UPWARD**level
            for level, title in enumerate(reversed(titles))
        ),
        default=0.0,
    )


def _title_overlap(question: QuestionSignals, title: str) -> float:
    found = question.among(title)
    return len(found) / len(set(terms(title))) if found else 0.0


def topic_share(question: QuestionSignals, chunk: ChunkMetadata) -> float:
    """Return the share of the question's terms that the chunk's topics, keywords and entities have, 0..1."""
    if not question.terms:
        return 0.0
    return len(question.among(chunk.labels)) / len(question.terms)


def _by_modality(question: str, chunks: Sequence[ChunkMetadata]) -> list[float]:
    """Return 1 for a chunk of the kind that the question asks for, else 0; 1 for all where it asks for none."""
    wanted = {kind for kind, words in _WANTED.items() if words.search(question)}
    return [float(not wanted or chunk.modality in wanted) for chunk in chunks]


def _lane_scores(near: Numbers, words: Numbers, weights: MetadataWeights) -> Numbers:
    whole = weights.vector + weights.keyword or 1.0
    found: Numbers = (weights.vector * near + weights.keyword * words) / whole
    return found


def _by_neighbours(chunks: Sequence[ChunkMetadata], found: Numbers) -> list[float]:
    """Return how well vector and keywords found the better one of the two chunks beside each chunk."""
    worth = {chunk.id: score for chunk, score in zip(chunks, found.tolist(), strict=True)}
    return [
        max((worth.get(neighbour, 0.0) for neighbour in chunk.neighbours), default=0.0)
        for chunk in chunks
    ]


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
class BM25Share:
    """BM25 of each chunk, the same brought to 0..1, and what part of the score it has."""

    raw: Numbers
    shares: Numbers
    weight: float

    def ordered(self, order: npt.NDArray[np.intp]) -> BM25Share:
        """Return the same for the chunks in another order."""
        return BM25Share(self.raw[order], self.shares[order], self.weight)

    def shown(self, index: int) -> Share:
        """Return what it says of a chunk."""
        share = float(self.shares[index])
        return Share(float(self.raw[index]), share, self.weight, self.weight * share)


@dataclass(frozen=True, slots=True)
class MetadataRanking:
    """Chunks in an order, best first, and how it came about; as arrays, for few of them are shown.

    Attributes:
        ids: the chunks.
        scores: final ones, above 0.
        raw, shares: what each signal said, shape (signals, chunks), signals in the order of
            `MetadataWeights`.
        hybrid: the weighted shares, that of BM25 among them.
        lanes: what the lanes had found.
        reranked: the reranker's shares; None where it did not judge.
        bm25: what BM25 said; None where it was not asked.
    """

    ids: tuple[str, ...]
    scores: Numbers
    raw: Numbers
    shares: Numbers
    hybrid: Numbers
    weights: MetadataWeights
    lanes: Mapping[str, Found]
    reranked: Numbers | None = None
    bm25: BM25Share | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def shown(self, begin: int, end: int) -> list[Ranked]:
        """Return the chunks of these places, for a reader."""
        ranks = {
            lane: {id_: rank for rank, id_ in enumerate(found, start=1)}
            for lane, found in self.lanes.items()
        }
        weights = asdict(self.weights)
        worth = [(name, weight, weight / sum(weights.values())) for name, weight in weights.items()]
        rows = np.stack([self.raw, self.shares])[:, :, begin:end].T.tolist()
        return [self._shown(begin + index, id_, worth, ranks) for index, id_ in enumerate(rows)]

    def _shown(
        self,
        index: int,
        raw_signals: Sequence[tuple[float, float]],
        worth: Sequence[tuple[str, float, float]],
        ranks: Mapping[str, Mapping[str, int]],
    ) -> Ranked:
        id_ = self.ids[index]
        left = 1.0 if self.bm25 is None else 1.0 - self.bm25.weight
        signals = {
            name: Share(raw, share, weight, left * part * share, ranks.get(name, {}).get(id_))
            for (raw, share), (name, weight, part) in zip(raw_signals, worth, strict=True)
        }
        rerank = None if self.reranked is None else float(self.reranked[index])
        if self.bm25 is not None:
            signals["bm25"] = self.bm25.shown(index)
        return Ranked(id_, float(self.scores[index]), signals, float(self.hybrid[index]), rerank)


def rank_by_metadata(
    question: QuestionSignals,
    chunks: Sequence[ChunkMetadata],
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
    raw, shares = signals_of(question, chunks, lanes, weights)
    worth = np.array(list(asdict(weights).values()))
    contributions = worth[:, None] * shares / sum(worth.tolist())
    hybrid = np.array([math.fsum(column) for column in contributions.T.tolist()])
    ids = tuple(chunk.id for chunk in chunks)
    return _sort_ranking(MetadataRanking(ids, hybrid, raw, shares, hybrid, weights, lanes))


def with_rerank(ranking: MetadataRanking, scores: Sequence[float], share: float) -> MetadataRanking:
    """Return the order after a reranker has scored the first: `(1 − share) · hybrid + share · rerank`.

    Its scores are brought to 0..1 among those it gave; chunks that it did not read get 0.

    Args:
        ranking: the order before.
        scores: of its first chunks.
        share: the reranker's, 0..1; "最终得分 = 0.6 * hybrid + 0.4 * rerank".
    """
    shares = np.zeros(len(ranking))
    shares[: len(scores)] = min_max(scores)
    final = (1 - share) * ranking.hybrid + share * shares
    return _sort_ranking(replace(ranking, scores=final, reranked=shares))


def with_bm25(ranking: MetadataRanking, scores: Sequence[float], share: float) -> MetadataRanking:
    """Return the order by BM25, too: `(1 − share) · signals + share · BM25`, the latter brought to 0..1.

    Args:
        ranking: the order before.
        scores: BM25 of each of its chunks, in order.
        share: that of BM25, 0..1.
    """
    if not len(ranking):
        return ranking
    raw = np.asarray(scores, np.float64)
    bm25_share = BM25Share(raw, min_max(raw) if raw.any() else np.zeros(len(ranking)), share)
    hybrid = (1 - share) * ranking.hybrid + share * bm25_share.shares
    return _sort_ranking(replace(ranking, scores=hybrid, hybrid=hybrid, bm25=bm25_share))


def _sort_ranking(ranking: MetadataRanking) -> MetadataRanking:
    """Return the ranking in the order of its scores, which are raised above 0."""
    ids, scores = ranking.ids, np.maximum(ranking.scores, LEAST_SCORE)
    key = scores.tolist()
    best_first = sorted(range(len(ids)), key=lambda index: (-key[index], ids[index]))
    order = np.array(best_first, dtype=np.intp)
    return MetadataRanking(
        ids=tuple(ids[index] for index in best_first),
        scores=scores[order],
        raw=ranking.raw[:, order],
        shares=ranking.shares[:, order],
        hybrid=ranking.hybrid[order],
        weights=ranking.weights,
        lanes=ranking.lanes,
        reranked=None if ranking.reranked is None else ranking.reranked[order],
        bm25=None if ranking.bm25 is None else ranking.bm25.ordered(order),
    )
