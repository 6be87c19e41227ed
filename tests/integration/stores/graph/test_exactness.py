"""Whatever was added, deleted, merged and unmerged: the graph is that of the surviving documents."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest

from sextant.domain.graph import CO_OCCURS, MentionKind
from sextant.domain.scope import Scope
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.evidence import AliasRow, MentionRow, relation_id
from sextant.stores.graph.name_decisions import Merge
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database
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

NAMES = ["Insulin", "insulin", "INSULIN", "糖尿病", "Berlin", "New York", "NYC", "胰岛素"]
NODES = ["insulin", "糖尿病", "berlin", "new york", "nyc"]
FIRST_OR_SECOND = (UUID(int=1), UUID(int=2))  # stand for a document's chunks until it is stored


def some_evidence(dice: random.Random) -> list[Row]:
    """Return a document's evidence, with numbers for its two chunks."""
    kinds = [MentionKind.TERM, MentionKind.TERM, MentionKind.TITLE, MentionKind.MODEL]
    types = ["TERM", "CITY", "DISEASE"]
    texts = ["", "", "A hormone.", "A hormone of the pancreas.", "城市。"]
    weights = [0.1, 0.2, 0.7, 1.0, 1e-9, 1e6]
    rows: list[Row] = []
    for _ in range(dice.randint(0, 8)):
        name, kind = dice.choice(NAMES), dice.choice(kinds)
        more = {"entity_type": dice.choice(types), "description": dice.choice(texts)}
        rows.append(mention(name, dice.choice(FIRST_OR_SECOND), kind, **more))
    for _ in range(dice.randint(0, 6)):
        source, target = dice.sample(NODES, 2)
        type_ = dice.choice(["TREATS", "IN", CO_OCCURS])
        if type_ == CO_OCCURS:  # has no direction
            source, target = sorted((source, target), key=named)
        said = relation(source, type_, target, dice.choice(FIRST_OR_SECOND))
        rows.append(said._replace(weight=dice.choice(weights), description=dice.choice(texts)))
    nicknames = ["big apple", "消渴", "B."]
    rows += [alias(dice.choice(NODES), dice.choice(nicknames), None) for _ in range(2)]
    return rows


@dataclass
class History:
    """A knowledge base in which documents of one world come and go."""

    database: Database
    store: Store
    scope: Scope
    world: Sequence[Sequence[Row]]
    there: dict[int, Stored] = field(default_factory=dict)

    @property
    def record(self) -> GraphRecord:
        return GraphRecord(self.database)

    async def add(self, place: int) -> None:
        """Add a document; link its aliases in every chunk, and everyone's aliases in its chunks.

        As if every chunk contained every alias: a linker would find exactly these.
        """
        if place in self.there:
            return
        stored = await self.store(self.scope, [f"{place} first", f"{place} second"])
        aliases = {other: self.aliases(other) for other in self.there}
        self.there[place] = stored
        rows = [placed(row, stored) for row in self.world[place]]
        chunks = [chunk for other in self.there.values() for chunk in other.chunks]
        links = [(row, chunk) for row in self.aliases(place) for chunk in chunks]
        links += [
            (row, chunk) for old in aliases.values() for row in old for chunk in stored.chunks
        ]
        linked = [MentionRow(row[0], chunk, MentionKind.ALIAS, row.name) for row, chunk in links]
        await self.record.add(self.scope, evidence(*rows, *linked))

    def aliases(self, place: int) -> set[AliasRow]:
        rows = [placed(row, self.there[place]) for row in self.world[place]]
        return {row for row in rows if isinstance(row, AliasRow)}

    async def delete(self, place: int) -> None:
        if place in self.there:
            stored = self.there.pop(place)
            await DocumentStore(self.database).delete(self.scope, stored.document_id)

    async def merge(self, place: int) -> None:
        pair = Merge(named(NODES[place]), named(NODES[(place + 2) % 5]), "test")
        await self.record.merge(self.scope, [pair])

    async def unmerge(self, place: int) -> None:
        await self.record.unmerge(self.scope, [named(NODES[place])])


@pytest.mark.parametrize("seed", range(12))
async def test_any_history_ends_in_the_graph_of_what_survives(
    database: Database, store: Store, scope: Scope, seed: int
) -> None:
    dice = random.Random(seed)  # noqa: S311 - a test's dice
    world = [some_evidence(dice) for _ in range(5)]
    lived = History(database, store, scope, world)
    for _ in range(dice.randint(4, 16)):
        action = dice.choice([*[lived.add] * 4, *[lived.delete] * 2, lived.merge, lived.unmerge])
        await action(dice.randint(0, 4))

    built = History(database, store, Scope(scope.user_id, "built from scratch"), world)
    await built.record.merge(built.scope, await lived.record.merges(scope))
    for place in dice.sample(list(lived.there), len(lived.there)):
        await built.add(place)
    assert await graph(database, scope) == await graph(database, built.scope)
    for one in (scope, built.scope):
        assert await told(database, one) == await recounted(database, one)
        await assert_found_by_id(database, one)
        assert await turned(database, one) == []


