"""Communities that entities have joined one batch after the other, beside those found from scratch."""

from __future__ import annotations

import itertools
import random
from uuid import UUID

import numpy as np

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.ingestion.graph.communities.network import modularity, network_of
from sextant.ingestion.graph.upkeep import GraphUpkeep
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.stored_state import GraphRecord

TOPICS = 30
MEMBERS = 14
GIVEN_AWAY = 0.01  # of modularity; from there on upkeep makes a full run of its own accord


def topic(number: int, members: range, dice: random.Random) -> GraphEvidence:
    """Return members of a topic, each related to most of those before it and to one of another topic."""
    rows = [
        MentionRow(called(number, n), None, MentionKind.IMPORT, f"{number}.{n}") for n in members
    ]
    pairs = [(n, other) for n in members for other in range(n) if dice.random() < 0.5]
    inside = [(called(number, one), called(number, other)) for one, other in pairs]
    across = [(called(number, n), called(dice.randrange(TOPICS), 0)) for n in members]
    ends = [pair for pair in (*inside, *across) if pair[0] != pair[1]]
    return GraphEvidence(rows, [RelationRow(*pair, "KNOWS", None) for pair in ends])


def called(topic: int, number: int) -> UUID:
    return UUID(int=1 + topic * 1000 + number)


async def test_joining_covers_whom_a_full_run_covers_nearly_as_well_and_keeps_reports(
    database: Database, scope: Scope
) -> None:
    dice = random.Random(5)  # noqa: S311 - a test's dice
    record, upkeep = GraphRecord(database), GraphUpkeep(database, HashEmbedder(384))
    first = [topic(number, range(MEMBERS), dice) for number in range(TOPICS)]
    for said in first:
        await record.add(scope, said)
    assert (await upkeep.refresh(scope)).full_run
    batches = [
        topic(dice.randrange(TOPICS), range(m, m + 1), dice) for m in range(MEMBERS, MEMBERS + 4)
    ]
    kept = []
    for said in batches:
        before = await reports(database, scope)
        await record.add(scope, said)
        assert not (await upkeep.refresh(scope)).full_run
        after = await reports(database, scope)
        kept.append(sum(after.get(own) == report for own, report in before.items()) / len(before))

    scratch = Scope(scope.user_id, "from scratch")
    for said in itertools.chain(first, batches):
        await record.add(scratch, said)
    assert (await upkeep.refresh(scratch)).full_run
    joined, wanted = await partition(database, scope), await partition(database, scratch)
    assert (
        joined[0] == wanted[0] == {row.entity_id for one in first + batches for row in one.mentions}
    )
    assert joined[1] >= wanted[1] - GIVEN_AWAY
    assert min(kept) >= 0.9


async def reports(database: Database, scope: Scope) -> dict[UUID, tuple[object, ...]]:
    found = await PostgresGraph(database).communities(scope)
    return {one.id: (one.title, one.summary, one.findings) for one in found}


async def partition(database: Database, scope: Scope) -> tuple[set[UUID], float]:
    """Return the entities that are in a community of level 0, each in one, and the modularity of those."""
    arrays = await GraphRecord(database).arrays(scope)
    place = {
        UUID(int=int(high) << 64 | int(low)): n for n, (high, low) in enumerate(arrays.entities)
    }
    label = np.full(len(place), -1)
    for number, one in enumerate(await PostgresGraph(database).communities(scope, level=0)):
        members = [place[entity] for entity in one.entity_ids]
        assert (label[members] == -1).all()
        label[members] = number
    return {one for one, n in place.items() if label[n] >= 0}, modularity(network_of(arrays), label)
