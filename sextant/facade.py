"""The facade: documents in, questions answered, in a few calls.

async with Sextant.open() as rag:
    await rag.ingest(["handbook.pdf"], graph_id="hr")
    answer = await rag.query("How many days of leave?", graph_id="hr")
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack
from uuid import UUID

from domain.answers import Answer
from domain.configuration import load_settings
from domain.documents import Document, GraphInfo
from domain.errors import OptionInvalid, SextantError, error_of
from domain.events import Done, Event, Failed
from domain.options import in_range
from domain.retrieval import AUTO, Retrieval
from domain.scope import DEFAULT_GRAPH, Scope
from domain.settings import Settings
from models.cache import CachedEmbedder
from models.embedding import build_embedder
from sextant.parts import Parts
from sextant.refreshing import Refresher
from stores.database import Database
from stores.documents import DocumentStore
from stores.versions import document_id_of

if TYPE_CHECKING:
    from ingestion.pipeline import Ingested
    from ingestion.progress import OnProgress
    from ingestion.reembedding import OnChunks
    from ingestion.transfer.importing import ImportReport, OnStage
    from nodes.context import Dependencies
    from retrievers.chunk_search import SearchRequest
    from retrievers.chunk_search import SearchResponse as ChunkSearchResponse
    from retrievers.entity_search.options import SearchOptions
    from retrievers.entity_search.response import SearchResponse
    from retrievers.hybrid_retriever import HybridRetriever
    from sextant.chunks import Chunks
    from sextant.communities import Communities
    from sextant.conversations import Conversations
    from sextant.entities import Entities
    from sextant.graph import Graph
    from sextant.library import Library
    from sextant.working import Worker

# As `Settings.user_id`.
_USER_ID_CHARS = 200


class Options(TypedDict, total=False):
    """What may be said beside a question; see `Sextant.stream`."""

    graph_id: str
    mode: str
    top_k: int | None
    history: Sequence[Mapping[str, str]]
    filters: Mapping[str, Any] | None
    multimodal_content: Sequence[Mapping[str, Any]]
    rerank: bool
    thread_id: str | None


class Sextant:
    """One user's knowledge bases, opened by `Sextant.open`.

    Documents come in by `ingest` and `import_graph`, answers out by `query` and `stream`, passages and
    entities by `search`, `search_entities` and `hybrid_retriever`; `chunks`, `entities`, `communities`
    and `graph` hand out what looks after these.

    What needs a knowledge base raises GraphNotFound where there is none; what embeds raises
    EmbeddingModelChanged where the stored vectors come from another model; and whatever a dependency
    is missing for raises a DependencyError. What was stored stays.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        embedder: CachedEmbedder,
        stack: AsyncExitStack,
    ) -> None:
        self.settings = settings
        self.user_id = settings.user_id
        self.database = database
        self._documents = DocumentStore(database)
        self.embedder = embedder
        self._refresher = Refresher(database, embedder)
        self._parts = Parts(database, embedder, stack)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings | None = None,
        *,
        embedder: CachedEmbedder | None = None,
        **overrides: object,
    ) -> AsyncIterator[Sextant]:
        """Open the store and whatever else the settings name; close it at the end.

        Args:
            settings: all settings; by default those of the environment and `.env`.
            embedder: what `build_embedder` makes of these settings, if it is there already.
            overrides: single settings by keyword, like `data_dir=` or `database_url=`.

        Raises:
            SettingsInvalid: a setting cannot be used.
            DatabaseUnavailable: PostgreSQL cannot be reached or started.
        """
        if settings is None:
            settings = await asyncio.to_thread(lambda: load_settings(**overrides))
        async with AsyncExitStack() as stack:
            if embedder is None:
                embedder = await asyncio.to_thread(build_embedder, settings)
            database = await stack.enter_async_context(await Database.open(settings))
            rag = cls(settings, database, embedder, stack)
            if settings.warm_up:
                await rag.warm_up()
            yield rag

    def as_user(self, user_id: str) -> Sextant:
        """The same, working on the knowledge bases of another user; it shares all that is open.

        Raises:
            OptionInvalid: the user id is empty or too long.
        """
        if not 0 < len(user_id) <= _USER_ID_CHARS:
            raise OptionInvalid(
                f"A user id has 1 to {_USER_ID_CHARS} characters, this one {len(user_id)}.",
                next_step="Name the user whose knowledge bases are meant.",
                field="user_id",
            )
        other = copy(self)
        other.user_id = user_id
        return other

    async def warm_up(self) -> None:
        """Load what a first question would wait for; a model that is not there is a warning."""
        await self._parts.warm_up()

    async def dependencies(self) -> Dependencies:
        """What the workflow works with, for graphs of one's own (`graph.create_query_workflow`)."""
        return (await self._parts.workflow())[0]

    async def ingest(
        self,
        paths: Iterable[str | Path],
        graph_id: str = DEFAULT_GRAPH,
        on_progress: OnProgress | None = None,
    ) -> list[Ingested]:
        """Take files, and the readable files of folders, into a knowledge base.

        Args:
            paths: files and folders.
            graph_id: the knowledge base; made when it is new.
            on_progress: called whenever a file gets further.

        Returns:
            What became of each file, in order; a file that cannot be ingested carries its error and
            stops no other.
        """
        ingestor = await self._parts.ingestor()
        results = await ingestor.ingest(self._scope(graph_id), paths, on_progress)
        await self._chunks(graph_id).describe_ingested()
        await self._refresher.refresh(self._scope(graph_id), on_progress)
        return results

    def worker(self, concurrency: int | None = None) -> Worker:
        """What ingests the documents that were queued, of all users; `Worker.run` does it.

        Args:
            concurrency: documents in hand at a time; default `settings.worker.concurrency`.
        """
        from sextant.working import Worker

        most = concurrency or self.settings.worker.concurrency
        return Worker(self.database, self._parts.ingestor, self._refresh, concurrency=most)

    def library(self) -> Library:
        """All documents of the user, in whatever knowledge base: to add, watch, retry and delete."""
        from sextant.library import Library

        return Library(self.database, self.user_id)

    async def _refresh(self, scope: Scope) -> None:
        """Let what follows from a graph follow, whoever has it."""
        from sextant.chunks import Chunks

        await Chunks(self.database, scope, self._parts.chunk_search).describe_ingested()
        await self._refresher.refresh(scope)

    async def import_graph(
        self,
        source: str | Path | AsyncIterable[Mapping[str, Any]] | AsyncIterable[bytes],
        graph_id: str = DEFAULT_GRAPH,
        *,
        strict: bool = False,
        on_progress: OnStage | None = None,
    ) -> ImportReport:
        """Bring documents, chunks, entities and relations of your own (docs/import.md).

        Ids are yours and come back in every result; the same import again changes nothing.

        Args:
            source: a file of JSON Lines, plain or gzip-compressed, or its lines as bytes or dicts.
            graph_id: the knowledge base; made when it is new.
            strict: stop at the first line that cannot be used.
            on_progress: called with (stage, done, total; 0 where the total is not known).

        Returns:
            What was taken, and what was wrong with which line.

        Raises:
            OptionInvalid: the file cannot be read; or, with `strict`, what is wrong in which line.
        """
        importer = await self._parts.importer()
        report = await importer.import_graph(
            self._scope(graph_id), source, strict=strict, on_progress=on_progress
        )
        await self._refresher.refresh(self._scope(graph_id), on_stage=on_progress)
        return report

    def export_graph(self, graph_id: str = DEFAULT_GRAPH) -> AsyncIterator[dict[str, Any]]:
        """The lines that import a knowledge base again, one dict each."""
        from ingestion.transfer.exporting import export_graph

        return export_graph(self.database, self._scope(graph_id))

    async def query(self, question: str, **options: Unpack[Options]) -> Answer:
        """Answer a question, with citations; takes the options of `stream`.

        Raises:
            SextantError: what went wrong, as the error that says it best.
        """
        async with aclosing(self.stream(question, **options)) as events:
            async for event in events:
                match event:
                    case Done(answer=answer):
                        return answer
                    case Failed(code=code, message=message, detail=detail):
                        raise error_of(code, message, **(detail or {}))
        raise SextantError("The answer broke off.", next_step="Ask again.")

    async def aquery_with_multimodal(
        self,
        query: str,
        multimodal_content: Sequence[Mapping[str, Any]],
        mode: str = AUTO,
        *,
        graph_id: str = DEFAULT_GRAPH,
        top_k: int | None = None,
        history: Sequence[Mapping[str, str]] = (),
        filters: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Answer a question about images and tables, together with the documents (seed 002).

        `img_path` may name any file that this process can read: this is for the caller's own files.
        What came over a network goes to `query` or `stream`, which read none.

        Args:
            query: in Chinese or English.
            multimodal_content: `{"type": "image", "img_path": …}` or `{"type": "table", "table_data":
                …, "table_caption": …}`, each with the further forms of docs/multimodal.md.
            mode: one of the six modes, or `auto`.
            graph_id: the knowledge base.
            top_k: as for `stream`.
            history: as for `stream`.
            filters: as for `stream`.

        Raises:
            SextantError: what went wrong; an image or table that cannot be used is named by its field.
        """
        from sextant.attaching import with_local_images

        return await self.query(
            query,
            graph_id=graph_id,
            mode=mode,
            top_k=top_k,
            history=history,
            filters=filters,
            multimodal_content=await with_local_images(multimodal_content, self.settings),
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
    ) -> AsyncGenerator[Event]:
        """Answer a question and tell what happens meanwhile.

        Args:
            question: in Chinese or English.
            graph_id: the knowledge base.
            mode: one of the six modes, or `auto`.
            top_k: passages the answer may use; default `settings.retrieval.top_k`.
            history: the conversation so far, as `{"role": …, "content": …}`.
            filters: bounds on what is searched.
            multimodal_content: images and tables that belong to the question (docs/multimodal.md).
                Files of this machine are not read, however they are named: see
                `aquery_with_multimodal`.
            rerank: let the reranker, where one is configured, order the passages.
            thread_id: the conversation that this is a turn of, of whatever name (docs/conversations.md).

        Yields:
            `Status`, `Retrieved`, `Token`, `Cited` and `Sources` as they happen, then one `Done`, or
            one `Failed`. Closing the generator stops the run and its model call.

        Raises:
            ConversationBusy: another question of the thread is being answered.
        """
        _, workflow = await self._parts.workflow()
        from graph.streaming import stream_answer

        asked = {
            "query": question,
            "graph_id": graph_id,
            "user_id": self.user_id,
            "mode": mode,
            "top_k": top_k,
            "history": [dict(turn) for turn in history],
            "filters": dict(filters) if filters else None,
            "multimodal_content": [dict(part) for part in multimodal_content],
            "rerank": rerank,
        }
        if thread_id is None:
            answering = stream_answer(workflow, asked)
        else:
            answering = self.conversations().stream(workflow, asked, thread_id)
        async with aclosing(answering) as events:
            async for event in events:
                yield event

    def conversations(self) -> Conversations:
        """The conversations that questions with a `thread_id` make: to list, to read, to forget."""
        from sextant.conversations import Conversations

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
        """Retrieve without answering: ranked items, warnings and times.

        `rerank=False` leaves the reranking model out.

        Raises:
            QuestionInvalid, OptionInvalid, ModeNotAvailable: the request is at fault.
            RetrievalError: every lane failed.
        """
        limit = in_range(limit, "limit")
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
            asked = {"mode": found.mode, "limit": limit, "filters": dict(filters or {})}
            await self._chunks(graph_id).note_retrieval(question, asked, found)
        return found

    async def search_entities(
        self,
        question: str,
        *,
        graph_id: str = DEFAULT_GRAPH,
        options: SearchOptions | None = None,
    ) -> SearchResponse:
        """Search entities by meaning, words and the graph around the best (docs/entity-search.md).

        Raises:
            QuestionInvalid, OptionInvalid: the request is at fault.
            RetrievalError: neither meaning nor words could be searched.
        """
        searching = await self._parts.entity_search()
        return await searching.search(question, self._scope(graph_id), options)

    async def search_chunks(
        self, request: SearchRequest, graph_id: str = DEFAULT_GRAPH
    ) -> ChunkSearchResponse:
        """Search chunks with all that is known of them: `(await chunks()).search` in one step less."""
        return await self._chunks(graph_id).search(request)

    @asynccontextmanager
    async def hybrid_retriever(
        self, graph_id: str = DEFAULT_GRAPH, **options: object
    ) -> AsyncIterator[HybridRetriever]:
        """A knowledge base as a LangChain retriever: vectors, keywords and BM25 (docs/retrieval.md).

        Args:
            graph_id: the knowledge base.
            options: those of `HybridRetrieverOptions`; by default what the settings say.

        Raises:
            OptionInvalid: an option is unknown or out of range.
            ImportError: the extra `langchain` is not installed.
        """
        scope = await self._known(graph_id)
        async with (await self._parts.hybrid()).open(scope, **options) as retriever:
            yield retriever

    async def chunks(self, graph_id: str = DEFAULT_GRAPH) -> Chunks:
        """The chunks: searched with their metadata, described, by section; the log of searches."""
        await self._known(graph_id)
        return self._chunks(graph_id)

    async def communities(self, graph_id: str = DEFAULT_GRAPH) -> Communities:
        """The communities: the hierarchy, their reports, building them."""
        from sextant.communities import Communities

        return Communities(self.database, await self._known(graph_id), self._refresher.opened)

    async def entities(self, graph_id: str = DEFAULT_GRAPH) -> Entities:
        """The entities, to look at, to merge and to extract."""
        from sextant.entities import Entities

        scope = await self._known(graph_id)
        refresh = partial(self._refresher.refresh, scope)
        return Entities(self.database, scope, extractor=self._parts.extractor, refresh=refresh)

    async def graph(self, graph_id: str = DEFAULT_GRAPH) -> Graph:
        """The graph: its size, its copy in Neo4j, a part of it to look at."""
        from sextant.graph import Graph

        return Graph(self.database, await self._known(graph_id))

    async def graphs(self) -> list[GraphInfo]:
        """The knowledge bases, by name."""
        return await self._documents.graphs(self.user_id)

    async def delete_graph(self, graph_id: str) -> None:
        """Remove a knowledge base with everything in it; there is no way back."""
        await self._documents.delete_graph(self._scope(graph_id))
        await self._refresher.forget_projection(self._scope(graph_id))

    async def documents(self, graph_id: str = DEFAULT_GRAPH) -> list[Document]:
        """The documents of a knowledge base, oldest first."""
        return await self._documents.list(await self._known(graph_id))

    async def delete_document(self, document_id: UUID | str, graph_id: str = DEFAULT_GRAPH) -> None:
        """Remove a document with everything that came from it.

        Raises:
            DocumentNotFound: the knowledge base has no such document.
        """
        await self._documents.delete(self._scope(graph_id), document_id_of(document_id))
        await self._refresher.refresh(self._scope(graph_id))

    async def reembed(self, on_progress: OnChunks | None = None) -> int:
        """Embed everything again with the configured model, after it was changed.

        Entities and reports of this user follow the chunks; those of others at their next ingestion.

        Args:
            on_progress: called after each batch with the chunks done and those to do.

        Returns:
            The number of chunks embedded.
        """
        from ingestion.reembedding import reembed

        await self.embedder.warm_up()
        number = await reembed(self.database, self.embedder, on_progress)
        for graph in await self.graphs():
            await self._refresher.refresh(self._scope(graph.graph_id))
        return number

    def _scope(self, graph_id: str) -> Scope:
        return Scope(self.user_id, graph_id)

    async def _known(self, graph_id: str) -> Scope:
        """The scope of a knowledge base that there is."""
        scope = self._scope(graph_id)
        await self._documents.require_graph(scope)
        return scope

    def _chunks(self, graph_id: str) -> Chunks:
        from sextant.chunks import Chunks

        return Chunks(self.database, self._scope(graph_id), self._parts.chunk_search)
