"""Chunk search, the `/search` of a knowledge base.

The vector and the keyword lane run at the same time within the filters. What they find is ranked by metadata, BM25 and
a reranker (`sextant.retrievers.chunk_search.ranking`); hits come with their metadata and, on request, neighbours.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic import Field, SkipValidation

from sextant.domain.configuration import CheckedOptions
from sextant.domain.errors import SextantError
from sextant.domain.questions import ChunkFilters, check_question, in_range, require_type
from sextant.domain.scope import Scope
from sextant.domain.telemetry import milliseconds_since, observe_search
from sextant.domain.versioned_cache import VersionedCache
from sextant.domain.warnings import CodedWarning, WarningCode, distinct, word_warnings
from sextant.models.protocols import Embedder, Reranker
from sextant.retrievers.arrays import BM25
from sextant.retrievers.chunk_search.hits import ChunkHits, HitModel, SearchHit
from sextant.retrievers.chunk_search.ranking import (
    ChunkQuestion,
    MetadataRanking,
    RankedChunk,
    rank_by_metadata,
    with_rerank,
)
from sextant.retrievers.chunk_search.weights import MetadataWeights
from sextant.retrievers.cursor import ListingKey, Position
from sextant.retrievers.hybrid_retriever.bm25 import BM25Index, BM25Indexes
from sextant.retrievers.lanes.lane import (
    KeywordLane,
    LaneQuery,
    VectorLane,
    log_failures,
    log_found,
    run_lanes,
)
from sextant.retrievers.lanes.warnings import require_one, warn_of_failures, warn_of_unknown
from sextant.retrievers.modes import describe_passage_index
from sextant.retrievers.ranking.reranking import RerankLimits, judge
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import read_metadata
from sextant.stores.postgresql.database import Database
from sextant.stores.rows import ScopeRows
from sextant.stores.scopes import KnowledgeBases

logger = logging.getLogger(__name__)

MOST = 1000
# Each lane returns twice what is wanted, and at least so many.
_OVERFETCH, _MIN_CANDIDATES = 2, 50
# Seconds that a search waits for a BM25 index that is not built yet.
_PATIENCE = 2.0
# Rankings are cached for their next pages; at 0.3 KB a chunk they take 20 MB at most.
_CACHE_SECONDS, _CACHED_RANKINGS, _CACHED_PER_USER, _CACHED_CHUNKS = 300.0, 64, 8, 1000


class ChunkSearchResponse(HitModel):
    """A page of hits, best first; `total` is the number of chunks that the lanes found.

    `warnings` are in the question's language; `coded_warnings` are the same as data.
    """

    results: tuple[SearchHit, ...]
    next_cursor: str | None = None
    total: int
    search_time_ms: float
    warnings: tuple[str, ...] = ()
    coded_warnings: tuple[CodedWarning, ...] = ()
    debug: dict[str, Any] | None = None


class SearchRequest(CheckedOptions):
    """A search for chunks.

    Attributes:
        query: the question.
        limit: hits on a page.
        filters: which chunks may be found.
        include_neighbors: add the chunks beside and linked to each hit.
        rerank: let the reranker have its share of the score, if one is configured.
        bm25_rerank: let BM25 have its share; None: as the settings say.
        ranking: the name of a preset, or weights of signals.
        cursor: `next_cursor` of the page before, of the same search.
        debug: add the weights, constants and timings, and the values of each signal.

    Raises:
        OptionInvalid: a field is unknown or of the wrong type; `field` names it.
    """

    query: str
    limit: int = Field(10, strict=True)
    filters: Mapping[str, Any] | ChunkFilters | None = None
    include_neighbors: bool = False
    rerank: bool = True
    bm25_rerank: bool | None = None
    # `MetadataWeights.read` checks it and names the wrong weight.
    ranking: SkipValidation[str | Mapping[str, float] | MetadataWeights | None] = None
    cursor: str | None = None
    debug: bool = False


@dataclass(frozen=True, slots=True)
class _CheckedRequest:
    """A checked request; `key` identifies the search, `position` is where its page begins."""

    query: LaneQuery
    weights: MetadataWeights
    rerank: bool
    bm25_rerank: bool
    key: ListingKey
    position: Position | None
    moment: datetime


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


class ChunkSearch:
    """Searches the chunks of knowledge bases; one object serves all users.

    `next_cursor` leads through all chunks that the lanes found. The next page continues the same ranking, or a new
    one if that is no longer cached (after five minutes, or in another process).

    Args:
        database: where the chunks are.
        embedder: embeds the question.
        reranker: has its share of the final score; None: the hybrid score is final.

    Attributes:
        hits: loads hits, for chunks that were found in any way.
    """

    def __init__(
        self, database: Database, embedder: Embedder, reranker: Reranker | None = None
    ) -> None:
        self._database = database
        self.hits = ChunkHits(database)
        self._settings = database.settings
        self._chunks = chunks = ChunkStore(database)
        self._lanes = (VectorLane(chunks, embedder), KeywordLane(chunks))
        self._reranker = reranker
        self._bm25 = BM25Indexes(self._settings.retrieval.bm25_memory)
        # By user, search and the moment it was taken.
        self._rankings: VersionedCache[tuple[str, ListingKey, datetime], None, ChunkRanking] = (
            VersionedCache(
                _CACHED_RANKINGS,
                lifetime=_CACHE_SECONDS,
                owner=lambda key: key[0],
                most_per_owner=_CACHED_PER_USER,
            )
        )

    async def search(
        self, scope: Scope, request: SearchRequest, *, now: datetime | None = None
    ) -> ChunkSearchResponse:
        """Return a page of the best chunks within the filters.

        If the embedding model fails, the search goes on by keywords with a warning.

        Args:
            scope: whose data, and which knowledge base.
            request: the search.
            now: the moment from which ages count; default: now.

        Raises:
            QuestionInvalid, OptionInvalid: the request is at fault.
            GraphNotFound: this user has no knowledge base of that id.
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: both lanes failed; carries each cause.
        """
        require_type(request, SearchRequest, "request", 'query="…"')
        with observe_search("chunks") as report:
            found, report.timings = await self._search(scope, request, now or datetime.now(UTC))
            report.degraded = bool(found.warnings)
        return found

    async def _search(
        self, scope: Scope, request: SearchRequest, now: datetime
    ) -> tuple[ChunkSearchResponse, Mapping[str, float]]:
        """Return the response, and the milliseconds of each lane that ran for it."""
        started = time.perf_counter()
        checked = self._check(scope, request, now)
        ranking, is_cached = await self._ranking(checked)
        page, more = ranking.page(checked.position, request.limit)
        warnings = list(ranking.warnings)
        hits = await self.hits.of(
            scope, page, warnings, neighbors=request.include_neighbors, debug=request.debug
        )
        await warn_of_unknown(self._chunks, checked.query)
        warnings = distinct([*warnings, *checked.query.warnings])
        if not len(ranking):
            await KnowledgeBases(self._database).require(scope)
        if not is_cached and len(ranking) <= _CACHED_CHUNKS:
            self._rankings.put((scope.user_id, checked.key, checked.moment), None, ranking)
        cursor: str | None = None
        if more:
            last = Position(checked.moment, page[-1].score, UUID(page[-1].id))
            cursor = checked.key.cursor(last)
        elapsed = milliseconds_since(started)
        found = ChunkSearchResponse(
            results=hits,
            next_cursor=cursor,
            total=len(ranking),
            search_time_ms=elapsed,
            warnings=word_warnings(warnings, checked.query.language),
            coded_warnings=tuple(warnings),
            debug=self._debug(checked, ranking, elapsed) if request.debug else None,
        )
        log_found(
            logger,
            "chunk search",
            checked.query,
            counts={name: len(scores) for name, scores in ranking.chunks.lanes.items()},
            found=[(hit.filename, hit.score) for hit in hits],
            timings={**ranking.timings, "total": elapsed},
        )
        if elapsed > self._settings.retrieval.slow_ms:
            logger.warning("chunk search took %.0f ms", elapsed)
        return found, {} if is_cached else ranking.timings

    def _check(self, scope: Scope, request: SearchRequest, now: datetime) -> _CheckedRequest:
        balanced = MetadataWeights.of(self._settings.chunk_search)
        weights = MetadataWeights.read(request.ranking, balanced)
        limit = in_range(request.limit, "limit", most=MOST)
        query = LaneQuery(
            scope=scope,
            text=check_question(request.query, self._settings.limits.question_chars),
            limit=max(_OVERFETCH * limit, _MIN_CANDIDATES),
            max_keywords=self._settings.retrieval.max_keywords,
            filters=ChunkFilters.read(request.filters),
        )
        given = request.bm25_rerank
        bm25 = self._settings.retrieval.bm25_rerank if given is None else given
        options = (weights, request.rerank, bm25)
        key = ListingKey.of(scope, query.text, query.limit, query.filters, *options)
        position = key.after(request.cursor, Position)
        moment = position.taken_at if position else now
        return _CheckedRequest(query, *options, key, position, moment)

    async def _ranking(self, checked: _CheckedRequest) -> tuple[ChunkRanking, bool]:
        """Return the ranking of the page before or a new one, and whether it was cached."""
        key = (checked.query.scope.user_id, checked.key, checked.moment)
        if checked.position and (known := self._rankings.at(key, None)):
            return known, True
        ranking = await self._rank(
            checked.query,
            checked.weights,
            checked.moment,
            rerank=checked.rerank,
            bm25_rerank=checked.bm25_rerank,
        )
        return ranking, False

    async def _rank(
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
        settings = self._settings.retrieval
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
        question = ChunkQuestion(query.text, now, self._settings.chunk_search.half_life)
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
                ranking = with_rerank(
                    ranking, judgement.scores, self._settings.chunk_search.rerank_share
                )
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

    def _debug(
        self, checked: _CheckedRequest, ranking: ChunkRanking, elapsed: float
    ) -> dict[str, Any]:
        settings, lanes = self._settings.chunk_search, self._settings.retrieval
        return {
            "keywords": checked.query.keywords,
            "weights": asdict(checked.weights)
            | ({"bm25": lanes.bm25_weight} if checked.bm25_rerank else {}),
            "constants": {
                "hybridShare": 1 - settings.rerank_share,
                "rerankShare": settings.rerank_share,
                "halfLifeDays": settings.half_life,
                "maxKeywords": lanes.max_keywords,
                **describe_passage_index(lanes),
            },
            "timings": {**ranking.timings, "total": elapsed},
        }
