"""Whatever happens to a graph, and whenever Neo4j takes it over: both stores answer alike."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from itertools import count

import numpy as np
import pytest

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.graph.arrays import GraphArrays
from sextant.stores.graph.evidence import (
    GraphEvidence,
    MentionRow,
    RelationRow,
    entity_id,
    graph_key,
)
from sextant.stores.graph.name_decisions import Merge
from sextant.stores.graph.neo4j.bolt import Bolt, Row, Statement
from sextant.stores.graph.neo4j.projection import Projection
from sextant.stores.graph.neo4j.projector import Projector, read_progress
from sextant.stores.graph.neo4j.store import CopiedGraph, Neo4jGraph
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.protocol import GraphStore
from sextant.stores.postgresql.database import Database
from tests.integration.stored_state import GraphRecord
from tests.integration.stores.graph.test_entity_vectors import fill
from tests.integration.stores.graph.test_exactness import NAMES, NODES, History, some_evidence
from tests.integration.stores.graph.world import Store, named


@pytest.mark.parametrize("seed", range(6))
async def test_both_stores_answer_alike_after_any_history(
    database: Database, bolt: Bolt, store: Store, scope: Scope, seed: int
) -> None:
    dice = random.Random(seed)  # noqa: S311 - a test's dice
    history = History(database, store, scope, [some_evidence(dice) for _ in range(5)])
    projector = Projector(database, bolt)
    await history.add(0)
    for _ in range(12):
        action = dice.choice(
            [*[history.add] * 4, *[history.delete] * 2, history.merge, history.unmerge]
        )
        await action(dice.randint(0, 4))
        if dice.random() < 0.4:
            await projector.sync(scope)
    await projector.sync(scope)
    neo4j = Neo4jGraph(bolt, database.settings.retrieval)
    assert await answers(neo4j, scope) == await answers(PostgresGraph(database), scope)
    record = GraphRecord(database)
    copied = await CopiedGraph(bolt, record).arrays(scope)
    assert as_told(copied) == as_told(await record.arrays(scope))


def as_told(arrays: GraphArrays) -> dict[str, object]:
    """Return a whole graph without the order in which relations come."""
    names, types = arrays.names, arrays.relation_types
    relations = [
        (names[source], types[kind], names[target], round(weight, 6))
        for source, kind, target, weight in zip(
            arrays.relation_source.tolist(),
            arrays.relation_type.tolist(),
            arrays.relation_target.tolist(),
            arrays.relation_weight.tolist(),
            strict=True,
        )
    ]
    statements = zip(
        arrays.statement_relation.tolist(), arrays.statement_chunk.tolist(), strict=True
    )
    mentions = zip(
        arrays.mention_entity.tolist(),
        arrays.mention_chunk.tolist(),
        arrays.mention_kind.tolist(),
        strict=True,
    )
    return {
        "entities": arrays.entities.tolist(),
        "names": list(zip(names, arrays.entity_types, strict=True)),
        "relations": sorted(relations),
        "statements": sorted((relations[one], chunk) for one, chunk in statements),
        "mentions": sorted(mentions),
        "aliases": sorted(zip(arrays.alias_norms, arrays.alias_entity.tolist(), strict=True)),
    }


async def answers(graph: GraphStore, scope: Scope) -> dict[str, object]:
    """Return what a store says of everything in the world."""
    ids = [named(name) for name in {*NAMES, *NODES, "new york city"}]
    ids.sort()
    entities = await graph.get_entities(scope, ids)
    seen = [entity.id for entity in entities]
    hops = await graph.neighbourhood(scope, seen, depth=2, per_node=3)
    return {
        "entities": entities,
        "hops": hops,
        "aliases": await graph.entities_by_alias(scope, ["Big Apple", "消渴", "b", "Insulin"]),
    }


async def test_words_and_chunks_of_a_relation_follow_though_its_weight_stays(
    database: Database, bolt: Bolt, store: Store, scope: Scope
) -> None:
    record, projector = GraphRecord(database), Projector(database, bolt)
    (one,) = (await store(scope, ["one"])).chunks
    ends = entity_id(scope, "Insulin"), entity_id(scope, "Diabetes")
    mentions = [MentionRow(end, one, MentionKind.MODEL, str(end)) for end in ends]
    said = RelationRow(*ends, "TREATS", one, 1.0, "It helps.")
    await record.add(scope, GraphEvidence(mentions, [said]))
    await projector.sync(scope)
    await record.add(scope, GraphEvidence([], [said._replace(description="It does not.")]))
    await projector.sync(scope)
    query = "MATCH ()-[r:RELATED {graph_key: $graph}]->() RETURN r.description AS text, r.chunk_ids AS chunks"
    (relation,) = await bolt.read(query, graph=str(graph_key(scope)))
    assert relation == {"text": "It does not.", "chunks": [str(one)]}


async def test_relations_of_an_entity_come_into_sight_and_go_out_of_it_with_it(
    database: Database, bolt: Bolt, store: Store, scope: Scope
) -> None:
    record, projector = GraphRecord(database), Projector(database, bolt)
    one, two = (await store(scope, ["one", "two"])).chunks
    ends = entity_id(scope, "Seen"), entity_id(scope, "Term")
    mentions = [
        MentionRow(ends[0], one, MentionKind.MODEL, "Seen"),
        MentionRow(ends[1], one, MentionKind.TERM, "Term"),
    ]
    await record.add(scope, GraphEvidence(mentions, [RelationRow(*ends, "NEAR", one)]))
    await projector.sync(scope)
    graph = Neo4jGraph(bolt, database.settings.retrieval)
    assert await graph.neighbourhood(scope, [ends[0]]) == []

    again = MentionRow(ends[1], two, MentionKind.TERM, "Term")
    await record.add(scope, GraphEvidence([again]))
    await projector.sync(scope)
    (hop,) = await graph.neighbourhood(scope, [ends[0]])
    assert hop == (await PostgresGraph(database).neighbourhood(scope, [ends[0]]))[0]


async def test_a_merge_into_a_merged_entity_leads_to_the_last(
    database: Database, bolt: Bolt, store: Store, scope: Scope
) -> None:
    record, projector = GraphRecord(database), Projector(database, bolt)
    (chunk,) = (await store(scope, ["x"])).chunks
    a, b, c = (entity_id(scope, name) for name in "abc")
    rows = [
        MentionRow(one, chunk, MentionKind.MODEL, name)
        for one, name in ((a, "a"), (b, "b"), (c, "c"))
    ]
    await record.add(scope, GraphEvidence(rows))
    await projector.sync(scope)
    graph = Neo4jGraph(bolt, database.settings.retrieval)
    for merges in ([Merge(a, b, "test")], [Merge(b, c, "test")]):
        await record.merge(scope, merges)
        await projector.sync(scope)
    assert [one.id for one in await graph.get_entities(scope, [a, b])] == [c]
    await record.unmerge(scope, [b])
    await projector.sync(scope)
    expected = await PostgresGraph(database).get_entities(scope, [a, b, c])
    assert await graph.get_entities(scope, [a, b, c]) == expected


async def test_entities_that_become_one_while_a_graph_is_copied_whole_are_copied_as_one(
    database: Database, bolt: Bolt, store: Store, scope: Scope
) -> None:
    """Of a large graph the two may be in different notes, both of which would bring what they are now."""
    record, projector = GraphRecord(database), Projector(database, bolt)
    (chunk,) = (await store(scope, ["x"])).chunks
    a, b = (entity_id(scope, name) for name in "ab")
    rows = [MentionRow(one, chunk, MentionKind.MODEL, name) for one, name in ((a, "a"), (b, "b"))]
    await record.add(scope, GraphEvidence(rows))
    await projector.sync(scope)
    found = await read_progress(database, scope)
    assert found is not None
    projection = Projection(database, bolt, scope, found.scope_id)
    await projection.wipe()
    await projection.write_header(0)
    async with database.transaction(scope.user_id) as connection:
        note = """insert into graph_outbox (scope_id, user_id, kind, ids)
            values (%s, %s, 'new entities', %s)"""
        for one in (a, b):
            await connection.execute(note, [found.scope_id, scope.user_id, [one]])
    await record.merge(scope, [Merge(b, a, "test")])

    await projector.sync(scope)

    graph = Neo4jGraph(bolt, database.settings.retrieval)
    expected = await PostgresGraph(database).get_entities(scope, [a, b])
    assert await graph.get_entities(scope, [a, b]) == expected
    assert [one.id for one in expected] == [a]


@pytest.mark.parametrize("whole", [True, False])
async def test_a_sync_ends_though_others_write_all_the_time(
    database: Database, neo4j_settings: Settings, record: GraphRecord, scope: Scope, whole: bool
) -> None:
    """Whoever brought a graph up to date had no end of it, and others waited for their turn."""
    numbers = count()

    async def change() -> None:
        name = f"Entity {next(numbers)}"
        said = MentionRow(entity_id(scope, name), None, MentionKind.IMPORT, name)
        await record.add(scope, GraphEvidence([said]))

    class Busy(Bolt):
        async def write(self, statements: Sequence[Statement]) -> list[list[Row]]:
            await change()
            return await super().write(statements)

    busy = Busy(neo4j_settings)
    projector = Projector(database, busy)
    await change()
    if not whole:
        await projector.sync(scope)
        await change()
    async with asyncio.timeout(120):
        await projector.sync(scope)
    await busy.close()

    bolt = Bolt(neo4j_settings)
    assert await Projector(database, bolt).sync(scope) > 0
    names = [f"Entity {number}" for number in range(next(numbers))]
    found = await Neo4jGraph(bolt, neo4j_settings.retrieval).entities_by_alias(scope, names)
    await bolt.close()
    assert [hit.entity.name for hit in found] == names


async def test_the_vector_index_of_all_graphs_finds_the_nearest_of_one(
    database: Database, bolt: Bolt, scope: Scope
) -> None:
    number = 60
    raw = np.random.default_rng(5).normal(size=(2 * number, 384)).astype(np.float32)
    vectors = np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), np.float32)
    beside = Scope(f"{scope.user_id}-other", scope.graph_id)
    for own, part in ((scope, vectors[:number]), (beside, vectors[number:])):
        await fill(database, own, number, part)
        await Projector(database, bolt).sync(own)
    indexed = database.settings.retrieval.model_copy(update={"exact_below": 1})
    graph = Neo4jGraph(bolt, indexed)
    for place in range(5):
        hits = await graph.entities_by_vector(scope, vectors[place], 10)
        exact = await PostgresGraph(database).entities_by_vector(scope, vectors[place], 10)
        assert hits[0].entity.name == f"Entity {place}"
        assert hits[0].score == pytest.approx(1.0, abs=1e-5)
        assert len({hit.entity.id for hit in hits} & {hit.entity.id for hit in exact}) >= 8
    assert len(await graph.entities_by_vector(scope, vectors[0], 10 * number)) == number


async def test_an_index_left_over_from_a_killed_maker_does_not_keep_its_constraint_away(
    bolt: Bolt,
) -> None:
    await bolt.prepare_keys()
    await bolt.write([("DROP CONSTRAINT sextant_merged_key IF EXISTS", {})])
    made = "CREATE INDEX sextant_merged_key FOR (m:__Merged__) ON (m.graph_key, m.id)"
    await bolt.write([(made, {})])
    await bolt.prepare_keys()
    [found] = await bolt.fetch(
        "SHOW INDEXES YIELD name, owningConstraint WHERE name = 'sextant_merged_key' "
        "RETURN owningConstraint AS constraint"
    )
    assert found["constraint"] == "sextant_merged_key"


async def test_the_index_of_words_of_an_earlier_version_is_dropped(bolt: Bolt) -> None:
    made = "CREATE FULLTEXT INDEX sextant_entity_words IF NOT EXISTS FOR (e:__Entity__) ON EACH [e.words]"
    await bolt.write([(made, {})])
    await bolt.prepare()
    names = await bolt.fetch("SHOW INDEXES YIELD name RETURN name")
    assert "sextant_entity_words" not in {row["name"] for row in names}
    assert "sextant_entity_names" in {row["name"] for row in names}
