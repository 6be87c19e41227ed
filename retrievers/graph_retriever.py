"""The retriever: a question and a mode in, a ranked list of passages out."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, SkipValidation

from domain.errors import OptionInvalid, RetrievalError
from domain.questions import checked_question
from domain.retrieval import LaneScore, Mode, Retrieval, RetrievedItem
from domain.scope import DEFAULT_GRAPH, Scope
from domain.settings import Settings
from models.protocols import Embedder
from retrievers.fusion import fuse
from retrievers.lanes import (
    KEYWORD,
    VECTOR,
    KeywordLane,
    Lane,
    LaneQuery,
    LaneRun,
    VectorLane,
    run_lanes,
)
from retrievers.mix import MixLane
from retrievers.modes import Composition, composition_from, composition_of
from retrievers.scope_index import ScopeIndexes
from retrievers.sync import run_sync
from stores.chunks import ChunkStore
from stores.documents import DocumentStore

logger = logging.getLogger(__name__)

MAX_TOP_K = 1000

# Seed 000: each lane of a fused search returns twice what is wanted.
_OVERFETCH = 2
_DEGRADED = {
    VECTOR: "向量检索失败，使用关键词检索降级",
    KEYWORD: "关键词检索失败，仅使用向量检索结果",
}


class SearchOptions(TypedDict, total=False):
    """What `GraphRetriever.search` takes by keyword."""

    mode: str
    top_k: int | None
    filters: Mapping[str, Any] | None
    lanes: Sequence[str] | None


class RetrieveOptions(SearchOptions, total=False):
    """What `retrieve` and a LangChain caller take by keyword: whose data, and how to search it."""

    graph_id: str
    user_id: str | None


class GraphRetriever(BaseRetriever):
    """Searches a knowledge base in one of the modes; also a LangChain `BaseRetriever`.

    `search` gives everything (warnings, times, per-lane scores), `aretrieve` the ranked items,
    `retrieve` the same to callers without an event loop. As a LangChain retriever it is called by
    `ainvoke(question, graph_id="hr", mode="naive", top_k=5)`, or bound once by `bind(graph_id="hr")`.

    Args:
        chunks: the store that the lanes search.
        embedder: turns the question into a vector.
        settings: constants of retrieval and limits.
        documents: when given, an unknown graph raises `GraphNotFound`; otherwise it is empty.
        indexes: when given, `mix` is there; they belong to one event loop.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True)

    chunks: SkipValidation[ChunkStore]
    embedder: SkipValidation[Embedder]
    settings: SkipValidation[Settings] = Field(default_factory=Settings)
    documents: SkipValidation[DocumentStore | None] = None
    indexes: SkipValidation[ScopeIndexes | None] = None

    @property
    def lanes(self) -> dict[str, Lane]:
        """The lanes that this retriever can run, by name."""
        lanes: list[Lane] = [VectorLane(self.chunks, self.embedder), KeywordLane(self.chunks)]
        if self.indexes is not None:
            lanes.append(MixLane(self.chunks, self.embedder, self.indexes))
        return {lane.name: lane for lane in lanes}

    async def search(
        self,
        scope: Scope,
        query: str,
        *,
        mode: str = Mode.NAIVE,
        top_k: int | None = None,
        filters: Mapping[str, Any] | None = None,
        lanes: Sequence[str] | None = None,
    ) -> Retrieval:
        """Search one knowledge base.

        Args:
            scope: whose data, and which knowledge base.
            query: the question, 1 to `settings.limits.question_chars` characters.
            mode: one of the six modes.
            top_k: results wanted, 1 to 1000; default `settings.retrieval.top_k`.
            filters: none can be served yet.
            lanes: lanes to run instead of the mode's own, fused when there are several; a refining
                round widens a search by `("vector", "keyword")`.

        Returns:
            Results with descending score. From one lane the score is the lane's own (cosine for the
            vector lane); from several it is that of reciprocal rank fusion, and `lanes` keeps the
            others. `timings` holds milliseconds per lane, of `fusion` and in `total`.

        Raises:
            QuestionInvalid, OptionInvalid, ModeNotAvailable: the request is at fault.
            GraphNotFound: this user has no knowledge base of that id.
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: every lane failed; carries each cause.
        """
        started = time.perf_counter()
        chosen, composition = composition_of(mode, list(self.lanes))
        if lanes is not None:
            composition = composition_from(lanes, list(self.lanes))
        request = self._request(scope, query, top_k, filters, len(composition.lanes))
        runs = await self._run(composition, request)
        warnings = _warnings(runs)
        fusing = time.perf_counter()
        results = self._rank(runs)[: self._top_k(top_k)]
        ended = time.perf_counter()
        if not results and composition.lanes and self.documents is not None:
            await self.documents.require_graph(scope)
        timings = {run.name: run.milliseconds for run in runs}
        timings |= {"fusion": (ended - fusing) * 1000, "total": (ended - started) * 1000}
        self._log(request, runs, results, timings)
        return Retrieval(tuple(results), chosen, warnings=warnings, timings=timings)

    async def aretrieve(
        self,
        query: str,
        *,
        graph_id: str = DEFAULT_GRAPH,
        user_id: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> list[RetrievedItem]:
        """Return the ranked items of `search`; `user_id` defaults to the one of the settings."""
        scope = Scope(user_id or self.settings.user_id, graph_id)
        return list((await self.search(scope, query, **options)).results)

    def retrieve(self, query: str, **options: Unpack[RetrieveOptions]) -> list[RetrievedItem]:
        """The twin of `aretrieve` for synchronous callers; takes the same options.

        Works with and without a running event loop in the calling thread, which it blocks.
        """
        return run_sync(lambda: self.aretrieve(query, **options))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
        **options: Unpack[RetrieveOptions],
    ) -> list[Document]:
        return [_as_document(item) for item in await self.aretrieve(query, **options)]

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
        **options: Unpack[RetrieveOptions],
    ) -> list[Document]:
        return [_as_document(item) for item in self.retrieve(query, **options)]

    def _request(
        self,
        scope: Scope,
        query: str,
        top_k: int | None,
        filters: Mapping[str, Any] | None,
        lane_count: int,
    ) -> LaneQuery:
        if filters:
            raise OptionInvalid(
                f"Filters cannot be served yet: `{next(iter(filters))}`.",
                next_step="Search without filters.",
                field="filters",
            )
        limit = self._top_k(top_k)
        return LaneQuery(
            scope=scope,
            text=checked_question(query, self.settings.limits.question_chars),
            limit=limit * _OVERFETCH if lane_count > 1 else limit,
            max_keywords=self.settings.retrieval.max_keywords,
        )

    def _top_k(self, top_k: int | None) -> int:
        wanted = self.settings.retrieval.top_k if top_k is None else top_k
        if not 1 <= wanted <= MAX_TOP_K:
            raise OptionInvalid(
                f"top_k is {wanted}; it must lie between 1 and {MAX_TOP_K}.",
                next_step="Ask for fewer results or for at least one.",
                field="top_k",
            )
        return wanted

    async def _run(self, composition: Composition, request: LaneQuery) -> list[LaneRun]:
        """Run the lanes, then the fallback if none succeeded."""
        timeout = self.settings.retrieval.lane_timeout
        runs = await run_lanes([self.lanes[name] for name in composition.lanes], request, timeout)
        if runs and all(run.error for run in runs):
            step_in = [self.lanes[name] for name in composition.fallback]
            runs += await run_lanes(step_in, request, timeout)
        failed = {run.name: run.error for run in runs if run.error is not None}
        for name, error in failed.items():
            logger.error("lane %s failed", name, exc_info=error)
        if runs and len(failed) == len(runs):
            raise RetrievalError(failed)
        return runs

    def _rank(self, runs: Sequence[LaneRun]) -> list[RetrievedItem]:
        found = {run.name: run.hits for run in runs if run.error is None}
        if len(found) == 1:
            [(lane, hits)] = found.items()
            return [
                replace(hit, lanes={**hit.lanes, lane: LaneScore(rank, hit.score)})
                for rank, hit in enumerate(hits, start=1)
            ]
        constants = self.settings.retrieval
        weights = {VECTOR: constants.vector_weight, KEYWORD: constants.keyword_weight}
        return fuse(found, weights, constants.rrf_k)

    def _log(
        self,
        request: LaneQuery,
        runs: Sequence[LaneRun],
        results: Sequence[RetrievedItem],
        timings: Mapping[str, float],
    ) -> None:
        """Log what seed 000 asks for: query, keywords, counts, the first three, and times."""
        spent = {step: round(milliseconds, 1) for step, milliseconds in timings.items()}
        if logger.isEnabledFor(logging.INFO):
            logger.info(
                "retrieved query=%r keywords=%s found=%s returned=%d top=%s ms=%s",
                request.text,
                request.keywords,
                {run.name: len(run.hits) for run in runs},
                len(results),
                [(item.metadata.get("filename"), round(item.score, 4)) for item in results[:3]],
                spent,
            )
        if timings["total"] > self.settings.retrieval.slow_ms:
            logger.warning("retrieval took %.0f ms: %s", timings["total"], spent)


def _warnings(runs: Sequence[LaneRun]) -> tuple[str, ...]:
    """One sentence for every failed lane: how the search went on without it. Logged verbatim."""
    sentences = [
        _DEGRADED.get(run.name, f"检索通道 {run.name} 失败，其余通道继续")
        for run in runs
        if run.error is not None
    ]
    for sentence in sentences:
        logger.warning(sentence)
    return tuple(sentences)


def _as_document(item: RetrievedItem) -> Document:
    metadata = {**item.metadata, "document_id": item.document_id, "score": item.score}
    return Document(id=item.id, page_content=item.text, metadata=metadata)
