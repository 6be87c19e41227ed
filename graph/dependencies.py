"""The dependencies of the workflow, opened once per event loop.

The exported graph cannot be given dependencies, a connection pool belongs to the loop that opened it, and a server may
run nodes on several loops. So they are opened when a node of a loop first asks for them, and closed by whoever ends the
loop (a server's lifespan).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from sextant.domain.answers import Answer, answer_of
from sextant.domain.configuration import load_settings
from sextant.domain.errors import ModelUnavailable, TimedOut, Wording
from sextant.domain.settings import Settings
from sextant.models.chat.roles import ChatModels, Role
from sextant.models.embedding import build_embedder
from sextant.models.embedding.cache import WARM_UP
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.protocols import Embedder, Reranker
from sextant.models.reranker import HttpReranker, open_judge
from sextant.nodes.context import Dependencies
from sextant.nodes.multimodal.parts import with_local_images
from sextant.retrievers.graph_retriever import Answerer, GraphRetriever
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.retrievers.ranking.reranking import open_reranker
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import QuoteStore, TableStore
from sextant.stores.documents.document_reader import DocumentReader
from sextant.stores.documents.embedding_space import check_space
from sextant.stores.graph.graph_factory import ProjectedGraph, graph_store
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from sextant.text.segmenter import words_of


async def _open_dependencies(settings: Settings, stack: AsyncExitStack) -> Dependencies:
    """Open store and models as the settings name them; `stack` closes them."""
    embedder = await asyncio.to_thread(build_embedder, settings)
    database, loaded, _ = await asyncio.gather(
        Database.open(settings),
        _load(embedder),
        asyncio.to_thread(words_of, ""),  # a server's first Chinese question shall not wait for it
    )
    await stack.enter_async_context(database)
    chat_models = ChatModels(settings)
    stack.push_async_callback(chat_models.close)
    dependencies = await _open_over(database, embedder, stack, chat_models)
    if loaded:
        await check_space(database, embedder)
    return dependencies


async def _load(embedder: Embedder) -> bool:
    """Load the model, waiting as long as a question does; return whether it answers. Without it searches go by words."""
    try:
        await embedder.embed_query(WARM_UP)
    except ModelUnavailable:
        return False
    return True


@asynccontextmanager
async def dependencies_over(
    database: Database, embedder: Embedder, chat_models: ChatModels | None = None
) -> AsyncIterator[Dependencies]:
    """Provide the workflow's dependencies over an open database; whatever is opened here is closed at the end.

    Args:
        database: where everything is.
        embedder: which the stored vectors come from.
        chat_models: the chat models by role, which stay the caller's to close; None: those of the settings.

    Raises:
        SettingsInvalid: a chat model is named, but no endpoint; the reranker is of no known form.
    """
    async with AsyncExitStack() as stack:
        if chat_models is None:
            chat_models = ChatModels(database.settings)
            stack.push_async_callback(chat_models.close)
        yield await _open_over(database, embedder, stack, chat_models)


async def _open_over(
    database: Database, embedder: Embedder, stack: AsyncExitStack, chat_models: ChatModels
) -> Dependencies:
    settings = database.settings
    chat, judge_model = await chat_models.get(Role.ANSWER), await chat_models.get(Role.JUDGE)
    # In threads: they import client libraries and read certificates.
    reranker = await asyncio.to_thread(open_reranker, settings, judge_model)
    judge = await asyncio.to_thread(open_judge, settings, reranker)
    for scorer in {reranker, judge}:
        if isinstance(scorer, HttpReranker):
            stack.push_async_callback(scorer.close)

    async def answer(question: Mapping[str, Any]) -> Answer:
        return await _answer_with(opened, question)

    opened = Dependencies(
        settings,
        _retriever(database, embedder, reranker, answer, stack),
        ExtractiveAnswerer(embedder),
        chat,
        QuoteStore(database),
        judge,
        judge_model=None if judge_model is chat else judge_model,
        vision=await chat_models.vision(),
        documents=DocumentReader(database),
        tables=TableStore(database),
    )
    return opened


async def _answer_with(opened: Dependencies, question: Mapping[str, Any]) -> Answer:
    """Answer a question of this process's own, whose images may be files of this machine."""
    from sextant.graph.streaming import stream_answer  # which is built upon this module
    from sextant.graph.workflow import create_query_workflow

    content = await with_local_images(question["multimodal_content"], opened.settings)
    workflow = create_query_workflow(dependencies=opened)
    return await answer_of(stream_answer(workflow, {**question, "multimodal_content": content}))


