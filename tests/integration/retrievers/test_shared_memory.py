"""A scope that searches of chunks and graph modes both have in memory: vectors and texts are held once."""

from __future__ import annotations

import pytest

from sextant.domain.scope import Scope
from sextant.retrievers.index.scope_cache import ScopeCache
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from tests.integration.retrievers.hot_world import Write, packed


def opened(database: Database) -> tuple[ScopeIndexes, ScopeCache]:
    indexes = ScopeIndexes(ChunkStore(database), GraphRecord(database), 10**6)
    return indexes, ScopeCache(database, indexes, most=10_000_000)


@pytest.mark.parametrize("graph_first", [True, False])
async def test_vectors_are_held_once_whoever_comes_first(
    database: Database, write: Write, scope: Scope, *, graph_first: bool
) -> None:
    await write(scope, "a", ["糖尿病", "insulin", "blood"])
    indexes, hots = opened(database)
    if graph_first:
        index = await indexes.get(scope)
        hot = await packed(hots, scope)
    else:
        hot = await packed(hots, scope)
        index = await indexes.get(scope)
    assert index.passages.rounded is not None
    assert index.passages.rounded.coordinates is hot.index.rounded.coordinates
    assert index.chunk_ids.texts_of(range(3)) == hot.index.ids.texts_of(range(3))


async def test_vectors_of_another_moment_are_not_shared(
    database: Database, write: Write, scope: Scope
) -> None:
    await write(scope, "a", ["糖尿病"])
    indexes, hots = opened(database)
    hot = await packed(hots, scope)
    await write(scope, "b", ["insulin"])
    index = await indexes.get(scope)
    assert len(index.chunk_ids) == 2
    assert index.passages.rounded is not None
    assert index.passages.rounded.coordinates is not hot.index.rounded.coordinates
    assert len(index.passages.rounded) == 2


async def test_a_scope_in_memory_serves_searches_of_chunks_and_graph_modes(
    database: Database, write: Write, scope: Scope
) -> None:
    await write(scope, "a", ["糖尿病", "insulin"])
    indexes, hots = opened(database)
    index, stamp = await indexes.get(scope), await indexes.stamp(scope)
    for _ in range(4):
        found = hots.texts(scope, stamp, index)
        await hots.memory.settle()
    hot = hots.of(scope)
    assert found is not None
    assert hot is not None
    assert hot.index is found.passages
