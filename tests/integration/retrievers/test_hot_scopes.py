"""A knowledge base in memory gives what PostgreSQL gives, and never what it gave before."""

from __future__ import annotations

from itertools import cycle
from random import Random
from uuid import uuid4

import numpy as np
import pytest

from sextant.domain.errors import EmbeddingModelChanged
from sextant.domain.scope import Scope
from sextant.models.embedding.cache import CachedEmbedder
from sextant.retrievers.chunk_search.search import ChunkSearch, SearchRequest
from sextant.retrievers.graph_retriever import GraphRetriever
from sextant.retrievers.index.scope_cache import CachedScope, ScopeCache
from sextant.retrievers.lazy_hits import LazyHits
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.snapshot import read_chunks_stamp
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.values import read_scored
from sextant.stores.postgresql.watched import Connection
from sextant.testing.hash_embedder import HashEmbedder
from tests.clock import Clock
from tests.integration.retrievers.hot_world import (
    DIMENSION,
    PIECES,
    Write,
    packed,
    seeded,
    texts_of,
    timed,
)
from tests.integration.statements import recorded


def words_of(rng: Random, texts: list[str]) -> list[str]:
    """Return pieces, in either case, and parts of texts, so that most are somewhere."""
    words = []
    for _ in range(rng.randint(1, 8)):
        word = rng.choice((*PIECES, *texts)) or "absent"
        start = rng.randrange(len(word))
        word = word[start : start + rng.randint(1, 6)]
        words.append(word.swapcase() if word.isascii() else word)
    return words


async def assert_same(
    database: Database, hot: CachedScope, scope: Scope, rng: Random, texts: list[str]
) -> None:
    """Both searches give the same ids and scores in the same order from memory and from PostgreSQL."""
    store = ChunkStore(database)
    for _ in range(12):
        words, k = words_of(rng, texts), rng.choice((1, 3, 20, 500))
        there = LazyHits.of(await store.keyword_matches(scope, words, k))
        assert told(hot.matching(words, k)) == told(there), words
        vector = await HashEmbedder(DIMENSION).embed_query(rng.choice(texts) or "x")
        near = await hot.nearest(vector, k)
        true = LazyHits.of(read_scored(await store.nearest(scope, vector, k)))
        assert near.scores == pytest.approx(true.scores, abs=1e-5)
        assert _apart(near) == _apart(true)


def told(found: LazyHits) -> list[tuple[str, float]]:
    return list(zip(found.ids, found.scores, strict=True))


def _apart(found: LazyHits) -> list[set[str]]:
    """Return ids in order, those of equal cosines together, without the last, which may have been cut."""
    groups: list[set[str]] = []
    last = np.inf
    for id_, cosine in told(found):
        if last - cosine > 1e-5:
            groups.append(set())
        groups[-1].add(id_)
        last = cosine
    return groups[:-1]


@pytest.mark.parametrize("seed", range(4))
async def test_after_every_change_memory_and_store_find_the_same(
    database: Database, write: Write, seed: int
) -> None:
    """Documents come, are replaced and go; a scope of the same texts beside it never shows through."""
    rng, clock = seeded(seed), Clock(1000.0)
    hots, documents = timed(database, clock), DocumentStore(database)
    scope, twin = Scope(f"user-{uuid4()}"), Scope(f"user-{uuid4()}")
    live: dict[str, list[str]] = {}
    for step in range(6):
        texts = texts_of(rng, rng.randint(1, 60))
        source = rng.choice(("a", "b", "c"))
        await write(scope, source, texts)
        live[source] = texts
        hots.of(twin)
        if step == 0:
            await write(twin, "a", texts)
            await packed(hots, twin)
        if step > 2 and len(live) > 1 and rng.random() < 0.5:
            gone = rng.choice(sorted(live.keys() - {source}))
            [one] = [each for each in await documents.list(scope) if each.source == gone]
            await documents.delete(scope, one.id)
            del live[gone]
        hot = hots.of(scope)
        assert hot is None or not await hot.is_current()
        clock.now += 500
        hot = await packed(hots, scope)
        assert await hot.is_current()
        await assert_same(
            database, hot, scope, rng, [text for own in live.values() for text in own]
        )
    beside = hots.of(twin)
    assert beside is not None
    assert await beside.is_current()
    own = await packed(hots, scope)
    everything = await own.nearest(np.ones(DIMENSION, np.float32), 10_000)
    foreign = await beside.nearest(np.ones(DIMENSION, np.float32), 10_000)
    assert len(everything.ids) == await ChunkStore(database).count(scope)
    assert not set(everything.ids) & set(foreign.ids)


async def ask(retriever: GraphRetriever, scope: Scope, question: str) -> list[str]:
    found = await retriever.search(scope, question, lanes=("vector", "keyword"), top_k=5)
    assert found.warnings == ()
    return [item.text for item in found.results]


@pytest.fixture
def retriever(database: Database, hots: ScopeCache, cached: CachedEmbedder) -> GraphRetriever:
    return GraphRetriever(
        chunks=ChunkStore(database),
        embedder=cached,
        settings=database.settings,
        hot=hots,
    )


