"""Neo4j gone, behind or empty: PostgreSQL answers with a warning, nothing is lost, it catches up."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from uuid import uuid4

import pytest
import pytest_asyncio

from sextant.domain.errors import GraphStoreUnavailable
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning, WarningCode, collect_warnings
from sextant.stores.graph.evidence import (
    GraphEvidence,
    MentionRow,
    RelationRow,
    entity_id,
    graph_key,
)
from sextant.stores.graph.graph_factory import ProjectedGraph, graph_store
from sextant.stores.graph.neo4j.bolt import Bolt
from sextant.stores.graph.neo4j.projector import Projector
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from tests.integration.stored_state import GraphRecord
from tests.neo4j_server import Neo4jServer

BEHIND = CodedWarning(WarningCode.NEO4J_BEHIND)
GONE = CodedWarning(WarningCode.NEO4J_UNAVAILABLE)

IMPORT = MentionKind.IMPORT


@pytest.fixture(scope="module")
def server() -> Iterator[Neo4jServer]:
    """Yield a server of this module's own, which it may kill."""
    server = Neo4jServer()
    if "NEO4J_URI" in os.environ and not server.installed:
        pytest.skip("a server that NEO4J_URI names is not ours to kill")
    server.start()
    yield server
    server.close()


@pytest.fixture
def impatient(settings: Settings, server: Neo4jServer) -> Settings:
    """Return asks again at once after a failure."""
    retrieval = settings.retrieval.model_copy(update={"lane_timeout": 120.0})
    patience = {"neo4j_timeout": 120.0, "neo4j_pause": 0.0, "retrieval": retrieval}
    return settings.model_copy(update={"neo4j_uri": server.uri, **patience})


@pytest_asyncio.fixture
async def bolt(impatient: Settings) -> AsyncIterator[Bolt]:
    bolt = Bolt(impatient)
    yield bolt
    await bolt.close()


@pytest.fixture
def projector(database: Database, bolt: Bolt) -> Projector:
    return Projector(database, bolt)


@pytest.fixture
def graph(database: Database, bolt: Bolt, impatient: Settings) -> ProjectedGraph:
    return ProjectedGraph(database, bolt, impatient)


def says(scope: Scope, source: str, kind: str, target: str) -> GraphEvidence:
    ids = entity_id(scope, source), entity_id(scope, target)
    named = zip(ids, (source, target), strict=True)
    return GraphEvidence(
        [MentionRow(one, None, IMPORT, name) for one, name in named],
        [RelationRow(*ids, kind, None)],
    )


async def neighbours(
    graph: ProjectedGraph, scope: Scope, name: str
) -> tuple[set[str], list[CodedWarning]]:
    """Return the types of the relations of an entity, and what was told meanwhile."""
    with collect_warnings() as notices:
        hops = await graph.neighbourhood(scope, [entity_id(scope, name)])
    return {hop.relation_type for hop in hops}, notices


async def held_by_neo4j(bolt: Bolt, scope: Scope) -> set[str]:
    query = "MATCH ()-[r:RELATED {graph_key: $graph}]->() RETURN r.kind AS kind"
    return {row["kind"] for row in await bolt.read(query, graph=str(graph_key(scope)))}


async def test_a_graph_that_neo4j_has_not_taken_over_yet_is_read_from_the_record(
    graph: ProjectedGraph, projector: Projector, database: Database, bolt: Bolt, scope: Scope
) -> None:
    record = GraphRecord(database)
    await record.add(scope, says(scope, "Insulin", "TREATS", "Diabetes"))
    assert await neighbours(graph, scope, "insulin") == ({"TREATS"}, [BEHIND])

    await projector.sync(scope)
    assert await neighbours(graph, scope, "insulin") == ({"TREATS"}, [])
    await record.add(scope, says(scope, "Insulin", "LOWERS", "Blood sugar"))
    assert await neighbours(graph, scope, "insulin") == ({"TREATS", "LOWERS"}, [BEHIND])
    assert await held_by_neo4j(bolt, scope) == {"TREATS"}

    assert await projector.sync(scope) > 0
    assert await projector.sync(scope) == 0
    assert await neighbours(graph, scope, "insulin") == ({"TREATS", "LOWERS"}, [])
    assert await held_by_neo4j(bolt, scope) == {"TREATS", "LOWERS"}


