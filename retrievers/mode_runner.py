"""Run a mode: its lanes at the same time, then fusion, texts, rescoring, reports and reranking."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sextant.domain.errors import ConflictError, InputError
from sextant.domain.graph import Entity
from sextant.domain.retrieval import ItemKind, LaneScore, RetrievedItem, of_entity, of_passage
from sextant.domain.settings import RetrievalSettings
from sextant.domain.telemetry import milliseconds_since
from sextant.domain.warnings import WarningCode
from sextant.models.protocols import Embedder, Reranker
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.retrievers.lanes.entities import GraphItems, merge_graph_items
from sextant.retrievers.lanes.index_lanes import (
    GLOBAL,
    LOCAL,
    MIX,
    REPORTS,
    global_lane,
    local_lane,
    mix_lane,
    report_lane,
)
from sextant.retrievers.lanes.lane import (
    KEYWORD,
    VECTOR,
    KeywordLane,
    Lane,
    LaneQuery,
    LaneRun,
    VectorLane,
    go_without,
    log_failures,
    run_lanes,
)
from sextant.retrievers.lanes.query_context import IndexLane, IndexLaneRunner
from sextant.retrievers.lanes.warnings import failure_of
from sextant.retrievers.modes import Fusion, ModeSpec
from sextant.retrievers.ranking.fusion import (
    cut_with_reports,
    fuse,
    fuse_by_score,
    insert_reports,
    put_reports_first,
    share_of_global,
)
from sextant.retrievers.ranking.reranking import RerankLimits, rerank
from sextant.retrievers.ranking.rescorers import RescoringQuery
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.protocol import GraphStore
from sextant.stores.postgresql.watched import with_deadline

INDEX_LANES: Mapping[str, IndexLane] = {
    LOCAL: local_lane,
    MIX: mix_lane,
    REPORTS: report_lane,
    GLOBAL: global_lane,
}
"""The lanes over a scope's index, by the names that modes use. Scores are shares of the best passage's score."""


@dataclass(frozen=True, slots=True)
class ModeResults:
    """What a mode found.

    Attributes:
        runs: how each lane fared.
        results: passages, and reports where the mode has them as results, best first.
        graph_items: reports, entities and relations that go with them, best first.
        timings: milliseconds of each lane, of parts of the lanes over the index, and of the later steps.
    """

    runs: list[LaneRun]
    results: list[RetrievedItem]
    graph_items: list[RetrievedItem]
    timings: dict[str, float]


@dataclass(frozen=True, slots=True)
class _Ranking:
    """One ranking of all lanes; `global_share` is the weight of the second of two lanes fused by scores."""

    passages: list[RetrievedItem]
    graph_items: list[RetrievedItem]
    timings: dict[str, float]
    global_share: float | None = None


@dataclass(frozen=True, slots=True)
class ModeRunner:
    """Runs modes with the lanes that there are; see `GraphRetriever` for the arguments."""

    chunks: ChunkStore
    embedder: Embedder
    settings: RetrievalSettings
    indexes: ScopeIndexes | None
    graph: GraphStore | None

    @property
    def lane_names(self) -> list[str]:
        """Return the names of the lanes that can run."""
        if self.indexes is None:
            return [VECTOR, KEYWORD]
        index_lanes = [LOCAL, MIX] if self.graph is None else list(INDEX_LANES)
        return [VECTOR, KEYWORD, *index_lanes]

    def count_read(self, spec: ModeSpec, limit: int, reranker: Reranker | None) -> int:
        """Return how many passages are read: rescorers and rerankers may compare more than the `limit` that is wanted."""
        pairs = 0 if reranker is None else self.settings.rerank_pairs
        return max(limit, spec.candidates, pairs)

    async def run(
        self, spec: ModeSpec, query: LaneQuery, limit: int, reranker: Reranker | None
    ) -> ModeResults:
        """Run the lanes of a mode and their companions, or the fallback if all of its lanes failed.

        Args:
            spec: the mode.
            query: the question; its limit is the number of passages of each lane.
            limit: number of results.
            reranker: orders the best passages; None: none does.

        Raises:
            InputError, ConflictError: the request or the stored vectors are at fault.
            RetrievalError: every lane failed, those of the fallback too.
        """
        companions = [name for name in spec.companions if name in self.lane_names]
        runs, timings = await self._run_lanes(spec, [*spec.signals, *companions], query)
        ranking = _Ranking([], [], {})
        top_k = self.count_read(spec, limit, reranker)
        try:
            ranking = await self._combine(spec, query, runs, timings, top_k)
        except (InputError, ConflictError):
            raise
        except Exception as failure:  # noqa: BLE001 - without texts the lanes have found nothing
            runs = [LaneRun(run.name, [], run.milliseconds, run.error or failure) for run in runs]
        if _all_failed(runs, spec.signals):
            fallback = [self._store_lane(name) for name in spec.fallback]
            runs = [*runs, *await run_lanes(fallback, query, self.settings.lane_timeout)]
            passages, _ = self._fuse(spec, query, runs, top_k)
            passages, _ = await self._load_texts(query, passages, None)
            ranking = _Ranking(passages, _reports(runs), _lane_timings(runs))
        failed = {run.name: run.error for run in runs if run.error is not None}
        if failed:
            log_failures(failed)
        if _all_failed(runs, [*spec.signals, *spec.fallback]):
            raise await failure_of(failed, self.chunks.database)
        results = await self._finish(spec, query, ranking, limit, reranker)
        return ModeResults(runs, results, ranking.graph_items, ranking.timings)

    def _store_lane(self, name: str) -> Lane:
        if name == VECTOR:
            return VectorLane(self.chunks, self.embedder)
        return KeywordLane(self.chunks)

    async def _run_lanes(
        self, spec: ModeSpec, names: Sequence[str], query: LaneQuery
    ) -> tuple[list[LaneRun], Mapping[str, float]]:
        """Run lanes over the stores and over the index at the same time; return the time of parts, too."""
        timeout = self.settings.lane_timeout
        index_lanes = {name: INDEX_LANES[name] for name in names if name in INDEX_LANES}
        stored = [self._store_lane(name) for name in names if name not in index_lanes]
        if self.indexes is None or not index_lanes:
            return await run_lanes(stored, query, timeout), {}
        runner = IndexLaneRunner(self.chunks, self.embedder, self.indexes, spec.ranker)
        by_store, (by_index, timings) = await asyncio.gather(
            run_lanes(stored, query, timeout),
            runner.run(index_lanes, query, timeout),
        )
        runs = {run.name: run for run in [*by_store, *by_index]}
        return [runs[name] for name in names], timings

    async def _combine(
        self,
        spec: ModeSpec,
        query: LaneQuery,
        runs: list[LaneRun],
        times: Mapping[str, float],
        top_k: int,
    ) -> _Ranking:
        """Return one ranking of all that the lanes found, with texts, and the graph items that go with it."""
        started = time.perf_counter()
        timings = {**times, **_lane_timings(runs)}
        passages, share = self._fuse(spec, query, runs, top_k)
        graph_items = merge_graph_items(
            [run.graph_items for run in runs if run.graph_items is not None]
        )
        timings["fusion"] = milliseconds_since(started)
        started = time.perf_counter()
        passages, items = await self._load_texts(query, passages, graph_items)
        items = sorted([*_reports(runs), *items], key=lambda item: (-item.score, item.id))
        timings["texts"] = milliseconds_since(started)
        if passages:
            passages = await self._rescore(spec, query, passages, timings)
        return _Ranking(passages, items, timings, share)

    async def _load_texts(
        self, query: LaneQuery, passages: Sequence[RetrievedItem], graph_items: GraphItems | None
    ) -> tuple[list[RetrievedItem], list[RetrievedItem]]:
        """Return passages with their texts, without deleted ones, and the graph items as retrieved items."""
        seconds = self.settings.lane_timeout
        return await asyncio.gather(
            with_deadline(seconds, self._load_passages(query, passages)),
            with_deadline(seconds, self._load_graph_items(query, graph_items)),
        )

    async def _load_passages(
        self, query: LaneQuery, passages: Sequence[RetrievedItem]
    ) -> list[RetrievedItem]:
        without_text = [item.id for item in passages if not item.text]
        rows = await self.chunks.contents(query.scope, without_text) if without_text else []
        contents = {row["id"]: of_passage(row) for row in rows}
        return [
            item if item.text else replace(item, **contents[item.id]._asdict())
            for item in passages
            if item.text or item.id in contents
        ]

    async def _load_graph_items(
        self, query: LaneQuery, graph_items: GraphItems | None
    ) -> list[RetrievedItem]:
        """Return entities and relations; none without a graph store that answers.

        A relation comes with both its ends or not at all.
        """
        if self.graph is None or graph_items is None:
            return []
        rows = {graph_items.index.entities[row]: row for row in graph_items.entities}
        found: Sequence[Entity] = ()
        with go_without("graph", query.warnings, WarningCode.GRAPH_STORE_FAILED):
            found = await self.graph.get_entities(query.scope, list(rows))
        # An entity that was merged since the index was built comes under another id: it is left out.
        return graph_items.to_items(
            {rows[entity.id]: of_entity(entity) for entity in found if entity.id in rows}
        )

    async def _rescore(
        self,
        spec: ModeSpec,
        query: LaneQuery,
        passages: list[RetrievedItem],
        timings: dict[str, float],
    ) -> list[RetrievedItem]:
        """Return the passages after the mode's rescorers; unchanged without an index that has the idf of words."""
        cached = self.indexes.cached(query.scope) if self.indexes is not None else None
        if cached is None:
            return passages
        rescoring = RescoringQuery(query.text, cached[1].lexical.information_of_term)
        for rescorer in spec.rescorers:
            started = time.perf_counter()
            passages = await asyncio.to_thread(rescorer.rescore, rescoring, passages)
            timings[rescorer.name] = milliseconds_since(started)
        return passages

    async def _finish(
        self,
        spec: ModeSpec,
        query: LaneQuery,
        ranking: _Ranking,
        limit: int,
        reranker: Reranker | None,
    ) -> list[RetrievedItem]:
        """Return the results: passages with the reports of the mode, reranked, and cut to the limit."""
        passages, share = ranking.passages, ranking.global_share
        reports = [
            item for item in ranking.graph_items if spec.reports and item.kind is ItemKind.COMMUNITY
        ]
        if share is not None:
            passages = insert_reports(passages, reports, share)
        if reranker is not None:
            started = time.perf_counter()
            reranked = await rerank(reranker, query.text, passages, RerankLimits.of(self.settings))
            if reranked.warning is not None:
                query.note(reranked.warning)
            passages = reranked.items
            ranking.timings["rerank"] = milliseconds_since(started)
        if share is not None:
            return cut_with_reports(passages, limit, share)
        return put_reports_first(passages, reports, limit) if reports else passages[:limit]

    def _fuse(
        self, spec: ModeSpec, query: LaneQuery, runs: Sequence[LaneRun], top_k: int
    ) -> tuple[list[RetrievedItem], float | None]:
        """Return one ranking of all lanes, and the weight of the second lane if they were fused by scores."""
        found = _passages(runs, spec)
        if len(found) == 1:
            return rank_one_lane(*next(iter(found.items())), top_k), None
        if spec.fusion is Fusion.SCORES and found.keys() == set(spec.signals):
            confidence = max(run.entity_confidence for run in runs)
            share = share_of_global(query.text, confidence, reported=bool(_reports(runs)))
            return fuse_by_score(found, share, top_k), share
        weights = {VECTOR: self.settings.vector_weight, KEYWORD: self.settings.keyword_weight}
        return fuse(found, weights, self.settings.rrf_k, top_k), None


