"""A refresh killed with SIGKILL: the next one ends as if nothing had happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from sextant.domain.scope import Scope
from sextant.ingestion.graph.upkeep import GraphUpkeep
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.graph.community_store import CommunityStore
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.killing import ROOT, kill_when_reached

WORKER = Path(__file__).with_name("killed_refresh.py")
SAMPLES = ROOT / "samples" / "documents"


@pytest.mark.parametrize(
    "at",
    [("names", 0), ("entities", 1), ("communities", 0), ("reports", 8), ("report vectors", 1)],
)
async def test_a_refresh_that_is_killed_is_finished_by_the_next(
    at: tuple[str, int], graphed: Ingestor, data_dir: Path, database: Database, scope: Scope
) -> None:
    await graphed.ingest(scope, [SAMPLES])
    await kill_when_reached(WORKER, data_dir, scope.user_id, scope.graph_id, *at)

    upkeep = GraphUpkeep(database, HashEmbedder(384))
    await upkeep.refresh(scope)
    found = await PostgresGraph(database).communities(scope)
    assert len(found) > 10
    assert all(one.title and one.findings for one in found)
    assert await CommunityStore(database).dirty(scope) == []
    assert await CommunityStore(database).to_embed(scope) == []
    again = await upkeep.refresh(scope, full=True)
    assert (again.reports_written, again.entities_embedded) == (0, 0)
    assert await PostgresGraph(database).communities(scope) == found
