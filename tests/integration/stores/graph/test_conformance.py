"""What every graph store answers; the same rows, whichever store is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID, uuid4, uuid5

import numpy as np
import pytest

from sextant.domain.graph import Community, Finding, MentionKind
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.chunks.stored import load_linked_chunks
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.community_store import CommunityStore
from sextant.stores.graph.evidence import (
    AliasRow,
    GraphEvidence,
    MentionRow,
    RelationRow,
    entity_id,
    relation_id,
)
from sextant.stores.graph.name_decisions import Merge
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.protocol import HUB_DEGREE, Hop
from sextant.stores.graph.record import EntityVectors
from sextant.stores.postgresql.database import Database
from tests.integration.communities import keep
from tests.integration.stored_state import GraphRecord
from tests.integration.stores.graph.world import (
    Change,
    ReadSide,
    Store,
    Stored,
    evidence,
    mention,
    named,
)

MODEL, TERM, IMPORT = MentionKind.MODEL, MentionKind.TERM, MentionKind.IMPORT


@dataclass(frozen=True)
class Medicine:
    """A stored graph: insulin lowers sugar and treats diabetes, which two documents mention."""

    scope: Scope
    first: Stored
    second: Stored

    def id(self, name: str) -> UUID:
        return entity_id(self.scope, name)

    def relation(self, source: str, kind: str, target: str) -> UUID:
        return relation_id(self.id(source), self.id(target), kind)


@pytest.fixture
def medicine(scope: Scope, store: Store, change: Change) -> Callable[[], Awaitable[Medicine]]:
    """Store the graph of `Medicine`."""

    async def build() -> Medicine:
        world = Medicine(scope, await store(scope, ["a", "b"]), await store(scope, ["c"]))
        one, two, three = *world.first.chunks, *world.second.chunks
        mentions = [
            MentionRow(world.id("Insulin"), one, MODEL, "Insulin", "DRUG", "A hormone."),
            MentionRow(world.id("Insulin"), three, MODEL, "insulin", "DRUG", "Lowers sugar."),
            MentionRow(world.id("糖尿病"), one, MODEL, "糖尿病", "DISEASE"),
            MentionRow(world.id("糖尿病"), two, TERM, "糖尿病"),
            MentionRow(world.id("blood sugar"), three, MODEL, "Blood sugar"),
            MentionRow(world.id("once"), two, TERM, "Once"),
            MentionRow(world.id("twice"), one, TERM, "Twice"),
            MentionRow(world.id("twice"), two, TERM, "Twice"),
            MentionRow(world.id("acme"), None, IMPORT, "ACME", "COMPANY", external_id="e1"),
        ]
        relations = [
            RelationRow(world.id("insulin"), world.id("糖尿病"), "TREATS", one, 2.0, "It helps."),
            RelationRow(world.id("insulin"), world.id("糖尿病"), "TREATS", three, 0.5),
            RelationRow(world.id("insulin"), world.id("blood sugar"), "LOWERS", three, 1.0),
            RelationRow(world.id("twice"), world.id("糖尿病"), "NEAR", two, 0.25),
            RelationRow(world.id("once"), world.id("糖尿病"), "NEAR", two, 9.0),
        ]
        aliases = [
            AliasRow(world.id("糖尿病"), "Diabetes mellitus", "manual"),
            AliasRow(world.id("acme"), "The Firm", "import"),
        ]
        await change(scope, GraphEvidence(mentions, relations, aliases))
        return world

    return build


World = Callable[[], Awaitable[Medicine]]


async def test_entities_come_with_what_their_evidence_says(
    reading: ReadSide, medicine: World
) -> None:
    world = await medicine()
    ids = [world.id(name) for name in ("acme", "insulin", "糖尿病", "nobody", "acme")]
    acme, insulin, diabetes = await reading.graph.get_entities(world.scope, ids)
    assert (acme.name, acme.entity_type, acme.external_id) == ("ACME", "COMPANY", "e1")
    assert acme.aliases == ("The Firm",)
    assert insulin.description == "Lowers sugar.\nA hormone."
    assert (insulin.entity_type, insulin.mention_count, insulin.degree) == ("DRUG", 2, 2)
    assert insulin.aliases == ("insulin",)
    assert (diabetes.name, diabetes.entity_type, diabetes.degree) == ("糖尿病", "DISEASE", 3)


async def test_a_term_is_shown_from_its_second_chunk_on(
    reading: ReadSide, medicine: World, change: Change
) -> None:
    world = await medicine()
    ids = [world.id("once"), world.id("twice")]
    assert [one.name for one in await reading.graph.get_entities(world.scope, ids)] == ["Twice"]
    assert await reading.graph.entities_by_alias(world.scope, ["once"]) == []
    assert await reading.graph.entities_by_words(world.scope, ["once"], 5) == []
    hops = await reading.graph.neighbourhood(world.scope, [world.id("糖尿病")])
    assert world.id("once") not in {hop.source_id for hop in hops}

    again = MentionRow(world.id("once"), world.second.chunks[0], TERM, "Once")
    await change(world.scope, GraphEvidence([again]))
    assert len(await reading.graph.get_entities(world.scope, ids)) == 2
    hops = await reading.graph.neighbourhood(world.scope, [world.id("糖尿病")])
    assert hops[0].source_id == world.id("once")


async def test_names_and_aliases_find_entities_in_any_spelling(
    reading: ReadSide, medicine: World
) -> None:
    world = await medicine()
    names = ["  INSULIN. ", "diabetes  Mellitus", "“the firm”", "nobody", "糖尿病"]
    hits = await reading.graph.entities_by_alias(world.scope, names)
    assert [hit.entity.name for hit in hits] == ["Insulin", "糖尿病", "ACME", "糖尿病"]


async def test_relations_come_with_their_words_and_chunks(
    database: Database, medicine: World
) -> None:
    world = await medicine()
    ids = [world.relation("insulin", "TREATS", "糖尿病"), uuid4()]
    (treats,) = await PostgresGraph(database).get_relations(world.scope, ids)
    assert (treats.source_id, treats.target_id) == (world.id("insulin"), world.id("糖尿病"))
    assert (treats.weight, treats.description) == (2.5, "It helps.")
    assert set(treats.chunk_ids) == {world.first.chunks[0], world.second.chunks[0]}


async def test_a_walk_takes_the_heaviest_relations_of_each_node(
    reading: ReadSide, medicine: World
) -> None:
    world = await medicine()
    treats = Hop(
        world.relation("insulin", "TREATS", "糖尿病"),
        world.id("insulin"),
        world.id("糖尿病"),
        "TREATS",
        2.5,
        1,
    )
    start = [world.id("blood sugar")]
    (lowers,) = await reading.graph.neighbourhood(world.scope, start)
    assert (lowers.relation_type, lowers.weight, lowers.depth) == ("LOWERS", 1.0, 1)
    hops = await reading.graph.neighbourhood(world.scope, start, depth=2)
    assert [(hop.relation_id, hop.depth) for hop in hops] == [
        (lowers.relation_id, 1),
        (treats.relation_id, 2),
    ]
    start = [world.id("糖尿病")]
    assert await reading.graph.neighbourhood(world.scope, start, per_node=1) == [treats]
    both = [world.id("insulin"), world.id("糖尿病")]
    hops = await reading.graph.neighbourhood(world.scope, both, depth=2)
    assert [hop.depth for hop in hops] == [1, 1, 1]


async def test_no_walk_leads_through_a_hub(
    reading: ReadSide, change: Change, scope: Scope, store: Store
) -> None:
    (chunk,) = (await store(scope, ["x"])).chunks
    names = ["start", "hub", "small", *[f"leaf {number}" for number in range(HUB_DEGREE)]]
    ids = {name: entity_id(scope, name) for name in names}
    spokes = [("hub", leaf, 1.0 + number) for number, leaf in enumerate(names[3:])]
    links = [("start", "hub", 5.0), ("start", "small", 4.0), ("small", "leaf 0", 1.0), *spokes]
    await change(
        scope,
        GraphEvidence(
            [MentionRow(ids[name], chunk, MODEL, name) for name in names],
            [RelationRow(ids[a], ids[b], "R", chunk, weight) for a, b, weight in links],
        ),
    )
    hops = await reading.graph.neighbourhood(scope, [ids["start"]], depth=2)
    ends = [(hop.target_id, hop.depth) for hop in hops]
    assert ends == [(ids["hub"], 1), (ids["small"], 1), (ids["leaf 0"], 2)]
    hops = await reading.graph.neighbourhood(scope, [ids["hub"]], per_node=10)
    assert [hop.target_id for hop in hops] == [ids[f"leaf {HUB_DEGREE - 1 - n}"] for n in range(10)]


async def test_merged_entities_answer_as_one(
    reading: ReadSide, medicine: World, record: GraphRecord, database: Database
) -> None:
    world = await medicine()
    scope, sugar, twice = world.scope, world.id("blood sugar"), world.id("twice")
    await record.merge(scope, [Merge(twice, sugar, "test")])
    await reading.catch_up(scope)
    (entity,) = await reading.graph.get_entities(scope, [twice, sugar])
    assert (entity.id, entity.name, entity.mention_count) == (sugar, "Blood sugar", 3)
    assert entity.aliases == ("Twice",)
    (hit,) = await reading.graph.entities_by_alias(scope, ["Twice"])
    assert hit.entity.id == sugar
    hops = await reading.graph.neighbourhood(scope, [twice])
    assert {(hop.relation_type, hop.weight) for hop in hops} == {("LOWERS", 1.0), ("NEAR", 0.25)}
    relation_ids = [hop.relation_id for hop in hops]
    near = await PostgresGraph(database).get_relations(scope, relation_ids)
    assert {chunk for one in near for chunk in one.chunk_ids} == {
        world.first.chunks[1],
        world.second.chunks[0],
    }

    await record.unmerge(scope, [twice])
    await reading.catch_up(scope)
    assert len(await reading.graph.get_entities(scope, [twice, sugar])) == 2


async def test_passages_are_linked_by_what_their_entities_were_merged_into(
    reading: ReadSide, record: GraphRecord, store: Store, scope: Scope, database: Database
) -> None:
    one, other, third = (await store(scope, ["NYC", "New York", "Big Apple"])).chunks
    names = {one: "nyc", other: "New York", third: "Big Apple"}
    await record.add(scope, evidence(*(mention(name, chunk) for chunk, name in names.items())))
    assert await load_linked_chunks(database, scope, [*names]) == {}

    merges = [Merge(named(name), named("New York"), "defined") for name in ("nyc", "Big Apple")]
    await record.merge(scope, merges)
    await reading.catch_up(scope)
    linked = await load_linked_chunks(database, scope, [*names])
    assert {own: {*others} for own, others in linked.items()} == {
        own: {*names} - {own} for own in names
    }

    await record.unmerge(scope, [named("nyc")])
    linked = await load_linked_chunks(database, scope, [*names])
    assert linked == {other: (third,), third: (other,)}


async def test_a_passage_counts_once_however_often_it_names_an_entity(
    reading: ReadSide, record: GraphRecord, store: Store, scope: Scope
) -> None:
    one, other = (await store(scope, ["NYC, short for New York", "New York"])).chunks
    await record.add(
        scope,
        evidence(
            mention("nyc", one),
            mention("New York", one),
            mention("Berlin", one, MentionKind.TITLE),
            mention("Berlin", one, MentionKind.MODEL),
        ),
    )
    await record.merge(scope, [Merge(named("nyc"), named("New York"), "defined")])
    await reading.catch_up(scope)
    ids = [named("New York"), named("Berlin")]
    (berlin,) = await reading.graph.get_entities(scope, ids)  # one passage shows no mere term
    assert (berlin.name, berlin.mention_count) == ("Berlin", 1)

    await record.add(scope, evidence(mention("nyc", other), mention("New York", other)))
    await reading.catch_up(scope)
    york, _ = await reading.graph.get_entities(scope, ids)
    assert (york.name, york.mention_count) == ("New York", 2)


async def test_what_a_deleted_document_said_is_gone(
    reading: ReadSide, medicine: World, database: Database
) -> None:
    world = await medicine()
    await DocumentStore(database).delete(world.scope, world.second.document_id)
    await reading.catch_up(world.scope)
    ids = [world.id("insulin"), world.id("blood sugar")]
    (insulin,) = await reading.graph.get_entities(world.scope, ids)
    assert (insulin.description, insulin.mention_count, insulin.degree) == ("A hormone.", 1, 1)
    hops = await reading.graph.neighbourhood(world.scope, [insulin.id], depth=2)
    assert {(hop.relation_type, hop.weight) for hop in hops} == {("TREATS", 2.0), ("NEAR", 0.25)}


async def test_another_user_or_graph_has_nothing_of_it(reading: ReadSide, medicine: World) -> None:
    world = await medicine()
    ids = [world.id("insulin")]
    for other in (Scope(f"user-{uuid4()}", "default"), Scope(world.scope.user_id, "other")):
        graph = reading.graph
        assert await graph.get_entities(other, ids) == []
        assert await graph.entities_by_alias(other, ["insulin"]) == []
        assert await graph.entities_by_words(other, ["insulin"], 5) == []
        assert await graph.entities_by_vector(other, unit(0), 5) == []
        assert await graph.neighbourhood(other, ids, depth=2) == []


def unit(axis: int, *, towards: int = 0, by: float = 0.0) -> Vectors:
    """Return a unit vector along an axis, or `by` radians from it towards another."""
    vector = np.zeros(384, np.float32)
    vector[axis] = np.cos(by)
    vector[towards] += np.sin(by)
    return vector


async def test_vectors_find_the_nearest_entities_and_follow_their_texts(
    reading: ReadSide, medicine: World, database: Database, change: Change
) -> None:
    world, vectors = await medicine(), EntityVectors(database)
    scope = world.scope
    texts = await vectors.to_embed(scope)
    by_text = {text.text: text for text in texts}
    assert set(by_text) == {
        "Insulin\nLowers sugar.\nA hormone.",
        *("糖尿病\n", "Blood sugar\n", "Twice\n", "ACME\n"),
    }
    assert await vectors.count_to_embed(scope) == len(texts)
    assert await vectors.count_to_embed(scope, max_vectors=2) == 2
    axes = np.stack([unit(place) for place in range(len(texts))])
    await vectors.store(scope, texts, axes)
    await reading.catch_up(scope)
    assert await vectors.to_embed(scope) == []
    assert await vectors.count_to_embed(scope) == 0

    hits = await reading.graph.entities_by_vector(scope, unit(1, towards=3, by=0.3), 2)
    assert [hit.entity.id for hit in hits] == [texts[1].id, texts[3].id]
    assert [hit.score for hit in hits] == pytest.approx([np.cos(0.3), np.sin(0.3)], abs=1e-5)
    assert len(await reading.graph.entities_by_vector(scope, unit(0), 100)) == len(texts)

    more = MentionRow(
        world.id("acme"), world.first.chunks[0], MODEL, "ACME", "COMPANY", "Makes all."
    )
    await change(scope, GraphEvidence([more]))
    (stale,) = await vectors.to_embed(scope)
    assert stale.text == "ACME\nMakes all."


async def test_communities_are_read_by_level_and_by_report(
    reading: ReadSide, medicine: World, database: Database, record: GraphRecord
) -> None:
    world, communities = await medicine(), CommunityStore(database)
    scope, finding = world.scope, Finding("Insulin treats.", world.first.chunks)
    members = tuple(sorted((world.id("insulin"), world.id("糖尿病"))))
    root = Community(uuid5(members[0], "0"), 0, None, "All", "Sugar.", (), 3.0, members)
    leaf = Community(
        uuid5(members[0], "1"), 1, root.id, "Drugs", "Insulin.", (finding,), 7.5, members[:1]
    )
    await keep(database, scope, [root, leaf])
    await reading.catch_up(scope)

    assert await PostgresGraph(database).communities(scope) == [root, leaf]
    assert await PostgresGraph(database).communities(scope, level=1) == [leaf]
    assert await communities.dirty(scope) == []
    await DocumentStore(database).delete(scope, world.first.document_id)
    assert set(await communities.dirty(scope)) == {root.id, leaf.id}
    await keep(database, scope, [root], gone=[leaf.id])
    await reading.catch_up(scope)
    assert [one.id for one in await PostgresGraph(database).communities(scope)] == [root.id]
