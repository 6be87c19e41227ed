"""The retriever of the graph modes: a question and a mode in, ranked passages and graph items out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypedDict, Unpack, cast

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, SkipValidation

from sextant.domain.answers import Answer
from sextant.domain.breadth import is_broad
from sextant.domain.concurrency import run_sync
from sextant.domain.errors import OptionInvalid, SextantError
from sextant.domain.questions import ChunkFilters, check_question, in_range
from sextant.domain.retrieval import AUTO, Mode, Retrieval, RetrievedItem
from sextant.domain.scope import DEFAULT_GRAPH, Scope
from sextant.domain.settings import Settings
from sextant.domain.telemetry import milliseconds_since, observe_search
from sextant.domain.warnings import WarningCode, collect_warnings, distinct
from sextant.models.protocols import Embedder, Reranker
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.retrievers.lanes.entities import link_names
from sextant.retrievers.lanes.lane import (
    KEYWORD,
    VECTOR,
    LaneQuery,
    counts_of,
    list_scores,
    log_found,
)
from sextant.retrievers.lanes.warnings import warn_of_failures, warn_of_unknown
from sextant.retrievers.mode_runner import ModeResults, ModeRunner
from sextant.retrievers.modes import resolve_mode, spec_from_lanes
from sextant.retrievers.namesakes import Meaning, find_meanings
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.protocol import GraphStore
from sextant.stores.scopes import KnowledgeBases

logger = logging.getLogger(__name__)

MAX_TOP_K = 1000

# Lanes overlap: each returns twice what is wanted, so that enough passages are left after fusion.
_OVERFETCH = 2


class GraphSearchOptions(TypedDict, total=False):
    """Keyword arguments of `GraphRetriever.search`."""

    mode: str
    top_k: int | None
    filters: ChunkFilters | Mapping[str, Any] | None
    lanes: Sequence[str] | None
    rerank: bool


class MultimodalQueryOptions(TypedDict, total=False):
    """Keyword arguments of `aquery_with_multimodal`."""

    graph_id: str
    user_id: str | None
    top_k: int | None
    history: Sequence[Mapping[str, str]]
    filters: Mapping[str, Any] | None


Answerer = Callable[[Mapping[str, Any]], Awaitable[Answer]]
"""Answers a question that is given as the workflow's input; may read image files of this machine."""


class RetrieveOptions(GraphSearchOptions, total=False):
    """Keyword arguments of `retrieve`, and of LangChain's `invoke`."""

    graph_id: str
    user_id: str | None


