"""What ranking asks of chunks comes from memory where a knowledge base is searched there, and is never old."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from sextant.domain.scope import Scope
from sextant.ingestion.pipeline import Ingestor
from sextant.retrievers.chunk_search.search import ChunkSearch, ChunkSearchResponse, SearchRequest
from sextant.retrievers.index.chunk_index import ChunkIndex
from sextant.retrievers.index.scope_cache import ScopeCache
from sextant.stores.chunks.metadata import read_metadata
from sextant.stores.documents.model_descriptions import (
    DescribedKind,
    ModelDescription,
    ModelDescriptions,
)
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.statements import recorded

NOW = datetime(2026, 11, 22, tzinfo=UTC)
QUESTION = "付款节点与违约责任"
TEXT = """# 采购合同

## 付款

北京云图科技有限公司在付款节点后三十日内付款。

## 违约

逾期的违约责任按日计算，由上海远航物流有限公司主张。

## 其他

双方友好协商。
"""


@pytest.fixture
def hot(database: Database, hots: ScopeCache) -> ChunkSearch:
    """Return a search that remembers."""
    return ChunkSearch(database, HashEmbedder(384), hot=hots)


@pytest.fixture
def cold(database: Database) -> ChunkSearch:
    """Return a search that asks PostgreSQL for everything."""
    return ChunkSearch(database, HashEmbedder(384))


@pytest_asyncio.fixture
async def scope(graphed: Ingestor) -> Scope:
    """Return a knowledge base with a contract."""
    scope = Scope(f"user-{uuid4()}", "contracts")
    await graphed.ingest_bytes(scope, TEXT.encode(), "contract.md")
    return scope


async def ask(search: ChunkSearch, scope: Scope) -> ChunkSearchResponse:
    """Return a search that says how each score came about."""
    request = SearchRequest(query=QUESTION, debug=True, include_neighbors=True)
    return await search.search(scope, request, now=NOW)


def shown(found: ChunkSearchResponse) -> list[dict[str, Any]]:
    """Return all of each hit, numbers to four places: cosines are added up in another order in memory."""
    return [_rounded(hit.model_dump()) for hit in found.results]


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(own) for name, own in value.items()}
    return round(value, 4) if isinstance(value, float) else value


async def warm(search: ChunkSearch, hots: ScopeCache, scope: Scope) -> None:
    """Search until the chunks are in memory."""
    for _ in range(8):
        await ask(search, scope)
        await hots.memory.settle()
    assert set(hots.memory.sizes) == {(ChunkIndex, scope)}


async def test_a_search_in_memory_tells_what_one_of_the_store_tells(
    hot: ChunkSearch, cold: ChunkSearch, hots: ScopeCache, scope: Scope
) -> None:
    await warm(hot, hots, scope)
    there = await ask(cold, scope)
    assert there.results[0].signals is not None
    assert shown(await ask(hot, scope)) == shown(there)


async def test_it_asks_the_store_for_what_is_shown_and_whether_all_is_current(
    hot: ChunkSearch,
    hots: ScopeCache,
    scope: Scope,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await warm(hot, hots, scope)
    asked = recorded(database, monkeypatch)
    await hot.search(scope, SearchRequest(query=QUESTION))
    assert len(asked) == 4  # texts and entities of what is shown, the stamp, and that of BM25
    assert sum(query.endswith("chunk_stamp(%s, %s)") for query in asked) == 1
    assert not any("as titles" in query for query in asked)


async def test_what_is_said_anew_of_a_chunk_counts_in_the_next_search(
    hot: ChunkSearch, cold: ChunkSearch, hots: ScopeCache, scope: Scope, database: Database
) -> None:
    await warm(hot, hots, scope)
    before = await ask(hot, scope)
    last = before.results[-1]
    said = ModelDescription(UUID(last.chunk_id), 1, "", (), (QUESTION,), ())
    await ModelDescriptions(database, scope).write(DescribedKind.PASSAGES, [said], [])
    after = await ask(hot, scope)
    assert shown(after) == shown(await ask(cold, scope))
    there = {hit.chunk_id: hit.scores["topic"] for hit in after.results}
    assert there[last.chunk_id] > last.scores["topic"]


async def test_what_ranking_asks_of_chunks_is_in_memory_as_in_the_store(
    hot: ChunkSearch, hots: ScopeCache, scope: Scope, database: Database
) -> None:
    await warm(hot, hots, scope)
    cached = hots.of(scope)
    assert cached is not None
    ids = cached.index.ids.texts_of(range(len(cached.index.ids)))
    here = cached.index.metadata(ids)
    assert here == await read_metadata(database, scope, ids)
    assert cached.index.metadata([*ids, str(uuid4())]) is None
