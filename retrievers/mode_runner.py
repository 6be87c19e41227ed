"""Running a mode: its lanes at once, one ranking of what they found, and the texts of that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from sextant.domain.errors import ConflictError, InputError, SextantError
from sextant.domain.retrieval import (
    ItemKind,
    LaneScore,
    RetrievedItem,
    of_entity,
    of_passage,
)
from sextant.domain.settings import RetrievalSettings
from sextant.domain.telemetry import milliseconds_since
from sextant.domain.warnings import WarningCode
from sextant.models.protocols import Embedder
from sextant.retrievers.index.scope_index import ScopeIndexes
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
    run_lanes,
)
from sextant.retrievers.lanes.query_context import IndexLane, QuestionReader, Read
from sextant.retrievers.lanes.surroundings import Surroundings, merge_surroundings
from sextant.retrievers.lanes.warnings import failure_of, go_without, log_failures
from sextant.retrievers.modes import Fusion, ModeSpec
from sextant.retrievers.ranking.fusion import fuse, fuse_by_score, share_of_global
from sextant.retrievers.ranking.rescorers import RescoringQuery, ScoreScale, run_rescorer
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.protocol import GraphStore
from sextant.stores.postgresql.watched import with_deadline

_ID, _SCORE = attrgetter("id"), attrgetter("score")
# The lanes over a scope's index; a new one is an entry here, and modes name it. Scores are shares of the best's.
INDEX_LANES: Mapping[str, IndexLane] = {
    LOCAL: local_lane,
    MIX: mix_lane,
    REPORTS: report_lane,
    GLOBAL: global_lane,
}


@dataclass(frozen=True, slots=True)
class LaneResults:
    """What the lanes of a mode found.

    Attributes:
        runs: how each lane fared.
        passages: one ranking of all.
        around: what of the graph goes with them, best first.
        timings: milliseconds of each lane, of the parts of those over the index (`Spent`), of `fusion`, and of
            reading the `texts`.
        share: what the second of two lanes counted that were joined by shares; None: no two were.
    """

    runs: list[LaneRun]
    passages: list[RetrievedItem]
    around: list[RetrievedItem]
    timings: dict[str, float]
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Finder:
    """The lanes that there are, and how they are run; see `GraphRetriever` for the arguments."""

    chunks: ChunkStore
    embedder: Embedder
    settings: RetrievalSettings
    indexes: ScopeIndexes | None
    graph: GraphStore | None

    @property
    def names(self) -> list[str]:
        """Return the lanes' names."""
        if self.indexes is None:
            return [VECTOR, KEYWORD]
        of_graph = [LOCAL, MIX] if self.graph is None else list(INDEX_LANES)
        return [VECTOR, KEYWORD, *of_graph]

    async def find(self, spec: ModeSpec, request: LaneQuery, top_k: int | None) -> LaneResults:
        """Run the lanes and what goes beside them, then the fallback if no lane succeeded.

        Args:
            spec: lanes, and how they are ranked.
            request: the question.
            top_k: how many of the passages are wanted with their texts; None: all.

        Raises:
            InputError, ConflictError: the request or the stored vectors are at fault.
            RetrievalError: every lane failed, those that step in, too.
        """
        companions = [name for name in spec.companions if name in self.names]
        read = await self._lanes(spec, [*spec.signals, *companions], request)
        runs, found = read.runs, LaneResults(read.runs, [], [], {})
        try:
            found = await self._joined(spec, request, read, top_k)
        except (InputError, ConflictError):
            raise
        except Exception as failure:  # noqa: BLE001 - as in a lane: without texts it has found nothing
            runs = [LaneRun(run.name, [], run.milliseconds, run.error or failure) for run in runs]
        if _all_failed(runs, spec.signals):
            # Reading texts afterwards may be what has failed.
            step_in = [self._stored(name) for name in spec.fallback]
            runs = [*runs, *await run_lanes(step_in, request, self.settings.lane_timeout)]
            passages, _ = self._rank(spec, request, runs, top_k)
            passages, _ = await self._texts(request, passages, None)
            found = LaneResults(runs, passages, _reports(runs), _lane_timings(runs))
        failed = {run.name: run.error for run in runs if run.error is not None}
        if failed:
            log_failures(failed)
        if _all_failed(runs, [*spec.signals, *spec.fallback]):
            raise await failure_of(failed, self.chunks.database)
        return found

    def _reader(self, spec: ModeSpec) -> QuestionReader | None:
        if self.indexes is None:
            return None
        return QuestionReader(self.chunks, self.embedder, self.indexes, self.graph, spec.ranker)

    def _stored(self, name: str) -> Lane:
        if name == VECTOR:
            return VectorLane(self.chunks, self.embedder)
        return KeywordLane(self.chunks)

    async def _lanes(self, spec: ModeSpec, names: Sequence[str], request: LaneQuery) -> Read:
        """Run lanes, those over the index together."""
        timeout, reader = self.settings.lane_timeout, self._reader(spec)
        works = {name: INDEX_LANES[name] for name in names if name in INDEX_LANES}
        stored = [self._stored(name) for name in names if name not in works]
        if reader is None or not works:
            return Read(await run_lanes(stored, request, timeout))
        if not stored:
            return await reader.run(works, request, timeout)
        found, read = await asyncio.gather(
            run_lanes(stored, request, timeout), reader.run(works, request, timeout)
        )
        runs = {run.name: run for run in [*found, *read.runs]}
        return Read([runs[name] for name in names], read.spent)

    async def _joined(
        self,
        spec: ModeSpec,
        request: LaneQuery,
        read: Read,
        top_k: int | None,
    ) -> LaneResults:
        """Return what the lanes found in one ranking, with the texts of its first passages."""
        runs, started = read.runs, time.perf_counter()
        timings = {**read.spent, **_lane_timings(runs)}
        passages, share = self._rank(spec, request, runs, top_k)
        around = merge_surroundings([run.around for run in runs if run.around is not None])
        timings["fusion"] = milliseconds_since(started)
        started = time.perf_counter()
        passages, items = await self._texts(request, passages, around)
        items = sorted([*_reports(runs), *items], key=_ID)
        items.sort(key=_SCORE, reverse=True)  # of equals by id
        timings["texts"] = milliseconds_since(started)
        if passages:
            passages = await self._rescore(spec, request, passages, timings)
        return LaneResults(runs, passages, items, timings, share=share)

    async def _texts(
        self,
        request: LaneQuery,
        passages: Sequence[RetrievedItem],
        around: Surroundings | None,
    ) -> tuple[list[RetrievedItem], list[RetrievedItem]]:
        """Return passages with their contents, without those that are gone, and what of the graph goes with them."""
        seconds = self.settings.lane_timeout
        return await asyncio.gather(
            with_deadline(seconds, self._contents(request, passages)),
            with_deadline(seconds, self._graph_items(request, around)),
        )

    async def _contents(
        self, request: LaneQuery, passages: Sequence[RetrievedItem]
    ) -> list[RetrievedItem]:
        bare = [item.id for item in passages if not item.text]
        rows = await self.chunks.contents(request.scope, bare) if bare else []
        contents = {row["id"]: of_passage(row) for row in rows}
        return [
            item if item.text else replace(item, **contents[item.id]._asdict())
            for item in passages
            if item.text or item.id in contents
        ]

    async def _graph_items(
        self, request: LaneQuery, around: Surroundings | None
    ) -> list[RetrievedItem]:
        """Return entities and relations; none without a graph store that answers.

        A relation comes with both its ends or not at all.
        """
        if self.graph is None or around is None:
            return []
        rows = {around.index.entities[row]: row for row in around.entities}
        try:
            found = await self.graph.get_entities(request.scope, list(rows))
        except (InputError, ConflictError):
            raise
        except SextantError as error:
            go_without("graph", error, request, WarningCode.GRAPH_STORE_FAILED)
            return []
        # One that was merged into another meanwhile comes as that, which the index did not find.
        return around.items({rows[one.id]: of_entity(one) for one in found if one.id in rows})

    async def _rescore(
        self,
        spec: ModeSpec,
        request: LaneQuery,
        passages: list[RetrievedItem],
        timings: dict[str, float],
    ) -> list[RetrievedItem]:
        """Return the passages as the mode's rescorers order them; as they are where no index tells what words are worth."""
        cached = self.indexes.kept(request.scope) if self.indexes is not None else None
        if cached is None:
            return passages
        query = RescoringQuery(request.text, cached[1].lexical.information_of_term)
        scale = _scale_of(spec)
        for rescorer in spec.rescorers:
            started = time.perf_counter()
            passages = await asyncio.to_thread(run_rescorer, rescorer, query, passages, scale)
            scale = rescorer.scale
            timings[rescorer.name] = milliseconds_since(started)
        return passages

    def _rank(
        self,
        spec: ModeSpec,
        request: LaneQuery,
        runs: Sequence[LaneRun],
        top_k: int | None,
    ) -> tuple[list[RetrievedItem], float | None]:
        """Return one ranking of all, and the share of the second lane in it."""
        found = _passages(runs, spec)
        if len(found) == 1:
            return alone(*next(iter(found.items())), top_k), None
        if spec.fusion is Fusion.SCORES and found.keys() == set(spec.signals):
            confidence = max(run.entity_confidence for run in runs)
            share = share_of_global(request.text, confidence, reported=bool(_reports(runs)))
            return fuse_by_score(found, share, top_k), share
        weights = {VECTOR: self.settings.vector_weight, KEYWORD: self.settings.keyword_weight}
        return fuse(found, weights, self.settings.rrf_k, top_k), None


def _scale_of(spec: ModeSpec) -> ScoreScale:
    """Return the scale of what the mode's lanes found: those over the index give shares of the best."""
    by_index = INDEX_LANES.keys() >= set(spec.signals)
    keeps_shares = len(spec.signals) == 1 or spec.fusion is Fusion.SCORES
    return ScoreScale.SHARE_OF_BEST if by_index and keeps_shares else ScoreScale.AS_RANKED


def _all_failed(runs: Sequence[LaneRun], lanes: Sequence[str]) -> bool:
    errors = [run.error for run in runs if run.name in lanes]
    return bool(errors) and all(errors)


def _passages(runs: Sequence[LaneRun], spec: ModeSpec) -> dict[str, Sequence[RetrievedItem]]:
    """Return the passages that each lane found; a lane that failed, or runs beside them, has none."""
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


def alone(
    lane: str, hits: Sequence[RetrievedItem], wanted: int | None = None
) -> list[RetrievedItem]:
    """Return what one lane found, in its order and with its scores."""
    return [
        replace(hit, lanes={**hit.lanes, lane: LaneScore(rank, hit.score, 1.0, hit.score)})
        for rank, hit in enumerate(hits[:wanted], start=1)
    ]
