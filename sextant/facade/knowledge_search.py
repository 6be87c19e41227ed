"""Opens searches over one user's knowledge bases: entities, and LangChain's retriever."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from sextant.domain.scope import Scope
from sextant.models.chat.roles import ChatModels, Role
from sextant.models.protocols import Embedder
from sextant.models.reranker import HttpReranker
from sextant.retrievers.entity_search.search import EntitySearch
from sextant.retrievers.hybrid_retriever.bm25 import BM25Indexes
from sextant.retrievers.hybrid_retriever.options import HybridRetrieverOptions
from sextant.retrievers.hybrid_retriever.retriever import HybridRetriever
from sextant.retrievers.ranking.chat_reranker import CHAT, open_reranker
from sextant.stores.graph.graph_factory import ProjectedGraph, graph_store
from sextant.stores.langchain import open_vector_store
from sextant.stores.postgresql.database import Database


async def open_entity_search(
    database: Database, embedder: Embedder, stack: AsyncExitStack, chat_models: ChatModels
) -> EntitySearch:
    """Return the search over the graph store and with the reranker that the settings name.

    Args:
        database: the record.
        embedder: which the entities were embedded with.
        stack: closes what is opened here.
        chat_models: where the reranker is a chat model, the judge among them.

    Raises:
        SettingsInvalid: the reranker is of no known form, or no chat model is there for it.
    """
    settings = database.settings
    graph = graph_store(settings, database, stack)
    chat = await chat_models.get(Role.JUDGE) if settings.reranker == CHAT else None
    reranker = open_reranker(settings, chat)
    if isinstance(reranker, HttpReranker):
        stack.push_async_callback(reranker.close)
    copies = graph if isinstance(graph, ProjectedGraph) else None
    return EntitySearch(database, graph, embedder, settings, reranker=reranker, copies=copies)


class HybridRetrievers:
    """Opens retrievers that share their BM25 indexes, as the settings say.

    Args:
        database: where the chunks are.
        embedder: which the chunks were embedded with.
    """

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        settings = database.settings.retrieval
        self._bm25 = BM25Indexes(settings.bm25_memory, settings.index_idle)

    @asynccontextmanager
    async def open(self, scope: Scope, **options: object) -> AsyncIterator[HybridRetriever]:
        """Provide a retriever over one knowledge base.

        Raises:
            OptionInvalid: an option is unknown or out of range.
        """
        settings = self._database.settings.retrieval
        chosen = HybridRetrieverOptions.of(settings, **options)
        async with open_vector_store(self._database, self._embedder, scope) as store:
            retriever = HybridRetriever(
                vector_store=store, user_id=scope.user_id, options=chosen, bm25=self._bm25
            )
            if settings.bm25_at_start:
                await retriever.rebuild_bm25()
            yield retriever