async def test_searches_find_a_new_text_at_once_and_never_one_that_is_gone(
    database: Database, hots: ScopeCache, retriever: GraphRetriever, write: Write, scope: Scope
) -> None:
    """By mode and by chunk search: while the scope is cold, hot, changed, being packed, and hot again."""
    search = ChunkSearch(database, HashEmbedder(DIMENSION), hot=hots)
    request = SearchRequest(query="糖尿病的胰岛素 Rust ownership")
    for version in range(4):
        texts = [
            f"糖尿病的胰岛素，第 {version} 版。",
            f"Rust ownership, version {version}.",
            "其他。",
        ]
        await write(scope, "a", texts)
        for _ in range(
            6
        ):  # from the third on something may be in memory, and something may be packed
            assert set(await ask(retriever, scope, request.query)) == set(texts)
            response = await search.search(scope, request)
            assert {hit.text for hit in response.results} == set(texts)
        await hots.memory.settle()
    assert set(hots.sizes) <= {scope}


@pytest.mark.parametrize("limit", [3, 7])
async def test_pages_of_processes_with_and_without_the_scope_in_memory_make_one_list(
    database: Database, hots: ScopeCache, write: Write, scope: Scope, limit: int
) -> None:
    """Cosines from memory and from PostgreSQL differ by a rounding; a third of the pages began one too early.

    Of these texts only copies are equally near, whose vectors are equal.
    """
    rng = seeded(10)
    for number in range(8):
        texts = [" ".join(rng.choices(PIECES, k=6)) for _ in range(8)]
        await write(scope, str(number), [*texts, "付款节点。 payment"])
    await packed(hots, scope)
    request = SearchRequest(query="付款节点 payment", limit=limit)

    async def pages(*hot: ScopeCache | None) -> list[str]:
        found = list[str]()
        cursor = None
        for own in cycle(hot):
            search = ChunkSearch(database, HashEmbedder(DIMENSION), hot=own)
            page = await search.search(scope, request.model_copy(update={"cursor": cursor}))
            found += [hit.chunk_id for hit in page.results]
            if (cursor := page.next_cursor) is None:
                break
        return found

    whole = await pages(None)
    assert len(whole) == len(set(whole)) >= 50
    assert await pages(hots) == await pages(hots, None) == await pages(None, hots) == whole


async def test_a_hot_search_asks_the_store_for_the_stamp_only(
    hots: ScopeCache,
    retriever: GraphRetriever,
    write: Write,
    scope: Scope,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await write(scope, "a", ["糖尿病的胰岛素。", "Rust ownership."])
    cold = await ask(retriever, scope, "Rust 糖尿病")
    await packed(hots, scope)
    asked = recorded(retriever.chunks._database, monkeypatch)
    assert await ask(retriever, scope, "Rust 糖尿病") == cold
    functions = [query.split("\n")[-1].split("(")[0] for query in asked]
    assert functions == ["scope_stamp"]


async def test_a_question_of_another_embedding_model_is_told_so(
    hots: ScopeCache, write: Write, scope: Scope
) -> None:
    await write(scope, "a", ["糖尿病"])
    hot = await packed(hots, scope)
    with pytest.raises(EmbeddingModelChanged):
        await hot.nearest(np.ones(8, np.float32), 3)


async def test_another_users_knowledge_base_of_the_same_name_is_not_in_memory_with_it(
    hots: ScopeCache, write: Write, scope: Scope
) -> None:
    await write(scope, "a", ["糖尿病"])
    await packed(hots, scope)
    assert hots.of(Scope(f"user-{uuid4()}", scope.graph_id)) is None


async def test_what_postgresql_cannot_store_is_in_no_text(
    hots: ScopeCache, write: Write, scope: Scope
) -> None:
    await write(scope, "a", ["糖尿病"])
    hot = await packed(hots, scope)
    words = ["\0", "糖尿病\0", "\ud800", "糖\udfff尿"]
    assert not len(hot.matching(words, 3))
    assert len(hot.matching([*words, "糖尿病"], 3)) == 1


async def test_transactions_that_end_in_another_order_do_not_bring_a_stamp_back(
    database: Database, write: Write, scope: Scope
) -> None:
    """Of numbers n to n + 3 the outer two have the sum of the inner two, and are as many."""

    async def put(connection: Connection, name: str) -> None:
        await connection.execute(
            "insert into documents (user_id, scope_id, source, last_version, pending_version)"
            " select user_id, scope_id, %s, 1, 1 from graphs where graph_id = %s",
            (name, scope.graph_id),
        )

    await write(scope, "stays", ["糖尿病"])
    async with database.transaction(scope.user_id) as outer:
        await put(outer, "first")
        for name in ("second", "third"):
            async with database.transaction(scope.user_id) as inner:
                await put(inner, name)
        before = await read_chunks_stamp(database, scope)
    async with database.transaction(scope.user_id) as last:
        await last.execute("delete from documents where source in ('second', 'third')")
        await put(last, "fourth")
    assert await read_chunks_stamp(database, scope) != before
