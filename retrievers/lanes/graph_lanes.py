"""The lanes of `mix` and `local`: passages by a walk over the graph, each with where every lane put it."""

from __future__ import annotations

import numpy as np

from sextant.domain.retrieval import LEAST_SCORE, ItemKind, LaneScore, RetrievedItem
from sextant.domain.warnings import WarningCode
from sextant.retrievers.arrays import Floats, Places, highest
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery
from sextant.retrievers.lanes.query_context import Hits, QueryContext
from sextant.retrievers.lanes.surroundings import surroundings
from sextant.retrievers.ranking.mix_ranker import GraphRanking

WALK = "walk"

# Orders passages that the walk does not reach, below all that it does.
_RELEVANCE_SHARE = 1e-4


def best_passages(
    query: LaneQuery, context: QueryContext, ranking: GraphRanking, *, by: str = WALK
) -> list[RetrievedItem]:
    """Return the best `query.limit` passages of a ranking, without their texts (`contents`).

    Fewer only when the scope has fewer. The score is the mass relative to the best passage's;
    passages without mass follow, by their fit to the question. `by` names what gave the mass in the
    items' `lanes`.
    """
    passages = len(context.index.chunk_ids)
    cosines = np.zeros(passages, np.float32)
    cosines[context.near.rows] = np.maximum(context.near.cosines, 0)
    scores = ranking.passages / np.float32(ranking.passages.max(initial=0.0) or 1.0)
    scores += _RELEVANCE_SHARE * ranking.relevance + _RELEVANCE_SHARE**2 * cosines
    found = np.arange(passages) if context.allowed is None else np.flatnonzero(context.allowed)
    rows = found[highest(scores[found], query.limit)]
    shares = np.maximum(scores[rows] / np.float32(scores.max(initial=0.0) or 1.0), LEAST_SCORE)
    lanes = {
        by: _rank_rows(ranking.passages, rows),
        KEYWORD: _rank_rows(context.signals.match.scores, rows),
        VECTOR: _rank_rows(cosines, rows),
    }
    ids = context.index.chunk_ids.texts_of(rows)
    return [
        RetrievedItem(
            ItemKind.CHUNK,
            id_,
            "",
            share,
            lanes={lane: placed for lane, placed in zip(lanes, positions, strict=True) if placed},
        )
        for id_, share, *positions in zip(ids, shares.tolist(), *lanes.values(), strict=True)
    ]


def _rank_rows(scores: Floats, rows: Places) -> list[LaneScore | None]:
    """Return the rank from 1 among all scores, and the score, of each of some rows that is above 0."""
    return [
        LaneScore(1 + int(np.count_nonzero(scores > one)), float(one)) if one > 0 else None
        for one in scores[rows]
    ]


MIX = "mix"


def mix_lane(query: LaneQuery, context: QueryContext) -> Hits:
    """Return passages by words, meaning and personalised PageRank (`sextant.retrievers.ranking.mix_ranker`).

    With them come the entities that the walk met most, and their relations.
    """
    with context.spent.on(WALK):
        ranking = context.ranker.rank(context.index.walk, context.signals)
    around = surroundings(context.index, ranking.entities, context.signals.named)
    passages = best_passages(query, context, ranking)
    return Hits(passages, around, ranking.entity_confidence)


LOCAL = "local"


def local_lane(query: LaneQuery, context: QueryContext) -> Hits | None:
    """Return passages by personalised PageRank from the question's entities (`PageRankMixer.rank_from_entities`).

    The entities are those that the question names (titles, names, aliases), or, when it names none,
    those whose names share words with it or whose vectors lie nearest. Without any the walk starts from
    the passages that fit.
    """
    index, named = context.index, context.signals.named
    if not named and index.chunk_ids:
        if not context.named_in_full:
            return None
        if query.keywords:  # one without is told so, and names nothing
            query.warn(WarningCode.ENTITIES_NOT_NAMED)
    with context.spent.on(WALK):
        ranking = context.ranker.rank_from_entities(index.walk, context.signals)
    around = surroundings(index, ranking.entities, named)
    passages = best_passages(query, context, ranking)
    return Hits(passages, around, ranking.entity_confidence)