async def test_that_neo4j_is_behind_is_logged_when_it_begins_and_told_to_every_question(
    graph: ProjectedGraph,
    projector: Projector,
    database: Database,
    scope: Scope,
    caplog: pytest.LogCaptureFixture,
) -> None:
    record = GraphRecord(database)
    await record.add(scope, says(scope, "Insulin", "TREATS", "Diabetes"))
    for _ in range(3):
        assert (await neighbours(graph, scope, "insulin"))[1] == [BEHIND]
    assert [one.getMessage() for one in caplog.records].count(str(BEHIND)) == 1

    await projector.sync(scope)
    assert (await neighbours(graph, scope, "insulin"))[1] == []
    await record.add(scope, says(scope, "Insulin", "LOWERS", "Blood sugar"))
    for _ in range(3):
        assert (await neighbours(graph, scope, "insulin"))[1] == [BEHIND]
    assert [one.getMessage() for one in caplog.records].count(str(BEHIND)) == 2


async def test_a_copy_that_is_found_gone_is_asked_nothing_until_it_is_back(
    projector: Projector, database: Database, bolt: Bolt, impatient: Settings, scope: Scope
) -> None:
    await GraphRecord(database).add(scope, says(scope, "Insulin", "TREATS", "Diabetes"))
    await projector.sync(scope)
    trusting = impatient.model_copy(update={"neo4j_pause": 3600.0})
    graph = ProjectedGraph(database, bolt, trusting)
    assert await neighbours(graph, scope, "insulin") == ({"TREATS"}, [])

    await bolt.write(
        [("MATCH (n {graph_key: $graph}) DETACH DELETE n", {"graph": str(graph_key(scope))})]
    )
    with collect_warnings():
        assert await graph.state(scope) == ""
    assert await neighbours(graph, scope, "insulin") == ({"TREATS"}, [BEHIND])


async def test_the_graph_of_a_database_that_was_made_anew_is_not_taken_for_the_old_one(
    graph: ProjectedGraph, projector: Projector, database: Database, bolt: Bolt, scope: Scope
) -> None:
    """Its numbers begin anew, so only the time at which it was made tells them apart."""
    await GraphRecord(database).add(scope, says(scope, "Insulin", "TREATS", "Diabetes"))
    await projector.sync(scope)
    async with database.transaction(scope.user_id) as connection:
        await connection.execute(
            "update graphs set created_at = created_at - interval '1 hour' where graph_id = %s",
            (scope.graph_id,),
        )
    stray = "MATCH ()-[r:RELATED {graph_key: $graph}]->() SET r.kind = 'OLD'"
    await bolt.write([(stray, {"graph": str(graph_key(scope))})])

    assert (await projector.status(scope)).projection is None
    assert await neighbours(graph, scope, "insulin") == ({"TREATS"}, [BEHIND])
    assert await projector.sync(scope) > 0
    assert await held_by_neo4j(bolt, scope) == {"TREATS"}
    assert await neighbours(graph, scope, "insulin") == ({"TREATS"}, [])


async def test_a_killed_server_is_done_without_and_catches_up_when_it_is_back(
    graph: ProjectedGraph,
    projector: Projector,
    database: Database,
    server: Neo4jServer,
    scope: Scope,
) -> None:
    record = GraphRecord(database)
    await record.add(scope, says(scope, "Insulin", "TREATS", "Diabetes"))
    await projector.sync(scope)
    server.kill()
    try:
        assert await neighbours(graph, scope, "insulin") == ({"TREATS"}, [GONE])
        await record.add(scope, says(scope, "Insulin", "LOWERS", "Blood sugar"))
        with pytest.raises(GraphStoreUnavailable):
            await projector.sync(scope)
        assert await projector.waiting(scope) > 0
        found, notices = await neighbours(graph, scope, "insulin")
        assert found == {"TREATS", "LOWERS"}
        assert notices
    finally:
        server.start()
    await projector.sync(scope)
    assert await projector.waiting(scope) == 0
    assert await neighbours(graph, scope, "insulin") == ({"TREATS", "LOWERS"}, [])
    await same_size(projector, record, scope)
    ids = [entity_id(scope, name) for name in ("insulin", "diabetes", "blood sugar")]
    expected = await PostgresGraph(database).get_entities(scope, ids)
    assert await graph.get_entities(scope, ids) == expected


