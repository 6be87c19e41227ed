"""One ranking of the chunks that the lanes found: by seven signals, then the reranker's share."""

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
    Found,
    MetadataRanking,
    QuestionSignals,
    Ranked,
    rank_by_metadata,
    with_bm25,
    with_rerank,
)
from sextant.retrievers.chunk_search.weights import MetadataWeights
from sextant.retrievers.cursor import Position
from sextant.retrievers.hybrid_retriever.bm25 import BM25Index, BM25Indexes
from sextant.retrievers.lanes.lane import Lane, LaneQuery, LaneRun, run_lanes
from sextant.retrievers.lanes.warnings import (
    log_failures,
    require_one_of,
    warn_of_failures,
)
from sextant.retrievers.ranking.reranking import RerankLimits, judge
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import ChunkMetadata, read_metadata
from sextant.stores.postgresql.database import Database
from sextant.stores.rows import ScopeRows

logger = logging.getLogger(__name__)

# Seconds that a search waits for an index that is not built yet.
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class ChunkRanking:
    """All chunks that a search found, best first, and how it went: some 0.3 KB a chunk."""

    found: MetadataRanking
    warnings: tuple[CodedWarning, ...]
    timings: Mapping[str, float]

    def __len__(self) -> int:
        return len(self.found)

    def page(self, position: Position | None, limit: int) -> tuple[list[Ranked], bool]:
        """Return the first `limit` chunks after a position, and whether there are more."""
        ids, scores = self.found.ids, self.found.scores.tolist()
        begin = 0 if position is None else position.end_in(ids, scores)
        return self.found.shown(begin, begin + limit), len(self) > begin + limit


class ChunkRanker:
    """Runs the lanes and makes one ranking of what they found.

    Args:
        database: where the chunks are.
        lanes: find them; their ids and scores are all that is asked of them.
        reranker: has its share of the score; None: none has.
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
        """Return every chunk that a lane found, by `rank_by_metadata`, BM25 and the reranker, if these may and can.

        Raises:
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: every lane failed; carries each cause.
        """
        lanes = run_lanes(self._lanes, query, self._settings.lane_timeout)
        runs, index = await asyncio.gather(
            lanes, self._index(query) if bm25_rerank else _no_index()
        )
        await require_one_of(runs, self._database)
        if not query.keywords:
            query.warn(WarningCode.KEYWORDS_MISSING)
        timings = {run.name: run.milliseconds for run in runs}
        started = time.perf_counter()
        traits = await self._described(query, runs)
        signals = QuestionSignals(query.text, now, self._options.half_life)
        ranking = rank_by_metadata(signals, traits, scores_of(runs), weights)
        if index is not None:
            ranking = self._by_bm25(index, query, ranking)
        timings["ranking"] = milliseconds_since(started)
        if rerank and self._reranker is not None:
            started = time.perf_counter()
            ranking, late = await self._reranked(self._reranker, query, ranking)
            timings["rerank"] = milliseconds_since(started)
            if late:
                query.note(late)
        warnings = distinct([*warn_of_failures(runs), *query.warnings])
        return ChunkRanking(ranking, tuple(warnings), timings)

    async def _index(self, query: LaneQuery) -> BM25Index | None:
        """Return the BM25 index of the knowledge base; None, with a warning, where it is not ready in time or fails."""
        rows = ScopeRows(self._database, query.scope, query.scope.user_id)
        try:
            return await asyncio.wait_for(self._bm25.get(rows), _PATIENCE)
        except TimeoutError:
            query.warn(WarningCode.BM25_BUILDING)
        except SextantError as error:
            query.warn(WarningCode.BM25_FAILED)
            log_failures({"bm25": error})
        return None

    def _by_bm25(
        self, index: BM25Index, query: LaneQuery, ranking: MetadataRanking
    ) -> MetadataRanking:
        settings = self._settings
        weights = settings.bm25_vector_weight + settings.bm25_weight
        share = settings.bm25_weight / weights if weights else 0.0
        bm25 = BM25(settings.bm25_k1, settings.bm25_b)
        scores = index.score(query.text, [(one, "") for one in ranking.ids], bm25)
        return with_bm25(ranking, scores, share)

    async def _described(self, query: LaneQuery, runs: Sequence[LaneRun]) -> list[ChunkMetadata]:
        """Return what ranking asks of all that was found, each chunk once; those that are gone are left out."""
        ids = list(dict.fromkeys(one.id for run in runs for one in run.hits))
        return await read_metadata(self._database, query.scope, ids) if ids else []

    async def _reranked(
        self, reranker: Reranker, query: LaneQuery, ranking: MetadataRanking
    ) -> tuple[MetadataRanking, CodedWarning | None]:
        limits = RerankLimits.of(self._settings)
        first = [UUID(id_) for id_ in ranking.ids[: limits.pairs]]
        there = {chunk.id: chunk.text for chunk in await self._chunks.get(query.scope, first)}
        texts = [there.get(id_, "") for id_ in first]
        judgement = await judge(reranker, query.text, texts, limits)
        if not judgement.scores:
            return ranking, judgement.warning
        return with_rerank(ranking, judgement.scores, self._options.rerank_share), None


async def _no_index() -> None:
    return None


def scores_of(runs: Sequence[LaneRun]) -> dict[str, Found]:
    """Return what each lane found; of one that failed nothing."""
    return {run.name: {hit.id: hit.score for hit in run.hits} for run in runs if run.error is None}
