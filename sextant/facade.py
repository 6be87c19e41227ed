"""The facade: documents in, questions answered, in a few calls.

async with Sextant.open() as rag:
    await rag.ingest(["handbook.pdf"], graph_id="hr")
    answer = await rag.query("How many days of leave?", graph_id="hr")
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack
from uuid import UUID

from domain.answers import Answer
from domain.configuration import load_settings
from domain.documents import Document, GraphInfo
from domain.errors import (
    ModelUnavailable,
    OptionInvalid,
    SextantError,
    error_of,
)
from domain.events import Done, Event, Failed
from domain.retrieval import AUTO, Retrieval
from domain.scope import DEFAULT_GRAPH, Scope
from domain.settings import Settings
from models.cache import CachedEmbedder
from models.embedding import build_embedder
from sextant.refreshing import Refresher
from stores.database import Database
from stores.documents import DocumentStore
from stores.embedding_space import check_space
from stores.versions import not_found

if TYPE_CHECKING:
    from graph.workflow import Workflow
    from ingestion.graph.extraction.extract_llm import ModelExtractor
    from ingestion.hosts import ParserHosts
    from ingestion.pipeline import Ingested, Ingestor
    from ingestion.reembedding import OnChunks
    from ingestion.running import OnProgress
    from ingestion.transfer.importing import ImportReport, OnStage
    from nodes.context import Dependencies
    from retrievers.chunk_search import ChunkSearch
    from retrievers.entity_search.options import SearchOptions
    from retrievers.entity_search.response import SearchResponse
    from retrievers.entity_search.search import EntitySearch
    from retrievers.hybrid_retriever import HybridRetriever
    from sextant.chunks import Chunks, StructureNode
    from sextant.communities import Communities
    from sextant.entities import Entities
    from sextant.graph import Graph
    from sextant.hybrid import HybridRetrievers


log = logging.getLogger(__name__)


class Options(TypedDict, total=False):
    """What may be said beside a question; see `Sextant.stream`."""

    graph_id: str
    mode: str
    top_k: int | None
    history: Sequence[Mapping[str, str]]
    filters: Mapping[str, Any] | None


class Sextant:
    """One user's knowledge bases, opened by `Sextant.open`.

    Heavy parts are loaded when first needed: listing documents loads no model, ingesting no workflow.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        embedder: CachedEmbedder,
        stack: AsyncExitStack,
    ) -> None:
        self.settings = settings
        self._database = database
        self._documents = DocumentStore(database)
        self._embedder = embedder
        self._refresher = Refresher(database, embedder)
        self._stack = stack
        self._hosts: ParserHosts | None = None
        self._hybrid: HybridRetrievers | None = None
        self._entity_search: EntitySearch | None = None
        self._opening = asyncio.Lock()
        self._opened: tuple[Dependencies, Workflow] | None = None

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

    async def warm_up(self) -> None:
        """Load what a first question would wait for; a model that is not there is a warning."""
        try:
            await self._workflow()
            await self._embedder.embed_query("warm up")
        except ModelUnavailable as error:
            log.warning("not warmed up: %s", error)

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

        Raises:
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            DependencyError: the database or the embedding model is gone; what was stored stays.
        """
        ingestor = await self._ingestor()
        results = await ingestor.ingest(self._scope(graph_id), paths, on_progress)
        await self._describe(graph_id)
        await self._refresher.refresh(self._scope(graph_id), on_progress)
        return results

    async def import_graph(
        self,
        source: str | Path | AsyncIterable[Mapping[str, Any]],
        graph_id: str = DEFAULT_GRAPH,
        *,
        strict: bool = False,
        on_progress: OnStage | None = None,
    ) -> ImportReport:
        """Bring a graph of your own: documents, chunks, entities and relations (docs/import.md).

        Ids are yours and come back in every result; the same import again changes nothing.

        Args:
            source: a file of JSON Lines, plain or gzip-compressed, or its lines as dicts.
            graph_id: the knowledge base; made when it is new.
            strict: stop at the first line that cannot be used.
            on_progress: called with (stage, done, total; 0 where the total is not known).

        Returns:
            What was taken, and what was wrong with which line.

        Raises:
            OptionInvalid: the file cannot be read; or, with `strict`, what is wrong in which line.
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            DependencyError: the database or the embedding model is gone; what was stored stays.
        """
        from ingestion.transfer.importing import Importer
        from stores.graph.record import GraphRecord

        importer = Importer(await self._ingestor(), GraphRecord(self._database))
        report = await importer.import_graph(
            self._scope(graph_id), source, strict=strict, on_progress=on_progress
        )
        await self._refresher.refresh(self._scope(graph_id), on_stage=on_progress)
        return report

    def export_graph(self, graph_id: str = DEFAULT_GRAPH) -> AsyncIterator[dict[str, Any]]:
        """The lines that import a knowledge base again, one dict each.

        Raises:
            GraphNotFound: there is no such knowledge base.
        """
        from ingestion.transfer.exporting import export_graph

        return export_graph(self._database, self._scope(graph_id))

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

    async def stream(
        self,
        question: str,
        *,
        graph_id: str = DEFAULT_GRAPH,
        mode: str = AUTO,
        top_k: int | None = None,
        history: Sequence[Mapping[str, str]] = (),
        filters: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Event]:
        """Answer a question and tell what happens meanwhile.

        Args:
            question: in Chinese or English.
            graph_id: the knowledge base.
            mode: one of the six modes, or `auto`.
            top_k: passages the answer may use; default `settings.retrieval.top_k`.
            history: the conversation so far, as `{"role": …, "content": …}`.
            filters: bounds on what is searched.

        Yields:
            `Status`, `Retrieved`, `Token`, `Cited` and `Sources` as they happen, then one `Done`, or
            one `Failed`. Closing the generator stops the run and its model call.

        Raises:
            EmbeddingModelChanged: the stored vectors come from another embedding model.
        """
        _, workflow = await self._workflow()
        from graph.streaming import stream_answer

        asked = {
            "query": question,
            "graph_id": graph_id,
            "user_id": self.settings.user_id,
            "mode": mode,
            "top_k": top_k,
            "history": [dict(turn) for turn in history],
            "filters": dict(filters) if filters else None,
        }
        async with aclosing(stream_answer(workflow, asked)) as events:
            async for event in events:
                yield event

    async def search(
        self,
        question: str,
        *,
        graph_id: str = DEFAULT_GRAPH,
        mode: str = AUTO,
        limit: int = 10,
        filters: Mapping[str, Any] | None = None,
    ) -> Retrieval:
        """Retrieve without answering: ranked items, warnings and times.

        Raises:
            QuestionInvalid, OptionInvalid, ModeNotAvailable, GraphNotFound: the request is at fault.
            RetrievalError: every lane failed.
        """
        if limit < 1:
            raise OptionInvalid(
                f"limit is {limit}; it must be at least 1.",
                next_step="Ask for at least one result.",
                field="limit",
            )
        dependencies, _ = await self._workflow()
        found = await dependencies.retriever.search(
            self._scope(graph_id), question, mode=mode, top_k=limit, filters=filters
        )
        if self.settings.search_log.enabled:
            from stores.search_log import logged_item

            asked = {"mode": found.mode, "limit": limit, "filters": dict(filters or {})}
            await self._chunks(graph_id).note(
                question,
                asked,
                map(logged_item, found.results),
                warnings=found.warnings,
                milliseconds=found.timings["total"],
            )
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
            QuestionInvalid, OptionInvalid, GraphNotFound: the request is at fault.
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: neither meaning nor words could be searched.
        """
        async with self._opening:
            if self._entity_search is None:
                from sextant.entity_search import open_entity_search

                opening = open_entity_search(self._database, self._embedder, self._stack)
                self._entity_search = await opening
        return await self._entity_search.search(question, self._scope(graph_id), options)

    @asynccontextmanager
    async def hybrid_retriever(
        self, graph_id: str = DEFAULT_GRAPH, **options: object
    ) -> AsyncIterator[HybridRetriever]:
        """A knowledge base as a LangChain retriever: vectors, keywords and BM25 (docs/retrieval.md).

        Args:
            graph_id: the knowledge base.
            options: those of `HybridRetrieverOptions`; by default what the settings say.

        Raises:
            GraphNotFound: there is no such knowledge base.
            OptionInvalid: an option is unknown or out of range.
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            ImportError: the extra `langchain` is not installed.
        """
        from sextant.hybrid import HybridRetrievers

        await self._documents.require_graph(self._scope(graph_id))
        await self._embedder.warm_up()
        await check_space(self._database, self._embedder)
        self._hybrid = self._hybrid or HybridRetrievers(self._database, self._embedder)
        async with self._hybrid.open(self._scope(graph_id), **options) as retriever:
            yield retriever

    async def chunks(self, graph_id: str = DEFAULT_GRAPH) -> Chunks:
        """The chunks of a knowledge base: searched with their metadata, described, logged searches.

        Raises:
            GraphNotFound: there is no such knowledge base.
        """
        await self._documents.require_graph(self._scope(graph_id))
        return self._chunks(graph_id)

    def _chunks(self, graph_id: str) -> Chunks:
        from sextant.chunks import Chunks

        return Chunks(self._database, self._scope(graph_id), self._open_chunk_search)

    async def _open_chunk_search(self) -> ChunkSearch:
        dependencies, _ = await self._workflow()
        from retrievers.chunk_search import ChunkSearch

        return ChunkSearch(self._database, self._embedder, dependencies.retriever.reranker)

    async def structure(
        self, document_id: UUID | str, graph_id: str = DEFAULT_GRAPH
    ) -> StructureNode:
        """The section tree of a document, with what every section is about.

        Raises:
            DocumentNotFound: the knowledge base has no such document.
        """
        return await self._chunks(graph_id).structure(document_id)

    async def communities(self, graph_id: str = DEFAULT_GRAPH) -> Communities:
        """The communities of a knowledge base: the hierarchy, reports, building them.

        Raises:
            GraphNotFound: there is no such knowledge base.
        """
        from sextant.communities import Communities

        await self._documents.require_graph(self._scope(graph_id))
        return Communities(self._database, self._scope(graph_id), self._refresher.opened)

    async def entities(self, graph_id: str = DEFAULT_GRAPH) -> Entities:
        """The entities of a knowledge base, to look at, to merge and to extract.

        Raises:
            GraphNotFound: there is no such knowledge base.
        """
        from sextant.entities import Entities

        scope = self._scope(graph_id)
        await self._documents.require_graph(scope)
        refresh = partial(self._refresher.refresh, scope)
        return Entities(self._database, scope, extractor=self._extractor, refresh=refresh)

    async def graph(self, graph_id: str = DEFAULT_GRAPH) -> Graph:
        """The graph of a knowledge base: its size, its copy in Neo4j, a part of it to look at.

        Raises:
            GraphNotFound: there is no such knowledge base.
        """
        from sextant.graph import Graph

        await self._documents.require_graph(self._scope(graph_id))
        return Graph(self._database, self._scope(graph_id))

    async def graphs(self) -> list[GraphInfo]:
        """The knowledge bases, by name."""
        return await self._documents.graphs(self.settings.user_id)

    async def delete_graph(self, graph_id: str) -> None:
        """Remove a knowledge base with everything in it; there is no way back.

        Raises:
            GraphNotFound: there is no such knowledge base.
        """
        await self._documents.delete_graph(self._scope(graph_id))
        await self._refresher.forget_projection(self._scope(graph_id))

    async def documents(self, graph_id: str = DEFAULT_GRAPH) -> list[Document]:
        """The documents of a knowledge base, oldest first.

        Raises:
            GraphNotFound: there is no such knowledge base.
        """
        await self._documents.require_graph(self._scope(graph_id))
        return await self._documents.list(self._scope(graph_id))

    async def delete_document(self, document_id: UUID | str, graph_id: str = DEFAULT_GRAPH) -> None:
        """Remove a document with everything that came from it.

        Raises:
            DocumentNotFound: the knowledge base has no such document.
        """
        try:
            own = UUID(str(document_id))
        except ValueError:
            raise not_found(document_id) from None
        await self._documents.delete(self._scope(graph_id), own)
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

        await self._embedder.warm_up()
        number = await reembed(self._database, self._embedder, on_progress)
        for graph in await self.graphs():
            await self._refresher.refresh(self._scope(graph.graph_id))
        return number

    async def _describe(self, graph_id: str) -> None:
        """Let the chat model say what passages are about, if it is to; what was extracted stays."""
        if self.settings.ingestion.metadata == "llm":
            try:
                await self._chunks(graph_id).describe()
            except SextantError as error:
                log.warning("%s: passages described by extraction alone: %s", graph_id, error)

    async def _ingestor(self) -> Ingestor:
        from ingestion.graph.index import GraphIndexer
        from ingestion.pipeline import Ingestor
        from stores.jobs import JobStore

        await self._check_space()
        has_graph = self.settings.ingestion.graph != "off"
        by_model = self.settings.ingestion.graph == "llm"
        return Ingestor(
            self._documents,
            JobStore(self._database),
            self._embedder,
            self.settings,
            graph=GraphIndexer(self._database) if has_graph else None,
            extractor=await self._extractor() if by_model else None,
            hosts=self._parser_hosts(),
        )

    def _parser_hosts(self) -> ParserHosts:
        """Processes that parse; starting them costs as much as parsing dozens of small files."""
        from ingestion.hosts import ParserHosts

        if self._hosts is None:
            self._hosts = ParserHosts()
            self._stack.callback(self._hosts.close)
        return self._hosts

    async def _extractor(self) -> ModelExtractor:
        from sextant.entities import open_extractor

        return await open_extractor(self._database, self._stack)

    def _scope(self, graph_id: str) -> Scope:
        return Scope(self.settings.user_id, graph_id)

    async def _workflow(self) -> tuple[Dependencies, Workflow]:
        async with self._opening:
            if self._opened is None:
                self._opened = await self._open_workflow()
        return self._opened

    async def _open_workflow(self) -> tuple[Dependencies, Workflow]:
        # The model loads beside the imports, which take a second and a half of CPU.
        importing = asyncio.to_thread(importlib.import_module, "graph.streaming")
        await asyncio.gather(self._check_space_if_possible(), importing)
        from graph.dependencies import dependencies_over
        from graph.workflow import create_query_workflow

        dependencies = await self._stack.enter_async_context(
            dependencies_over(self._database, self._embedder)
        )
        return dependencies, create_query_workflow(dependencies=dependencies)

    async def _check_space(self) -> None:
        await self._embedder.warm_up()
        await check_space(self._database, self._embedder)

    async def _check_space_if_possible(self) -> None:
        # Without its embedding model a search goes on by keywords, and says so.
        with suppress(ModelUnavailable):
            await self._check_space()
