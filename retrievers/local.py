"""The lane of `local`: the entities of the question, and the passages about them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from domain.errors import ConflictError, InputError, SextantError
from domain.retrieval import RetrievedItem
from retrievers.lanes import LaneQuery
from retrievers.mixing import Evidence, rank_around
from retrievers.reading import QuestionReader, Reading
from retrievers.surroundings import NO_GRAPH_STORE, Surroundings
from stores.graph.protocol import EntityHit, GraphStore

LOCAL = "local"
NO_ENTITY = "问题没有提到知识图谱中的实体，结果按相似度排序"

_NEAREST = 5
# How far passages are trusted that no entity of the question led to.
_UNNAMED_TRUST = 0.05
# A name that shares words with the question, or lies near it, is weaker evidence than the name itself.
_NEAR_STRENGTH = 0.5


@dataclass(frozen=True, slots=True)
class LocalLane:
    """Passages by personalised PageRank from the question's entities alone (`rank_around`).

    The entities are those that the question names (titles, names, aliases), or, when it names none,
    those whose names share words with it or whose vectors lie nearest. Scores are scaled by how far
    the link from question to entity is to be trusted.
    """

    reader: QuestionReader
    surroundings: Surroundings
    graph: GraphStore | None
    name: str = LOCAL

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        """Walk from the question's entities; without any, passages come by similarity alone."""
        reading = await self.reader.read(query)
        if not reading.index.chunk_ids:
            return []
        evidence = reading.evidence
        if not evidence.named:
            evidence = await self._with_nearest(query, reading)
        trust = max(evidence.named.values(), default=_UNNAMED_TRUST)
        if not evidence.named:
            query.warn(NO_ENTITY)
        ranking = await asyncio.to_thread(rank_around, reading.index.walk, evidence)
        passages, around = await asyncio.gather(
            self.reader.passages(query, reading, ranking, trust=trust),
            self.surroundings.of(query, reading.index, ranking.entities, evidence.named),
        )
        return [*passages, *around]

    async def _with_nearest(self, query: LaneQuery, reading: Reading) -> Evidence:
        if self.graph is None or not len(reading.index.entities):
            return reading.evidence
        searches = [self.graph.entities_by_text(query.scope, query.text, _NEAREST)]
        if reading.vector is not None:
            searches.append(self.graph.entities_by_vector(query.scope, reading.vector, _NEAREST))
        try:
            found = await asyncio.gather(*searches)
        except (InputError, ConflictError):
            raise
        except SextantError:
            query.warn(NO_GRAPH_STORE)
            return reading.evidence
        return replace(reading.evidence, named=_linked(reading, found))


def _linked(reading: Reading, searches: list[list[EntityHit]]) -> dict[int, float]:
    """Row of each entity found → strength of its link: the search's score relative to its best."""
    linked: dict[int, float] = {}
    for hits in searches:
        best = max((hit.score for hit in hits), default=0.0)
        for hit in hits:
            row = reading.index.entities.row_of(hit.entity.id)
            if row is not None and hit.score > 0:
                strength = _NEAR_STRENGTH * hit.score / best
                linked[row] = max(strength, linked.get(row, 0.0))
    return linked
