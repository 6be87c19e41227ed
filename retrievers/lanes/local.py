"""The lane of `local`: the entities of the question, and the passages about them."""

from __future__ import annotations

from sextant.retrievers.lanes.lane import LaneQuery
from sextant.retrievers.lanes.query_context import Hits, QueryContext
from sextant.retrievers.lanes.surroundings import surroundings
from sextant.retrievers.lanes.top_passages import WALK, best_passages

LOCAL = "local"
NO_ENTITY = {
    "zh": "问题没有提到知识图谱中的实体，结果按相似度与图谱排序",
    "en": "The question names no entity of the graph, so results are by meaning and the graph.",
}


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
            query.warn(NO_ENTITY)
    with context.spent.on(WALK):
        ranking = context.ranker.rank_from_entities(index.walk, context.signals)
    around = surroundings(index, ranking.entities, named)
    passages = best_passages(query, context, ranking)
    return Hits(passages, around, ranking.entity_confidence)
