"""The lane of `mix`: words, meaning and a walk over the graph in one ranking of passages."""

from __future__ import annotations

from sextant.retrievers.lanes.lane import LaneQuery
from sextant.retrievers.lanes.placing import WALK, best_passages
from sextant.retrievers.lanes.reading import Hits, Reading
from sextant.retrievers.lanes.surroundings import surroundings
from sextant.retrievers.ranking.mixing import rank

MIX = "mix"
# From here on the names of a question may lead the walk away from what fits by words and meaning. Below, it but spreads
# what fits, and tells as well which passage comes first: of the questions that `by_restating` would decide otherwise
# six would be won and six lost.
_NAMES_LEAD = 1 / 3


def by_all(query: LaneQuery, reading: Reading) -> Hits:
    """Return passages by words, meaning and personalised PageRank (`sextant.retrievers.ranking.mixing`).

    With them come the entities that the walk met most, and their relations.
    """
    with reading.spent.on(WALK):
        ranking = rank(reading.index.walk, reading.evidence)
    around = surroundings(reading.index, ranking.entities, reading.evidence.named)
    passages = best_passages(query, reading, ranking)
    fits = None
    if passages.rows and ranking.trust >= _NAMES_LEAD:
        fits = max(passages.rows, key=lambda own: ranking.fit[passages.rows[own]])
    return Hits(passages.items, around, passages.rows, fits)
