"""Documents with evidence about a small world, stored the way ingestion stores it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

import numpy as np
import pytest
import pytest_asyncio

from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.graph.evidence import GraphEvidence
from sextant.stores.graph.neo4j.bolt import Bolt
from sextant.stores.graph.neo4j.projector import Projector
from sextant.stores.graph.neo4j.store import Neo4jGraph
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database
from tests.integration.stored_state import GraphRecord
from tests.integration.stores.graph.entity_world import ENTITIES, RELATIONS, Build, World
from tests.integration.stores.graph.world import Change, Ingest, ReadSide, Store, Stored
from tests.neo4j_server import neo4j_for_tests


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


@pytest.fixture(scope="session")
def neo4j_settings(settings: Settings) -> Iterator[Settings]:
    """Yield settings of a Neo4j server for the whole session: the user's own, or one of the tests'.

    With patience: a Java machine that has just started on a busy computer takes seconds to plan.
    """
    retrieval = settings.retrieval.model_copy(update={"lane_timeout": 120.0})
    patient = {"neo4j_timeout": 120.0, "retrieval": retrieval}
    with neo4j_for_tests() as access:
        yield settings.model_copy(update=patient | access)


@pytest_asyncio.fixture(scope="session")
async def bolt(neo4j_settings: Settings) -> AsyncIterator[Bolt]:
    bolt = Bolt(neo4j_settings)
    yield bolt
    await bolt.close()


@pytest.fixture(params=["postgres", "neo4j"])
def reading(request: pytest.FixtureRequest, database: Database) -> ReadSide:
    """Return each graph store in turn; the suite expects the same rows of all."""
    if request.param == "postgres":

        async def nothing_to_wait_for(scope: Scope) -> None: ...

        return ReadSide(PostgresGraph(database), nothing_to_wait_for)
    bolt: Bolt = request.getfixturevalue("bolt")
    projector = Projector(database, bolt)

    async def sync(scope: Scope) -> None:
        await projector.sync(scope)

    return ReadSide(Neo4jGraph(bolt, database.settings.retrieval), sync)


@pytest.fixture
def change(record: GraphRecord, reading: ReadSide) -> Change:
    """Add evidence and wait until the store under test has it."""

    async def run(scope: Scope, evidence: GraphEvidence) -> None:
        await record.add(scope, evidence)
        await reading.catch_up(scope)

    return run


@pytest.fixture
def build(reading: ReadSide, record: GraphRecord, database: Database, scope: Scope) -> Build:
    async def run() -> World:
        world = World(scope, reading, record, database)
        await world.add(ENTITIES, RELATIONS)
        return world

    return run
