"""What results tell comes from memory where a knowledge base is searched there, and is never old."""

from __future__ import annotations

from typing import Any

import pytest

from sextant.domain.retrieval import RetrievedItem
from sextant.domain.scope import Scope
from sextant.models.embedding.cache import CachedEmbedder
from sextant.retrievers.graph_retriever import GraphRetriever
from sextant.retrievers.index.chunk_index import ChunkIndex
from sextant.retrievers.index.scope_cache import ScopeCache
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.postgresql.database import Database
from tests.clock import Clock
from tests.integration.retrievers.hot_world import Write, timed
from tests.integration.statements import recorded

TEXTS = ["糖尿病的胰岛素。", "Rust ownership.", "其他。"]
LANES = [("vector",), ("keyword",), ("vector", "keyword")]


def over(database: Database, hots: ScopeCache, cached: CachedEmbedder) -> GraphRetriever:
    return GraphRetriever(
        chunks=ChunkStore(database), embedder=cached, settings=database.settings, hot=hots
    )


@pytest.fixture
def retriever(database: Database, hots: ScopeCache, cached: CachedEmbedder) -> GraphRetriever:
    return over(database, hots, cached)


async def ask(
    retriever: GraphRetriever, scope: Scope, lanes: tuple[str, ...] = LANES[-1]
) -> list[RetrievedItem]:
    found = await retriever.search(scope, "Rust 糖尿病", lanes=lanes, top_k=5)
    assert found.warnings == ()
    return list(found.results)


def shown(items: list[RetrievedItem]) -> list[Any]:
    return [(one.id, one.text, one.document_id, one.external_id, one.metadata) for one in items]


async def warm(retriever: GraphRetriever, hots: ScopeCache, scope: Scope) -> None:
    """Search until the chunks are in memory."""
    for _ in range(8):
        await ask(retriever, scope)
        await hots.memory.settle()
    assert set(hots.memory.sizes) == {(ChunkIndex, scope)}


@pytest.mark.parametrize("lanes", LANES)
async def test_from_memory_results_tell_what_the_store_tells(
    retriever: GraphRetriever, hots: ScopeCache, write: Write, scope: Scope, lanes: tuple[str, ...]
) -> None:
    await write(scope, "a", TEXTS)
    await warm(retriever, hots, scope)
    cold = retriever.model_copy(update={"hot": None})
    assert shown(await ask(retriever, scope, lanes)) == shown(await ask(cold, scope, lanes))


async def test_nothing_is_asked_for_but_whether_all_is_current(
    retriever: GraphRetriever,
    hots: ScopeCache,
    write: Write,
    scope: Scope,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await write(scope, "a", TEXTS)
    await warm(retriever, hots, scope)
    asked = recorded(retriever.chunks._database, monkeypatch)
    await ask(retriever, scope)
    assert [query.split("\n")[-1] for query in asked] == ["scope_stamp(%s, %s)"]


async def test_a_new_text_is_told_at_once(
    database: Database, cached: CachedEmbedder, write: Write, scope: Scope
) -> None:
    clock = Clock(1000.0)
    hots = timed(database, clock)
    retriever = over(database, hots, cached)
    for version in range(3):
        texts = [f"糖尿病，第 {version} 版。", f"Rust, version {version}."]
        await write(scope, "a", texts)
        assert {item.text for item in await ask(retriever, scope)} == set(texts)
        clock.now += 500
        await warm(retriever, hots, scope)
        assert {item.text for item in await ask(retriever, scope)} == set(texts)
