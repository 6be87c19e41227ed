"""One ranking of the chunks that the lanes found: by seven signals, then the reranker's share."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from domain.errors import RetrievalError
from domain.retrieval import RetrievedItem
from domain.scope import Scope
from domain.settings import RetrievalSettings
from models.protocols import Reranker
from retrievers.lanes.degrading import degraded, log_failures
from retrievers.lanes.keywords import NO_KEYWORDS
from retrievers.lanes.lane import Lane, LaneQuery, LaneRun, as_item, run_lanes
from retrievers.pages.cursor import Position
from retrievers.ranking.fusion import fuse
from retrievers.ranking.metadata import (
    MetadataWeights,
    Question,
    Ranked,
    rank_by_metadata,
    with_rerank,
)
from retrievers.ranking.reranking import RerankLimits, judge
from stores.chunks import ChunkHit, ChunkStore, StoredChunk


@dataclass(frozen=True, slots=True)
class ChunkRanking:
    """All chunks that a search found, best first, and how it went."""

    ranked: tuple[Ranked, ...]
    warnings: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict[str, float])

    def after(self, position: Position | None) -> Sequence[Ranked]:
        """The chunks after a position."""
        if position is None:
            return self.ranked
        return [
            one for one in self.ranked if position.comes_before(one.item.score, UUID(one.item.id))
        ]

    def bare(self) -> ChunkRanking:
        """The same without texts and metadata, to be kept: 1 KB a chunk."""
        return replace(self, ranked=tuple(map(_bare, self.ranked)))


def _bare(one: Ranked) -> Ranked:
    """Made, not replaced: a search does it for each of a hundred chunks."""
    item = one.item
    bare = RetrievedItem(
        item.kind, item.id, "", item.score, item.document_id, item.external_id, item.lanes
    )
    return Ranked(bare, one.signals, one.hybrid, one.rerank)


@dataclass(frozen=True, slots=True)
class ChunkRanker:
    """Runs the lanes and makes one ranking of what they found.

    Lanes may find by id alone; `chunks` then says what was found, once for both.
    """

    lanes: Sequence[Lane]
    chunks: ChunkStore
    reranker: Reranker | None
    settings: RetrievalSettings

    async def rank(
        self, query: LaneQuery, weights: MetadataWeights, now: datetime, *, rerank: bool
    ) -> ChunkRanking:
        """Every chunk that a lane found, by `rank_by_metadata` and the reranker, if it may and can.

        Raises:
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: every lane failed; carries each cause.
        """
        runs = await run_lanes(self.lanes, query, self.settings.lane_timeout)
        warnings = [*_checked(runs), *query.warnings]
        if not query.keywords:
            warnings.append(NO_KEYWORDS)
        timings = {run.name: run.milliseconds for run in runs}
        started = time.perf_counter()
        found = await self._described(query.scope, merged(runs))
        ranked = rank_by_metadata(Question(query.text, now), found, weights)
        timings["ranking"] = (time.perf_counter() - started) * 1000
        if rerank and self.reranker is not None:
            started = time.perf_counter()
            ranked, late = await self._reranked(self.reranker, query.text, ranked)
            timings["rerank"] = (time.perf_counter() - started) * 1000
            warnings += [late] if late else []
        return ChunkRanking(tuple(ranked), tuple(dict.fromkeys(warnings)), timings)

    async def _described(self, scope: Scope, found: list[RetrievedItem]) -> list[RetrievedItem]:
        """The same with texts and metadata; without chunks that are gone."""
        bare = [UUID(item.id) for item in found if not item.metadata]
        if not bare:
            return found
        there = {str(chunk.id): chunk for chunk in await self.chunks.get(scope, bare)}
        return [
            item if item.metadata else filled(item, there[item.id])
            for item in found
            if item.metadata or item.id in there
        ]

    async def _reranked(
        self, reranker: Reranker, question: str, ranked: list[Ranked]
    ) -> tuple[list[Ranked], str | None]:
        texts = [one.item.text for one in ranked]
        judgement = await judge(reranker, question, texts, RerankLimits.of(self.settings))
        if not judgement.scores:
            return ranked, judgement.warning
        return with_rerank(ranked, judgement.scores), None


def filled(item: RetrievedItem, chunk: StoredChunk) -> RetrievedItem:
    """The item with the text and metadata that its chunk now has."""
    return as_item(ChunkHit(chunk, item.score), item.lanes)


def merged(runs: Sequence[LaneRun]) -> list[RetrievedItem]:
    """What the lanes found, each chunk once, with what every lane said of it in `lanes`."""
    return fuse({run.name: run.hits for run in runs if run.error is None}, {})


def _checked(runs: Sequence[LaneRun]) -> tuple[str, ...]:
    failed = {run.name: run.error for run in runs if run.error is not None}
    log_failures(failed)
    if len(failed) == len(runs):
        raise RetrievalError(failed)
    return degraded(runs)
