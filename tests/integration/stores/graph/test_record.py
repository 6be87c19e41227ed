"""The graph as a whole: its size, its end, what a graph database is told, and who may write when."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.evidence import relation_id
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.record import GraphCounts
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from tests.integration.stored_state import GraphRecord
from tests.integration.stores.graph.world import (
    Row,
    Store,
    Stored,
    alias,
    evidence,
    mention,
    named,
    relation,
)


def some(stored: Stored) -> tuple[Row, ...]:
    (chunk, *_) = stored.chunks
    return (
        mention("Insulin", chunk, MentionKind.MODEL, description="A hormone."),
        mention("Diabetes", chunk, MentionKind.MODEL),
        relation("insulin", "TREATS", "diabetes", chunk),
        alias("diabetes", "DM", stored.document_id),
    )


async def test_counts_are_those_of_what_readers_see(
    record: GraphRecord, database: Database, store: Store, scope: Scope
) -> None:
    assert await record.counts(scope) == GraphCounts(0, 0, 0, 0)
    stored = await store(scope, ["one"])
    await record.add(scope, evidence(*some(stored), mention("Once", stored.chunks[0])))
    assert await record.counts(scope) == GraphCounts(2, 1, 3, 0)
    top = await PostgresGraph(database).top_entities(scope, 5)
    assert {one.name for one in top} == {"Insulin", "Diabetes"}


@pytest.mark.parametrize("user_first", [True, False])
async def test_the_type_that_the_user_gave_stands_whatever_models_say_more_often(
    record: GraphRecord,
    database: Database,
    store: Store,
    scope: Scope,
    user_first: bool,
) -> None:
    stored = await store(scope, ["one", "two"])
    user = evidence(mention("Graz", None, MentionKind.IMPORT, entity_type="TOWN"))
    read = [
        mention("Graz", chunk, MentionKind.MODEL, entity_type="COMPANY") for chunk in stored.chunks
    ]
    said = [user, evidence(*read)]
    for part in said if user_first else reversed(said):
        await record.add(scope, part)
    [graz] = await PostgresGraph(database).get_entities(scope, [named("graz")])
    assert graz.entity_type == "TOWN"


async def test_a_projection_is_told_what_changed_from_its_beginning_on(
    record: GraphRecord, database: Database, store: Store, scope: Scope
) -> None:
    first, second = await store(scope, ["one"]), await store(scope, ["two"])
    await record.add(scope, evidence(*some(first)))
    assert await outbox(database, scope) == []
    await record.project(scope)
    await record.add(scope, evidence(*some(second)))
    await DocumentStore(database).delete(scope, first.document_id)
    told = await outbox(database, scope)
    assert [kind for kind, _ in told] == ["entities", "relations"] * 2
    assert all(set(ids) >= {named("insulin"), named("diabetes")} for _, ids in told[::2])


async def outbox(database: Database, scope: Scope) -> list[tuple[str, list[object]]]:
    async with database.transaction(scope.user_id) as connection:
        query = "select kind, ids from graph_outbox order by seq"
        return await (await connection.execute(query)).fetchall()


async def test_workers_that_write_at_once_lose_nothing(
    record: GraphRecord, store: Store, scope: Scope
) -> None:
    documents = [await store(scope, [f"{number}"]) for number in range(6)]
    adding = [record.add(scope, evidence(*some(one))) for one in documents]
    await asyncio.gather(*adding)
    arrays = await record.arrays(scope)
    assert arrays.relation_weight.tolist() == [6.0]
    assert await record.version(scope) == 6


async def test_a_knowledge_base_that_is_deleted_while_its_graph_is_written_goes_without_a_trace(
    record: GraphRecord, database: Database, store: Store, scope: Scope
) -> None:
    await record.add(scope, evidence(*some(await store(scope, ["one"]))))
    later = await store(scope, ["two"])
    async with record.writing(scope) as writer:
        await writer.add(evidence(*some(later)))
        deleting = asyncio.create_task(KnowledgeBases(database).delete(scope))
        await asyncio.wait([deleting], timeout=0.5)
        assert not deleting.done()
    await deleting
    assert scope.graph_id not in {
        one.graph_id for one in await KnowledgeBases(database).list(scope.user_id)
    }
    assert await record.version(scope) == 0


async def test_a_failed_transaction_leaves_neither_rows_nor_work_behind(
    record: GraphRecord, store: Store, scope: Scope
) -> None:
    stored = await store(scope, ["one"])

    class Broken(Exception):
        pass

    async def fail() -> None:
        async with record.writing(scope) as writer:
            await writer.add(evidence(*some(stored)))
            raise Broken

    for _ in range(4):  # every connection of a small pool
        with pytest.raises(Broken):
            await fail()
    assert await record.version(scope) == 0
    other = Scope(f"user-{uuid4()}", "default")
    for _ in range(4):
        await record.add(other, evidence(mention("Berlin", None, MentionKind.IMPORT)))
    assert (await record.counts(other)).entities == 1
    assert (await record.arrays(other)).names == ["Berlin"]


async def test_python_and_sql_name_relations_alike(database: Database, scope: Scope) -> None:
    async with database.transaction(scope.user_id) as connection:
        for kind in ("TREATS", "治疗", "a\\b'c", "🙂"):
            ends = (named("insulin"), named("diabetes"), kind)
            cursor = await connection.execute("select relation_key(%s, %s, %s)", ends)
            assert await cursor.fetchone() == (relation_id(*ends),)
