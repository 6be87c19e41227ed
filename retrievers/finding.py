"""Running a mode: its lanes at once, one ranking of what they found, and the texts of that."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from domain.errors import ConflictError, InputError, RetrievalError
from domain.retrieval import ItemKind, RetrievedItem
from domain.settings import RetrievalSettings
from models.protocols import Embedder
from retrievers.index.scope_index import ScopeIndexes
from retrievers.lanes.contents import Contents, told_from
from retrievers.lanes.degrading import log_failures
from retrievers.lanes.lane import (
    KEYWORD,
    VECTOR,
    KeywordLane,
    Lane,
    LaneQuery,
    LaneRun,
    VectorLane,
    run_lanes,
)
from retrievers.lanes.local import LocalLane
from retrievers.lanes.mix import MixLane
from retrievers.lanes.reading import QuestionReader
from retrievers.lanes.reports import GlobalLane, ReportsLane
from retrievers.memory.texts import Texts
from retrievers.modes import Composition, Join
from retrievers.ranking.fusion import fuse, led
from stores.chunks import ChunkStore
from stores.deadlines import within
from stores.graph.protocol import GraphStore
from stores.stamps import Stamp


@dataclass(frozen=True, slots=True)
class Found:
    """What the lanes of a mode found.

    Attributes:
        runs: how each lane fared.
        passages: one ranking of all.
        around: what of the graph goes with them, best first.
        timings: milliseconds of each lane, of `fusion`, and of reading the `texts`.
        current: whether it is of the scope as it was when the texts were read.
    """

    runs: list[LaneRun]
    passages: list[RetrievedItem]
    around: list[RetrievedItem]
    timings: dict[str, float]
    current: bool = True


@dataclass(frozen=True, slots=True)
class Finder:
    """The lanes that there are, and how they are run; see `GraphRetriever` for the arguments."""

    chunks: ChunkStore
    embedder: Embedder
    settings: RetrievalSettings
    indexes: ScopeIndexes | None
    graph: GraphStore | None
    texts: Texts | None = None

    @property
    def names(self) -> list[str]:
        """The lanes' names."""
        return list(self._lanes(self._reader()))

    async def find(self, composition: Composition, request: LaneQuery, top_k: int | None) -> Found:
        """Run the lanes over what is in memory, and again if that turns out to be of before.

        Args:
            composition: lanes and how they are joined.
            request: the question.
            top_k: how many of the passages are wanted with their texts; None: all.

        Raises:
            InputError, ConflictError: the request or the stored vectors are at fault.
            RetrievalError: every lane failed, those that step in, too.
        """
        # What the stores' own lanes find is told by the stores, as it is once they have found it.
        by_index = {VECTOR, KEYWORD}.isdisjoint(composition.lanes)
        reader = self._reader(trusting=True, texts=self.texts if by_index else None)
        found = await self._run(composition, request, top_k, reader)
        if found.current:
            return found
        request.warnings.clear()
        return await self._run(composition, replace(request, hot=None), top_k, self._reader())

    def _reader(
        self, *, trusting: bool = False, texts: Texts | None = None
    ) -> QuestionReader | None:
        """Made anew for each run, for its lanes share one question."""
        if self.indexes is None:
            return None
        return QuestionReader(self.chunks, self.embedder, self.indexes, trusting, texts)

    def _lanes(self, reader: QuestionReader | None, *, whole: bool = False) -> dict[str, Lane]:
        lanes: list[Lane] = [
            VectorLane(self.chunks, self.embedder, whole=whole),
            KeywordLane(self.chunks, whole=whole),
        ]
        if reader is not None:
            lanes += [LocalLane(reader, self.graph), MixLane(reader)]
            if self.graph is not None:
                lanes += [ReportsLane(reader), GlobalLane(reader)]
        return {lane.name: lane for lane in lanes}

    async def _run(
        self,
        composition: Composition,
        request: LaneQuery,
        top_k: int | None,
        reader: QuestionReader | None,
    ) -> Found:
        """Run the lanes and what goes beside them, then the fallback if no lane succeeded."""
        timeout, known = self.settings.lane_timeout, self._lanes(reader)
        beside = [name for name in composition.beside if name in known]
        names = [*composition.lanes, *beside]
        runs = await run_lanes([known[name] for name in names], request, timeout)
        found = self._ranked(composition, runs, top_k)
        try:
            found = await self._told(request, found, top_k, reader)
        except (InputError, ConflictError):
            raise
        except Exception as failure:  # noqa: BLE001 - as in a lane: without texts it has found nothing
            runs = [replace(run, hits=[], error=run.error or failure) for run in runs]
        if _all_failed(runs, composition.lanes):
            whole = self._lanes(
                reader, whole=True
            )  # reading texts afterwards may be what has failed
            step_in = [whole[name] for name in composition.fallback]
            runs = [*runs, *await run_lanes(step_in, request, timeout)]
            found = self._ranked(composition, runs, top_k)
        failed = {run.name: run.error for run in runs if run.error is not None}
        log_failures(failed)
        if _all_failed(runs, [*composition.lanes, *composition.fallback]):
            raise RetrievalError(failed)
        return found

    def _ranked(self, composition: Composition, runs: list[LaneRun], top_k: int | None) -> Found:
        timings = {run.name: run.milliseconds for run in runs}
        started = time.perf_counter()
        passages = self._rank(_passages(runs, composition), composition.join, top_k)
        around = _around(runs)
        timings["fusion"] = (time.perf_counter() - started) * 1000
        return Found(runs, passages, around, timings)

    async def _told(
        self, request: LaneQuery, found: Found, top_k: int | None, reader: QuestionReader | None
    ) -> Found:
        """The same with the texts of the first passages, if they and the index are of one moment."""
        if reader is None or reader.told is None or reader.now is None:
            return await self._read(request, found, top_k, reader.stamp if reader else None)
        started = time.perf_counter()
        around = found.around if self.graph is not None else []
        passages, around = told_from(reader.told, found.passages[:top_k], around)
        now = await within(self.settings.lane_timeout, reader.now)
        timings = {**found.timings, "texts": (time.perf_counter() - started) * 1000}
        return Found(found.runs, passages, around, timings, current=now == reader.stamp)

    async def _read(
        self, request: LaneQuery, found: Found, top_k: int | None, trusted: Stamp | None
    ) -> Found:
        """The same from the stores."""
        if all(item.text for item in [*found.passages, *found.around]):
            # Where no text is read, nothing has told yet whether the index is of now.
            return replace(found, current=trusted is None and request.hot is None)
        started = time.perf_counter()
        contents = Contents(self.chunks, self.graph, request, stamped=trusted is not None)
        work = contents.read(found.passages[:top_k], found.around)
        passages, around, stamp, hot = await within(self.settings.lane_timeout, work)
        timings = {**found.timings, "texts": (time.perf_counter() - started) * 1000}
        return Found(found.runs, passages, around, timings, current=hot and stamp == trusted)

    def _rank(
        self, found: Mapping[str, Sequence[RetrievedItem]], join: Join, top_k: int | None
    ) -> list[RetrievedItem]:
        if len(found) == 1 or (join is Join.LEAD and len(found) == 2):
            return led(found, top_k)
        weights = {VECTOR: self.settings.vector_weight, KEYWORD: self.settings.keyword_weight}
        return fuse(found, weights, self.settings.rrf_k, top_k)


def _all_failed(runs: Sequence[LaneRun], lanes: Sequence[str]) -> bool:
    errors = [run.error for run in runs if run.name in lanes]
    return bool(errors) and all(errors)


def _passages(runs: Sequence[LaneRun], composition: Composition) -> dict[str, list[RetrievedItem]]:
    """The passages that each lane found; a lane that failed, or runs beside them, has none."""
    return {
        run.name: [hit for hit in run.hits if hit.kind is ItemKind.CHUNK]
        for run in runs
        if run.error is None and run.name not in composition.beside
    }


def _around(runs: Sequence[LaneRun]) -> list[RetrievedItem]:
    """What the lanes found of the graph: each item once, as the lane said that rates it highest."""
    found: dict[str, RetrievedItem] = {}
    for run in runs:
        for hit in run.hits:
            known = found.get(hit.id)
            if hit.kind is not ItemKind.CHUNK and (known is None or known.score < hit.score):
                found[hit.id] = hit
    return sorted(found.values(), key=lambda item: (-item.score, item.id))
