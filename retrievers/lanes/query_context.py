"""Run the lanes over a scope's index: the question is read once, and all of them get the same `QueryContext`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sextant.domain.errors import ConflictError, InputError
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.telemetry import milliseconds_since
from sextant.domain.warnings import WarningCode
from sextant.models.protocols import Embedder, Vectors
from sextant.retrievers.arrays import Floats, SparseScores
from sextant.retrievers.index.scope_index import ScopeIndex, ScopeIndexes
from sextant.retrievers.lanes.entities import GraphItems, link_question
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery, LaneRun, go_without, time_out
from sextant.retrievers.ranking.mix_ranker import (
    PageRankMixer,
    QuerySignals,
    count_nearest,
    semantic_scores,
)
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.arrays import halves_of_texts, index_of
from sextant.stores.postgresql.watched import detach_on_cancel

_NO_PASSAGES = SparseScores(np.empty(0, np.intp), np.empty(0, np.float32))


class LaneTimings(dict[str, float]):
    """Milliseconds by part of a lane over the index: `vector`, `keyword`, `walk`, `reports`."""

    @contextmanager
    def measure(self, part: str) -> Iterator[None]:
        """Add what the block takes."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self[part] = self.get(part, 0.0) + milliseconds_since(started)


@dataclass(frozen=True, slots=True)
class QueryContext:
    """What the lanes over the index know of a question.

    Attributes:
        index: the scope's passages and graph.
        signals: words, meaning and names of the question, matched with them.
        ranker: ranks passages and entities by the signals.
        vector: the question's vector; None without an embedding model that answers.
        nearest: cosines of the passages nearest to the centred vector; none without vectors.
        allowed: whether each passage passes the question's filters; None without filters.
        timings: time of the parts, added up as they are done.
    """

    index: ScopeIndex
    signals: QuerySignals
    ranker: PageRankMixer
    vector: Vectors | None
    nearest: SparseScores
    allowed: npt.NDArray[np.bool_] | None
    timings: LaneTimings


class LaneHits(NamedTuple):
    """What a lane found: passages or reports, best first, and the graph items that go with them.

    `entity_confidence`: how far the names in the question speak for the passages, 0..1.
    """

    items: list[RetrievedItem]
    graph_items: GraphItems | None = None
    entity_confidence: float = 0.0


IndexLane = Callable[[LaneQuery, QueryContext], LaneHits]
"""A lane over the index; runs in a thread."""


