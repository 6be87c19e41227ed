"""A question held against a knowledge base: what its lanes over the scope's index have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from domain.errors import ConflictError, SextantError
from domain.retrieval import LaneScore, RetrievedItem
from models.protocols import Embedder, Vectors
from retrievers.index.passages import Near
from retrievers.index.scope_index import ScopeIndex, ScopeIndexes
from retrievers.index.sparse import Floats
from retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery, as_item
from retrievers.ranking.mixing import Evidence, Ranking, link_strength
from retrievers.ranking.relevance import highest, nearest_wanted, nearness
from stores.chunks import ChunkHit, ChunkStore
from stores.graph.arrays import places_of

WALK = "walk"

# Orders passages that the walk does not reach, below all that it does.
_FIT_SHARE = 1e-4
_LEAST_SCORE = 1e-9
_NOTHING = Near(np.empty(0, np.intp), np.empty(0, np.float32))
NO_VECTOR = "向量检索失败，使用关键词与图谱检索降级"


@dataclass(frozen=True, slots=True)
class Reading:
    """A scope's index, and what a question shares with it.

    Attributes:
        index: the scope's passages and graph.
        evidence: words, meaning and names that the question shares with them.
        vector: the question's vector; None when no model gave one.
        near: the passages nearest to the centred vector, with cosines; none without vectors.
    """

    index: ScopeIndex
    evidence: Evidence
    vector: Vectors | None
    near: Near


@dataclass(slots=True)
class QuestionReader:
    """Reads one question once for all the lanes that want it; made anew for every search."""

    chunks: ChunkStore
    embedder: Embedder
    indexes: ScopeIndexes
    _reading: asyncio.Task[Reading] | None = field(default=None, init=False)

    async def read(self, query: LaneQuery) -> Reading:
        """Hold the question against the scope as it is now.

        Without a model that answers, words and names go on alone, with a warning.
        """
        if self._reading is None:
            self._reading = asyncio.create_task(self._read(query))
        return await asyncio.shield(self._reading)

    async def _read(self, query: LaneQuery) -> Reading:
        index, vector = await asyncio.gather(self.indexes.get(query.scope), self._vector(query))
        near, similar = None, None
        if vector is not None:
            meanings = self.indexes.meanings(self.embedder)
            centred, similar = await asyncio.gather(
                meanings.centred(vector), meanings.type_similarity(index.types, vector)
            )
            near = await self._near(query, index, centred)
        evidence = await asyncio.to_thread(_evidence, index, query.text, near, similar)
        return Reading(index, evidence, vector, near or _NOTHING)

    async def _vector(self, query: LaneQuery) -> Vectors | None:
        try:
            return await self.embedder.embed_query(query.text)
        except ConflictError:
            raise
        except SextantError:
            query.warn(NO_VECTOR)
            return None

    async def _near(self, query: LaneQuery, index: ScopeIndex, vector: Vectors) -> Near | None:
        wanted = nearest_wanted(len(index.chunk_ids))
        if index.passages.vectors is not None:
            return await asyncio.to_thread(index.passages.nearest, vector, wanted)
        try:
            found = await self.chunks.nearest(query.scope, vector, wanted)
        except ConflictError:
            raise
        except SextantError:
            query.warn(NO_VECTOR)
            return None
        rows = places_of(index.chunk_ids.halves, found.ids).astype(np.intp)
        return Near(rows[rows >= 0], found.cosines[rows >= 0])

    async def passages(
        self,
        query: LaneQuery,
        reading: Reading,
        ranking: Ranking,
        *,
        by: str = WALK,
    ) -> list[RetrievedItem]:
        """The best `query.limit` passages of a ranking; fewer only when the scope has fewer.

        The score is the mass relative to the best passage's; passages without mass follow, by
        their fit to the question. `by` names what gave the mass in the items' `lanes`.
        """
        placed = await asyncio.to_thread(_placed, reading, ranking, query.limit, by)
        ids = [reading.index.chunk_ids[place.row] for place in placed]
        stored = {chunk.id: chunk for chunk in await self.chunks.get(query.scope, ids)}
        return [
            replace(as_item(ChunkHit(stored[chunk_id], place.score)), lanes=place.lanes)
            for chunk_id, place in zip(ids, placed, strict=True)
            if chunk_id in stored  # deleted since the index was read
        ]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A passage of a ranking: its row, its score, and where each lane put it."""

    row: int
    score: float
    lanes: Mapping[str, LaneScore]


def _evidence(
    index: ScopeIndex,
    question: str,
    nearest: Near | None,
    type_similarity: Floats | None,
) -> Evidence:
    near = None
    if nearest is not None:
        near = nearness(nearest.rows, nearest.cosines, len(index.chunk_ids))
    return Evidence(
        match=index.lexical.match(question),
        near=near,
        named=_named(index, question),
        type_match=index.types.named_by(question),
        type_similarity=type_similarity,
    )


def _named(index: ScopeIndex, question: str) -> dict[int, float]:
    """Entities that the question names, with the strength of each link."""
    named: dict[int, float] = {}
    for match in index.names.find(question):
        strength = link_strength(index.lexical, question[match.start : match.end])
        for entity in match.bearers:
            named[entity] = max(strength, named.get(entity, 0.0))
    return {entity: strength for entity, strength in named.items() if strength > 0}


def _placed(reading: Reading, ranking: Ranking, count: int, by: str) -> list[_Placed]:
    mass = ranking.passages / (float(ranking.passages.max(initial=0.0)) or 1.0)
    scores = mass + _FIT_SHARE * ranking.fit
    near, cosines = reading.near.rows, reading.near.cosines
    scores[near] += np.float32(_FIT_SHARE * _FIT_SHARE) * np.maximum(cosines, 0)
    rows = highest(scores, count).tolist()
    words = reading.evidence.match.scores
    by_mass, by_words = _ranks(ranking.passages, rows), _ranks(words, rows)
    wanted = np.flatnonzero(np.isin(near, rows))
    by_meaning = {int(near[place]): int(place) + 1 for place in wanted}
    cosine = {int(near[place]): cosines[place] for place in wanted}
    most = float(scores.max(initial=0.0)) or 1.0
    return [
        _Placed(
            row,
            max(float(scores[row]) / most, _LEAST_SCORE),
            {
                lane: LaneScore(ranks[row], float(own[row]))
                for lane, ranks, own in (
                    (by, by_mass, ranking.passages),
                    (KEYWORD, by_words, words),
                    (VECTOR, by_meaning, cosine),
                )
                if row in ranks
            },
        )
        for row in rows
    ]


def _ranks(scores: Floats, rows: Sequence[int]) -> dict[int, int]:
    """Row → its rank from 1, for those of `rows` that score at all."""
    return {row: 1 + int(np.count_nonzero(scores > scores[row])) for row in rows if scores[row] > 0}
