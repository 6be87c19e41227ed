"""A knowledge base whose graph Neo4j follows: imported, searched, deleted; and without its server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sextant import Sextant
from sextant.domain.errors import EntityNotFound, OptionInvalid
from sextant.domain.settings import Settings
from sextant.facade.doctor import Health, examine
from sextant.facade.graph import KnowledgeGraph
from sextant.facade.worker import working
from sextant.stores.graph.record import GraphCounts
from sextant.stores.postgresql.database import Database
from sextant.testing.openai_server import ScriptedOpenAI
from tests.integration.own_database import settings_over, short_folder
from tests.neo4j_server import neo4j_for_tests

PATIENCE = 120.0
LINES: list[dict[str, Any]] = [
    {"type": "document", "id": "d", "title": "Insulin"},
    {
        "type": "chunk",
        "id": "c",
        "document_id": "d",
        "text": "Insulin treats diabetes and lowers blood sugar.",
        "triples": [["Insulin", "treats", "diabetes"], ["Insulin", "lowers", "blood sugar"]],
    },
]


async def lines() -> AsyncIterator[dict[str, Any]]:
    for line in LINES:
        yield line


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


@pytest_asyncio.fixture(scope="module")
async def offline(folder: Path) -> AsyncIterator[Settings]:
    """Yield settings without a graph database."""
    async with ScriptedOpenAI() as endpoint:
        settings = settings_over(folder / "data")
        changes = {
            "embedding": "openai:first",
            "openai_base_url": endpoint.base_url,
            "retrieval": settings.retrieval.model_copy(update={"lane_timeout": 120.0}),
            "neo4j_timeout": 120.0,
        }
        yield settings.model_copy(update=changes)


@pytest.fixture(scope="module")
def followed(offline: Settings) -> Iterator[Settings]:
    """Yield the same with one."""
    with neo4j_for_tests() as access:
        yield offline.model_copy(update=access)


async def test_neo4j_follows_imports_answers_searches_and_forgets_what_is_deleted(
    followed: Settings,
) -> None:
    async with Sextant.open(followed) as rag:
        await rag.import_graph(lines(), "followed")
        graph = await rag.graph("followed")
        status = await graph.status()
        assert status.projection is not None
        assert status.waiting == 0
        sizes = (status.projection.entities, status.projection.relations)
        assert sizes == (status.record.entities, status.record.relations) == (3, 2)
        found = await rag.search("What lowers blood sugar?", graph_id="followed", mode="local")
        assert found.coded_warnings == ()
        part = await graph.part("insulin")
        assert {hop.relation_type for hop in part.hops} == {"treats", "lowers"}
        assert await graph.rebuild() > 0

        (document,) = await rag.documents("followed")
        await rag.delete_document(document.id, "followed")
        status = await graph.status()
        assert status.projection is not None
        assert status.projection.relations == 0
    findings = {one.name: one async for one in examine(followed)}
    assert findings["graph store"].health is Health.OK


async def test_without_its_server_everything_goes_on_and_says_so(
    offline: Settings, tmp_path: Path
) -> None:
    nowhere = offline.model_copy(update={"neo4j_uri": "bolt://127.0.0.1:9"})
    async with Sextant.open(nowhere) as rag:
        report = await rag.import_graph(lines(), "alone")
        (warning,) = report.warnings
        assert warning.startswith(
            "The knowledge graph is up to date, but its copy in Neo4j is not."
        )
        assert "sextant graph sync" in warning
        file = tmp_path / "insulin.md"
        file.write_text("# Insulin\n\nInsulin lowers blood sugar.\n")
        ingested = await rag.ingest([file], "alone")
        assert [one.warnings for one in ingested] == [()]
        assert ingested.warnings == (warning,)
        (listed,) = [one for one in await rag.graphs() if one.graph_id == "alone"]
        assert tuple(listed.warnings) == (warning,)
        graph = await rag.graph("alone")
        status = await graph.status()
        assert (status.record.entities, status.record.relations) == (3, 2)
        assert status.neo4j is None
        assert "Neo4j" in status.problem
        part = await graph.part("insulin")
        assert len(part.hops) == 2
    findings = {one.name: one async for one in examine(nowhere)}
    assert findings["graph store"].health is Health.WARNING
    assert "NEO4J_URI" in findings["graph store"].next_step


async def test_a_worker_lets_neo4j_catch_up_once_it_is_back(
    offline: Settings, followed: Settings
) -> None:
    nowhere = offline.model_copy(update={"neo4j_uri": "bolt://127.0.0.1:9"})
    async with Sextant.open(nowhere) as rag:
        await rag.import_graph(lines(), "waiting")
    async with Sextant.open(followed) as rag:
        graph = await rag.graph("waiting")
        assert (await graph.status()).projection is None
        await let_pass(rag.database)
        async with working(rag.worker()), asyncio.timeout(PATIENCE):
            held = await projected(graph)
        assert (held.entities, held.relations) == (3, 2)


async def projected(graph: KnowledgeGraph) -> GraphCounts:
    """Return what Neo4j holds of a graph, as soon as it holds it and nothing waits."""
    while True:
        status = await graph.status()
        if status.projection is not None and not status.waiting:
            return status.projection
        await asyncio.sleep(0.05)


async def let_pass(database: Database) -> None:
    """Let what waits for its time in the queue may begin."""
    async with database.transaction(database.settings.user_id) as connection:
        await connection.execute("UPDATE procrastinate_jobs SET scheduled_at = now()")


async def test_without_a_name_there_is_nothing_to_sync(offline: Settings) -> None:
    async with Sextant.open(offline) as rag:
        await rag.import_graph(lines(), "plain")
        graph = await rag.graph("plain")
        assert (await graph.status()).problem == ""
        with pytest.raises(OptionInvalid, match="No Neo4j server is named"):
            await graph.sync()
        with pytest.raises(EntityNotFound, match="nobody"):
            await graph.part("nobody")
