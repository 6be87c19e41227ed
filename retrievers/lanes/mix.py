"""The lane of `mix`: words, meaning and a walk over the graph in one ranking of passages."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from domain.retrieval import RetrievedItem
from retrievers.lanes.lane import LaneQuery
from retrievers.lanes.reading import QuestionReader
from retrievers.lanes.surroundings import Surroundings
from retrievers.ranking.mixing import rank

MIX = "mix"


@dataclass(frozen=True, slots=True)
class MixLane:
    """Passages by words, meaning and personalised PageRank (`retrievers.ranking.mixing`).

    With them come the entities that the walk met most, and their relations.
    """

    reader: QuestionReader
    surroundings: Surroundings
    name: str = MIX

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        """Rank the whole scope and return the best passages."""
        reading = await self.reader.read(query)
        if not reading.index.chunk_ids:
            return []
        ranking = await asyncio.to_thread(rank, reading.index.walk, reading.evidence)
        passages, around = await asyncio.gather(
            self.reader.passages(query, reading, ranking),
            self.surroundings.of(query, reading.index, ranking.entities, reading.evidence.named),
        )
        return [*passages, *around]