@dataclass(frozen=True, slots=True)
class IndexLaneRunner:
    """Reads a question once for all lanes over the index, and runs them.

    Args:
        chunks, embedder, indexes: what is read.
        ranker: ranks passages and entities by the signals.
    """

    chunks: ChunkStore
    embedder: Embedder
    indexes: ScopeIndexes
    ranker: PageRankMixer

    async def run(
        self, lanes: Mapping[str, IndexLane], query: LaneQuery, deadline: float
    ) -> tuple[list[LaneRun], LaneTimings]:
        """Run lanes over the scope's index, one after the other in one thread; return the time of their parts, too.

        Without an embedding model that answers they go on with words and names, and a warning.

        Args:
            lanes: name → lane.
            query: the question.
            deadline: seconds after which all lanes count as timed out.

        Raises:
            InputError, ConflictError: the request or the stored vectors are at fault.
        """
        started = time.perf_counter()
        timings = LaneTimings()
        try:
            async with asyncio.timeout(deadline) as limit:
                runs = await self._run(lanes, query, started, timings)
        except (InputError, ConflictError):
            raise
        except Exception as error:  # noqa: BLE001 - as in a lane
            if limit.expired():
                return [time_out(name, deadline) for name in lanes], LaneTimings()
            elapsed = milliseconds_since(started)
            return [LaneRun(name, [], elapsed, error) for name in lanes], LaneTimings()
        return runs, timings

    async def _run(
        self,
        lanes: Mapping[str, IndexLane],
        query: LaneQuery,
        started: float,
        timings: LaneTimings,
    ) -> list[LaneRun]:
        index, vector = await asyncio.gather(
            detach_on_cancel(self.indexes.get(query.scope)), self._embed(query, timings)
        )
        with timings.measure(VECTOR):
            find_nearest = await self._nearest_finder(query, index, vector)
        type_similarity: Floats | None = None
        if vector is not None:
            shared = self.indexes.query_vectors(self.embedder)
            type_similarity = await shared.type_similarity(index.types, vector)
        allowed = await self._allowed(query, index)
        named = link_question(index, query.text)

        def run_in_thread() -> list[LaneRun]:
            with timings.measure(VECTOR):
                nearest = find_nearest()
            with timings.measure(KEYWORD):
                match = index.lexical.match(query.text)
            signals = QuerySignals(
                match=match,
                semantic=None if nearest is None else semantic_scores(nearest),
                named=named,
                type_match=index.types.named_by(query.text),
                type_similarity=type_similarity,
            )
            signals = replace(signals, relevance=self.ranker.relevance(index.walk, signals))
            context = QueryContext(
                index,
                signals,
                self.ranker,
                vector,
                nearest or _NO_PASSAGES,
                allowed,
                timings,
            )
            return [_run_lane(name, lane, query, context, started) for name, lane in lanes.items()]

        return await asyncio.to_thread(run_in_thread)

    async def _nearest_finder(
        self, query: LaneQuery, index: ScopeIndex, vector: Vectors | None
    ) -> Callable[[], SparseScores | None]:
        """Return a function that finds the nearest passages in memory, or returns what the store has found."""
        if vector is None:
            return lambda: None
        centred = await self.indexes.query_vectors(self.embedder).centred(vector)
        if index.passages.vectors is None:
            found = await self._find_in_store(query, index, centred)
            return lambda: found
        return lambda: index.passages.nearest(centred, count_nearest(len(index.chunk_ids)))

    async def _allowed(self, query: LaneQuery, index: ScopeIndex) -> npt.NDArray[np.bool_] | None:
        if query.filters is None:
            return None
        matching = await detach_on_cancel(self.chunks.matching_ids(query.scope, query.filters))
        rows = index_of(index.chunk_ids.halves, matching)
        allowed = np.zeros(len(index.chunk_ids), np.bool_)
        allowed[rows[rows >= 0]] = True
        return allowed

    async def _embed(self, query: LaneQuery, timings: LaneTimings) -> Vectors | None:
        with (
            go_without(VECTOR, query.warnings, WarningCode.EMBEDDING_FAILED),
            timings.measure(VECTOR),
        ):
            return await self.embedder.embed_query(query.text)
        return None

    async def _find_in_store(
        self, query: LaneQuery, index: ScopeIndex, vector: Vectors
    ) -> SparseScores | None:
        """Return the nearest passages by a search in PostgreSQL."""
        with go_without(VECTOR, query.warnings, WarningCode.EMBEDDING_FAILED):
            wanted = count_nearest(len(index.chunk_ids))
            found = await detach_on_cancel(self.chunks.nearest(query.scope, vector, wanted))
            rows = index_of(index.chunk_ids.halves, halves_of_texts(found.ids)).astype(np.intp)
            rising = np.argsort(rows)[np.count_nonzero(rows < 0) :]
            return SparseScores(rows[rising], np.array(found.scores, np.float32)[rising])
        return None


def _run_lane(
    name: str, lane: IndexLane, query: LaneQuery, context: QueryContext, started: float
) -> LaneRun:
    """Run one lane; its failure does not disturb the others."""
    hits, error = LaneHits([]), None
    try:
        hits = lane(query, context)
    except (InputError, ConflictError):
        raise
    except Exception as failure:  # noqa: BLE001 - a lane is an edge: its failure is data from here on
        error = failure
    elapsed = milliseconds_since(started)
    return LaneRun(name, hits.items, elapsed, error, hits.graph_items, hits.entity_confidence)
