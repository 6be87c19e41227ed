"""Blocks of halves hold exactly the vectors of the shared partition, whatever is added and deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID, uuid4

import numpy as np
import pytest

from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from tests.integration.chunk_hits import vector_hits

Ingest = Callable[[Scope, Sequence[str], Vectors], Awaitable[UUID]]
PER_BLOCK = 10  # halves of 384 numbers that fit a page


def drawn(count: int, seed: int) -> Vectors:
    return np.random.default_rng(seed).normal(size=(count, 384)).astype(np.float32)


async def blocks(database: Database, scope: Scope) -> dict[UUID, str]:
    """Return what the blocks of a scope hold, each once."""
    async with database.transaction(scope.user_id) as connection:
        cursor = await connection.execute(
            "select unnest(ids), unnest(halves)::text from vector_blocks join graphs using (scope_id)"
            " where graph_id = %s",
            [scope.graph_id],
        )
        held = [row async for row in cursor]
    assert len(held) == len(dict(held))
    return dict(held)


async def stored(database: Database, scope: Scope) -> dict[UUID, str]:
    """Return the vectors of the shared partition, as blocks should hold them."""
    async with database.transaction(scope.user_id) as connection:
        cursor = await connection.execute(
            "select chunk_id, l2_normalize(embedding)::halfvec::text from chunk_vectors"
            " join graphs using (scope_id, partition_key) where graph_id = %s and partition_key = 0",
            [scope.graph_id],
        )
        return dict([row async for row in cursor])


async def number_of_blocks(database: Database, scope: Scope) -> int:
    async with database.transaction(scope.user_id) as connection:
        cursor = await connection.execute(
            "select count(*) from vector_blocks join graphs using (scope_id) where graph_id = %s",
            [scope.graph_id],
        )
        row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def test_blocks_follow_documents_that_come_and_go_in_any_order(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    documents, rng = DocumentStore(database), np.random.default_rng(1)
    other = Scope(scope.user_id, "other")
    await ingest(other, ["x"] * 13, drawn(13, 2))
    there: list[UUID] = []
    for step in range(40):
        if there and rng.random() < 0.4:
            await documents.delete(scope, there.pop(int(rng.integers(len(there)))))
        else:
            size = int(rng.integers(1, 25))
            there.append(await ingest(scope, ["x"] * size, drawn(size, step)))
        assert await blocks(database, scope) == await stored(database, scope)
    assert await blocks(database, other) == await stored(database, other)
    assert len(await stored(database, other)) == 13


async def test_a_vector_that_is_changed_by_hand_is_changed_in_its_block(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    await ingest(scope, ["x"] * 25, drawn(25, 3))
    async with database.transaction(scope.user_id) as connection:
        await connection.execute(
            "update chunk_vectors set embedding = (select embedding from chunk_vectors limit 1)"
            " where chunk_id in (select chunk_id from chunk_vectors limit 12)"
        )
    held = await blocks(database, scope)
    assert held == await stored(database, scope)
    assert len(set(held.values())) < len(held)


async def test_short_documents_share_blocks(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    for n in range(45):
        await ingest(scope, ["x"], drawn(1, n))
    assert await blocks(database, scope) == await stored(database, scope)
    assert await number_of_blocks(database, scope) < 45 / PER_BLOCK + 20


async def test_documents_deleted_at_once_leave_nothing_in_blocks_that_they_share(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    documents = DocumentStore(database)
    there = [await ingest(scope, ["x"], drawn(1, n)) for n in range(24)]
    await asyncio.gather(
        *(documents.delete(scope, one) for one in there[:16]), ingest(scope, ["y"], drawn(1, 99))
    )
    held = await blocks(database, scope)
    assert held == await stored(database, scope)
    assert len(held) == 9


async def test_a_scope_that_gets_an_index_of_its_own_has_no_blocks(
    database: Database, ingest: Ingest, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ingest(scope, ["x"] * 15, drawn(15, 4))
    assert await number_of_blocks(database, scope) == 2
    early = database.settings.retrieval.model_copy(update={"exact_below": 20})
    monkeypatch.setattr(
        database, "settings", database.settings.model_copy(update={"retrieval": early})
    )
    await ingest(scope, ["x"] * 15, drawn(15, 5))
    await ingest(scope, ["x"] * 15, drawn(15, 6))
    assert await number_of_blocks(database, scope) == 0
    assert len(await vector_hits(ChunkStore(database), scope, drawn(1, 7)[0], 50)) == 45


async def test_a_deleted_knowledge_base_leaves_no_blocks(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    await ingest(scope, ["x"] * 30, drawn(30, 8))
    kept = Scope(scope.user_id, "kept")
    await ingest(kept, ["x"] * 5, drawn(5, 9))
    await KnowledgeBases(database).delete(scope)
    async with database.transaction(scope.user_id) as connection:
        cursor = await connection.execute("select sum(cardinality(ids)) from vector_blocks")
        assert await cursor.fetchone() == (5,)


async def test_blocks_are_seen_by_their_tenant_alone(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    await ingest(scope, ["x"] * 5, drawn(5, 10))
    async with database.transaction(f"user-{uuid4()}") as connection:
        cursor = await connection.execute("select count(*) from vector_blocks")
        assert await cursor.fetchone() == (0,)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
async def test_the_nearest_are_exact_however_long_vectors_are(
    database: Database, ingest: Ingest, scope: Scope, scale: float
) -> None:
    """Halves end at 65,504; those of blocks are of unit vectors."""
    vectors, question = drawn(200, 11) * np.float32(scale), drawn(1, 12)[0] * np.float32(scale)
    await ingest(scope, [str(n) for n in range(200)], vectors)
    cosines = vectors @ question / np.linalg.norm(vectors, axis=1) / np.linalg.norm(question)
    for k in (1, 10, 50, 51, 120):
        hits = await vector_hits(ChunkStore(database), scope, question, k)
        assert [int(hit.chunk.text) for hit in hits] == np.argsort(-cosines)[:k].tolist()
        assert [hit.score for hit in hits] == pytest.approx(
            np.sort(cosines)[::-1][:k].tolist(), abs=1e-6
        )
