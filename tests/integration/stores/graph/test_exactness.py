"""Whatever was added, deleted, merged and unmerged: the graph is that of the surviving documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.graph import MentionKind
from domain.scope import Scope
from stores.database import Database
from stores.documents import DocumentStore
from stores.graph.evidence import AliasRow, MentionRow, RelationRow
from stores.graph.merges import Merge
from stores.graph.record import GraphRecord
from tests.integration.stores.graph.conftest import (
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

Row = MentionRow | RelationRow | AliasRow

# A document's evidence, with numbers for its two chunks.
mentions = st.builds(
    mention,
    st.sampled_from(NAMES),
    st.integers(0, 1),
    st.sampled_from([MentionKind.TERM, MentionKind.TITLE, MentionKind.MODEL]),
    entity_type=st.sampled_from(["TERM", "CITY", "DISEASE"]),
    description=st.sampled_from(["", "A hormone.", "A hormone of the pancreas.", "城市。"]),
)
relations = st.builds(
    relation,
    st.sampled_from(NODES),
    st.sampled_from(["TREATS", "IN"]),
    st.sampled_from(NODES),
    st.integers(0, 1),
    st.sampled_from([0.1, 0.2, 0.7, 1.0, 1e-9, 1e6]),
    st.sampled_from(["", "It does."]),
)
aliases = st.builds(
    alias, st.sampled_from(NODES), st.sampled_from(["big apple", "消渴", "B."]), st.just(None)
)
documents = st.lists(mentions | relations | aliases, max_size=12)

ACTIONS = st.lists(
    st.tuples(st.sampled_from(["add", "add", "delete", "merge", "unmerge"]), st.integers(0, 4)),
    max_size=12,
)


async def test_any_history_ends_in_the_graph_of_what_survives(
    database: Database, record: GraphRecord, store: Store, scope: Scope
) -> None:
    examples: list[tuple[list[list[Row]], list[tuple[str, int]]]] = []

    @settings(max_examples=12, deadline=None, database=None, derandomize=True)
    @given(st.lists(documents, min_size=5, max_size=5), ACTIONS)
    def collect(world: list[list[Row]], actions: list[tuple[str, int]]) -> None:
        examples.append((world, actions))

    collect()
    for number, (world, actions) in enumerate(examples):
        lived = Scope(scope.user_id, f"lived {number}")
        there: dict[int, Stored] = {}
        for action, place in actions:
            if action == "add" and place not in there:
                there[place] = await add(record, store, lived, world, place, there)
            elif action == "delete" and place in there:
                await forget(database, there.pop(place))
            elif action == "merge":
                pair = Merge(named(NODES[place]), named(NODES[(place + 2) % 5]), "test")
                await record.merge(lived, [pair])
            elif action == "unmerge":
                await record.unmerge(lived, [named(NODES[place])])

        built = Scope(scope.user_id, f"built {number}")
        await record.merge(built, await record.merges(lived))
        survivors: dict[int, Stored] = {}
        for place in reversed(list(there)):
            survivors[place] = await add(record, store, built, world, place, survivors)
        assert await graph(database, lived) == await graph(database, built), (world, actions)


async def add(
    record: GraphRecord,
    store: Store,
    scope: Scope,
    world: Sequence[Sequence[Row]],
    place: int,
    there: dict[int, Stored],
) -> Stored:
    """Add a document; link the new aliases in the chunks that are there, and theirs in the new ones.

    Every chunk contains every alias here, so a linker would find exactly these.
    """
    stored = await store(scope, [f"{place} first", f"{place} second"])
    chunks = [chunk for other in [*there.values(), stored] for chunk in other.chunks]
    rows = [placed(row, stored) for row in world[place]]
    found = {row for row in rows if isinstance(row, AliasRow)}
    known = {
        row
        for other in there
        for row in [placed(one, there[other]) for one in world[other]]
        if isinstance(row, AliasRow)
    }
    links = [(row, chunk) for row in found for chunk in chunks]
    links += [(row, chunk) for row in known for chunk in stored.chunks]
    linked = [MentionRow(row.entity_id, chunk, MentionKind.ALIAS, row.name) for row, chunk in links]
    await record.add(scope, evidence(*rows, *linked))
    return stored


def placed(row: Row, stored: Stored) -> Row:
    if isinstance(row, AliasRow):
        return row._replace(document_id=stored.document_id)
    return row._replace(chunk_id=stored.chunks[int(str(row.chunk_id))])


async def forget(database: Database, stored: Stored) -> None:
    await DocumentStore(database).delete(stored.scope, stored.document_id)


QUERIES = {
    "entities": """select id, name, entity_type, description, external_id, mention_count,
        asserted_count, degree, shown from entities e where {scope}""",
    "entity_names": """select entity_id, name, entity_type, spare, times, cardinality(tokens)
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
    async with database.transaction(scope.user_id) as connection:
        await connection.execute("select set_config('test.graph_id', %s, true)", [scope.graph_id])
        for table, query in QUERIES.items():
            cursor = await connection.execute(query.replace("{scope}", SCOPE).encode())
            rows = await cursor.fetchall()
            found[table] = set(rows)
            assert table == "mentions" or len(found[table]) == len(rows) or table == "aliases"
    return found


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
    added = await record.add(scope, rows)
    assert (added.mentions, added.relations, added.aliases) == (0, 0, 0)
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
    added = await record.add(
        scope,
        evidence(
            mention("Insulin", stored.chunks[0]),
            relation("insulin", "IN", "berlin", stored.chunks[0]),
            alias("insulin", "one", stored.document_id),
            mention("Insulin", uuid4()),
        ),
    )
    assert (added.mentions, added.relations, added.aliases) == (0, 0, 0)
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
    assert len(merged["adjacency"]) == 2

    assert await record.unmerge(scope, [named("nyc")]) == 1
    assert await graph(database, scope) == before
