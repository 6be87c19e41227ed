"""The lane of `mix`: words, meaning and a walk over the graph in one ranking of passages."""

from __future__ import annotations

from retrievers.lanes.lane import LaneQuery
from retrievers.lanes.placing import WALK, best_passages
from retrievers.lanes.reading import Hits, Reading
from retrievers.lanes.surroundings import surroundings
from retrievers.ranking.mixing import rank

MIX = "mix"


def by_all(query: LaneQuery, reading: Reading) -> Hits:
    """Passages by words, meaning and personalised PageRank (`retrievers.ranking.mixing`).

    With them come the entities that the walk met most, and their relations.
    """
    with reading.spent.on(WALK):
        ranking = rank(reading.index.walk, reading.evidence)
    around = surroundings(reading.index, ranking.entities, reading.evidence.named)
    passages = best_passages(query, reading, ranking)
    return Hits(passages.items, around, passages.rows)