async def assert_found_by_id(database: Database, scope: Scope) -> None:
    """Every relation that is shown is what a reader gets who asks for its id."""
    query = (
        "select id, source_id, target_id, relation_type from relations e where {scope} and shown"
    )
    shown = {row[0]: row[1:] for row in await rows_of(database, scope, query)}
    found = await PostgresGraph(database).get_relations(scope, [*shown])
    assert {one.id: (one.source_id, one.target_id, one.relation_type) for one in found} == shown


async def turned(database: Database, scope: Scope) -> list[tuple[Any, ...]]:
    """Return the relations without a direction that go from the larger id to the smaller."""
    query = """select from relations e
        where {scope} and relation_type = 'CO_OCCURS' and source_id > target_id"""
    return await rows_of(database, scope, query)


async def told(database: Database, scope: Scope) -> dict[UUID, int]:
    """Return how many passages each entity says that it is mentioned in."""
    query = "select id, mention_count from entities e where {scope}"
    return dict(await rows_of(database, scope, query))


async def recounted(database: Database, scope: Scope) -> dict[UUID, int]:
    """Return the same, counted from all that is said of it and of what is merged with it."""
    query = """with own as (
          select coalesce(g.root_id, e.entity_id) as id, e.chunk_id from mentions e
          left join entity_merges g on g.scope_id = e.scope_id and g.from_id = e.entity_id
          where {scope})
        select e.id, (select count(distinct chunk_id) from own where own.id = e.id) as passages
        from entities e where {scope}"""
    return dict(await rows_of(database, scope, query))


def placed(row: Row, stored: Stored) -> Row:
    if isinstance(row, AliasRow):
        return row._replace(document_id=stored.document_id)
    assert row.chunk_id is not None
    return row._replace(chunk_id=stored.chunks[FIRST_OR_SECOND.index(row.chunk_id)])


async def forget(database: Database, stored: Stored) -> None:
    await DocumentStore(database).delete(stored.scope, stored.document_id)


QUERIES = {
    "entities": """select id, name, entity_type, description, external_id, mention_count,
        asserted_count, degree, shown from entities e where {scope}""",
    "entity_names": """select entity_id, name, entity_type, spare, times
        from entity_names e where {scope}""",
    "relations": """select id, source_id, target_id, relation_type, weight, evidence_count
        from relations e where {scope}""",
    "adjacency": """select node_id, shown, weight, relation_id, neighbour_id, outgoing
        from adjacency e where {scope}""",
    "aliases": "select key, entity_id, norm, name from aliases e where {scope}",
    "mentions": """select entity_id, kind, surface, name, description, text from mentions e
        join chunks c on c.id = e.chunk_id where {scope}""",
}
SCOPE = """e.scope_id = (select scope_id from graphs
    where graph_id = current_setting('test.graph_id'))"""


async def graph(database: Database, scope: Scope) -> dict[str, set[tuple[Any, ...]]]:
    found: dict[str, set[tuple[Any, ...]]] = {}
    for table, query in QUERIES.items():
        found[table] = set(rows := await rows_of(database, scope, query))
        assert table == "mentions" or len(found[table]) == len(rows) or table == "aliases"
    return found


async def rows_of(database: Database, scope: Scope, query: str) -> list[tuple[Any, ...]]:
    async with database.transaction(scope.user_id) as connection:
        await connection.execute("select set_config('test.graph_id', %s, true)", [scope.graph_id])
        return await (await connection.execute(query.replace("{scope}", SCOPE).encode())).fetchall()


async def test_a_document_takes_only_what_it_alone_supported(
    database: Database, record: GraphRecord, store: Store, scope: Scope
) -> None:
    first, second = await store(scope, ["one"]), await store(scope, ["two"])
    for one in (first, second):
        (chunk,) = one.chunks
        await record.add(
            scope,
            evidence(
                mention("Insulin", chunk, MentionKind.MODEL),
                mention("Diabetes", chunk, MentionKind.MODEL),
                relation("insulin", "TREATS", "diabetes", chunk, 0.1),
            ),
        )
    await record.add(scope, evidence(mention("Berlin", first.chunks[0], MentionKind.MODEL)))
    version = await record.version(scope)
    await forget(database, first)

    left = await graph(database, scope)
    assert {row[1] for row in left["entities"]} == {"Insulin", "Diabetes"}
    assert [float(row[4]) for row in left["relations"]] == [0.1]
    assert await record.version(scope) == version + 1


