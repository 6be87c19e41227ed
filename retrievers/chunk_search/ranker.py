"""One ranking of the chunks that the lanes found: by seven signals, then the reranker's share."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.elapsed import milliseconds_since
from domain.settings import Settings
from models.protocols import Reranker
from retrievers.by_id import ids_of, score_at
from retrievers.chunk_search.ranking import MetadataRanking, Ranked, rank_by_metadata, with_rerank
from retrievers.chunk_search.signals import Found, Question
from retrievers.chunk_search.weights import MetadataWeights
from retrievers.lanes.degrading import degraded, require_one
from retrievers.lanes.keywords import NO_KEYWORDS
from retrievers.lanes.lane import Lane, LaneQuery, LaneRun, run_lanes
from retrievers.memory.traits import HotTraits
from retrievers.pages.cursor import Position
from retrievers.ranking.reranking import RerankLimits, judge
from stores.chunks.chunk_store import ChunkStore
from stores.chunks.traits import Traits, traits_of
from stores.postgresql.database import Database


@dataclass(frozen=True, slots=True)
class ChunkRanking:
    """All chunks that a search found, best first, and how it went: some 0.3 KB a chunk."""

    found: MetadataRanking
    warnings: tuple[str, ...]
    timings: Mapping[str, float]

    def __len__(self) -> int:
        return len(self.found)

    def page(self, position: Position | None, limit: int) -> tuple[list[Ranked], bool]:
        """The first `limit` chunks after a position, and whether there are more."""
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
        traits: when given, what is known of chunks in memory is not asked for.
    """

    def __init__(
        self,
        database: Database,
        lanes: Sequence[Lane],
        reranker: Reranker | None,
        settings: Settings,
        traits: HotTraits | None = None,
    ) -> None:
        self._database = database
        self._chunks = ChunkStore(database)
        self._lanes = lanes
        self._reranker = reranker
        self._settings, self._own = settings.retrieval, settings.chunk_search
        self._traits = traits

    async def rank(
        self, query: LaneQuery, weights: MetadataWeights, now: datetime, *, rerank: bool
    ) -> ChunkRanking:
        """Every chunk that a lane found, by `rank_by_metadata` and the reranker, if it may and can.

        Of a `query.hot` all may come from memory: whether that is current is to be asked afterwards.

        Raises:
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: every lane failed; carries each cause.
        """
        runs = await run_lanes(self._lanes, query, self._settings.lane_timeout)
        require_one(runs)
        if not query.keywords:
            query.warn(NO_KEYWORDS)
        warnings = [*degraded(runs), *query.warnings]
        timings = {run.name: run.milliseconds for run in runs}
        started = time.perf_counter()
        traits = await self._described(query, runs)
        asked = Question(query.text, now, self._own.half_life)
        ranking = rank_by_metadata(asked, traits, scores_of(runs), weights)
        timings["ranking"] = milliseconds_since(started)
        if rerank and self._reranker is not None:
            started = time.perf_counter()
            ranking, late = await self._reranked(self._reranker, query, ranking)
            timings["rerank"] = milliseconds_since(started)
            warnings += [late] if late else []
        return ChunkRanking(ranking, tuple(dict.fromkeys(warnings)), timings)

    async def _described(self, query: LaneQuery, runs: Sequence[LaneRun]) -> list[Traits]:
        """What ranking asks of all that was found, each chunk once; those that are gone are left out."""
        ids = list(dict.fromkeys(one for run in runs for one in ids_of(run.hits)))
        hot = query.hot
        known = self._traits.of(hot.scope, hot.packed) if self._traits and hot else None
        told = known.of(ids) if known else None
        if told is None:
            told = await traits_of(self._database, query.scope, ids) if ids else []
        return told

    async def _reranked(
        self, reranker: Reranker, query: LaneQuery, ranking: MetadataRanking
    ) -> tuple[MetadataRanking, str | None]:
        limits = RerankLimits.of(self._settings)
        first = [UUID(own) for own in ranking.ids[: limits.pairs]]
        there = {chunk.id: chunk.text for chunk in await self._chunks.get(query.scope, first)}
        texts = [there.get(own, "") for own in first]
        judgement = await judge(reranker, query.text, texts, limits)
        if not judgement.scores:
            return ranking, judgement.warning
        return with_rerank(ranking, judgement.scores, self._own.rerank_share), None


def scores_of(runs: Sequence[LaneRun]) -> dict[str, Found]:
    """What each lane found; of one that failed nothing."""
    return {
        run.name: {one: score_at(run.hits, place) for place, one in enumerate(ids_of(run.hits))}
        for run in runs
        if run.error is None
    }
