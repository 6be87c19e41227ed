"""Run the lanes of chunk search and rank what they found: by metadata, BM25 and a reranker."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sextant.domain.errors import SextantError
from sextant.domain.settings import Settings
from sextant.domain.telemetry import milliseconds_since
from sextant.domain.warnings import CodedWarning, WarningCode, distinct
from sextant.models.protocols import Reranker
from sextant.retrievers.arrays import BM25
from sextant.retrievers.chunk_search.ranking import (
    ChunkQuestion,
    MetadataRanking,
    RankedChunk,
    rank_by_metadata,
    with_rerank,
)
from sextant.retrievers.chunk_search.weights import MetadataWeights
from sextant.retrievers.cursor import Position
from sextant.retrievers.hybrid_retriever.bm25 import BM25Index, BM25Indexes
from sextant.retrievers.lanes.lane import Lane, LaneQuery, log_failures, run_lanes
from sextant.retrievers.lanes.warnings import require_one, warn_of_failures
from sextant.retrievers.ranking.reranking import RerankLimits, judge
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import read_metadata
from sextant.stores.postgresql.database import Database
from sextant.stores.rows import ScopeRows

logger = logging.getLogger(__name__)

# Seconds that a search waits for a BM25 index that is not built yet.
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class ChunkRanking:
    """All chunks that a search found, best first, with its warnings and timings; some 0.3 KB a chunk."""

    chunks: MetadataRanking
    warnings: tuple[CodedWarning, ...]
    timings: Mapping[str, float]

    def __len__(self) -> int:
        return len(self.chunks)

    def page(self, position: Position | None, limit: int) -> tuple[list[RankedChunk], bool]:
        """Return the first `limit` chunks after a position, and whether there are more."""
        ids, scores = self.chunks.ids, self.chunks.scores.tolist()
        begin = 0 if position is None else position.end_in(ids, scores)
        return self.chunks.chunks(begin, begin + limit), len(self) > begin + limit


class ChunkRanker:
    """Runs the lanes and ranks what they found.

    Args:
        database: where the chunks are.
        lanes: only the ids and scores of their hits are used.
        reranker: has its share of the score; None: the hybrid score is final.
        settings: constants.
    """

    def __init__(
        self,
        database: Database,
        lanes: Sequence[Lane],
        reranker: Reranker | None,
        settings: Settings,
    ) -> None:
        self._database = database
        self._bm25 = BM25Indexes(settings.retrieval.bm25_memory)
        self._chunks = ChunkStore(database)
        self._lanes = lanes
        self._reranker = reranker
        self._settings, self._options = settings.retrieval, settings.chunk_search

    async def rank(
        self,
        query: LaneQuery,
        weights: MetadataWeights,
        now: datetime,
        *,
        rerank: bool,
        bm25_rerank: bool,
    ) -> ChunkRanking:
        """Return every chunk that a lane found, ranked by metadata, and by BM25 and the reranker if they are on and work.

        Raises:
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: every lane failed; carries each cause.
        """
        settings = self._settings
        runs, index = await asyncio.gather(
            run_lanes(self._lanes, query, settings.lane_timeout),
            self._index(query, wanted=bm25_rerank),
        )
        await require_one(runs, self._database)
        if not query.keywords:
            query.warn(WarningCode.KEYWORDS_MISSING)
        timings = {run.name: run.milliseconds for run in runs}
        started = time.perf_counter()
        ids = list(dict.fromkeys(hit.id for run in runs for hit in run.hits))
        chunks = await read_metadata(self._database, query.scope, ids) if ids else []
        question = ChunkQuestion(query.text, now, self._options.half_life)
        bm25: tuple[list[float], float] | None = None
        if index is not None:
            formula = BM25(settings.bm25_k1, settings.bm25_b)
            whole = settings.bm25_vector_weight + settings.bm25_weight
            share = settings.bm25_weight / whole if whole else 0.0
            bm25 = index.score(query.text, [chunk.id for chunk in chunks], formula), share
        scores = {
            run.name: {hit.id: hit.score for hit in run.hits} for run in runs if not run.error
        }
        ranking = rank_by_metadata(question, chunks, scores, weights, bm25)
        timings["ranking"] = milliseconds_since(started)
        if rerank and self._reranker is not None:
            started = time.perf_counter()
            limits = RerankLimits.of(settings)
            first = [UUID(id_) for id_ in ranking.ids[: limits.pairs]]
            there = {chunk.id: chunk.text for chunk in await self._chunks.get(query.scope, first)}
            texts = [there.get(id_, "") for id_ in first]
            judgement = await judge(self._reranker, query.text, texts, limits)
            if judgement.scores:
                ranking = with_rerank(ranking, judgement.scores, self._options.rerank_share)
            elif judgement.warning:
                query.note(judgement.warning)
            timings["rerank"] = milliseconds_since(started)
        warnings = distinct([*warn_of_failures(runs), *query.warnings])
        return ChunkRanking(ranking, tuple(warnings), timings)

    async def _index(self, query: LaneQuery, *, wanted: bool) -> BM25Index | None:
        """Return the BM25 index of the knowledge base; None, and a warning, if it is not ready in time or fails."""
        if not wanted:
            return None
        rows = ScopeRows(self._database, query.scope, query.scope.user_id)
        try:
            return await asyncio.wait_for(self._bm25.get(rows), _PATIENCE)
        except TimeoutError:
            query.warn(WarningCode.BM25_BUILDING)
        except SextantError as error:
            query.warn(WarningCode.BM25_FAILED)
            log_failures({"bm25": error})
        return None
