"""Order the passages that the lanes found anew, by BM25."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sextant.domain.retrieval import LEAST_SCORE, LaneScore, RetrievedItem
from sextant.retrievers.arrays import Scores, min_max
from sextant.retrievers.ranking.fusion import rrf, rrf_share

BM25_LANE = "bm25"
_FUSED = "fused"


def rerank_linear(
    items: Sequence[RetrievedItem],
    scores: Sequence[float],
    *,
    lane: str,
    lane_weight: float,
    weight: float,
) -> list[RetrievedItem]:
    """Order by `lane_weight · similarity + weight · BM25`, both brought to 0..1 over the items.

    What the lane did not find has a similarity of 0, like the last that it found. Ties keep the
    order given. `lanes` of every item keeps its BM25 score.

    Args:
        items: what was found, best first.
        scores: BM25 of each.
        lane: whose score is the similarity.
        lane_weight: of the lanes' own order.
        weight: of the BM25 score.
    """
    near = lane_weight * _similarities(items, lane)
    weighted = weight * min_max(scores)
    total = near + weighted
    ranks = _ranks(scores)
    ordered = []
    for at in np.argsort(-total, kind="stable").tolist():
        lanes = {
            name: replace(lane_score, contribution=float(near[at]) if name == lane else 0.0)
            for name, lane_score in items[at].lanes.items()
        }
        lanes[BM25_LANE] = LaneScore(ranks[at], scores[at], weight, float(weighted[at]))
        score = max(float(total[at]), LEAST_SCORE)
        ordered.append(replace(items[at], score=score, lanes=lanes))
    return ordered


def rerank_rrf(
    items: Sequence[RetrievedItem],
    scores: Sequence[float],
    *,
    given_weight: float,
    weight: float,
    k: float,
) -> list[RetrievedItem]:
    """Fuse the order given with the order by BM25 by reciprocal ranks: a second RRF.

    Items that hold no word of the question (score 0) have no rank by BM25.
    """
    names = [item.id for item in items]
    lexical = [names[at] for at in _by_score(scores)]
    fused = rrf({_FUSED: names, BM25_LANE: lexical}, {_FUSED: given_weight, BM25_LANE: weight}, k)
    ranks, position = _ranks(scores), {name: at for at, name in enumerate(names)}
    ordered = []
    for name, score in fused:
        at = position[name]
        item, before = items[at], rrf_share(at + 1, given_weight, k)
        lanes = {  # of the first fusion's score each lane gave a part, and of its rank the same part
            lane: replace(
                lane_score, contribution=(lane_score.contribution or 0.0) * before / item.score
            )
            for lane, lane_score in item.lanes.items()
        }
        lanes[BM25_LANE] = LaneScore(ranks[at], scores[at], weight, score - before)
        ordered.append(replace(item, score=max(score, LEAST_SCORE), lanes=lanes))
    return ordered


def _similarities(items: Sequence[RetrievedItem], lane: str) -> Scores:
    shares = np.zeros(len(items))
    found = [at for at, item in enumerate(items) if lane in item.lanes]
    shares[found] = min_max([items[at].lanes[lane].score for at in found])
    return shares


def _by_score(scores: Sequence[float]) -> list[int]:
    """Return places of the scores above 0, best first, ties as given."""
    return [at for at in np.argsort(-np.asarray(scores), kind="stable").tolist() if scores[at] > 0]


def _ranks(scores: Sequence[float]) -> list[int]:
    """Rank of every score; those that are 0 share the one after the last."""
    ranks = {at: rank for rank, at in enumerate(_by_score(scores), start=1)}
    return [ranks.get(at, len(ranks) + 1) for at in range(len(scores))]
