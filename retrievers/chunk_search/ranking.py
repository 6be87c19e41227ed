"""Ranking chunks by what is known of them beside text and vector (seed 004).

`hybrid = Σ weight · share ÷ Σ weight` over seven signals (`signals.py`), then
`final = 0.6 · hybrid + 0.4 · rerank` where a reranker has scored; weights and shares are settings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from sextant.domain.retrieval import LEAST_SCORE
from sextant.retrievers.chunk_search.signals import Found, Numbers, QuestionSignals, signals_of
from sextant.retrievers.chunk_search.weights import MetadataWeights
from sextant.retrievers.numeric.normalising import min_max
from sextant.stores.chunks.metadata import ChunkMetadata


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

    def shown(self, place: int) -> Share:
        """Return what it says of a chunk."""
        share = float(self.shares[place])
        return Share(float(self.raw[place]), share, self.weight, self.weight * share)


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
        left = 1.0 if self.bm25 is None else 1.0 - self.bm25.weight
        signals = {
            name: Share(raw, share, weight, left * part * share, ranks.get(name, {}).get(own))
            for (raw, share), (name, weight, part) in zip(told, worth, strict=True)
        }
        rerank = None if self.reranked is None else float(self.reranked[place])
        if self.bm25 is not None:
            signals["bm25"] = self.bm25.shown(place)
        return Ranked(own, float(self.scores[place]), signals, float(self.hybrid[place]), rerank)


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
    hybrid = np.array([math.fsum(own) for own in contributions.T.tolist()])
    ids = tuple(chunk.id for chunk in chunks)
    return _sort_ranking(MetadataRanking(ids, hybrid, raw, shares, hybrid, weights, lanes))


def with_rerank(ranking: MetadataRanking, scores: Sequence[float], share: float) -> MetadataRanking:
    """Return the order after a reranker has scored the first: `(1 − share) · hybrid + share · rerank`.

    Its scores are brought to 0..1 among those it gave; chunks that it did not read get 0.

    Args:
        ranking: the order before.
        scores: of its first chunks.
        share: the reranker's, 0..1; 0.4 in seed 004: "最终得分 = 0.6 * hybrid + 0.4 * rerank".
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
    told = BM25Share(raw, min_max(raw) if raw.any() else np.zeros(len(ranking)), share)
    hybrid = (1 - share) * ranking.hybrid + share * told.shares
    return _sort_ranking(replace(ranking, scores=hybrid, hybrid=hybrid, bm25=told))


def _sort_ranking(ranking: MetadataRanking) -> MetadataRanking:
    """Return the ranking in the order of its scores, which are raised above 0."""
    ids, scores = ranking.ids, np.maximum(ranking.scores, LEAST_SCORE)
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
        bm25=None if ranking.bm25 is None else ranking.bm25.ordered(order),
    )
