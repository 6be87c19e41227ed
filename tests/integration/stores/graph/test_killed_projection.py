"""A projector killed with SIGKILL loses nothing: the next one ends where it would have."""

from __future__ import annotations

from pathlib import Path

import pytest

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow, entity_id
from sextant.stores.graph.neo4j.bolt import Bolt
from sextant.stores.graph.neo4j.projector import Projector
from sextant.stores.graph.neo4j.store import Neo4jGraph
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database
from tests.integration.killing import kill_when_reached
from tests.integration.stored_state import GraphRecord

WORKER = Path(__file__).with_name("killed_projector.py")
NUMBER = 300


def circle(scope: Scope, kind: str) -> GraphEvidence:
    """Return entities in a ring, each related to the next."""
    ids = [entity_id(scope, f"Thing {number}") for number in range(NUMBER)]
    return GraphEvidence(
        [
            MentionRow(one, None, MentionKind.IMPORT, f"Thing {number}", "THING", kind)
            for number, one in enumerate(ids)
        ],
        [
            RelationRow(one, other, kind, None, 1.0 + number)
            for number, (one, other) in enumerate(zip(ids, ids[1:] + ids[:1], strict=True))
        ],
    )


# Everything is one id, then come 300 entities with 300 relations in one round, if not more.
@pytest.mark.parametrize("far", [1, NUMBER])
async def test_a_projection_killed_in_the_middle_and_repeated_equals_the_record(
    database: Database,
    bolt: Bolt,
    neo4j_settings: Settings,
    scope: Scope,
    far: int,
) -> None:
    record, projector = GraphRecord(database), Projector(database, bolt)
    await record.add(scope, circle(scope, "FOLLOWS"))

    await kill_after(far, neo4j_settings, scope)
    await record.add(scope, circle(scope, "PRECEDES"))
    await projector.sync(scope)

    ids = sorted(entity_id(scope, f"Thing {number}") for number in range(NUMBER))
    neo4j, own = Neo4jGraph(bolt, database.settings.retrieval), PostgresGraph(database)
    assert await neo4j.get_entities(scope, ids) == await own.get_entities(scope, ids)
    hops = await own.neighbourhood(scope, ids, depth=1)
    assert len(hops) == 2 * NUMBER
    assert await neo4j.neighbourhood(scope, ids, depth=1) == hops
    status, counts = await projector.status(scope), await record.counts(scope)
    assert status.projection
    held = (status.projection.entities, status.projection.relations)
    assert (status.waiting, held) == (0, (counts.entities, counts.relations))


async def kill_after(far: int, settings: Settings, scope: Scope) -> None:
    password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else ""
    assert settings.neo4j_uri
    await kill_when_reached(
        WORKER,
        settings.data_dir,
        settings.neo4j_uri,
        scope.user_id,
        far,
        environment={
            "NEO4J_USERNAME": settings.neo4j_username,
            "NEO4J_PASSWORD": password,
            "NEO4J_DATABASE": settings.neo4j_database or "",
        },
    )
