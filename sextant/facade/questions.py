"""The half of the facade that answers and searches."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from sextant.domain.answers import Answer, Effort, Event, answer_of
from sextant.domain.concurrency import run_sync
from sextant.domain.errors import OptionInvalid
from sextant.domain.questions import ChunkFilters, in_range
from sextant.domain.retrieval import AUTO, Retrieval
from sextant.domain.scope import DEFAULT_GRAPH, Scope
from sextant.facade.parts import Parts
from sextant.stores.documents.document_reader import DocumentReader
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases

if TYPE_CHECKING:
    from sextant.facade.chunks import Chunks
    from sextant.facade.conversations import Conversations, Example
    from sextant.retrievers.chunk_search.search import ChunkSearchResponse, SearchRequest
    from sextant.retrievers.entity_search.options import SearchOptions
    from sextant.retrievers.entity_search.response import SearchResponse
    from sextant.retrievers.hybrid_retriever.retriever import HybridRetriever


class Options(TypedDict, total=False):
    """The options of a question; see `Sextant.stream`."""

    graph_id: str
    mode: str
    top_k: int | None
    history: Sequence[Mapping[str, str]]
    filters: Mapping[str, Any] | None
    multimodal_content: Sequence[Mapping[str, Any]]
    rerank: bool
    thread_id: str | None
    interrupts: bool
    approve_sources: bool
    effort: Effort


class MultimodalOptions(TypedDict, total=False):
    """The options of a question about images and tables."""

    graph_id: str
    top_k: int | None
    history: Sequence[Mapping[str, str]]
    filters: Mapping[str, Any] | None


class Asking:
    """The part of `Sextant` that answers and searches.

    Args:
        database: holds all data.
        parts: opened when they are first needed.
    """

    def __init__(self, database: Database, parts: Parts) -> None:
        self.database = database
        self.settings = database.settings
        self.user_id = database.settings.user_id
        self._knowledge_bases = KnowledgeBases(database)
        self._parts = parts

    async def find_graph(self, graph_id: str = DEFAULT_GRAPH) -> str:
        """Return the named knowledge base; instead of `default` the only one, if there is exactly one."""
        if graph_id != DEFAULT_GRAPH:
            return graph_id
        known = [graph.graph_id for graph in await self._knowledge_bases.list(self.user_id)]
        return known[0] if len(known) == 1 else graph_id

    async def query(self, question: str, **options: Unpack[Options]) -> Answer:
        """Answer a question, with citations; takes the options of `stream`.

        Raises:
            SextantError: the answer failed.
        """
        return await answer_of(self.stream(question, **options))

    async def aquery_with_multimodal(
        self,
        query: str,
        multimodal_content: Sequence[Mapping[str, Any]],
        mode: str = AUTO,
        **options: Unpack[MultimodalOptions],
    ) -> Answer:
        """Answer a question about images and tables, together with the documents.

        `img_path` may name any file that this process can read, so use this for your own files only. `query` and
        `stream` read no files.

        Args:
            query: in Chinese or English.
            multimodal_content: `{"type": "image", "img_path": …}` or `{"type": "table", "table_data":
                …, "table_caption": …}`, each with the further forms of docs/multimodal.md.
            mode: one of the six modes, or `auto`.
            options: `graph_id`, `top_k`, `history` and `filters`, as for `stream`.

        Raises:
            SextantError: the answer failed; the error of an invalid image or table names its field.
        """
        from sextant.nodes.multimodal.parts import with_local_images

        content = await with_local_images(multimodal_content, self.settings)
        return await self.query(query, mode=mode, multimodal_content=content, **options)

    def query_with_multimodal(
        self,
        query: str,
        multimodal_content: Sequence[Mapping[str, Any]],
        mode: str = AUTO,
        **options: Unpack[MultimodalOptions],
    ) -> Answer:
        """Answer as `aquery_with_multimodal` does, for callers without an event loop.

        It blocks the calling thread, even one with a running loop.

        Raises:
            SextantError: as for `aquery_with_multimodal`.
        """
        return run_sync(
            lambda: self.aquery_with_multimodal(query, multimodal_content, mode, **options)
        )

    async def stream(
        self,
        question: str,
        *,
        graph_id: str = DEFAULT_GRAPH,
        mode: str = AUTO,
        top_k: int | None = None,
        history: Sequence[Mapping[str, str]] = (),
        filters: Mapping[str, Any] | None = None,
        multimodal_content: Sequence[Mapping[str, Any]] = (),
        rerank: bool = True,
        thread_id: str | None = None,
        interrupts: bool = False,
        approve_sources: bool = False,
        effort: Effort = "medium",
    ) -> AsyncGenerator[Event]:
        """Answer a question, and yield events meanwhile.

        Args:
            question: in Chinese or English.
            graph_id: the knowledge base.
            mode: one of the six modes, or `auto`.
            top_k: passages the answer may use; default `settings.retrieval.top_k`.
            history: the conversation so far, as `{"role": …, "content": …}`.
            filters: bounds on what is searched.
            multimodal_content: images and tables that belong to the question (docs/multimodal.md). Only
                `aquery_with_multimodal` reads files of this machine.
            rerank: let the reranker, where one is configured, order the passages.
            thread_id: the conversation that the question belongs to (docs/conversations.md).
            interrupts: stop where a person should decide; `resume` goes on. Needs a `thread_id`.
            approve_sources: also stop before the answer is written.
            effort: `low`: one search; `medium`: searches until enough is found; `high`: a report (docs/research.md),
                which with a `thread_id` can be resumed after it was stopped.

        Yields:
            `Status`, `Retrieved`, `Token`, `Cited` and `Sources` as they happen, then one `Done`, or
            one `Failed`, or one `Interrupted`. Closing the generator stops the run and its model call.

        Raises:
            ConversationBusy: another question of the thread is being answered.
            OptionInvalid: `interrupts` without a `thread_id`.
        """
        if interrupts and thread_id is None:
            raise OptionInvalid(
                "A run that may stop for a decision needs a thread to go on with.",
                next_step="Name a thread, or leave `interrupts` out.",
                field="thread_id",
            )
        _, workflow = await self._parts.workflow()
        from sextant.graph.streaming import stream_answer
        from sextant.nodes.context import Context

        state = {
            "query": question,
            "graph_id": graph_id,
            "user_id": self.user_id,
            "mode": mode,
            "top_k": top_k,
            "history": list(history),
            "filters": dict(filters) if isinstance(filters, Mapping | ChunkFilters) else filters,
            "multimodal_content": multimodal_content,
            "rerank": rerank,
            "effort": effort,
        }
        if thread_id is None:
            answering = stream_answer(workflow, state)
        else:
            choices = Context(interrupts=interrupts, approve_sources=approve_sources)
            answering = self.conversations().stream(workflow, state, thread_id, choices)
        async with aclosing(answering) as events:
            async for event in events:
                yield event

    async def resume(self, thread_id: str, decision: object = None) -> AsyncGenerator[Event]:
        """Resume an answer that waits for a decision, or a report that was stopped, and yield events.

        Args:
            thread_id: the conversation in which it stopped.
            decision: `{"decisions": [{"type": "approve"}]}`, as in agent-chat-ui (docs/studio.md); None: a stopped
                report.

        Yields:
            As `stream`.

        Raises:
            ConversationNotFound: there is no such conversation, or nothing to resume in it.
            ConversationBusy: another question of the thread is being answered.
            OptionInvalid: the decision is not one of the choices; another may be made.
        """
        _, workflow = await self._parts.workflow()
        answering = self.conversations().resume(workflow, thread_id, decision)
        async with aclosing(answering) as events:
            async for event in events:
                yield event

    def conversations(self) -> Conversations:
        """Return the conversations of the user, to list, read and delete."""
        from sextant.facade.conversations import Conversations

        return Conversations(self.database, self.user_id)

    async def search(
        self,
        question: str,
        *,
        graph_id: str = DEFAULT_GRAPH,
        mode: str = AUTO,
        limit: int = 10,
        filters: Mapping[str, Any] | None = None,
        rerank: bool = True,
    ) -> Retrieval:
        """Retrieve without answering: return ranked items, warnings and times.

        `rerank=False` leaves the reranking model out.

        Raises:
            QuestionInvalid, OptionInvalid, ModeNotAvailable: the request is wrong.
            RetrievalError: every lane failed.
        """
        from sextant.retrievers.graph_retriever import MAX_TOP_K

        limit = in_range(limit, "limit", most=MAX_TOP_K)
        dependencies, _ = await self._parts.workflow()
        found = await dependencies.retriever.search(
            self._scope(graph_id),
            question,
            mode=mode,
            top_k=limit,
            filters=filters,
            rerank=rerank,
        )
        if self.settings.search_log.enabled:
            bounds = {"limit": limit, "filters": dict(filters or {}), "rerank": rerank}
            options = {"mode": found.mode, **bounds}
            await self._chunks(graph_id).note_retrieval(question, options, found)
        return found

    async def search_entities(
        self,
        question: str,
        *,
        graph_id: str = DEFAULT_GRAPH,
        options: SearchOptions | None = None,
    ) -> SearchResponse:
        """Search entities by meaning, words and the graph (docs/entity-search.md).

        Raises:
            QuestionInvalid, OptionInvalid: the request is wrong.
            RetrievalError: both the search by meaning and the one by words failed.
        """
        searching = await self._parts.entity_search()
        return await searching.search(question, self._scope(graph_id), options)

    async def search_chunks(
        self, request: SearchRequest, graph_id: str = DEFAULT_GRAPH
    ) -> ChunkSearchResponse:
        """Search chunks with their metadata; the same as `(await chunks()).search`."""
        return await self._chunks(graph_id).search(request)

    @asynccontextmanager
    async def hybrid_retriever(
        self, graph_id: str = DEFAULT_GRAPH, **options: object
    ) -> AsyncIterator[HybridRetriever]:
        """Provide a knowledge base as a LangChain retriever: vectors, keywords and BM25 (docs/retrieval.md).

        Args:
            graph_id: the knowledge base.
            options: those of `HybridRetrieverOptions`; by default those of the settings.

        Raises:
            OptionInvalid: an option is unknown or out of range.
        """
        scope = await self._require_scope(graph_id)
        async with self._parts.hybrid_retriever(scope, options) as retriever:
            yield retriever

    async def examples(
        self, graph_id: str = DEFAULT_GRAPH, *, language: str = "", limit: int = 3
    ) -> list[Example]:
        """Return example questions made from headings of the documents, each in its document's language.

        Args:
            graph_id: the knowledge base.
            language: of documents to take first, `zh` or `en`.
            limit: questions at most, 1 to 50.
        """
        from sextant.facade.conversations import DOCUMENTS, EACH, examples_of

        most = in_range(limit, "limit", most=DOCUMENTS)
        scope = await self._require_scope(graph_id)
        reader = DocumentReader(self.database)
        headings = await reader.headings(scope, documents=DOCUMENTS, each=EACH)
        return examples_of(headings, language, most)

    def _scope(self, graph_id: str) -> Scope:
        return Scope(self.user_id, graph_id)

    async def _require_scope(self, graph_id: str) -> Scope:
        """Return the scope of an existing knowledge base."""
        scope = self._scope(graph_id)
        await self._knowledge_bases.require(scope)
        return scope

    def _chunks(self, graph_id: str) -> Chunks:
        from sextant.facade.chunks import Chunks

        return Chunks(
            self.database,
            self._scope(graph_id),
            self._parts.chunk_search,
            self._parts.chat_models,
        )
