"""Ordering the best passages anew by a model that reads question and passage together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from domain.retrieval import LaneScore, RetrievedItem
from models.protocols import Reranker

RERANK = "rerank"

# The worst of the reranked still ranks above all that were not.
_LOWEST = 0.5


async def rerank(
    reranker: Reranker, question: str, items: Sequence[RetrievedItem], count: int
) -> list[RetrievedItem]:
    """Put the first `count` items into the reranker's order; the others follow as they were.

    Scores become 1 for the best down to a half for the last one reranked, and less for the rest;
    `lanes` keeps the model's own score.

    Raises:
        ModelUnavailable: the reranker gives no scores.
    """
    head, tail = items[:count], items[count:]
    scores = await reranker.score(question, [item.text for item in head])
    order = sorted(range(len(head)), key=lambda place: (-scores[place], place))
    best, worst = max(scores, default=0.0), min(scores, default=0.0)
    reach = (best - worst) or 1.0
    first = [
        replace(
            head[place],
            score=_LOWEST + (1 - _LOWEST) * (scores[place] - worst) / reach,
            lanes={**head[place].lanes, RERANK: LaneScore(rank, scores[place])},
        )
        for rank, place in enumerate(order, start=1)
    ]
    above = tail[0].score if tail else 1.0
    return [*first, *(replace(item, score=_LOWEST * item.score / above / 2) for item in tail)]
