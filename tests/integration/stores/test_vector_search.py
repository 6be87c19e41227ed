"""The vector lane returns exactly min(k, chunks of the scope), on small and on large scopes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID, uuid4

import numpy as np
import pytest
from psycopg import AsyncConnection

from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors
from sextant.stores.documents.chunk_copy import maintain_indexes
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.langchain import open_vector_store
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import KnowledgeBases
from tests.integration.chunk_hits import ChunkHit, keyword_hits, vector_hits

Ingest = Callable[[Scope, Sequence[str], Vectors], Awaitable[UUID]]
LARGE = 1200


def clustered(count: int, seed: int) -> Vectors:
    """Return like embeddings of real text: a few dozen topics, each a cloud."""
    rng = np.random.default_rng(seed)
    topics = rng.normal(size=(30, 384))
    raw = topics[rng.integers(0, 30, count)] + 0.6 * rng.normal(size=(count, 384))
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), np.float32)


class First:
    """An embedder that answers every question with the first vector."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    async def embed_query(self, text: str) -> Vectors:
        return self.vectors[:1].reshape(-1)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self.vectors[: len(texts)]


@pytest.fixture
def early(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scopes count as large from LARGE chunks on."""
    retrieval = database.settings.retrieval.model_copy(update={"exact_below": LARGE})
    settings = database.settings.model_copy(update={"retrieval": retrieval})
    monkeypatch.setattr(database, "settings", settings)


async def partition_of(database: Database, scope: Scope) -> int:
    async with database.transaction(scope.user_id) as connection:
        row = await (await connection.execute("select partition_key from graphs")).fetchone()
    assert row is not None
    return int(row[0])


async def assert_counts(chunks: ChunkStore, scope: Scope, size: int, query: Vectors) -> None:
    for k in range(1, 51):
        hits = await vector_hits(chunks, scope, query, k)
        assert len(hits) == len({hit.chunk.id for hit in hits}) == min(k, size)
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("size", [0, 1, 7, 49, 50, 60])
async def test_a_small_scope_among_others_returns_min_k_rows_and_the_exact_neighbours(
    database: Database, ingest: Ingest, scope: Scope, size: int
) -> None:
    await ingest(Scope(f"other-{uuid4()}"), ["x"] * 80, clustered(80, 1))
    vectors = clustered(size, 2)
    await ingest(scope, [str(n) for n in range(size)], vectors)
    chunks, query = ChunkStore(database), clustered(1, 3)[0]
    await assert_counts(chunks, scope, size, query)
    exact = [str(n) for n in np.argsort(-(vectors @ query), kind="stable")[:5]]
    assert [hit.chunk.text for hit in await vector_hits(chunks, scope, query, 5)] == exact


@pytest.mark.usefixtures("early")
async def test_a_scope_that_grows_gets_an_index_and_still_returns_k_rows(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    chunks = ChunkStore(database)
    vectors = clustered(LARGE + 300, 4)
    first = await ingest(scope, [str(n) for n in range(LARGE - 1)], vectors[: LARGE - 1])
    assert await partition_of(database, scope) == 0
    await ingest(scope, [str(n) for n in range(LARGE - 1, LARGE + 300)], vectors[LARGE - 1 :])
    assert await partition_of(database, scope) != 0
    assert not await maintain_indexes(database, scope)

    queries = clustered(20, 5)
    await assert_counts(chunks, scope, len(vectors), queries[0])
    recalls = []
    for query in queries:
        exact = {str(n) for n in np.argsort(-(vectors @ query))[:10]}
        found = {hit.chunk.text for hit in await vector_hits(chunks, scope, query, 10)}
        recalls.append(len(found & exact) / 10)
    assert np.mean(recalls) >= 0.95
    everything = await vector_hits(chunks, scope, queries[0], len(vectors) + 10)
    assert len(everything) == len(vectors)

    async with open_vector_store(database, First(queries), scope) as store:
        assert [len(await store.asimilarity_search("?", k=k)) for k in (1, 10, 50)] == [1, 10, 50]
        late = {"ordinal": {"$gte": LARGE - 51}}  # only the first document has so many
        assert len(await store.asimilarity_search("?", k=100, filter=late)) == 50

    await DocumentStore(database).delete(scope, first)
    await assert_counts(chunks, scope, 301, queries[1])


@pytest.mark.usefixtures("early")
async def test_a_search_looks_at_more_candidates_in_a_larger_partition(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    async def width(partition: int, least: int) -> int:
        async with database.owner() as connection:
            query = "select sextant.search_width(%s, %s)"
            row = await (await connection.execute(query, [partition, least])).fetchone()
        assert row is not None
        return int(row[0])

    await ingest(scope, ["x"] * LARGE, clustered(LARGE, 8))
    partition = await partition_of(database, scope)
    assert await width(partition, 1) == pytest.approx(LARGE / 100, abs=1)
    await ingest(scope, ["y"] * LARGE, clustered(LARGE, 9))  # a page more or less is 5 chunks
    assert await width(partition, 1) == pytest.approx(2 * LARGE / 100, abs=1)
    assert [await width(partition, 140), await width(0, 140)] == [140, 140]
    assert await width(partition, 2000) == 1000


@pytest.mark.usefixtures("early")
async def test_cosines_found_by_an_index_of_halves_are_those_of_the_stored_vectors(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    vectors, query = clustered(LARGE, 13), clustered(1, 14)[0]
    await ingest(scope, [str(n) for n in range(LARGE)], vectors)
    hits = await vector_hits(ChunkStore(database), scope, query, 10)
    stored = [float(vectors[int(hit.chunk.text)] @ query) for hit in hits]
    assert [hit.score for hit in hits] == pytest.approx(stored, abs=1e-6)
    rounded = [float(vectors[int(hit.chunk.text)].astype(np.float16) @ query) for hit in hits]
    assert rounded != pytest.approx(stored, abs=1e-6)


async def to_floats(database: Database, scope: Scope) -> None:
    """Give the scope's partition the index that it would have had before there were halves."""
    table = f"chunk_vectors_{await partition_of(database, scope)}"
    async with database.owner() as connection:
        await connection.execute("set search_path = sextant, public, extensions")
        await connection.execute(f"drop index {table}_halves")
        await connection.execute(
            f"create index on {table} using hnsw (embedding vector_cosine_ops)"
        )


async def hnsw_indexes(database: Database, scope: Scope) -> list[str]:
    async with database.owner() as connection:
        cursor = await connection.execute(
            "select indexname from pg_indexes where tablename = %s and indexdef like '%% hnsw %%'",
            [f"chunk_vectors_{await partition_of(database, scope)}"],
        )
        return [row[0] async for row in cursor]


async def graph_options(database: Database, scope: Scope) -> list[str]:
    async with database.owner() as connection:
        cursor = await connection.execute(
            "select reloptions from pg_class where oid = %s::regclass",
            [f"sextant.chunk_vectors_{await partition_of(database, scope)}_halves"],
        )
        row = await cursor.fetchone()
    assert row is not None
    return list(row[0])


@pytest.mark.usefixtures("early")
async def test_a_partition_with_an_index_of_floats_is_searched_by_it_until_the_next_document(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    chunks, query = ChunkStore(database), clustered(1, 16)[0]
    await ingest(scope, [str(n) for n in range(LARGE)], clustered(LARGE, 15))
    partition = await partition_of(database, scope)
    by_halves = await chunks.nearest(scope, query, 10)
    await to_floats(database, scope)
    by_floats = await chunks.nearest(scope, query, 10)
    assert by_floats == by_halves
    assert await hnsw_indexes(database, scope) == [f"chunk_vectors_{partition}_embedding_idx"]

    await ingest(scope, ["another"], -query[None])
    assert await partition_of(database, scope) == partition
    assert await hnsw_indexes(database, scope) == [f"chunk_vectors_{partition}_halves"]
    assert (await chunks.nearest(scope, query, 10)).ids == by_halves.ids
    assert not await maintain_indexes(database, scope)


@pytest.mark.usefixtures("early")
async def test_a_graph_has_few_neighbours_that_were_looked_for_with_care(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    """What the figures of docs/speed.md were taken with; a walk costs a third more with 16 and 64."""
    await ingest(scope, ["x"] * LARGE, clustered(LARGE, 19))
    assert await graph_options(database, scope) == ["m=8", "ef_construction=128"]


@pytest.mark.usefixtures("early")
async def test_how_a_graph_is_built_is_a_setting(
    database: Database, ingest: Ingest, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every weight and constant is a setting."""
    changed = {"hnsw_m": 12, "hnsw_ef_construction": 40}
    retrieval = database.settings.retrieval.model_copy(update=changed)
    settings = database.settings.model_copy(update={"retrieval": retrieval})
    monkeypatch.setattr(database, "settings", settings)
    await ingest(scope, ["x"] * LARGE, clustered(LARGE, 19))
    assert await graph_options(database, scope) == ["m=12", "ef_construction=40"]


@pytest.mark.usefixtures("early")
async def test_langchains_statement_goes_by_the_index_of_the_scope(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    await ingest(scope, ["x"] * LARGE, clustered(LARGE, 17))
    question = str(clustered(1, 18)[0].tolist())
    tenant = {"user_id": scope.user_id, "graph_id": scope.graph_id, "ef_search": "100"}
    async with await AsyncConnection.connect(database.app_conninfo, autocommit=True) as connection:
        await connection.execute(load_queries("langchain")["open"], tenant)
        plan = (
            await connection.execute(  # as PGVectorStore writes it, its vector as text of no type
                "explain select id, content, cosine_distance(embedding, %(question)s) as distance"
                " from sextant.langchain_chunks order by embedding <=> %(question)s limit 4",
                {"question": question},
            )
        )
        lines = [row[0] async for row in plan]
    index = f"chunk_vectors_{await partition_of(database, scope)}_halves"
    assert any(index in line for line in lines), lines


@pytest.mark.usefixtures("early")
async def test_a_search_that_a_sample_proves_wrong_is_repeated_exactly(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    """A walk through the graph may end in a wrong region; here the right one is not in the graph."""
    await ingest(scope, ["far"] * LARGE, clustered(LARGE, 10))
    graph = f"sextant.chunk_vectors_{await partition_of(database, scope)}"
    async with database.owner() as connection:
        await connection.execute(
            "update pg_index set indisready = false where indrelid = %s::regclass "
            "and pg_get_indexdef(indexrelid) like '%% hnsw %%'",
            [graph],
        )
    rng = np.random.default_rng(11)
    query = clustered(1, 12)[0]
    raw = query + 0.01 * rng.normal(size=(LARGE, 384))
    near = np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), np.float32)
    await ingest(scope, [f"near {n}" for n in range(LARGE)], near)
    hits = await vector_hits(ChunkStore(database), scope, query, 10)
    best = np.argsort(-(near @ query), kind="stable")[:10]
    assert [hit.chunk.text for hit in hits] == [f"near {n}" for n in best]


@pytest.mark.usefixtures("early")
async def test_searches_go_on_while_a_scope_moves_to_its_own_partition(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    chunks = ChunkStore(database)
    vectors = clustered(LARGE, 6)
    await ingest(scope, ["x"] * (LARGE - 1), vectors[:-1])
    await ingest(scope, ["y"], vectors[-1:])  # this one promotes
    small = Scope(scope.user_id, "second")
    await ingest(small, ["x"] * (LARGE - 1), vectors[:-1])

    async def search_until(done: asyncio.Event) -> list[list[ChunkHit]]:
        seen = []
        while not done.is_set():
            seen.append(await vector_hits(chunks, small, vectors[0], 20))
        return seen

    done = asyncio.Event()
    searching = asyncio.create_task(search_until(done))
    await ingest(small, ["y"], vectors[-1:])
    done.set()
    seen = await searching
    assert seen
    assert {len(hits) for hits in seen} == {20}


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("size", [0, 60, LARGE + 50])
async def test_ids_and_cosines_alone_are_those_of_the_hits(
    database: Database, ingest: Ingest, scope: Scope, size: int
) -> None:
    vectors = clustered(size, 4)
    await ingest(scope, [str(n) for n in range(size)], vectors)
    await maintain_indexes(database, scope)
    chunks, query = ChunkStore(database), clustered(1, 5)[0]
    near = await chunks.nearest(scope, query, 40)
    hits = await vector_hits(chunks, scope, query, 40)
    assert near.ids == [str(hit.chunk.id) for hit in hits]
    assert near.scores == pytest.approx([hit.score for hit in hits], abs=1e-6)
    assert len((await chunks.nearest(scope, query, 0)).ids) == 0


@pytest.mark.usefixtures("early")
async def test_ids_come_from_where_the_scope_is_now(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    """A scope is empty, small, large in a partition of its own, gone, and there again."""
    chunks, query = ChunkStore(database), clustered(1, 3)[0]

    async def found() -> int:
        near = await chunks.nearest(scope, query, 5)
        hits = await vector_hits(chunks, scope, query, 5)
        assert near.ids == [str(hit.chunk.id) for hit in hits]
        assert near.scores == pytest.approx([hit.score for hit in hits])
        assert len(await keyword_hits(chunks, scope, ["chunk"], 9)) == len(
            (await chunks.keyword_matches(scope, ["chunk"], 9)).ids
        )
        return len(near.ids)

    assert await found() == 0
    await ingest(scope, ["chunk"] * 3, clustered(3, 4))
    assert await found() == 3
    await ingest(scope, [f"chunk {n}" for n in range(LARGE)], clustered(LARGE, 2))
    await maintain_indexes(database, scope)
    assert await partition_of(database, scope) > 0
    assert await found() == 5
    await KnowledgeBases(database).delete(scope)
    assert await found() == 0
    await ingest(scope, ["chunk"], clustered(1, 5))
    assert await found() == 1
