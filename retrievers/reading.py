"""A question held against a knowledge base: what its lanes over the scope's index have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from domain.errors import ConflictError, SextantError
from domain.retrieval import LaneScore, RetrievedItem
from models.protocols import Embedder, Vectors
from retrievers.lanes import KEYWORD, VECTOR, LaneQuery, as_item
from retrievers.mixing import Evidence, Ranking, link_strength
from retrievers.relevance import nearest_wanted, nearness
from retrievers.scope_index import ScopeIndex, ScopeIndexes
from retrievers.sparse import Floats
from stores.chunks import ChunkHit, ChunkStore
from stores.graph.arrays import places_of

WALK = "walk"

# Orders passages that the walk does not reach, below all that it does.
_FIT_SHARE = 1e-4
_LEAST_SCORE = 1e-9
NO_VECTOR = "向量检索失败，使用关键词与图谱检索降级"


@dataclass(frozen=True, slots=True)
class Reading:
    """A scope's index, and what a question shares with it.

    Attributes:
        index: the scope's passages and graph.
        evidence: words, meaning and names that the question shares with them.
        vector: the question's vector; None when no model gave one.
        cosines: similarity of the nearest passages to the centred vector, by row.
    """

    index: ScopeIndex
    evidence: Evidence
    vector: Vectors | None
    cosines: Mapping[int, float]


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
        cosines, similar = None, None
        if vector is not None:
            meanings = self.indexes.meanings(self.embedder)
            centred, similar = await asyncio.gather(
                meanings.centred(vector), meanings.type_similarity(index.types, vector)
            )
            cosines = await self._cosines(query, index, centred)
        evidence = await asyncio.to_thread(_evidence, index, query.text, cosines, similar)
        return Reading(index, evidence, vector, cosines or {})

    async def _vector(self, query: LaneQuery) -> Vectors | None:
        try:
            return await self.embedder.embed_query(query.text)
        except ConflictError:
            raise
        except SextantError:
            query.warn(NO_VECTOR)
            return None

    async def _cosines(
        self, query: LaneQuery, index: ScopeIndex, vector: Vectors
    ) -> dict[int, float] | None:
        try:
            wanted = nearest_wanted(len(index.chunk_ids))
            near = await self.chunks.nearest(query.scope, vector, wanted)
        except ConflictError:
            raise
        except SextantError:
            query.warn(NO_VECTOR)
            return None
        rows = places_of(index.chunk_ids.halves, near.ids)
        found = zip(rows.tolist(), near.cosines.tolist(), strict=True)
        return {row: cosine for row, cosine in found if row >= 0}

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
    cosines: Mapping[int, float] | None,
    type_similarity: Floats | None,
) -> Evidence:
    near = None
    if cosines is not None:
        rows = np.fromiter(cosines, np.intp, len(cosines))
        similar = np.fromiter(cosines.values(), np.float32, len(cosines))
        near = nearness(rows, similar, len(index.chunk_ids))
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
    for row, cosine in reading.cosines.items():
        scores[row] += _FIT_SHARE * _FIT_SHARE * max(cosine, 0.0)
    rows = [int(row) for row in np.argsort(-scores, kind="stable")[:count]]
    words = reading.evidence.match.scores
    by_mass, by_words = _ranks(ranking.passages, rows), _ranks(words, rows)
    by_meaning = {row: rank for rank, row in enumerate(_falling(reading.cosines), start=1)}
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
                    (VECTOR, by_meaning, reading.cosines),
                )
                if row in ranks
            },
        )
        for row in rows
    ]


def _falling(scores: Mapping[int, float]) -> list[int]:
    return sorted(scores, key=lambda row: -scores[row])


def _ranks(scores: Floats, rows: Sequence[int]) -> dict[int, int]:
    """Row → its rank from 1, for those of `rows` that score at all."""
    return {row: 1 + int(np.count_nonzero(scores > scores[row])) for row in rows if scores[row] > 0}
