"""The parts of a `Sextant`, each opened when it is first needed and then shared.

So listing documents loads no model, and ingesting no workflow.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from sextant.domain.errors import ModelUnavailable, SettingsInvalid, Wording
from sextant.domain.scope import Scope
from sextant.models.chat.roles import ChatModels, Role
from sextant.models.embedding.cache import WARM_UP, CachedEmbedder
from sextant.models.reranker import HttpReranker, LocalReranker
from sextant.stores.documents.embedding_space import check_space
from sextant.stores.postgresql.database import Database

if TYPE_CHECKING:
    from sextant.facade.library import PagePictures
    from sextant.graph.workflow import Workflow
    from sextant.ingestion.graph.extraction.extract_llm import ModelExtractor
    from sextant.ingestion.importer import Importer
    from sextant.ingestion.parsing.hosts import ParserHosts
    from sextant.ingestion.pictures import OcrReader
    from sextant.ingestion.pipeline import Ingestor
    from sextant.nodes.context import Dependencies
    from sextant.retrievers.chunk_search.search import ChunkSearch
    from sextant.retrievers.entity_search.search import EntitySearch
    from sextant.retrievers.hybrid_retriever.bm25 import BM25Indexes
    from sextant.retrievers.hybrid_retriever.retriever import HybridRetriever

log = logging.getLogger(__name__)

# Python collects the youngest generation after 700 new objects. A document or a question makes tens of thousands
# without cycles, so a higher threshold saves a tenth of the CPU of ingestion (docs/speed.md); one collection then
# blocks a server's event loop for 17 ms.
_YOUNG_OBJECTS = 10_000


def _read_dictionaries() -> None:
    """Load the Chinese dictionaries, which would block the event loop at the first Chinese question."""
    from sextant.text.characters import plain_of
    from sextant.text.segmenter import words_of

    words_of("预热")
    plain_of("预热")


class Parts:
    """The parts over one database.

    Args:
        database: holds all data.
        embedder: makes all vectors.
        stack: closes the parts.
        chat_models: the chat models by role; closed by the caller.
    """

    def __init__(
        self,
        database: Database,
        embedder: CachedEmbedder,
        stack: AsyncExitStack,
        chat_models: ChatModels,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._stack = stack
        self.chat_models = chat_models
        self._opening = asyncio.Lock()
        self._workflow: tuple[Dependencies, Workflow] | None = None
        self._hosts: ParserHosts | None = None
        self._reader: OcrReader | None = None
        self._pictures: PagePictures | None = None
        self._bm25: BM25Indexes | None = None
        self._chunk_search: ChunkSearch | None = None
        self._entity_search: EntitySearch | None = None
        young, *older = gc.get_threshold()
        if 0 < young < _YOUNG_OBJECTS:
            gc.set_threshold(_YOUNG_OBJECTS, *older)

    async def check_space(self) -> None:
        """Load the embedding model, and check that it made the stored vectors.

        Raises:
            EmbeddingModelChanged: the vectors come from another model.
            ModelUnavailable: it cannot be loaded.
        """
        await self._embedder.warm_up()
        await check_space(self._database, self._embedder)

    async def warm_up(self) -> None:
        """Load models and dictionaries; a missing model is only logged."""
        try:
            dependencies, _ = await self.workflow()
            await asyncio.to_thread(_read_dictionaries)
            await self._embedder.embed_query(WARM_UP)
            for scorer in {dependencies.retriever.reranker, dependencies.judge}:
                if isinstance(scorer, LocalReranker):
                    await scorer.warm_up()
        except ModelUnavailable as error:
            log.warning("not warmed up: %s", error)

    async def workflow(self) -> tuple[Dependencies, Workflow]:
        """Return the workflow and its dependencies."""
        async with self._opening:
            if self._workflow is None:
                # The model loads during the imports, which take 1.5 s of CPU.
                importing = asyncio.to_thread(importlib.import_module, "sextant.graph.streaming")
                await asyncio.gather(self._check_space_if_possible(), importing)
                from sextant.graph.dependencies import dependencies_over
                from sextant.graph.workflow import create_query_workflow

                dependencies = await self._stack.enter_async_context(
                    dependencies_over(self._database, self._embedder, self.chat_models)
                )
                self._workflow = dependencies, create_query_workflow(dependencies=dependencies)
        return self._workflow

    async def _check_space_if_possible(self) -> None:
        # Without the embedding model a search goes on by keywords, with a warning.
        with suppress(ModelUnavailable):
            await self._embedder.embed_query(WARM_UP)
            await self.check_space()

    async def chunk_search(self) -> ChunkSearch:
        """Return the chunk search, with the workflow's reranker."""
        dependencies, _ = await self.workflow()
        if self._chunk_search is None:
            from sextant.retrievers.chunk_search.search import ChunkSearch

            shared = dependencies.retriever
            self._chunk_search = ChunkSearch(self._database, self._embedder, shared.reranker)
        return self._chunk_search

    async def entity_search(self) -> EntitySearch:
        """Return the entity search, over the graph store and with the configured reranker.

        Raises:
            SettingsInvalid: the reranker is of no known form, or needs a chat model and none is set.
        """
        async with self._opening:
            if self._entity_search is None:
                from sextant.retrievers.entity_search.search import EntitySearch
                from sextant.retrievers.ranking.reranking import CHAT, open_reranker
                from sextant.stores.graph.graph_factory import ProjectedGraph, graph_store

                settings = self._database.settings
                graph = graph_store(settings, self._database, self._stack)
                chat = await self.chat_models.get(Role.JUDGE) if settings.reranker == CHAT else None
                reranker = open_reranker(settings, chat)
                if isinstance(reranker, HttpReranker):
                    self._stack.push_async_callback(reranker.close)
                copies = graph if isinstance(graph, ProjectedGraph) else None
                self._entity_search = EntitySearch(
                    self._database,
                    graph,
                    self._embedder,
                    settings,
                    reranker=reranker,
                    copies=copies,
                )
        return self._entity_search

    @asynccontextmanager
    async def hybrid_retriever(
        self, scope: Scope, options: Mapping[str, object]
    ) -> AsyncIterator[HybridRetriever]:
        """Provide a LangChain retriever over one knowledge base; all retrievers share their BM25 indexes.

        Raises:
            OptionInvalid: an option is unknown or out of range.
        """
        from sextant.retrievers.hybrid_retriever.bm25 import BM25Indexes
        from sextant.retrievers.hybrid_retriever.options import HybridRetrieverOptions
        from sextant.retrievers.hybrid_retriever.retriever import HybridRetriever
        from sextant.stores.langchain import open_vector_store

        await self._check_space_if_possible()
        settings = self._database.settings.retrieval
        self._bm25 = self._bm25 or BM25Indexes(settings.bm25_memory, settings.index_idle)
        chosen = HybridRetrieverOptions.of(settings, **options)
        async with open_vector_store(self._database, self._embedder, scope) as store:
            retriever = HybridRetriever(
                vector_store=store, user_id=scope.user_id, options=chosen, bm25=self._bm25
            )
            if settings.bm25_at_start:
                await retriever.rebuild_bm25()
            yield retriever

    async def ingestor(self, *, working: bool = False) -> Ingestor:
        """Return an ingestor, after a check of the embedding model.

        Args:
            working: whether it is a worker's: then the budget of extraction is for each document, not for all.
        """
        await self.check_space()
        return await self._open_ingestor(working=working)

    async def _open_ingestor(self, *, working: bool = False, reads: bool = True) -> Ingestor:
        """Open an ingestor without a check of the embedding model; `reads`: see `importer`."""
        from sextant.ingestion.graph.index import GraphIndexer
        from sextant.ingestion.pictures import Captioner, open_reader
        from sextant.ingestion.pipeline import Ingestor
        from sextant.stores.documents.document_reader import CaptionStore
        from sextant.stores.documents.document_store import DocumentStore
        from sextant.stores.jobs import JobStore

        settings = self._database.settings
        has_graph = settings.ingestion.graph != "off"
        by_model = reads and settings.ingestion.graph == "llm"
        if self._reader is None:
            self._reader = open_reader(self._database)
        vision, captioner = await self.chat_models.vision(), None
        if vision is not None:
            captioner = Captioner(vision, CaptionStore(self._database), settings)
        return Ingestor(
            DocumentStore(self._database),
            JobStore(self._database),
            self._embedder,
            settings,
            graph=GraphIndexer(self._database) if has_graph else None,
            extractor=await self.extractor(renewed=working) if by_model else None,
            hosts=self._parser_hosts(),
            captioner=captioner,
            reader=self._reader,
        )

    async def importer(self, *, reads: bool = True) -> Importer:
        """Return an importer, which checks the embedding model when it needs one.

        Args:
            reads: whether the chat model, if it extracts, reads a document before the import goes on.
        """
        from sextant.ingestion.importer import Importer
        from sextant.stores.graph.record import GraphRecord

        ingestor = await self._open_ingestor(reads=reads)
        return Importer(ingestor, GraphRecord(self._database), self._check_model)

    async def _check_model(self, seconds: float | None) -> None:
        """Check the embedding model as `check_space` does, within so many seconds.

        Raises:
            EmbeddingModelChanged: the stored vectors come from another model.
            ModelUnavailable: the model did not answer in time.
        """
        name = self._embedder.name
        try:
            async with asyncio.timeout(seconds) as limit:
                await self._embedder.embed_passages([WARM_UP])
                await self.check_space()
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise ModelUnavailable(
                f"The embedding model {name} did not answer within {seconds:g} s, so nothing was stored.",
                next_step="Check its endpoint with `sextant doctor`, and do the same import again; "
                "if it is only slow to start, raise SEXTANT_HTTP__IMPORT_PATIENCE.",
                translations={
                    "zh": Wording(
                        f"嵌入模型 {name} 在 {seconds:g} 秒内没有回答，因此什么都没有存入。",
                        "请用 `sextant doctor` 检查其服务，然后重新导入；如果只是启动慢，请调高 SEXTANT_HTTP__IMPORT_PATIENCE。",
                    )
                },
            ) from error

    def page_pictures(self) -> PagePictures:
        """Return the renderer of document pages."""
        from sextant.facade.library import PagePictures

        if self._pictures is None:
            self._pictures = PagePictures(self._database.settings, self._parser_hosts())
        return self._pictures

    def _parser_hosts(self) -> ParserHosts:
        """Return the shared parser processes; starting them costs as much as parsing dozens of small files."""
        from sextant.ingestion.parsing.hosts import ParserHosts

        if self._hosts is None:
            self._hosts = ParserHosts()
            self._stack.callback(self._hosts.close)
        return self._hosts

    async def extractor(self, *, renewed: bool = False) -> ModelExtractor:
        """Return an extractor of entities and relations, with a budget of its own.

        Args:
            renewed: whether the budget is for each document.

        Raises:
            SettingsInvalid: the settings name no chat model.
        """
        from sextant.ingestion.graph.extraction.extract_llm import ModelExtractor

        settings = self._database.settings
        chat = await self.chat_models.get(Role.EXTRACT)
        if chat is None:
            raise SettingsInvalid(
                "Extraction needs a chat model, and none is set.",
                next_step="Set SEXTANT_CHAT_MODEL with OPENAI_API_KEY or OPENAI_BASE_URL, "
                "or SEXTANT_INGESTION__GRAPH=nlp to do without.",
                field="chat_model",
            )
        return ModelExtractor(self._database, chat, settings, renewed=renewed)
