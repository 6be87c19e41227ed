"""What the four graph modes find is what Neo4j holds: changed there alone, and without its server."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sextant import Sextant
from sextant.domain.retrieval import ItemKind, Retrieval
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.stores.graph.evidence import graph_key
from sextant.stores.graph.neo4j.bolt import Bolt
from sextant.testing.openai_server import ScriptedOpenAI
from tests.integration.own_database import settings_over, short_folder
from tests.neo4j_server import Neo4jServer

MODES = ("local", "global", "hybrid", "mix")
QUESTION = "What does insulin lower?"
SAID = {
    "Insulin": [("treats", "diabetes"), ("lowers", "blood sugar"), ("made by", "pancreas")],
    "Diabetes": [("raises", "blood sugar"), ("damages", "kidneys"), ("treated by", "Insulin")],
    "Pancreas": [("makes", "Insulin"), ("lies behind", "stomach")],
    "Kidneys": [("filter", "blood"), ("suffer from", "diabetes")],
}


async def lines() -> AsyncIterator[dict[str, Any]]:
    for title, stated in SAID.items():
        yield {"type": "document", "id": title, "title": title}
        text = " ".join(f"{title} {kind} {other}." for kind, other in stated)
        triples = [[title, kind, other] for kind, other in stated]
        yield {
            "type": "chunk",
            "id": f"{title}-1",
            "document_id": title,
            "text": text,
            "triples": triples,
        }


@pytest.fixture(scope="module")
def server() -> Iterator[Neo4jServer]:
    """Yield a server of this module's own, which it may kill."""
    server = Neo4jServer()
    if "NEO4J_URI" in os.environ and not server.installed:
        pytest.skip("a server that NEO4J_URI names is not ours to kill")
    server.start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


@pytest_asyncio.fixture(scope="module")
async def rag(folder: Path, server: Neo4jServer) -> AsyncIterator[Sextant]:
    """Yield patient with a server on a busy computer, and asking it again at once after a failure."""
    async with ScriptedOpenAI() as endpoint:
        settings = settings_over(folder / "data")
        changes = {
            "embedding": "openai:first",
            "openai_base_url": endpoint.base_url,
            "retrieval": settings.retrieval.model_copy(update={"lane_timeout": 120.0}),
            "neo4j_uri": server.uri,
            "neo4j_timeout": 120.0,
            "neo4j_pause": 0.0,
        }
        async with Sextant.open(settings.model_copy(update=changes)) as opened:
            yield opened


@pytest_asyncio.fixture
async def bolt(rag: Sextant) -> AsyncIterator[Bolt]:
    bolt = Bolt(rag.settings)
    yield bolt
    await bolt.close()


async def ask(rag: Sextant, graph_id: str) -> dict[str, Retrieval]:
    return {mode: await rag.search(QUESTION, graph_id=graph_id, mode=mode) for mode in MODES}


async def entities(rag: Sextant, graph_id: str) -> set[str]:
    found = await rag.search_entities("What makes insulin?", graph_id=graph_id)
    return {one.entity.name.lower() for one in found.results}


def kinds(found: Retrieval) -> set[ItemKind]:
    return {item.kind for item in [*found.results, *found.graph_items]}


def told(found: dict[str, Retrieval]) -> dict[str, object]:
    return {mode: (one.results, one.graph_items) for mode, one in found.items()}


async def change(bolt: Bolt, rag: Sextant, graph_id: str, *statements: str) -> None:
    graph = str(graph_key(Scope(rag.settings.user_id, graph_id)))
    await bolt.write([(one, {"graph": graph}) for one in statements])


NO_RELATIONS = "MATCH ()-[r:RELATED {graph_key: $graph}]->() DELETE r"
NO_COMMUNITIES = "MATCH (c:__Community__ {graph_key: $graph}) DETACH DELETE c"


