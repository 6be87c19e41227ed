"""What hangs on entities and communities is written beside no writer of the graph, and of what is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from sextant.domain.graph import Community, MentionKind
from sextant.domain.scope import Scope
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.community_store import (
    Change,
    CommunityStore,
    Follows,
    HierarchyStore,
    StoredReport,
)
from sextant.stores.graph.record import EntityVectors
from sextant.stores.postgresql.database import Database
from tests.integration.communities import keep
from tests.integration.stored_state import GraphRecord
from tests.integration.stores.graph.test_exactness import rows_of
from tests.integration.stores.graph.world import Store, evidence, mention, named

Write = Callable[[Database, Scope, Community], Coroutine[Any, Any, None]]


async def entity_vectors(database: Database, scope: Scope, _: Community) -> None:
    vectors = EntityVectors(database)
    texts = await vectors.to_embed(scope)
    await vectors.store(scope, texts, np.eye(len(texts), 384, dtype=np.float32))


async def hierarchy(database: Database, scope: Scope, community: Community) -> None:
    store, members = HierarchyStore(database), [*community.entity_ids]
    change = Change(community.id, 0, None, members)
    await store.write(scope, [change], [], Follows(1, 0, 0.0), await store.moment(scope))


async def reports(database: Database, scope: Scope, community: Community) -> None:
    report = StoredReport(community.id, "Another", "Another.", (), 5.0)
    await CommunityStore(database).write(scope, 1, [report])


async def report_vectors(database: Database, scope: Scope, _: Community) -> None:
    store = CommunityStore(database)
    texts = await store.to_embed(scope)
    await store.store_vectors(scope, texts, np.eye(len(texts), 384, dtype=np.float32))


async def reopening(database: Database, scope: Scope, _: Community) -> None:
    await CommunityStore(database).reopen(scope, "another model")


@pytest.mark.parametrize("write", [entity_vectors, hierarchy, reports, report_vectors, reopening])
async def test_it_waits_for_the_graphs_writer(
    database: Database, record: GraphRecord, store: Store, scope: Scope, write: Write
) -> None:
    """Each locks rows in an order of its own: side by side, either might wait for the other."""
    stored = await store(scope, ["one"])
    said = [mention(name, stored.chunks[0], MentionKind.MODEL) for name in ("Insulin", "Berlin")]
    await record.add(scope, evidence(*said))
    community = Community(uuid4(), 0, None, "All", "All.", (), 5.0, (named("insulin"),))
    await keep(database, scope, [community])

    async with record.writing(scope):
        writing = asyncio.create_task(write(database, scope, community))
        done, _ = await asyncio.wait([writing], timeout=0.3)
        assert not done
    await writing


async def test_members_that_have_gone_since_the_graph_was_read_are_not_stored(
    database: Database, record: GraphRecord, store: Store, scope: Scope
) -> None:
    """As long as the others stayed together they were members for good, and counted as such."""
    first, second = await store(scope, ["one"]), await store(scope, ["two"])
    await record.add(scope, evidence(mention("Insulin", first.chunks[0], MentionKind.MODEL)))
    await record.add(scope, evidence(mention("Berlin", second.chunks[0], MentionKind.MODEL)))
    await record.add(scope, evidence(mention("nyc", second.chunks[0], MentionKind.MODEL)))
    members = tuple(map(named, ("insulin", "berlin", "nyc")))
    await DocumentStore(database).delete(scope, first.document_id)

    await keep(database, scope, [Community(uuid4(), 0, None, "All", "All.", (), 5.0, members)])

    query = "select entity_id from community_members e where {scope}"
    assert {row[0] for row in await rows_of(database, scope, query)} == {*members[1:]}