async def test_a_relation_that_only_merged_entities_state_is_found_by_its_id(
    database: Database, record: GraphRecord, store: Store, scope: Scope
) -> None:
    """Its own statement goes in the transaction in which an equal one comes that has another id."""
    own, other = await store(scope, ["one"]), await store(scope, ["two"])
    for name in ("Berlin", "Insulin", "insuline"):
        await record.add(scope, evidence(mention(name, None, MentionKind.IMPORT)))
    stated = relation("insulin", "IN", "berlin", own.chunks[0], 0.5)
    await record.add(scope, evidence(stated))
    await record.merge(scope, [Merge(named("insuline"), named("insulin"), "test")])
    async with record.writing(scope) as writer:
        await writer.forget(own.document_id)
        same = relation("insuline", "IN", "berlin", other.chunks[0], 0.5)
        await writer.add(evidence(same))
    await assert_found_by_id(database, scope)
    wanted = relation_id(*stated[:3])
    (found,) = await PostgresGraph(database).get_relations(scope, [wanted, relation_id(*same[:3])])
    assert (found.id, found.source_id) == (wanted, named("insulin"))

    await forget(database, other)
    assert await PostgresGraph(database).get_relations(scope, [wanted]) == []
    assert await rows_of(database, scope, "select from merged_relations e where {scope}") == []


async def test_what_has_no_direction_is_one_relation_whichever_end_was_merged(
    database: Database, record: GraphRecord, store: Store, scope: Scope
) -> None:
    """It went both ways, and counted twice among the relations of both ends."""
    first, middle, last = sorted(("insulin", "berlin", "nyc"), key=named)
    stored = await store(scope, ["one", "two"])
    rows: list[Row] = [mention(one, None, MentionKind.IMPORT) for one in (first, middle, last)]
    rows.append(relation(first, CO_OCCURS, middle, stored.chunks[0], 2.0))
    rows.append(relation(middle, CO_OCCURS, last, stored.chunks[1]))
    await record.add(scope, evidence(*rows))
    before = await graph(database, scope)

    await record.merge(scope, [Merge(named(last), named(first), "test")])
    reads = PostgresGraph(database)
    (one,) = await reads.get_relations(scope, [relation_id(named(first), named(middle), CO_OCCURS)])
    assert (one.weight, set(one.chunk_ids)) == (3.0, set(stored.chunks))
    degrees = await rows_of(database, scope, "select degree from entities e where {scope}")
    assert degrees == [(1,), (1,)]

    await record.unmerge(scope, [named(last)])
    assert await graph(database, scope) == before


async def test_the_same_evidence_again_changes_nothing_and_a_correction_replaces(
    database: Database, record: GraphRecord, store: Store, scope: Scope
) -> None:
    stored = await store(scope, ["one"])
    rows = evidence(
        mention("Insulin", stored.chunks[0], MentionKind.MODEL, description="A hormone."),
        mention("Diabetes", None, MentionKind.IMPORT),
        relation("insulin", "TREATS", "diabetes", None, 2.0),
        alias("insulin", "Insuline", None, "manual"),
    )
    await record.add(scope, rows)
    version, before = await record.version(scope), await graph(database, scope)
    await record.add(scope, rows)
    assert (await record.version(scope), await graph(database, scope)) == (version, before)

    await record.add(
        scope,
        evidence(
            mention("Insulin", stored.chunks[0], MentionKind.MODEL, description="Lowers sugar."),
            relation("insulin", "TREATS", "diabetes", None, 0.5),
        ),
    )
    after = await graph(database, scope)
    assert {row[3] for row in after["entities"]} == {"Lowers sugar.", ""}
    assert [float(row[4]) for row in after["relations"]] == [0.5]


async def test_evidence_of_a_deleted_document_comes_too_late(
    database: Database, record: GraphRecord, store: Store, scope: Scope
) -> None:
    stored = await store(scope, ["one"])
    await forget(database, stored)
    await record.add(
        scope,
        evidence(
            mention("Insulin", stored.chunks[0]),
            relation("insulin", "IN", "berlin", stored.chunks[0]),
            alias("insulin", "one", stored.document_id),
            mention("Insulin", uuid4()),
        ),
    )
    assert not any((await graph(database, scope)).values())


async def test_an_unmerged_entity_is_what_it_was(
    database: Database, record: GraphRecord, store: Store, scope: Scope
) -> None:
    stored = await store(scope, ["one", "two"])
    await record.add(
        scope,
        evidence(
            mention("New York", stored.chunks[0], MentionKind.MODEL, description="A city."),
            mention("NYC", stored.chunks[1], MentionKind.MODEL, description="Big."),
            mention("Berlin", stored.chunks[1], MentionKind.MODEL),
            relation("nyc", "LIKES", "berlin", stored.chunks[1]),
            relation("new york", "LIKES", "berlin", stored.chunks[0]),
            relation("new york", "IS", "nyc", stored.chunks[0]),
        ),
    )
    before = await graph(database, scope)
    assert await record.merge(scope, [Merge(named("nyc"), named("new york"), "same")]) == 1
    assert await record.merge(scope, [Merge(named("new york"), named("nyc"), "again")]) == 0
    merged = await graph(database, scope)
    assert {(row[1], row[3]) for row in merged["entities"]} == {
        ("New York", "A city.\nBig."),
        ("Berlin", ""),
    }
    assert {(float(row[4]), row[5]) for row in merged["relations"]} == {(2.0, 2), (1.0, 1)}
    assert len([row for row in merged["adjacency"] if row[1]]) == 2

    assert await record.unmerge(scope, [named("nyc")]) == 1
    assert await graph(database, scope) == before
