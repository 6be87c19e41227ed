"""The lane of `mix`: words, meaning and a walk over the graph in one ranking of passages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from domain.retrieval import RetrievedItem
from retrievers.lanes.lane import LaneQuery
from retrievers.lanes.reading import QuestionReader, Reading, best_passages
from retrievers.lanes.surroundings import surroundings
from retrievers.ranking.mixing import rank

MIX = "mix"


@dataclass(frozen=True, slots=True)
class MixLane:
    """Passages by words, meaning and personalised PageRank (`retrievers.ranking.mixing`).

    With them come the entities that the walk met most, and their relations.
    """

    reader: QuestionReader
    name: str = MIX

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        """Rank the whole scope and return the best passages."""
        return await self.reader.ask(query, partial(_found, query))


def _found(query: LaneQuery, reading: Reading) -> list[RetrievedItem]:
    ranking = rank(reading.index.walk, reading.evidence)
    around = surroundings(reading.index, ranking.entities, reading.evidence.named)
    return [*best_passages(query, reading, ranking), *around]
