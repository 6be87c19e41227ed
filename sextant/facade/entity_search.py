"""Searching the entities of one user's knowledge bases, as the settings say."""

from __future__ import annotations

from contextlib import AsyncExitStack

from sextant.models.chat.building import open_chat_model
from sextant.models.protocols import Embedder
from sextant.models.reranker import HttpReranker
from sextant.retrievers.entity_search.search import EntitySearch
from sextant.retrievers.ranking.chat_reranker import CHAT, open_reranker
from sextant.stores.graph.opening import ProjectedGraph, graph_store
from sextant.stores.postgresql.database import Database


async def open_entity_search(
    database: Database, embedder: Embedder, stack: AsyncExitStack
) -> EntitySearch:
    """Return the search over the graph store and with the reranker that the settings name.

    Args:
        database: the record.
        embedder: which the entities were embedded with.
        stack: closes what is opened here.

    Raises:
        SettingsInvalid: the reranker is of no known form, or no chat model is there for it.
    """
    settings = database.settings
    graph = graph_store(settings, database, stack)
    chat = await open_chat_model(settings, stack) if settings.reranker == CHAT else None
    reranker = open_reranker(settings, chat)
    if isinstance(reranker, HttpReranker):
        stack.push_async_callback(reranker.close)
    copies = graph if isinstance(graph, ProjectedGraph) else None
    return EntitySearch(database, graph, embedder, settings, reranker=reranker, copies=copies)
