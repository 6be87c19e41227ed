"""A scope that searches of chunks and graph modes both have in memory: vectors and texts are held once."""

from __future__ import annotations

from functools import partial

import pytest

from sextant.domain.scope import Scope
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.retrievers.memory.hot import ScopeCache, find_vectors
from sextant.retrievers.memory.scope_memory import ScopeMemory, Texts
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from tests.integration.retrievers.hot_world import Write, packed

_BYTES = 10_000_000


def opened(database: Database) -> tuple[ScopeMemory, ScopeIndexes, ScopeCache]:
    memory = ScopeMemory(_BYTES)
    indexes = ScopeIndexes(
        ChunkStore(database),
        GraphRecord(database),
        10**6,
        shared=partial(find_vectors, memory),
    )
    return memory, indexes, ScopeCache(database, memory, indexes)


@pytest.mark.parametrize("graph_first", [True, False])
async def test_vectors_are_held_once_whoever_comes_first(
    database: Database, write: Write, scope: Scope, *, graph_first: bool
) -> None:
    await write(scope, "a", ["糖尿病", "insulin", "blood"])
    _, indexes, hots = opened(database)
    if graph_first:
        index = await indexes.get(scope)
        hot = await packed(hots, scope)
    else:
        hot = await packed(hots, scope)
        index = await indexes.get(scope)
    assert index.passages.rounded is not None
    assert index.passages.rounded.coordinates is hot.packed.rounded.coordinates
    assert index.chunk_ids.texts_of(range(3)) == hot.packed.written_ids(range(3))


async def test_vectors_of_another_moment_are_not_shared(
    database: Database, write: Write, scope: Scope
) -> None:
    await write(scope, "a", ["糖尿病"])
    _, indexes, hots = opened(database)
    hot = await packed(hots, scope)
    await write(scope, "b", ["insulin"])
    index = await indexes.get(scope)
    assert len(index.chunk_ids) == 2
    assert index.passages.rounded is not None
    assert index.passages.rounded.coordinates is not hot.packed.rounded.coordinates
    assert len(index.passages.rounded) == 2


async def test_texts_are_held_once(database: Database, write: Write, scope: Scope) -> None:
    await write(scope, "a", ["糖尿病", "insulin"])
    memory, indexes, hots = opened(database)
    texts = Texts(database, indexes, memory)
    hot = await packed(hots, scope)
    index = await indexes.get(scope)
    stamp = await indexes.stamp(scope)
    for _ in range(4):
        found = texts.of(scope, stamp, index)
        with hot.with_texts() as searched:
            pass
        await memory.settle()
    assert found is not None
    assert searched.texts is found.passages
