"""Two databases that name one Neo4j server and have a knowledge base of the same user and name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sextant.domain.errors import GraphStoreUnavailable
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning, WarningCode, collect_warnings
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, entity_id
from sextant.stores.graph.graph_factory import ProjectedGraph
from sextant.stores.graph.neo4j.bolt import Bolt
from sextant.stores.graph.neo4j.projector import Projector
from sextant.stores.graph.neo4j.store import Neo4jGraph
from sextant.stores.postgresql.database import Database
from tests.integration.own_database import fresh_database
from tests.integration.stored_state import GraphRecord

BEHIND = CodedWarning(WarningCode.NEO4J_BEHIND)


@pytest_asyncio.fixture(scope="module")
async def other() -> AsyncIterator[Database]:
    """Yield a database in a data folder of its own."""
    async with fresh_database() as opened:
        yield opened


async def says(database: Database, scope: Scope, name: str) -> None:
    said = MentionRow(entity_id(scope, name), None, MentionKind.IMPORT, name)
    await GraphRecord(database).add(scope, GraphEvidence([said]))


async def held(bolt: Bolt, database: Database, scope: Scope, *names: str) -> set[str]:
    """Return which of these entities Neo4j has."""
    graph = Neo4jGraph(bolt, database.settings.retrieval)
    found = await graph.get_entities(scope, [entity_id(scope, name) for name in names])
    return {entity.name for entity in found}


async def test_neither_wipes_the_others_copy_until_it_is_told_to(
    database: Database, other: Database, bolt: Bolt, neo4j_settings: Settings, scope: Scope
) -> None:
    mine, theirs = Projector(database, bolt), Projector(other, bolt)
    await says(database, scope, "Insulin")
    await says(other, scope, "Metformin")
    names = "Insulin", "Metformin"
    await mine.sync(scope)

    for refused in (theirs.sync(scope), theirs.status(scope)):
        with pytest.raises(GraphStoreUnavailable, match="another Sextant database"):
            await refused
    await theirs.drop(scope)
    assert await held(bolt, database, scope, *names) == {"Insulin"}
    assert await mine.sync(scope) == 0
    with collect_warnings() as notices:
        graph = ProjectedGraph(other, bolt, neo4j_settings)
        [found] = await graph.get_entities(scope, [entity_id(scope, name) for name in names])
    assert (found.name, notices) == ("Metformin", [BEHIND])
    await says(other, scope, "Glucose")
    assert await theirs.waiting(scope) > 0

    await theirs.rebuild(scope)
    assert await held(bolt, database, scope, *names) == {"Metformin"}
    with pytest.raises(GraphStoreUnavailable, match="another Sextant database"):
        await mine.sync(scope)
    await theirs.drop(scope)
    await mine.sync(scope)
    assert await held(bolt, database, scope, *names) == {"Insulin"}


async def test_of_two_that_come_first_at_once_one_gets_the_name(
    database: Database, other: Database, bolt: Bolt, scope: Scope
) -> None:
    await says(database, scope, "Insulin")
    await says(other, scope, "Metformin")
    both = [Projector(one, bolt).sync(scope) for one in (database, other)]
    outcomes = await asyncio.gather(*both, return_exceptions=True)
    first = [isinstance(outcome, int) for outcome in outcomes]
    assert sorted(first) == [False, True]
    assert str(outcomes[first.index(False)]).startswith("Neo4j holds")
    kept = await held(bolt, database, scope, "Insulin", "Metformin")
    assert kept == {"Insulin" if first[0] else "Metformin"}


async def test_a_process_that_knew_its_copy_there_sees_that_another_has_replaced_it(
    database: Database, other: Database, bolt: Bolt, neo4j_settings: Settings, scope: Scope
) -> None:
    await says(database, scope, "Insulin")
    await says(other, scope, "Metformin")
    await Projector(database, bolt).sync(scope)
    looking = neo4j_settings.model_copy(update={"neo4j_pause": 0.0})
    graph = ProjectedGraph(database, bolt, looking)
    wanted = [entity_id(scope, "Insulin")]
    with collect_warnings() as notices:
        [found] = await graph.get_entities(scope, wanted)
        assert (found.name, notices) == ("Insulin", [])
        await Projector(other, bolt).rebuild(scope)
        [found] = await graph.get_entities(scope, wanted)
        assert (found.name, notices) == ("Insulin", [BEHIND])


async def test_a_copy_from_before_databases_were_told_apart_goes_on(
    database: Database, bolt: Bolt, scope: Scope
) -> None:
    await says(database, scope, "Insulin")
    projector = Projector(database, bolt)
    await projector.sync(scope)
    unmarked = "MATCH (g:__Graph__ {user_id: $user_id}) REMOVE g.database"
    await bolt.write([(unmarked, {"user_id": scope.user_id})])

    assert await projector.sync(scope) == 0
    await says(database, scope, "Metformin")
    assert await projector.sync(scope) > 0
    marked = "MATCH (g:__Graph__ {user_id: $user_id}) RETURN g.database AS database"
    [row] = await bolt.fetch(marked, user_id=scope.user_id)
    assert row["database"]