async def test_a_dead_server_is_asked_once_and_then_left_alone_for_a_while(
    database: Database,
    settings: Settings,
    scope: Scope,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    nowhere = settings.model_copy(update={"neo4j_uri": "bolt://127.0.0.1:9", "neo4j_pause": 600.0})
    record = GraphRecord(database)
    await record.project(scope)  # followed, with nothing noted yet
    asked = 0
    fetch = Bolt.fetch

    async def counted(self: Bolt, *args: object, **values: object) -> object:
        nonlocal asked
        asked += 1
        return await fetch(self, *args, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(Bolt, "fetch", counted)
    async with AsyncExitStack() as stack:
        graph = graph_store(nowhere, database, stack)
        for _ in range(5):
            with collect_warnings() as notices:
                assert await graph.get_entities(scope, [uuid4()]) == []
            assert notices == [GONE]
    assert asked == 1
    assert [one.getMessage() for one in caplog.records].count(str(GONE)) == 1


async def test_a_server_that_lost_everything_is_noticed_and_filled_again(
    projector: Projector, database: Database, bolt: Bolt, impatient: Settings, scope: Scope
) -> None:
    await GraphRecord(database).add(scope, says(scope, "Insulin", "TREATS", "Diabetes"))
    await projector.sync(scope)
    await projector.drop(scope)
    fresh = ProjectedGraph(database, bolt, impatient)
    assert await neighbours(fresh, scope, "insulin") == ({"TREATS"}, [BEHIND])
    await projector.sync(scope)
    assert await neighbours(fresh, scope, "insulin") == ({"TREATS"}, [])


async def test_a_server_that_was_restored_from_a_backup_is_noticed_and_filled_again(
    graph: ProjectedGraph,
    projector: Projector,
    database: Database,
    server: Neo4jServer,
    scope: Scope,
) -> None:
    record = GraphRecord(database)
    await record.add(scope, says(scope, "Insulin", "TREATS", "Diabetes"))
    await projector.sync(scope)
    data, backup = server.folder / "data", server.folder / "backup"
    server.kill()
    shutil.copytree(data, backup)
    server.start()
    await record.add(scope, says(scope, "Insulin", "LOWERS", "Blood sugar"))
    await projector.sync(scope)
    assert await neighbours(graph, scope, "insulin") == ({"TREATS", "LOWERS"}, [])

    server.kill()
    shutil.rmtree(data)
    shutil.copytree(backup, data)
    server.start()
    assert (await projector.status(scope)).projection is None
    assert await neighbours(graph, scope, "insulin") == ({"TREATS", "LOWERS"}, [BEHIND])
    assert await projector.sync(scope) > 0
    assert await projector.sync(scope) == 0
    await same_size(projector, record, scope)
    assert await neighbours(graph, scope, "insulin") == ({"TREATS", "LOWERS"}, [])


async def test_projectors_that_begin_at_once_on_an_empty_server_all_get_through(
    database: Database, bolt: Bolt, impatient: Settings, scope: Scope
) -> None:
    """Each makes the constraints and indexes, of which there can be one: a server and its worker do so."""
    for kind, kinds in (("CONSTRAINT", "CONSTRAINTS"), ("INDEX", "INDEXES")):
        listed = f"SHOW {kinds} YIELD name WHERE name STARTS WITH 'sextant_' RETURN name"
        for row in await bolt.fetch(listed):
            await bolt.write([(f"DROP {kind} {row['name']} IF EXISTS", {})])
    scopes = [Scope(scope.user_id, f"{scope.graph_id}-{number}") for number in range(3)]
    bolts = [Bolt(impatient) for _ in scopes]
    try:
        for own in scopes:
            await GraphRecord(database).add(own, says(own, "Insulin", "TREATS", "Diabetes"))
        await asyncio.gather(
            *(Projector(database, one).sync(own) for one, own in zip(bolts, scopes, strict=True))
        )
        for own in scopes:
            assert await held_by_neo4j(bolt, own) == {"TREATS"}
    finally:
        for one in bolts:
            await one.close()


async def test_what_the_server_says_of_a_failure_is_told_in_its_words_alone(bolt: Bolt) -> None:
    with pytest.raises(GraphStoreUnavailable) as failed:
        await bolt.fetch("RETURN 1 / 0")
    assert "/ by zero" in failed.value.message
    assert "neo4j_code" not in failed.value.message


async def test_a_projection_broken_off_anywhere_goes_on_and_ends_the_same(
    projector: Projector,
    database: Database,
    bolt: Bolt,
    scope: Scope,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = GraphRecord(database)
    for place in range(3):
        await record.add(scope, says(scope, f"Entity {place}", "NEXT", f"Entity {place + 1}"))
    write = Bolt.write
    left = 0

    async def failing(self: Bolt, statements: object) -> object:
        nonlocal left
        done = await write(self, statements)  # type: ignore[arg-type]
        left -= 1
        if left < 0:  # after it has been committed, before anyone hears of it
            raise GraphStoreUnavailable("The connection broke.")
        return done

    await bolt.prepare()
    monkeypatch.setattr(Bolt, "_make_indexes", lambda *_: no_preparation())
    monkeypatch.setattr(Bolt, "write", failing)
    broken = 0
    for attempt in range(20):
        left = attempt
        try:
            await projector.rebuild(scope)
        except GraphStoreUnavailable:
            broken += 1
            left = 100
            await projector.sync(scope)
            await same_size(projector, record, scope)
        else:
            break
    assert broken >= 5
    await same_size(projector, record, scope)


async def no_preparation() -> None: ...


async def same_size(projector: Projector, record: GraphRecord, scope: Scope) -> None:
    """Neo4j holds as many entities and relations as the record, and nothing waits."""
    status, counts = await projector.status(scope), await record.counts(scope)
    assert status.projection is not None
    held = (status.projection.entities, status.projection.relations)
    assert held == (counts.entities, counts.relations)
    assert status.waiting == 0


async def test_rebuilding_two_tenants_with_the_same_names_keeps_them_apart(
    projector: Projector, database: Database, bolt: Bolt, scope: Scope
) -> None:
    other = Scope(f"{scope.user_id}-other", scope.graph_id)
    record = GraphRecord(database)
    await record.add(scope, says(scope, "Insulin", "TREATS", "Diabetes"))
    await record.add(other, says(other, "Insulin", "HARMS", "Diabetes"))
    await projector.sync(scope)
    await projector.sync(other)
    await KnowledgeBases(database).delete(other)
    await projector.drop(other)
    assert await held_by_neo4j(bolt, scope) == {"TREATS"}
    assert await held_by_neo4j(bolt, other) == set()
    await projector.rebuild(scope)
    assert await held_by_neo4j(bolt, scope) == {"TREATS"}


async def test_a_server_that_is_gone_is_not_said_to_be_behind(
    settings: Settings, database: Database, scope: Scope
) -> None:
    nowhere = settings.model_copy(update={"neo4j_uri": "bolt://127.0.0.1:9"})
    await GraphRecord(database).add(scope, says(scope, "Insulin", "TREATS", "Diabetes"))
    async with AsyncExitStack() as stack:
        graph = graph_store(nowhere, database, stack)
        with collect_warnings() as notices:
            assert await graph.neighbourhood(scope, [entity_id(scope, "Insulin")])
    assert notices == [GONE]
