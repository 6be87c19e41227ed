"""The lane of `mix`: words, meaning and a walk over the graph in one ranking of passages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np

from domain.errors import ConflictError, SextantError
from domain.retrieval import LaneScore, RetrievedItem
from models.protocols import Embedder
from retrievers.lanes import KEYWORD, VECTOR, LaneQuery, as_item
from retrievers.mixing import Evidence, link_strength, rank
from retrievers.relevance import nearest_wanted, nearness
from retrievers.scope_index import ScopeIndex, ScopeIndexes
from retrievers.sparse import Floats
from stores.chunks import ChunkHit, ChunkStore

MIX = "mix"
WALK = "walk"


@dataclass(frozen=True, slots=True)
class _Found:
    """The best passages, best first: rows, mass (the best is 1), and where each lane put them."""

    rows: Sequence[int]
    scores: Sequence[float]
    lanes: Sequence[Mapping[str, LaneScore]]


@dataclass(frozen=True, slots=True)
class MixLane:
    """Passages by words, meaning and personalised PageRank (`retrievers.mixing`).

    The score is the walk's mass relative to the best passage's. Without an embedder that answers,
    words and graph go on alone.
    """

    chunks: ChunkStore
    embedder: Embedder
    indexes: ScopeIndexes
    name: str = MIX

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        """Rank the whole scope and return the best passages."""
        index = await self.indexes.get(query.scope)
        if not index.chunk_ids:
            return []
        cosines = await self._cosines(query, index)
        found = await asyncio.to_thread(_rank, index, query, cosines)
        ids = [index.chunk_ids[row] for row in found.rows]
        stored = {chunk.id: chunk for chunk in await self.chunks.get(query.scope, ids)}
        return [
            replace(as_item(ChunkHit(stored[chunk_id], score)), lanes=lanes)
            for chunk_id, score, lanes in zip(ids, found.scores, found.lanes, strict=True)
            if chunk_id in stored  # deleted since the index was read
        ]

    async def _cosines(self, query: LaneQuery, index: ScopeIndex) -> dict[UUID, float] | None:
        try:
            vector = await self.embedder.embed_query(query.text)
            wanted = nearest_wanted(len(index.chunk_ids))
            hits = await self.chunks.vector_search(query.scope, vector, wanted)
        except ConflictError:
            raise
        except SextantError:
            return None
        return {hit.chunk.id: hit.score for hit in hits}


def _rank(index: ScopeIndex, query: LaneQuery, cosines: Mapping[UUID, float] | None) -> _Found:
    near = None if cosines is None else _near(index, cosines)
    match = index.lexical.match(query.text)
    evidence = Evidence(
        match=match,
        near=near,
        named=_named(index, query.text),
        type_match=index.types.named_by(query.text),
    )
    mass = rank(index.walk, evidence).passages
    rows = _best(mass, query.limit)
    most = float(mass.max(initial=0.0)) or 1.0
    by_words, by_meaning = _ranks(match.scores), _ranks(near) if near is not None else {}
    lanes = [
        {WALK: LaneScore(place, float(mass[row]))}
        | ({KEYWORD: LaneScore(by_words[row], float(match.scores[row]))} if row in by_words else {})
        | (
            {VECTOR: LaneScore(by_meaning[row], (cosines or {})[index.chunk_ids[row]])}
            if row in by_meaning
            else {}
        )
        for place, row in enumerate(rows, start=1)
    ]
    return _Found(rows, [float(mass[row]) / most for row in rows], lanes)


def _near(index: ScopeIndex, cosines: Mapping[UUID, float]) -> Floats:
    known = {index.row_of[key]: value for key, value in cosines.items() if key in index.row_of}
    rows = np.fromiter(known, np.intp, len(known))
    return nearness(rows, np.fromiter(known.values(), np.float32, len(known)), len(index.chunk_ids))


def _named(index: ScopeIndex, question: str) -> dict[int, float]:
    """Entities that the question names, with the strength of each link."""
    named: dict[int, float] = {}
    for match in index.names.find(question):
        strength = link_strength(index.lexical, question[match.start : match.end])
        for entity in match.bearers:
            named[entity] = max(strength, named.get(entity, 0.0))
    return {entity: strength for entity, strength in named.items() if strength > 0}


def _best(scores: Floats, count: int) -> list[int]:
    order = np.argsort(-scores, kind="stable")[:count]
    return [int(row) for row in order if scores[row] > 0]


def _ranks(scores: Floats) -> dict[int, int]:
    """Passage → rank from 1, of those that score at all."""
    return {row: place for place, row in enumerate(_best(scores, len(scores)), start=1)}