def _all_failed(runs: Sequence[LaneRun], lanes: Sequence[str]) -> bool:
    errors = [run.error for run in runs if run.name in lanes]
    return bool(errors) and all(errors)


def _passages(runs: Sequence[LaneRun], spec: ModeSpec) -> dict[str, Sequence[RetrievedItem]]:
    """Return the passages of each lane that did not fail, without companions."""
    return {
        run.name: [hit for hit in run.hits if hit.kind is ItemKind.CHUNK]
        for run in runs
        if run.error is None and run.name not in spec.companions
    }


def _reports(runs: Sequence[LaneRun]) -> list[RetrievedItem]:
    """Return the reports that lanes found, each once."""
    reports = (hit for run in runs for hit in run.hits if hit.kind is ItemKind.COMMUNITY)
    return list({hit.id: hit for hit in reports}.values())


def _lane_timings(runs: Sequence[LaneRun]) -> dict[str, float]:
    return {run.name: run.milliseconds for run in runs}


def rank_one_lane(
    lane: str, hits: Sequence[RetrievedItem], limit: int | None = None
) -> list[RetrievedItem]:
    """Return the first hits of a single lane with its scores, and with their ranks in `lanes`."""
    return [
        replace(hit, lanes={**hit.lanes, lane: LaneScore(rank, hit.score, 1.0, hit.score)})
        for rank, hit in enumerate(hits[:limit], start=1)
    ]
