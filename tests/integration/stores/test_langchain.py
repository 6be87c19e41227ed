"""LangChain's PGVectorStore reads the rows that Sextant searches, and no other tenant's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID, uuid4

import numpy as np
import pytest

from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors
from sextant.stores.langchain import open_vector_store
from sextant.stores.postgresql.database import Database
from tests.integration.chunk_hits import vector_hits

Ingest = Callable[[Scope, Sequence[str], Vectors], Awaitable[UUID]]


def unit(count: int, seed: int) -> Vectors:
    raw = np.random.default_rng(seed).normal(size=(count, 384))
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), np.float32)


class OneVector:
    """An embedder that knows one question; the vectors in the store are what is under test."""

    async def embed_query(self, text: str) -> Vectors:
        return unit(1, 9).reshape(384)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return unit(len(texts), 9)


async def test_the_same_neighbours_in_the_same_order_with_cosine_distances(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    await ingest(scope, [f"text {n}" for n in range(30)], unit(30, 1))
    ours = await vector_hits(ChunkStore(database), scope, unit(1, 9)[0], 8)
    async with open_vector_store(database, OneVector(), scope) as store:
        theirs = await store.asimilarity_search_with_score("?", k=8)
        assert [doc.page_content for doc, _ in theirs] == [hit.chunk.text for hit in ours]
        assert [distance for _, distance in theirs] == pytest.approx(
            [1 - hit.score for hit in ours], abs=1e-4
        )
        document = theirs[0][0]
        assert document.metadata["user_id"] == scope.user_id
        assert document.metadata["graph_id"] == scope.graph_id
        assert document.metadata["document_id"] == str(ours[0].chunk.document_id)
        assert document.id == str(ours[0].chunk.id)
        found = await asyncio.to_thread(store.similarity_search, "?", 50)
        assert len(found) == 30


async def test_filters_work_and_an_empty_one_opens_nothing_more(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    wanted = await ingest(scope, ["a", "b", "c"], unit(3, 2))
    await ingest(scope, ["d"], unit(1, 3))
    other_graph, other_user = Scope(scope.user_id, "second"), Scope(f"user-{uuid4()}")
    await ingest(other_graph, ["e"], unit(1, 4))
    await ingest(other_user, ["f"], unit(1, 5))
    async with open_vector_store(database, OneVector(), scope) as store:
        everything = await store.asimilarity_search("?", k=50, filter={})
        assert {document.page_content for document in everything} == {"a", "b", "c", "d"}
        some = await store.asimilarity_search(
            "?", k=50, filter={"document_id": str(wanted), "ordinal": {"$gte": 1}}
        )
        assert {document.page_content for document in some} == {"b", "c"}
        foreign = await store.asimilarity_search("?", filter={"user_id": other_user.user_id})
        assert foreign == []
