"""Of equally near chunks those of the least ids are found, in whatever way: pages neither repeat nor skip one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

import numpy as np
import pytest

from sextant.domain.questions import ChunkFilters
from sextant.domain.scope import Scope
from sextant.models.protocols import Vectors
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.postgresql.database import Database
from tests.integration.chunk_hits import vector_hits

Ingest = Callable[[Scope, Sequence[str], Vectors], Awaitable[UUID]]
LARGE = 1200
EVERY = ChunkFilters.read({"createdAfter": "2000-01-01"})


@pytest.fixture
def early(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scopes get an index from LARGE chunks on."""
    retrieval = database.settings.retrieval.model_copy(update={"exact_below": LARGE})
    settings = database.settings.model_copy(update={"retrieval": retrieval})
    monkeypatch.setattr(database, "settings", settings)


def drawn(count: int, seed: int) -> Vectors:
    raw = np.random.default_rng(seed).normal(size=(count, 384))
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), np.float32)


async def copied(ingest: Ingest, scope: Scope, *, each: int, others: int) -> Vectors:
    """Document that say three things, each in so many copies, among others; a question near all three."""
    things = drawn(3, 1)
    copies = np.random.default_rng(2).permutation(np.repeat(np.arange(3), each))
    for part in np.array_split(copies, 12):
        await ingest(scope, [f"thing {one}" for one in part], things[part])
    await ingest(scope, ["another"] * others, drawn(others, 3))
    return np.asarray(3 * things[0] + 2 * things[1] + things[2], np.float32)


async def in_order(database: Database, scope: Scope, question: Vectors) -> list[UUID]:
    """Return every chunk as a plain statement orders them."""
    async with database.transaction(scope.user_id) as connection:
        cursor = await connection.execute(
            "select chunk_id from chunk_vectors join graphs using (scope_id, partition_key)"
            " where graph_id = %s order by (embedding <=> %s::vector) + 0, chunk_id",
            [scope.graph_id, question],
        )
        return [own async for (own,) in cursor]


async def assert_in_order(database: Database, scope: Scope, question: Vectors, most: int) -> None:
    """Wherever a list of so many at most ends, it is the beginning of the same order."""
    chunks, order = ChunkStore(database), await in_order(database, scope, question)
    for k in [own for own in (1, 2, 7, 15, 39, 40, 41, 50, 51, 60, 83, 120) if own <= most]:
        assert (await chunks.nearest(scope, question, k)).ids == list(map(str, order[:k]))
        filtered = await vector_hits(chunks, scope, question, k, EVERY)
        assert [hit.chunk.id for hit in filtered] == order[:k]


@pytest.mark.parametrize("each", [1, 5, 40])
async def test_in_a_small_scope(
    database: Database, ingest: Ingest, scope: Scope, each: int
) -> None:
    question = await copied(ingest, scope, each=each, others=60)
    await assert_in_order(database, scope, question, 120)


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("each", [5, 40])
async def test_by_an_index_however_it_was_built(
    database: Database, ingest: Ingest, scope: Scope, each: int
) -> None:
    question = await copied(ingest, scope, each=each, others=LARGE)
    async with database.owner() as connection:
        await connection.execute("set search_path = sextant, public, extensions")
        cursor = await connection.execute(
            "select 'chunk_vectors_' || scope_id from graphs where user_id = %s", [scope.user_id]
        )
        ((table,),) = await cursor.fetchall()
        await assert_in_order(database, scope, question, 3 * each)
        for build in (
            f"reindex index {table}_halves",
            f"drop index {table}_halves; create index on {table} using hnsw (embedding vector_cosine_ops)",
        ):
            await connection.execute(build)
            await connection.commit()
            await assert_in_order(database, scope, question, 3 * each)
