"""The lane of `mix`: words, meaning and a walk over the graph in one ranking of passages."""

from __future__ import annotations

from sextant.retrievers.lanes.lane import LaneQuery
from sextant.retrievers.lanes.query_context import Hits, QueryContext
from sextant.retrievers.lanes.surroundings import surroundings
from sextant.retrievers.lanes.top_passages import WALK, best_passages

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