async def test_relations_and_communities_deleted_in_neo4j_alone_are_gone_from_all_modes(
    rag: Sextant, bolt: Bolt
) -> None:
    for graph_id in ("changed", "beside"):
        await rag.import_graph(lines(), graph_id)
    before, beside = await ask(rag, "changed"), await ask(rag, "beside")
    for mode, found in before.items():
        assert ItemKind.RELATION in kinds(found), mode
        if mode != "local":
            assert ItemKind.COMMUNITY in kinds(found), mode
        assert found.warnings == ()

    await change(bolt, rag, "changed", NO_RELATIONS)
    without = await ask(rag, "changed")
    for mode, found in without.items():
        assert ItemKind.RELATION not in kinds(found), mode
    assert without["local"].results != before["local"].results

    await change(bolt, rag, "changed", NO_COMMUNITIES)
    for mode, found in (await ask(rag, "changed")).items():
        assert kinds(found).isdisjoint({ItemKind.RELATION, ItemKind.COMMUNITY}), mode
    # Of the passages, which are PostgreSQL's, and of another graph in the same server nothing is gone.
    assert told(await ask(rag, "beside")) == told(beside)

    await (await rag.graph("changed")).rebuild()
    assert told(await ask(rag, "changed")) == told(before)


async def test_an_entity_renamed_and_a_report_rewritten_in_neo4j_are_shown_so(
    rag: Sextant, bolt: Bolt
) -> None:
    await rag.import_graph(lines(), "renamed")
    await ask(rag, "renamed")
    assert "pancreas" in await entities(rag, "renamed")
    await change(
        bolt,
        rag,
        "renamed",
        "MATCH (e:__Entity__ {graph_key: $graph}) WHERE e.name = 'pancreas' OR e.name = 'Pancreas'"
        " SET e.name = 'Bauchspeicheldrüse'",
        "MATCH (c:__Community__ {graph_key: $graph}) SET c.title = 'Written by hand'",
    )
    for mode, found in (await ask(rag, "renamed")).items():
        names = {item.metadata.get("name") for item in found.graph_items}
        assert "Bauchspeicheldrüse" in names, mode
        titles = {
            item.metadata["title"] for item in found.graph_items if item.kind is ItemKind.COMMUNITY
        }
        assert titles <= {"Written by hand"}, mode
    assert "bauchspeicheldrüse" in await entities(rag, "renamed")


async def test_a_change_that_no_count_or_sum_shows_is_seen_once_the_graph_says_so(
    rag: Sextant, bolt: Bolt
) -> None:
    await rag.import_graph(lines(), "same")
    await ask(rag, "same")
    swap = "MATCH ()-[r:RELATED {graph_key: $graph, kind: 'lowers'}]->() SET r.kind = 'LOWERS'"
    mark = "MATCH (g:__Graph__ {graph_key: $graph}) SET g.edited = 1"
    await change(bolt, rag, "same", swap, mark)
    for mode, found in (await ask(rag, "same")).items():
        types = {item.metadata.get("type") for item in found.graph_items}
        assert "LOWERS" in types, mode
        assert "lowers" not in types, mode


async def test_without_its_server_the_modes_find_what_postgresql_holds_and_say_so(
    rag: Sextant, bolt: Bolt, server: Neo4jServer
) -> None:
    await rag.import_graph(lines(), "stopped")
    before = await ask(rag, "stopped")
    await change(bolt, rag, "stopped", NO_RELATIONS, NO_COMMUNITIES)
    for found in (await ask(rag, "stopped")).values():
        assert ItemKind.RELATION not in kinds(found)
    server.kill()
    try:
        gone = await ask(rag, "stopped")
        for mode, found in gone.items():
            assert CodedWarning(WarningCode.NEO4J_UNAVAILABLE) in found.coded_warnings, mode
        assert told(gone) == told(before)
    finally:
        server.start()
    for mode, found in (await ask(rag, "stopped")).items():
        assert ItemKind.RELATION not in kinds(found), mode
        assert CodedWarning(WarningCode.NEO4J_UNAVAILABLE) not in found.coded_warnings, mode
