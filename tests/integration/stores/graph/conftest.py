"""Documents with evidence about a small world, stored the way ingestion stores it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from domain.scope import Scope
from stores.database import Database
from stores.graph.postgres import PostgresGraph
from stores.graph.protocol import GraphStore
from stores.graph.record import GraphRecord
from tests.integration.stores.graph.world import Ingest, Store, Stored


@pytest.fixture
def record(database: Database) -> GraphRecord:
    return GraphRecord(database)


@pytest.fixture
def store(ingest: Ingest, database: Database) -> Store:
    """Store a document of these chunks, without any evidence."""

    async def run(scope: Scope, texts: Sequence[str]) -> Stored:
        vectors = np.asarray(np.eye(len(texts), 384), np.float32)
        document_id = await ingest(scope, texts, vectors)
        async with database.transaction(scope.user_id) as connection:
            query = "select id from chunks where document_id = %s order by ordinal"
            cursor = await connection.execute(query, [document_id])
            return Stored(scope, document_id, tuple([row[0] async for row in cursor]))

    return run


@dataclass(frozen=True)
class ReadSide:
    """A graph store, and how a test waits until it has taken over what the record holds."""

    graph: GraphStore
    catch_up: Callable[[Scope], Awaitable[None]]


@pytest.fixture(params=["postgres"])
def reading(request: pytest.FixtureRequest, database: Database) -> ReadSide:
    """Each graph store in turn; the suite expects the same rows of all."""

    async def nothing_to_wait_for(scope: Scope) -> None: ...

    return {"postgres": ReadSide(PostgresGraph(database), nothing_to_wait_for)}[request.param]
