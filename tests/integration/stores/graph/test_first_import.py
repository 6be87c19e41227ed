"""A first import makes the same graph as one into a graph that is there."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow
from sextant.stores.postgresql.database import Database
from tests.integration.stored_state import GraphRecord
from tests.integration.stores.graph.world import Store, evidence, mention, named

_TABLES = ("mentions", "relation_evidence", "entity_names", "entities", "adjacency")


def asserted(seed: int, entities: int = 900, relations: int = 3000) -> GraphEvidence:
    """Return entities and relations of which some are said twice, differently."""
    dice = random.Random(seed)  # noqa: S311 - a test's dice
    weights = [1, 0.1 + 0.2, 1 / 3, 2.5e-7, 123456789.123456789, 1e12, dice.random()]
    texts = ["", "", "说明 一", "short", "long " * 500, dice.random().hex()]
    ids = [UUID(int=dice.getrandbits(128)) for _ in range(entities)]
    called = dice.choices(ids[: entities * 2 // 3], k=entities)  # the others are ends only
    return GraphEvidence(
        [
            MentionRow(
                one,
                None,
                MentionKind.IMPORT,
                f"Entity  {dice.randint(0, 50)} 实体",
                dice.choice(["TERM", "CITY"]),
                dice.choice(texts),
                dice.choice([None, str(one)]),
            )
            for one in called
        ],
        [
            RelationRow(source, target, kind, None, dice.choice(weights), dice.choice(texts))
            for source, target in [dice.sample(ids[:60], 2) for _ in range(relations // 2)]
            + [dice.sample(ids, 2) for _ in range(relations // 2)]
            for kind in [dice.choice(["IN", "位于", " OF  ALL "])]
        ],
    )


async def stored(database: Database, scope: Scope) -> dict[str, list[str]]:
    """Return every row of the graph but what differs from one knowledge base to the next."""
    rows: dict[str, list[str]] = {}
    async with database.transaction(scope.user_id) as connection:
        for table in _TABLES:
            query = (
                "select (to_jsonb(t) - '{scope_id,fts,created_at}'::text[])::text"
                f" from {table} t join graphs g using (scope_id)"
                " where g.graph_id = %s"
            )
            cursor = await connection.execute(query.encode(), [scope.graph_id])
            rows[table] = sorted([row[0] async for row in cursor])
    return rows


@pytest.mark.parametrize("part", ["all", "entities", "relations"])
async def test_it_makes_the_graph_that_a_later_import_makes(
    database: Database, scope: Scope, record: GraphRecord, part: str
) -> None:
    said, other = asserted(0, 2500), replace(scope, graph_id="there before")
    said = GraphEvidence(
        said.mentions if part != "relations" else (), said.relations if part != "entities" else ()
    )
    await record.add(scope, said)
    await record.add(other, GraphEvidence(said.mentions[:1], said.relations[:1]))
    await record.add(other, said)

    assert await stored(database, scope) == await stored(database, other)


async def test_in_batches_it_is_the_same_and_storing_it_again_changes_nothing(
    database: Database, scope: Scope, record: GraphRecord
) -> None:
    said, other = asserted(3), replace(scope, graph_id="in batches")
    await record.add(scope, said)
    async with record.writing(other) as writer:
        for first in range(0, len(said.relations), 700):
            batch = said.relations[first : first + 700]
            await writer.add(GraphEvidence(said.mentions[first : first + 700], batch))
    once = await stored(database, scope)
    assert await stored(database, other) == once

    await record.add(scope, said)
    assert await stored(database, scope) == once


async def test_a_passage_among_the_batches_is_heard_too(
    database: Database, scope: Scope, record: GraphRecord, store: Store
) -> None:
    said, other = asserted(4), replace(scope, graph_id="passage first")
    for here, at in ((scope, 1), (other, 0)):
        document = await store(here, ["Berlin is a city."])
        passage = evidence(mention("Berlin", document.chunks[0]))
        batches = [said]
        batches.insert(at, passage)
        async with record.writing(here) as writer:
            for batch in batches:
                await writer.add(batch)
    graphs = [await stored(database, here) for here in (scope, other)]
    for table in ("entity_names", "entities", "adjacency", "relation_evidence"):
        assert graphs[0][table] == graphs[1][table]
    assert str(named("Berlin")) in "".join(graphs[0]["entities"])


async def test_a_graph_database_that_follows_is_to_take_it_over_whole(
    database: Database, scope: Scope, record: GraphRecord
) -> None:
    await record.project(scope)
    await record.add(scope, asserted(5))
    async with database.transaction(scope.user_id) as connection:
        cursor = await connection.execute("select kind from graph_outbox")
        kinds: list[Any] = await cursor.fetchall()
    assert kinds == [("everything",)]
