"""The lane of `local`: the entities of the question, and the passages about them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.errors import ConflictError, InputError, SextantError
from domain.retrieval import RetrievedItem
from retrievers.lanes.contents import NO_GRAPH_STORE
from retrievers.lanes.lane import LaneQuery
from retrievers.lanes.reading import QuestionReader, Reading, best_passages
from retrievers.lanes.surroundings import surroundings
from retrievers.ranking.mixing import Evidence, rank_around
from stores.graph.protocol import EntityHit, GraphStore

LOCAL = "local"
NO_ENTITY = "问题没有提到知识图谱中的实体，结果按相似度与图谱排序"

_NEAREST = 5
# A name that shares words with the question, or lies near it, is much weaker evidence than the name
# itself: ten times more costs lihua six points.
_BY_WORDS, _BY_MEANING = 0.03, 0.01


@dataclass(frozen=True, slots=True)
class LocalLane:
    """Passages by personalised PageRank from the question's entities (`rank_around`).

    The entities are those that the question names (titles, names, aliases), or, when it names none,
    those whose names share words with it or whose vectors lie nearest.
    """

    reader: QuestionReader
    graph: GraphStore | None
    name: str = LOCAL

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        """Walk from the question's entities; without any, from the passages that fit."""

        def by_name(reading: Reading) -> Reading | list[RetrievedItem]:
            named = reading.evidence.named or not reading.index.chunk_ids
            return _found(query, reading, reading.evidence) if named else reading

        found = await self.reader.ask(query, by_name)
        if not isinstance(found, Reading):
            return found
        evidence = await self._with_nearest(query, found)
        self.reader.look(query.scope)
        if not evidence.named:
            query.warn(NO_ENTITY)
        return await asyncio.to_thread(_found, query, found, evidence)

    async def _with_nearest(self, query: LaneQuery, reading: Reading) -> Evidence:
        if self.graph is None or not len(reading.index.entities):
            return reading.evidence
        try:
            by_words, by_meaning = await asyncio.gather(
                self.graph.entities_by_text(query.scope, query.text, _NEAREST),
                self._by_meaning(query, reading),
            )
        except (InputError, ConflictError):
            raise
        except SextantError:
            query.warn(NO_GRAPH_STORE)
            return reading.evidence
        linked = _linked(reading, by_meaning, _BY_MEANING) | _linked(reading, by_words, _BY_WORDS)
        return replace(reading.evidence, named=linked, fit=None)

    async def _by_meaning(self, query: LaneQuery, reading: Reading) -> list[EntityHit]:
        if self.graph is None or reading.vector is None:
            return []
        return await self.graph.entities_by_vector(query.scope, reading.vector, _NEAREST)


def _found(query: LaneQuery, reading: Reading, evidence: Evidence) -> list[RetrievedItem]:
    ranking = rank_around(reading.index.walk, evidence)
    around = surroundings(reading.index, ranking.entities, evidence.named)
    return [*best_passages(query, reading, ranking), *around]


def _linked(reading: Reading, hits: Sequence[EntityHit], strength: float) -> dict[int, float]:
    """Row of each entity found → strength of its link: `strength` × the search's score, 0..1."""
    found = ((reading.index.entities.row_of(hit.entity.id), hit.score) for hit in hits)
    return {row: strength * score for row, score in found if row is not None and score > 0}
