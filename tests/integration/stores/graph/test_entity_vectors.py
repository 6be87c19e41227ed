"""Entities by vector: exact in a small scope, by an index of its own in a large one."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.graph.community_store import HierarchyStore
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, entity_id
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.record import EntityVectors
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from tests.integration.stored_state import GraphRecord

LARGE = 400


@pytest.fixture
def early(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scopes count as large from LARGE vectors on."""
    retrieval = database.settings.retrieval.model_copy(update={"exact_below": LARGE // 5})
    settings = database.settings.model_copy(update={"retrieval": retrieval})
    monkeypatch.setattr(database, "settings", settings)


async def fill(database: Database, scope: Scope, number: int, vectors: Vectors) -> None:
    names = [f"Entity {place}" for place in range(number)]
    rows = [MentionRow(entity_id(scope, name), None, MentionKind.IMPORT, name) for name in names]
    await GraphRecord(database).add(scope, GraphEvidence(rows))
    store = EntityVectors(database)
    while texts := await store.to_embed(scope):
        places = [int(text.text.split()[1]) for text in texts]
        await store.store(scope, texts, vectors[places])


@pytest.mark.usefixtures("early")
async def test_a_scope_that_grew_large_is_indexed_and_misses_no_row(
    database: Database, scope: Scope
) -> None:
    raw = np.random.default_rng(5).normal(size=(LARGE, 384)).astype(np.float32)
    vectors = np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), np.float32)
    beside = Scope(scope.user_id, "beside")
    store, graph = EntityVectors(database), PostgresGraph(database)
    await fill(database, beside, 20, vectors)
    await fill(database, scope, LARGE, vectors)

    assert not await store.index_if_large(beside)
    assert await store.index_if_large(scope)
    assert not await store.index_if_large(scope)
    assert await plan(database, scope) == f"entity_vectors_{await number_of(database, scope)}"
    for place in range(10):
        hits = await graph.entities_by_vector(scope, vectors[place], 10)
        assert hits[0].entity.name == f"Entity {place}"
        assert len(hits) == 10
    assert len(await graph.entities_by_vector(scope, vectors[0], 10 * LARGE)) == LARGE
    assert len(await graph.entities_by_vector(beside, vectors[0], 50)) == 20

    index = f"entity_vectors_{await number_of(database, scope)}"
    await KnowledgeBases(database).delete(scope)
    async with database.owner() as owner:
        left = await owner.execute("select from pg_class where relname = %s", [index])
        assert await left.fetchone() is None


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("indexed", [False, True])
async def test_of_equally_near_entities_those_of_the_least_ids_are_found(
    database: Database, scope: Scope, indexed: bool
) -> None:
    things = np.random.default_rng(7).normal(size=(8, 384)).astype(np.float32)
    vectors = np.repeat(things, LARGE // 8, axis=0)
    await fill(database, scope, LARGE, vectors)
    assert not indexed or await EntityVectors(database).index_if_large(scope)
    question = 3 * things[0] + 2 * things[1] + things[2]
    ids = [entity_id(scope, f"Entity {place}") for place in range(LARGE)]
    order = [own for first in (0, 50, 100) for own in sorted(ids[first : first + 50])]
    graph = PostgresGraph(database)
    for k in (1, 5, 49, 50, 51, 75, 150):
        hits = await graph.entities_by_vector(scope, question, k)
        assert [hit.entity.id for hit in hits] == order[:k]


@pytest.mark.usefixtures("early")
async def test_an_index_is_made_while_another_process_waits_to_bring_the_same_graph_up_to_date(
    database: Database, scope: Scope
) -> None:
    vectors = np.eye(LARGE, 384, dtype=np.float32) + np.float32(0.01)
    await fill(database, scope, LARGE, vectors)
    hierarchy = HierarchyStore(database)

    async def wait_for_turn() -> str:
        async with hierarchy.alone(scope):
            return "at last"

    async with hierarchy.alone(scope):
        other = asyncio.create_task(wait_for_turn())
        done, _ = await asyncio.wait([other], timeout=0.5)
        assert not done
        async with asyncio.timeout(60):
            assert await EntityVectors(database).index_if_large(scope)
    assert await other == "at last"


async def test_two_bring_a_graph_up_to_date_one_after_the_other_from_before_it_is_there(
    database: Database, scope: Scope
) -> None:
    """Who came before there was anything went on beside the next, and both wrote the same reports."""
    hierarchy = HierarchyStore(database)

    async def wait_for_turn() -> None:
        async with hierarchy.alone(scope):
            pass

    async with hierarchy.alone(scope):
        await fill(database, scope, 1, np.eye(1, 384, dtype=np.float32))
        other = asyncio.create_task(wait_for_turn())
        done, _ = await asyncio.wait([other], timeout=0.5)
        assert not done
    await other


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize(
    ("changed", "options"),
    [
        ({}, ["m=16", "ef_construction=64"]),
        ({"entity_m": 5, "entity_ef_construction": 20}, ["m=5", "ef_construction=20"]),
    ],
)
async def test_how_an_index_is_built_is_a_setting(
    database: Database,
    scope: Scope,
    monkeypatch: pytest.MonkeyPatch,
    changed: dict[str, int],
    options: list[str],
) -> None:
    retrieval = database.settings.retrieval.model_copy(update=changed)
    settings = database.settings.model_copy(update={"retrieval": retrieval})
    monkeypatch.setattr(database, "settings", settings)
    await fill(database, scope, LARGE, np.eye(LARGE, 384, dtype=np.float32) + np.float32(0.01))
    assert await EntityVectors(database).index_if_large(scope)
    index = f"sextant.entity_vectors_{await number_of(database, scope)}"
    async with database.owner() as owner:
        query = "select reloptions from pg_class where oid = %s::regclass"
        assert await (await owner.execute(query, [index])).fetchone() == (options,)


async def number_of(database: Database, scope: Scope) -> int:
    async with database.transaction(scope.user_id) as connection:
        query = "select scope_id from graphs where graph_id = %s"
        row = await (await connection.execute(query, [scope.graph_id])).fetchone()
    assert row is not None
    return int(row[0])


async def plan(database: Database, scope: Scope) -> str:
    """Return the index that a search of the nearest entities goes by."""
    number = await number_of(database, scope)
    async with database.transaction(scope.user_id) as connection:
        await connection.execute("set local enable_seqscan = off; set local enable_sort = off")
        query = f"""explain (format json) select entity_id from entity_vectors
            where scope_id = {number} order by embedding <=> array_fill(1, array[384])::vector limit 5"""
        row = await (await connection.execute(query.encode())).fetchone()
    assert row is not None
    return str(row[0][0]["Plan"]["Plans"][-1]["Index Name"])