class GraphRetriever(BaseRetriever):
    """Searches a knowledge base in one of the modes; also a LangChain `BaseRetriever`.

    `search` returns everything (warnings, timings, scores by lane), `aretrieve` the ranked items, and `retrieve`
    is its synchronous twin. As a LangChain retriever it is called by
    `ainvoke(question, graph_id="hr", mode="naive", top_k=5)`; `bind(graph_id="hr")` returns a retriever with
    fixed options, for chains such as `create_retrieval_chain`.

    Args:
        chunks: the chunk store.
        embedder: embeds the question.
        settings: constants of retrieval and limits.
        knowledge_bases: raises `GraphNotFound` for an unknown graph; without it such a graph is empty.
        indexes: needed by all graph modes.
        graph: needed by `global` and `hybrid`, and for the entities and relations that go with results.
        reranker: reranks the best passages of `hybrid` and `mix`.
        answerer: answers questions about images and tables.
        bound: options of `retrieve` for LangChain callers, see `bind`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True)

    chunks: SkipValidation[ChunkStore]
    embedder: SkipValidation[Embedder]
    settings: SkipValidation[Settings] = Field(default_factory=Settings)
    knowledge_bases: SkipValidation[KnowledgeBases | None] = None
    indexes: SkipValidation[ScopeIndexes | None] = None
    graph: SkipValidation[GraphStore | None] = None
    reranker: SkipValidation[Reranker | None] = None
    answerer: SkipValidation[Answerer | None] = None
    bound: Mapping[str, Any] = Field(default_factory=dict[str, Any])

    def bind(self, **options: Any) -> GraphRetriever:  # noqa: ANN401 - LangChain's signature
        """Return a retriever that uses these options where a call does not give them.

        Raises:
            OptionInvalid: there is no such option.
        """
        if unknown := sorted(options.keys() - RetrieveOptions.__annotations__.keys()):
            raise OptionInvalid(
                f"{unknown[0]} is no option of a search.",
                next_step=f"Options: {', '.join(sorted(RetrieveOptions.__annotations__))}.",
                field=unknown[0],
            )
        return self.model_copy(update={"bound": {**self.bound, **options}})

    @property
    def lanes(self) -> list[str]:
        """Return the names of the lanes that this retriever can run."""
        return self._runner.lane_names

    @property
    def _runner(self) -> ModeRunner:
        return ModeRunner(
            self.chunks, self.embedder, self.settings.retrieval, self.indexes, self.graph
        )

    async def search(
        self,
        scope: Scope,
        query: str,
        *,
        mode: str = Mode.NAIVE,
        top_k: int | None = None,
        filters: ChunkFilters | Mapping[str, Any] | None = None,
        lanes: Sequence[str] | None = None,
        rerank: bool = True,
    ) -> Retrieval:
        """Search one knowledge base.

        Args:
            scope: whose data, and which knowledge base.
            query: the question, 1 to `settings.limits.question_chars` characters.
            mode: one of the six modes, or `auto`: `global` for a question about the whole, else `mix`.
            top_k: results wanted, 1 to 1000; default `settings.retrieval.top_k`.
            filters: which passages may be found: the fields of `sextant.domain.questions.ChunkFilters`, in
                snake_case or camelCase. They do not apply to entities and relations.
            lanes: lanes to run instead of the mode's own, fused if there are several.
            rerank: use the reranker if one is configured and the mode is reranked.

        Returns:
            `top_k` passages (fewer only if there are fewer) by descending score. In `global` up to half of them
            are reports, before their passages; in `hybrid` reports stand among the passages. With one lane the
            score is the lane's own (cosine for the vector lane); `lanes` has the rank and score in every lane.
            `graph_items` are the entities, relations and reports that go with the passages, and `graph_context`
            is a summary of them. `timings` are milliseconds of each lane, of their parts (`vector`, `keyword`,
            `walk`), of the later steps, and in `total`.

        Raises:
            QuestionInvalid, OptionInvalid, ModeNotAvailable: the request is wrong.
            GraphNotFound: this user has no knowledge base of that id.
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: every lane failed; carries each cause.
        """
        with observe_search(mode) as report:
            started = time.perf_counter()
            runner = self._runner
            chosen, spec = resolve_mode(
                mode, runner.lane_names, broad=mode == AUTO and self._is_broad(query)
            )
            if lanes is not None:
                spec = spec_from_lanes(lanes, runner.lane_names)
            wanted = self.settings.retrieval.top_k if top_k is None else top_k
            limit = in_range(wanted, "top_k", most=MAX_TOP_K)
            reranker = self.reranker if rerank and spec.reranked else None
            fetched = limit * _OVERFETCH if len(spec.signals) > 1 else limit
            request = LaneQuery(
                scope=scope,
                text=check_question(query, self.settings.limits.question_chars),
                limit=max(fetched, runner.count_read(spec, limit, reranker)),
                max_keywords=self.settings.retrieval.max_keywords,
                filters=ChunkFilters.read(filters) if filters else None,
            )
            with collect_warnings() as notices:
                found = await runner.run(spec, request, limit, reranker)
            runs, results, timings = found.runs, found.results, found.timings
            incomplete = self.chunks.database.next_vector_check is not None
            if spec.signals and (request.filters or incomplete):
                await warn_of_unknown(self.chunks, request)
            # An index also finds "C" and 汞, which are no keywords.
            worded = request.keywords or any(KEYWORD in item.lanes for item in results)
            if not ({VECTOR}.issuperset(spec.signals) or worded):
                request.warn(WarningCode.KEYWORDS_MISSING)
            bases = None if results or not spec.signals else self.knowledge_bases
            if bases is not None and not await bases.has_passages(request.scope):
                request.warn(WarningCode.PASSAGES_MISSING)
            failures = warn_of_failures(runs) if any(run.error for run in runs) else []
            warnings = distinct([*failures, *request.warnings, *notices])
            timings["total"] = milliseconds_since(started)
            self._log(request, found)
            report.mode, report.timings, report.degraded = chosen, timings, bool(warnings)
        return Retrieval(
            tuple(results),
            chosen,
            graph_items=tuple(found.graph_items),
            coded_warnings=tuple(warnings),
            timings=timings,
            language=request.language,
        )

    def _log(self, request: LaneQuery, found: ModeResults) -> None:
        if logger.isEnabledFor(logging.INFO):
            log_found(
                logger,
                "retrieved",
                request,
                counts=counts_of(found.runs),
                found=list_scores(found.results),
                timings=found.timings,
            )
        if found.timings["total"] > self.settings.retrieval.slow_ms:
            milliseconds_of = {step: round(value, 1) for step, value in found.timings.items()}
            logger.warning("retrieval took %.0f ms: %s", found.timings["total"], milliseconds_of)

    async def known_names(self, scope: Scope, text: str) -> list[str]:
        """Return the titles, names and aliases in `text` that the graph knows, as written there.

        Empty without a graph, or if the store does not answer: a search will warn of that.
        """
        if self.indexes is None:
            return []
        try:
            async with asyncio.timeout(self.settings.retrieval.lane_timeout):
                cached = self.indexes.cached(scope)
                index = cached[1] if cached else await self.indexes.get(scope)
        except (SextantError, TimeoutError) as error:
            logger.info("names of the question not looked up: %s", error)
            return []
        return link_names(index, text)

    async def meanings(self, scope: Scope, text: str) -> dict[str, list[Meaning]]:
        """Return the names in `text` that several things of the graph bear, each with these.

        Empty without a graph, or if the store does not answer: a search will warn of that.
        """
        if self.indexes is None or self.graph is None:
            return {}
        try:
            async with asyncio.timeout(self.settings.retrieval.lane_timeout):
                index = await self.indexes.get(scope)
                return await find_meanings(index, self.graph, self.chunks.database, scope, text)
        except (SextantError, TimeoutError) as error:
            logger.info("names of the question not described: %s", error)
            return {}

    async def aretrieve(
        self,
        query: str,
        *,
        graph_id: str = DEFAULT_GRAPH,
        user_id: str | None = None,
        **options: Unpack[GraphSearchOptions],
    ) -> list[RetrievedItem]:
        """Return the ranked items of `search`; `user_id` defaults to the one of the settings."""
        scope = Scope(self.settings.user_id if user_id is None else user_id, graph_id)
        return list((await self.search(scope, query, **options)).results)

    def retrieve(self, query: str, **options: Unpack[RetrieveOptions]) -> list[RetrievedItem]:
        """Call `aretrieve` from synchronous code, with or without a running event loop, and block."""
        return run_sync(lambda: self.aretrieve(query, **options))

    async def aquery_with_multimodal(
        self,
        query: str,
        multimodal_content: Sequence[Mapping[str, Any]],
        mode: str = AUTO,
        **options: Unpack[MultimodalQueryOptions],
    ) -> Answer:
        """Answer a question about images and tables, together with the documents (docs/multimodal.md).

        The same as `Sextant.aquery_with_multimodal`. Options of `bind` count where a call does not give them.

        Raises:
            OptionInvalid: this retriever has no answerer.
            SextantError: the answer failed; for an image or table that cannot be used, `field` names it.
        """
        if self.answerer is None:
            raise OptionInvalid(
                "This retriever searches, and answers nothing.",
                next_step="Take the one of an open Sextant: `(await rag.dependencies()).retriever`.",
            )
        bound = {
            name: value
            for name, value in self.bound.items()
            if name in MultimodalQueryOptions.__annotations__
        }
        given = {"user_id": None, **bound, **options}
        if given["user_id"] is None:
            given["user_id"] = self.settings.user_id
        arguments = {"query": query, "multimodal_content": multimodal_content, "mode": mode}
        return await self.answerer(given | arguments)

    def query_with_multimodal(
        self,
        query: str,
        multimodal_content: Sequence[Mapping[str, Any]],
        mode: str = AUTO,
        **options: Unpack[MultimodalQueryOptions],
    ) -> Answer:
        """Call `aquery_with_multimodal` from synchronous code, and block."""
        return run_sync(
            lambda: self.aquery_with_multimodal(query, multimodal_content, mode, **options)
        )

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
        **options: Unpack[RetrieveOptions],
    ) -> list[Document]:
        wanted = cast("RetrieveOptions", {**self.bound, **options})
        return [_as_document(item) for item in await self.aretrieve(query, **wanted)]

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
        **options: Unpack[RetrieveOptions],
    ) -> list[Document]:
        wanted = cast("RetrieveOptions", {**self.bound, **options})
        return [_as_document(item) for item in self.retrieve(query, **wanted)]

    def _is_broad(self, query: str) -> bool:
        question = check_question(query, self.settings.limits.question_chars)
        return self.settings.communities.enabled and is_broad(question)


def _as_document(item: RetrievedItem) -> Document:
    values = {"document_id": item.document_id, "external_id": item.external_id, "score": item.score}
    metadata = {**item.metadata, **values}
    return Document(id=item.id, page_content=item.text, metadata=metadata)
