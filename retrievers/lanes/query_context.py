"""A question held against a knowledge base: what its lanes over the scope's index have in common."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sextant.domain.errors import ConflictError, InputError, SextantError
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.telemetry import milliseconds_since
from sextant.domain.warnings import WarningCode
from sextant.models.protocols import Embedder, Vectors
from sextant.retrievers.arrays import Floats
from sextant.retrievers.index.passages import Near
from sextant.retrievers.index.scope_index import ScopeIndex, ScopeIndexes
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery, LaneRun, late
from sextant.retrievers.lanes.surroundings import Surroundings, link_question, nearest_entities
from sextant.retrievers.lanes.warnings import go_without
from sextant.retrievers.ranking.mix_ranker import (
    PageRankMixer,
    QuerySignals,
    SemanticScores,
    count_nearest,
    semantic_scores,
)
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.arrays import halves_of_texts, index_of
from sextant.stores.graph.protocol import GraphStore
from sextant.stores.postgresql.watched import detach_on_cancel

_NOTHING = Near(np.empty(0, np.intp), np.empty(0, np.float32))


class LaneTimings(dict[str, float]):
    """Milliseconds that parts of the lanes over the index took, by their names in an item's `lanes`."""

    @contextmanager
    def on(self, part: str) -> Iterator[None]:
        """Add what the block takes."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self[part] = self.get(part, 0.0) + milliseconds_since(started)


@dataclass(frozen=True, slots=True)
class QueryContext:
    """A scope's index, what a question shares with it, and how that is ranked.

    Attributes:
        index: the scope's passages and graph.
        signals: words, meaning and names that the question shares with them.
        ranker: ranks passages and entities by the signals.
        vector: the question's vector; None when no model gave one.
        near: the passages nearest to the centred vector, with cosines; none without vectors.
        allowed: whether the question's filters let a passage through; None without filters.
        named_in_full: whether `signals` name all entities that can be found for the question.
        spent: what its parts take, added up as they are done.
    """

    index: ScopeIndex
    signals: QuerySignals
    ranker: PageRankMixer
    vector: Vectors | None
    near: Near
    allowed: npt.NDArray[np.bool_] | None
    named_in_full: bool
    spent: LaneTimings


class Hits(NamedTuple):
    """What a lane finds: passages or reports, best first, and what of the graph goes with them.

    `entity_confidence`: how far the names of the question vouch for the
    passages, 0..1.
    """

    items: list[RetrievedItem]
    around: Surroundings | None = None
    entity_confidence: float = 0.0


# A lane over the index, run in a thread. None: it wants to know first what entities the store finds
# for the question (`QueryContext.named_in_full`).
IndexLane = Callable[[LaneQuery, QueryContext], Hits | None]


class Read(NamedTuple):
    """How each lane fared, and what parts took."""

    runs: list[LaneRun]
    spent: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class QuestionReader:
    """Reads a question once for all the lanes over the index.

    Args:
        chunks, embedder, indexes, graph: what is read.
        ranker: ranks by what a question shares with the index.
    """

    chunks: ChunkStore
    embedder: Embedder
    indexes: ScopeIndexes
    graph: GraphStore | None
    ranker: PageRankMixer

    async def run(
        self,
        works: Mapping[str, IndexLane],
        query: LaneQuery,
        deadline: float,
    ) -> Read:
        """Run lanes over the scope's index; they share one trip to a thread.

        Without a model that answers, words and names go on alone, with a warning. What is not done after
        `deadline` seconds is left behind, as by `run_lanes`; what waits for the database does so `detach_on_cancel`.

        Args:
            works: the lanes.
            query: the question.
            deadline: in seconds.

        Raises:
            InputError, ConflictError: the request or the stored vectors are at fault.
        """
        started = time.perf_counter()
        runs: dict[str, LaneRun] = {}
        timings = LaneTimings()
        try:
            async with asyncio.timeout(deadline) as limit:
                await self._run(works, query, started, runs, timings)
        except (InputError, ConflictError):
            raise
        except Exception as failure:  # noqa: BLE001 - as in a lane
            if limit.expired():
                return Read([runs.get(name) or late(name, deadline) for name in works])
            took = milliseconds_since(started)
            return Read([runs.get(name) or LaneRun(name, [], took, failure) for name in works])
        return Read([runs[name] for name in works], timings)

    async def _run(
        self,
        works: Mapping[str, IndexLane],
        query: LaneQuery,
        started: float,
        runs: dict[str, LaneRun],
        timings: LaneTimings,
    ) -> None:
        """Put into `runs` how each fares, and into `timings` what parts take."""
        index, vector = await asyncio.gather(
            detach_on_cancel(self.indexes.get(query.scope)), self._vector(query, timings)
        )
        with timings.on(VECTOR):
            find_nearest = await self._nearest_finder(query, index, vector)
        similar = await self._type_similarity(index, vector)
        allowed = await self._allowed(query, index)

        def build_context() -> QueryContext:
            with timings.on(VECTOR):
                nearest = find_nearest()
            signals = self._signals(index, query.text, nearest, similar, timings)
            full = bool(signals.named) or self.graph is None or not len(index.entities)
            return QueryContext(
                index,
                signals,
                self.ranker,
                vector,
                nearest or _NOTHING,
                allowed,
                full,
                timings,
            )

        def run_lanes_here(
            lanes: Mapping[str, IndexLane], build: Callable[[], QueryContext]
        ) -> QueryContext:
            context = build()
            runs.update(_run_each(lanes, query, context, started))
            return context

        first = await asyncio.to_thread(run_lanes_here, works, build_context)
        rest = {name: work for name, work in works.items() if name not in runs}
        if rest and self.graph is not None:
            named = await detach_on_cancel(nearest_entities(self.graph, query, index, vector))
            signals = _with_named(first.signals, named)
            again = replace(first, signals=signals, named_in_full=True)
            await asyncio.to_thread(run_lanes_here, rest, lambda: again)

    async def _nearest_finder(
        self, query: LaneQuery, index: ScopeIndex, vector: Vectors | None
    ) -> Callable[[], Near | None]:
        """Return what finds the nearest passages in a thread: in memory, or as the store has found them."""
        if vector is None:
            return lambda: None
        centred = await self.indexes.meanings(self.embedder).centred(vector)
        if index.passages.vectors is None:
            found = await self._near(query, index, centred)
            return lambda: found
        return lambda: index.passages.nearest(centred, count_nearest(len(index.chunk_ids)))

    async def _type_similarity(self, index: ScopeIndex, vector: Vectors | None) -> Floats | None:
        if vector is None:
            return None
        return await self.indexes.meanings(self.embedder).type_similarity(index.types, vector)

    async def _allowed(self, query: LaneQuery, index: ScopeIndex) -> npt.NDArray[np.bool_] | None:
        if query.filters is None:
            return None
        matching = await detach_on_cancel(self.chunks.matching_ids(query.scope, query.filters))
        rows = index_of(index.chunk_ids.halves, matching)
        allowed = np.zeros(len(index.chunk_ids), np.bool_)
        allowed[rows[rows >= 0]] = True
        return allowed

    async def _vector(self, query: LaneQuery, timings: LaneTimings) -> Vectors | None:
        try:
            with timings.on(VECTOR):
                return await self.embedder.embed_query(query.text)
        except ConflictError:
            raise
        except SextantError as error:
            go_without(VECTOR, error, query, WarningCode.EMBEDDING_FAILED)
            return None

    async def _near(self, query: LaneQuery, index: ScopeIndex, vector: Vectors) -> Near | None:
        """Return the nearest passages as the store finds them."""
        try:
            wanted = count_nearest(len(index.chunk_ids))
            found = await detach_on_cancel(self.chunks.nearest(query.scope, vector, wanted))
        except ConflictError:
            raise
        except SextantError as error:
            go_without(VECTOR, error, query, WarningCode.EMBEDDING_FAILED)
            return None
        rows = index_of(index.chunk_ids.halves, halves_of_texts(found.ids)).astype(np.intp)
        rising = np.argsort(rows)[np.count_nonzero(rows < 0) :]
        return Near(rows[rising], np.array(found.scores, np.float32)[rising])

    def _signals(
        self,
        index: ScopeIndex,
        question: str,
        nearest: Near | None,
        type_similarity: Floats | None,
        timings: LaneTimings,
    ) -> QuerySignals:
        with timings.on(KEYWORD):
            match = index.lexical.match(question)
        signals = QuerySignals(
            match=match,
            semantic=_semantic(nearest),
            named=link_question(index, question),
            type_match=index.types.named_by(question),
            type_similarity=type_similarity,
        )
        return replace(signals, relevance=self.ranker.relevance(index.walk, signals))


def _run_each(
    lanes: Mapping[str, IndexLane], query: LaneQuery, context: QueryContext, started: float
) -> dict[str, LaneRun]:
    """Return how each fares that has all it wants: one that fails does not disturb the others."""
    runs: dict[str, LaneRun] = {}
    for name, lane in lanes.items():
        hits, error = None, None
        try:
            hits = lane(query, context)
        except (InputError, ConflictError):
            raise
        except Exception as failure:  # noqa: BLE001 - a lane is an edge: its failure is data from here on
            hits, error = Hits([]), failure
        if hits is not None:
            elapsed = milliseconds_since(started)
            runs[name] = LaneRun(
                name, hits.items, elapsed, error, hits.around, hits.entity_confidence
            )
    return runs


def _with_named(signals: QuerySignals, named: dict[int, float] | None) -> QuerySignals:
    """Return the signals with these entities named, where they are known."""
    return signals if named is None else replace(signals, named=named, relevance=None)


def _semantic(nearest: Near | None) -> SemanticScores | None:
    return None if nearest is None else semantic_scores(nearest.rows, nearest.cosines)
