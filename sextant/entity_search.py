"""Searching the entities of one user's knowledge bases, as the settings say."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from models.chat.building import build_chat_model
from models.protocols import Embedder
from models.reranker import HttpReranker
from retrievers.entity_search.search import EntitySearch
from retrievers.ranking.chat_reranker import CHAT, open_reranker
from stores.graph.opening import open_graph_store
from stores.postgresql.database import Database


async def open_entity_search(
    database: Database, embedder: Embedder, stack: AsyncExitStack
) -> EntitySearch:
    """The search over the graph store and with the reranker that the settings name.

    Args:
        database: the record.
        embedder: which the entities were embedded with.
        stack: closes what is opened here.

    Raises:
        SettingsInvalid: the reranker is of no known form, or no chat model is there for it.
    """
    settings = database.settings
    graph = await stack.enter_async_context(open_graph_store(settings, database))
    # In a thread: it imports the client library and reads certificates.
    by_chat = settings.reranker == CHAT
    chat = await asyncio.to_thread(build_chat_model, settings) if by_chat else None
    if chat is not None:
        stack.push_async_callback(chat.close)
    reranker = open_reranker(settings, chat)
    if isinstance(reranker, HttpReranker):
        stack.push_async_callback(reranker.close)
    return EntitySearch(database, graph, embedder, settings, reranker=reranker)