def _retriever(
    database: Database,
    embedder: Embedder,
    reranker: Reranker | None,
    answerer: Answerer,
    stack: AsyncExitStack,
) -> GraphRetriever:
    settings, retrieval = database.settings, database.settings.retrieval
    chunks, record = ChunkStore(database), GraphRecord(database)
    graph = graph_store(settings, database, stack)
    indexes = ScopeIndexes(
        chunks,
        record,
        retrieval.index_passages,
        copies=graph if isinstance(graph, ProjectedGraph) else None,
        vectors=retrieval.index_vectors,
        patience=retrieval.lane_timeout / 2,
        idle=retrieval.index_idle,
    )
    stack.push_async_callback(indexes.close)
    return GraphRetriever(
        chunks=chunks,
        embedder=embedder,
        settings=settings,
        knowledge_bases=KnowledgeBases(database),
        indexes=indexes,
        graph=graph,
        reranker=reranker,
        answerer=answerer,
    )


@dataclass(slots=True)
class _Shared:
    """One loop's dependencies: opened under the lock, closed by closing `closer`."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    opened: Dependencies | None = None
    closer: AsyncGenerator[None] | None = None


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared] = WeakKeyDictionary()


async def get_shared_dependencies(settings: Settings | None = None) -> Dependencies:
    """Return the running loop's dependencies, opening them when this loop has none yet.

    After an error the next call tries again.

    Args:
        settings: used by the call that opens; by default those of the environment and `.env`.

    Raises:
        DatabaseUnavailable: PostgreSQL cannot be reached or started.
        SettingsInvalid: a setting names a model that cannot be used.
        EmbeddingModelChanged: the stored vectors come from another embedding model.
        TimedOut: opening took longer than an answer may.
    """
    shared = _by_loop.setdefault(asyncio.get_running_loop(), _Shared())
    if shared.opened is not None:
        return shared.opened
    if settings is None:
        settings = await asyncio.to_thread(load_settings)
    seconds = settings.limits.answer_seconds
    limit = asyncio.timeout(seconds)
    try:
        async with limit, shared.lock:  # whoever waits for another's opening is bounded, too
            if shared.opened is None:
                shared.opened = await _open_shared(shared, settings)
            return shared.opened
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise TimedOut(
            f"The store and the models were not open after {seconds:g} s.",
            next_step="Ask again; `sextant doctor` shows what is slow or down. "
            "Raise SEXTANT_LIMITS__ANSWER_SECONDS if they take that long.",
            translations={
                "zh": Wording(
                    f"存储与模型在 {seconds:g} 秒内未能打开。",
                    "请再问一次；`sextant doctor` 会显示哪里慢或不可用。"
                    "如果确实需要这么久，请调高 SEXTANT_LIMITS__ANSWER_SECONDS。",
                )
            },
        ) from error


async def _open_shared(shared: _Shared, settings: Settings) -> Dependencies:
    async with AsyncExitStack() as stack:
        opened = await _open_dependencies(settings, stack)
        shared.closer = _closer(stack.pop_all())
    await anext(shared.closer)
    return opened


async def _closer(stack: AsyncExitStack) -> AsyncGenerator[None]:
    """Unwind the stack when the generator is closed; `asyncio.run` closes it at the loop's end, if nobody did before.

    The stack must hold no such generator: `asyncio.run` closes all at once, and one that is being closed fails.
    """
    try:
        yield
    finally:
        # What is kept for a loop leads back to it, so its entry would never go by itself.
        _by_loop.pop(asyncio.get_running_loop(), None)
        await stack.aclose()


@contextmanager
def use_dependencies(dependencies: Dependencies) -> Iterator[None]:
    """Let the running loop use these dependencies, if it has none yet; they stay the caller's to close."""
    shared = _by_loop.setdefault(asyncio.get_running_loop(), _Shared())
    if shared.opened is None:
        shared.opened = dependencies
    try:
        yield
    finally:
        if shared.opened is dependencies:
            shared.opened = None


async def close_shared_dependencies() -> None:
    """Close the running loop's dependencies, if it has any."""
    shared = _by_loop.pop(asyncio.get_running_loop(), None)
    if shared is not None and shared.closer is not None:
        await shared.closer.aclose()
