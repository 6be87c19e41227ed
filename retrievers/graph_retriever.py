"""The retriever: a question and a mode in, a ranked list of passages out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypedDict, Unpack, cast
from uuid import UUID

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, SkipValidation

from sextant.domain.answers import Answer
from sextant.domain.breadth import is_broad
from sextant.domain.errors import OptionInvalid, SextantError
from sextant.domain.graph import Entity
from sextant.domain.questions import ChunkFilters, check_question, in_range
from sextant.domain.retrieval import AUTO, ItemKind, Mode, Retrieval, RetrievedItem, rescore
from sextant.domain.scope import DEFAULT_GRAPH, Scope
from sextant.domain.settings import Settings
from sextant.domain.tasks import run_sync
from sextant.domain.telemetry import milliseconds_since, observe_search
from sextant.domain.warnings import WarningCode, collect_warnings, distinct
from sextant.models.protocols import Embedder, Reranker
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.retrievers.lanes.lane import (
    KEYWORD,
    VECTOR,
    LaneQuery,
    LaneRun,
    counts_of,
    list_scores,
    log_found,
)
from sextant.retrievers.lanes.surroundings import link_names
from sextant.retrievers.lanes.warnings import warn_of_failures, warn_of_unknown
from sextant.retrievers.mode_runner import Finder
from sextant.retrievers.modes import ModeSpec, resolve_mode, spec_from_lanes
from sextant.retrievers.ranking.fusion import first_of, with_reports
from sextant.retrievers.ranking.reranking import RerankLimits, rerank
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.protocol import GraphStore
from sextant.stores.scopes import KnowledgeBases

logger = logging.getLogger(__name__)

MAX_TOP_K = 1000

# Lanes overlap: each returns twice what is wanted, so that enough is left once they are fused.
_OVERFETCH = 2


class GraphSearchOptions(TypedDict, total=False):
    """What `GraphRetriever.search` takes by keyword."""

    mode: str
    top_k: int | None
    filters: ChunkFilters | Mapping[str, Any] | None
    lanes: Sequence[str] | None
    rerank: bool


class MultimodalQueryOptions(TypedDict, total=False):
    """What `aquery_with_multimodal` takes by keyword."""

    graph_id: str
    user_id: str | None
    top_k: int | None
    history: Sequence[Mapping[str, str]]
    filters: Mapping[str, Any] | None


Answerer = Callable[[Mapping[str, Any]], Awaitable[Answer]]
"""Answers a question, given as the keys of the workflow's input; it may read images of the caller's machine."""


class RetrieveOptions(GraphSearchOptions, total=False):
    """What `retrieve` and a LangChain caller take by keyword: whose data, and how to search it."""

    graph_id: str
    user_id: str | None


class GraphRetriever(BaseRetriever):
    """Searches a knowledge base in one of the modes; also a LangChain `BaseRetriever`.

    `search` gives everything (warnings, times, per-lane scores), `aretrieve` the ranked items,
    `retrieve` the same to callers without an event loop. As a LangChain retriever it is called by
    `ainvoke(question, graph_id="hr", mode="naive", top_k=5)`, or bound once by `bind(graph_id="hr")`, which
    gives a retriever for chains that look for one, such as `create_retrieval_chain`.

    Args:
        chunks: the store that the lanes search.
        embedder: turns the question into a vector.
        settings: constants of retrieval and limits.
        knowledge_bases: when given, an unknown graph raises `GraphNotFound`; otherwise it is empty.
        indexes: when given, `local` and `mix` are there.
        graph: with it results come with entities and relations, and `global` and `hybrid` are there.
        reranker: orders the best passages of `hybrid` and `mix` anew.
        answerer: when given, questions about images and tables are answered, too.
        bound: options of `retrieve` for LangChain callers who give none.
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
        """Return a retriever that searches with these options where a call gives none.

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
        return self._finder.names

    @property
    def _finder(self) -> Finder:
        return Finder(
            self.chunks,
            self.embedder,
            self.settings.retrieval,
            self.indexes,
            self.graph,
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
            filters: which passages may be found (`sextant.domain.questions.ChunkFilters`, by its names in
                snake_case or camelCase). Entities and relations that go with them are not bounded.
            lanes: lanes to run instead of the mode's own, fused when there are several; a refining
                round widens a search by `("vector", "keyword")`.
            rerank: let the reranker, where one is configured, order what the mode has reranked.

        Returns:
            `top_k` passages (fewer only when there are fewer) with descending score; in `global` up to
            half of them are reports, before the passages behind them; in `hybrid` they stand among these. From one lane the score is the
            lane's own (cosine for the vector lane); `lanes` keeps what every lane said. What of the
            graph goes with them is in `graph_items` and, in short, in `graph_context`. `timings`
            holds milliseconds per lane, also of those that work within another (`vector`, `keyword`,
            `walk`), of `fusion`, of `restating` and `rerank` where there are, and in `total`.

        Raises:
            QuestionInvalid, OptionInvalid, ModeNotAvailable: the request is at fault.
            GraphNotFound: this user has no knowledge base of that id.
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: every lane failed; carries each cause.
        """
        with observe_search(mode) as report:
            found = await self._search(
                scope, query, mode=mode, top_k=top_k, filters=filters, lanes=lanes, rerank=rerank
            )
            report.mode, report.timings, report.degraded = (
                found.mode,
                found.timings,
                bool(found.warnings),
            )
        return found

    async def _search(
        self,
        scope: Scope,
        query: str,
        *,
        mode: str,
        top_k: int | None,
        filters: ChunkFilters | Mapping[str, Any] | None,
        lanes: Sequence[str] | None,
        rerank: bool,
    ) -> Retrieval:
        started = time.perf_counter()
        finder = self._finder
        known = finder.names
        chosen, spec = resolve_mode(mode, known, broad=mode == AUTO and self._broad(query))
        if lanes is not None:
            spec = spec_from_lanes(lanes, known)
        reranker = self.reranker if rerank and spec.reranked else None
        pairs = 0 if reranker is None else self.settings.retrieval.rerank_pairs
        least = max(pairs, spec.candidates)
        request = self._request(scope, query, top_k, filters, spec, least=least)
        wanted = None if least else self._top_k(top_k)
        with collect_warnings() as notices:
            found = await finder.find(spec, request, wanted)
        runs, ranking, around, timings = found.runs, found.passages, found.around, found.timings
        reports = _reports(around) if spec.reports else []
        if found.share is not None:
            ranking = with_reports(ranking, reports, found.share)
        if reranker is not None:
            ranking = await self._reranked(reranker, request, ranking, timings)
        if found.share is not None:
            results = first_of(ranking, self._top_k(top_k), found.share)
        else:
            results = _results(ranking, reports, self._top_k(top_k))
        incomplete = self.chunks.database.next_vector_check is not None
        if spec.signals and (request.filters or incomplete):
            await warn_of_unknown(self.chunks, request)
        if not {VECTOR}.issuperset(spec.signals) and _wordless(request, results):
            request.warn(WarningCode.KEYWORDS_MISSING)
        if not results and spec.signals:
            await self._say_if_empty(request)
        failures = warn_of_failures(runs) if any(run.error for run in runs) else []
        timings["total"] = milliseconds_since(started)
        self._log(request, runs, results, timings)
        return Retrieval(
            tuple(results),
            chosen,
            graph_items=tuple(around),
            coded_warnings=tuple(distinct([*failures, *request.warnings, *notices])),
            timings=timings,
            language=request.language,
        )

    async def known_names(self, scope: Scope, text: str) -> dict[str, list[str]]:
        """Return the names in `text` that the knowledge base's graph knows, with the ids of who bears them.

        Names are told by titles, names and aliases, as the graph modes tell them. Empty where there is
        no graph, or the store does not answer: a search will say so.
        """
        if self.indexes is None:
            return {}
        try:
            async with asyncio.timeout(self.settings.retrieval.lane_timeout):
                cached = self.indexes.kept(scope)
                index = cached[1] if cached else await self.indexes.get(scope)
        except (SextantError, TimeoutError) as error:
            logger.info("names of the question not looked up: %s", error)
            return {}
        return link_names(index, text)

    async def entities_of(self, scope: Scope, ids: Sequence[str]) -> list[Entity]:
        """Return entities of the graph by their ids; none where the store does not answer: a search will say so."""
        if self.graph is None:
            return []
        try:
            async with asyncio.timeout(self.settings.retrieval.lane_timeout):
                return await self.graph.get_entities(scope, [UUID(id_) for id_ in ids])
        except (SextantError, TimeoutError) as error:
            logger.info("names of the question not described: %s", error)
            return []

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
        """Return the twin of `aretrieve` for synchronous callers; takes the same options.

        Works with and without a running event loop in the calling thread, which it blocks.
        """
        return run_sync(lambda: self.aretrieve(query, **options))

    async def aquery_with_multimodal(
        self,
        query: str,
        multimodal_content: Sequence[Mapping[str, Any]],
        mode: str = AUTO,
        **options: Unpack[MultimodalQueryOptions],
    ) -> Answer:
        """Answer a question about images and tables, together with the documents (docs/multimodal.md).

        As `Sextant.aquery_with_multimodal`: images are looked at and tables read, and both are searched with.
        What `bind` has bound holds where a call gives nothing else.

        Raises:
            OptionInvalid: this retriever was made without what answers.
            SextantError: what went wrong; an image or table that cannot be used is named by its field.
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
        """Return the twin of `aquery_with_multimodal` for synchronous callers."""
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

    def _broad(self, query: str) -> bool:
        question = check_question(query, self.settings.limits.question_chars)
        return self.settings.communities.enabled and is_broad(question)

    def _request(
        self,
        scope: Scope,
        query: str,
        top_k: int | None,
        filters: ChunkFilters | Mapping[str, Any] | None,
        spec: ModeSpec,
        *,
        least: int,
    ) -> LaneQuery:
        limit = self._top_k(top_k)
        if len(spec.signals) > 1:
            limit *= _OVERFETCH
        return LaneQuery(
            scope=scope,
            text=check_question(query, self.settings.limits.question_chars),
            limit=max(limit, least),
            max_keywords=self.settings.retrieval.max_keywords,
            filters=ChunkFilters.read(filters) if filters else None,
        )

    def _top_k(self, top_k: int | None) -> int:
        wanted = self.settings.retrieval.top_k if top_k is None else top_k
        return in_range(wanted, "top_k", most=MAX_TOP_K)

    async def _say_if_empty(self, request: LaneQuery) -> None:
        bases = self.knowledge_bases
        if bases is not None and not await bases.has_passages(request.scope):
            request.warn(WarningCode.PASSAGES_MISSING)

    async def _reranked(
        self,
        reranker: Reranker,
        request: LaneQuery,
        found: list[RetrievedItem],
        timings: dict[str, float],
    ) -> list[RetrievedItem]:
        """Return the best of what was found in the reranker's order; as they were when it fails or is late."""
        started = time.perf_counter()
        limits = RerankLimits.of(self.settings.retrieval)
        done = await rerank(reranker, request.text, found, limits)
        if done.warning is not None:
            request.note(done.warning)
        timings["rerank"] = milliseconds_since(started)
        return done.items

    def _log(
        self,
        request: LaneQuery,
        runs: Sequence[LaneRun],
        results: Sequence[RetrievedItem],
        timings: Mapping[str, float],
    ) -> None:
        slow = timings["total"] > self.settings.retrieval.slow_ms
        if not (slow or logger.isEnabledFor(logging.INFO)):
            return
        milliseconds_of = {step: round(milliseconds, 1) for step, milliseconds in timings.items()}
        log_found(
            logger,
            "retrieved",
            request,
            counts=counts_of(runs),
            found=list_scores(results),
            timings=timings,
        )
        if slow:
            logger.warning("retrieval took %.0f ms: %s", timings["total"], milliseconds_of)


def _reports(around: Sequence[RetrievedItem]) -> list[RetrievedItem]:
    return [item for item in around if item.kind is ItemKind.COMMUNITY]


def _results(
    passages: Sequence[RetrievedItem], reports: Sequence[RetrievedItem], top_k: int
) -> list[RetrievedItem]:
    """Return reports first, up to half, and passages, which score below them."""
    first = reports[: max(1, top_k // 2)]
    rest = passages[: top_k - len(first)]
    if not first:
        return list(rest)
    return [*first, *(rescore(item, item.score * first[-1].score) for item in rest)]


def _wordless(request: LaneQuery, results: Sequence[RetrievedItem]) -> bool:
    """Return whether the question is without keywords, and no result was found by words: "C" and 汞 may be, in an index."""
    return not (request.keywords or any(KEYWORD in item.lanes for item in results))


def _as_document(item: RetrievedItem) -> Document:
    values = {"document_id": item.document_id, "external_id": item.external_id, "score": item.score}
    metadata = {**item.metadata, **values}
    return Document(id=item.id, page_content=item.text, metadata=metadata)
