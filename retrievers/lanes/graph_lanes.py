"""The lanes of `mix` and `local`: passages by a walk over the graph, each with where every lane put it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sextant.domain.retrieval import LEAST_SCORE, ItemKind, LaneScore, RetrievedItem
from sextant.domain.warnings import WarningCode
from sextant.retrievers.index.passages import Near
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery
from sextant.retrievers.lanes.query_context import Hits, QueryContext
from sextant.retrievers.lanes.surroundings import surroundings
from sextant.retrievers.numeric.arrays import (
    Floats,
    Places,
    highest,
    index_among,
    near_highest,
    true_at,
)
from sextant.retrievers.ranking.mix_ranker import GraphRanking

WALK = "walk"

# Orders passages that the walk does not reach, below all that it does.
_RELEVANCE_SHARE = 1e-4
# What counts beside a passage's mass, of 1 at most, is this at most, and some rounding.
_MOST_BESIDE = 1.01 * (_RELEVANCE_SHARE + _RELEVANCE_SHARE**2)
# Up to so many scores are all sorted, also those below the ones asked for.
_FEW = 200
# So many scores are counted faster than sorted, where a passage says little of what common words say.
_MANY = 8192
_NO_COSINE = np.zeros(1, np.float32)


def best_passages(
    query: LaneQuery, context: QueryContext, ranking: GraphRanking, *, by: str = WALK
) -> list[RetrievedItem]:
    """Return the best `query.limit` passages of a ranking, without their texts (`contents`).

    Fewer only when the scope has fewer. The score is the mass relative to the best passage's;
    passages without mass follow, by their fit to the question. `by` names what gave the mass in the
    items' `lanes`.
    """
    rows, shares, positions, among = _best(query.limit, context, ranking)
    words = context.signals.match.scores
    lanes = {
        by: _ranks(ranking.passages[rows], among),
        KEYWORD: _ranks(words[rows], words),
        VECTOR: _ranks_of_nearest(context.near, positions),
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


def _best(
    count: int, context: QueryContext, ranking: GraphRanking
) -> tuple[Places, Floats, Places, Floats]:
    """Return the best, their scores beside the best of all, and their places among the nearest; -1: not among them.

    Only of those whose mass lets them be among the best is reckoned what counts beside it. Last, the masses among
    which they rank: all that exceed one of theirs are there.
    """
    mass = ranking.passages
    leaders = mass if ranking.leading is None else mass.take(ranking.leading)
    most = leaders.max(initial=np.float32(0)) or np.float32(1)
    bound = float(most) * _MOST_BESIDE
    rows = contending(ranking, count, bound, context.allowed)
    scores, positions = _score_rows(rows, most, context.near, ranking)
    best, top, among = highest(scores, count), scores, mass[rows]
    if context.allowed is not None:  # the best of all may not be
        among = mass
        top, _ = _score_rows(near_highest(mass, 1, bound), most, context.near, ranking)
    whole = float(top.max(initial=0.0)) or 1.0
    return rows[best], np.maximum(scores[best] / whole, LEAST_SCORE), positions[best], among


def _score_rows(
    rows: Places, most: np.float32, near: Near, ranking: GraphRanking
) -> tuple[Floats, Places]:
    """Return the scores of some passages, rising, and their places among the nearest."""
    positions = index_among(near.rows, rows)
    scores = ranking.passages[rows] / most
    scores += _RELEVANCE_SHARE * ranking.relevance[rows]
    # A place of -1 is that of the 0 at the end.
    cosines = np.concatenate([np.maximum(near.cosines, 0), _NO_COSINE])
    scores += np.float32(_RELEVANCE_SHARE * _RELEVANCE_SHARE) * cosines[positions]
    return scores, positions


def contending(
    ranking: GraphRanking, count: int, bound: float, allowed: npt.NDArray[np.bool_] | None
) -> Places:
    """Return rows, rising, that may be among the `count` best once up to `bound` is added to their mass.

    Args:
        ranking: the mass of every passage.
        count: how many are wanted.
        bound: the most that anything but mass adds to a score.
        allowed: which passages may be found, shape (passages,); None: all.
    """
    mass, there = ranking.passages, ranking.leading if allowed is None else true_at(allowed)
    if there is None:
        return near_highest(mass, count, bound)
    rows = there[near_highest(mass[there], count, bound)]
    if allowed is None and (len(rows) < count or mass[rows].min() - bound <= ranking.rest):
        return near_highest(mass, count, bound)  # others contend
    return rows


def _ranks(contributions: Floats, scores: Floats) -> list[LaneScore | None]:
    """Return the rank from 1 among all scores, and the score, of each that is above 0."""
    if len(scores) > _FEW:
        scores = scores.take(
            true_at(scores >= contributions[contributions > 0].min(initial=np.inf))
        )
    better = (
        better_of_many(scores, contributions)
        if len(scores) > _MANY
        else better_of_few(scores, contributions)
    )
    return [
        LaneScore(1 + rank, score) if score > 0 else None
        for rank, score in zip(better, contributions.tolist(), strict=True)
    ]


def _ranks_of_nearest(near: Near, positions: Places) -> list[LaneScore | None]:
    """As `_ranks`, by meaning, where only the nearest passages have cosines."""
    if not len(near.rows):
        return [None] * len(positions)
    cosines = near.cosines[positions]
    return [
        LaneScore(1 + rank, cosine) if position >= 0 else None
        for position, rank, cosine in zip(
            positions.tolist(), better_of_few(near.cosines, cosines), cosines.tolist(), strict=True
        )
    ]


def better_of_few(scores: Floats, contributions: Floats) -> list[int]:
    """Return how many of all scores are higher than each of `contributions`, by sorting the scores."""
    found: list[int] = (
        len(scores) - np.sort(scores).searchsorted(contributions, side="right")
    ).tolist()
    return found


def better_of_many(scores: Floats, contributions: Floats) -> list[int]:
    """As `better_of_few`, by counting: of 100,000 scores that takes a tenth of the time of sorting."""
    return [int(np.count_nonzero(scores > one)) for one in contributions]


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
