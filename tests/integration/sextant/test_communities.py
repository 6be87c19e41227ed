"""`Sextant.communities` and `sextant communities`: the hierarchy, one report, and building anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from sextant.cli.graph import _refreshed_message, _walk_communities
from sextant.domain.errors import GraphNotFound, OptionInvalid
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.facade import Sextant
from sextant.ingestion.graph.resolution import resolve
from sextant.stores.graph.community_store import CommunityStore
from sextant.stores.graph.name_comparison import Names
from sextant.stores.graph.record import EntityVectors
from sextant.stores.postgresql.database import Database
from sextant.testing.openai_server import ScriptedOpenAI

NOTES = """# Heater

The Heater is fed by the Battery. The Control Unit watches the Heater and the Battery.

## Battery

The Battery feeds the Heater and the Control Unit.

## Control Unit

The Control Unit switches the Heater on when the Battery is cold.
"""


def embedding_at(server: ScriptedOpenAI, settings: Settings, scope: Scope) -> Settings:
    """Return the settings of a scope's user, whose embedding model is the server's."""
    return settings.model_copy(
        update={
            "user_id": scope.user_id,
            "embedding": "openai:scripted",
            "openai_base_url": server.base_url,
        }
    )


@pytest.fixture
async def rag(settings: Settings, scope: Scope, tmp_path: Path) -> AsyncIterator[Sextant]:
    (tmp_path / "notes.md").write_text(NOTES, encoding="utf-8")
    async with ScriptedOpenAI(dimension=384) as server:
        user = embedding_at(server, settings, scope)
        async with Sextant.open(user) as opened:
            await opened.ingest([tmp_path])
            yield opened


async def test_a_knowledge_base_that_is_deleted_while_its_graph_follows_is_told_without_alarm(
    rag: Sextant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "other.md").write_text("The Radiator is fed by the Heater.", encoding="utf-8")
    loop, compare = asyncio.get_running_loop(), resolve._compare

    def deleting(names: Names) -> resolve._Compared:
        asyncio.run_coroutine_threadsafe(rag.delete_graph("default"), loop).result()
        return compare(names)

    monkeypatch.setattr(resolve, "_compare", deleting)
    report = await rag.ingest([tmp_path])
    [warning] = report.warnings
    assert warning == "The knowledge base 'default' was deleted meanwhile. Nothing to do."
    assert not [one for one in caplog.records if one.levelname == "WARNING"]


async def test_ingesting_builds_communities_that_can_be_looked_at(rag: Sextant) -> None:
    own = await rag.communities()
    [community] = await own.all()
    view = await own.show(str(community.id)[:6])
    assert view.community == community
    assert {"Heater", "Battery", "Control Unit"} <= {entity.name for entity in view.entities}
    cited = {chunk for finding in community.findings for chunk in finding.chunk_ids}
    assert cited
    assert cited == {chunk.id for chunk in view.cited}
    assert {chunk.filename for chunk in view.cited} == {"notes.md"}
    assert (view.writer, view.note, view.parts) == ("", "", ())


async def test_building_again_changes_nothing_and_says_so(rag: Sextant) -> None:
    own = await rag.communities()
    before = await own.all()
    assert (await own.build()).communities == 0
    done = await own.build(full=True)
    assert (done.full_run, done.communities, done.reports_written) == (True, 1, 0)
    assert await own.all() == before


async def test_names_that_no_model_could_compare_are_told_to_whoever_changed_the_graph(
    settings: Settings, scope: Scope, tmp_path: Path
) -> None:
    for name in ("Johann Sebastian Bach", "Johan Sebastian Bach"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nHe composed.\n", encoding="utf-8")
    told = list[str]()
    async with ScriptedOpenAI(lambda _: "I would rather not.", dimension=384) as server:
        by_model = embedding_at(server, settings, scope).model_copy(
            update={
                "chat_model": "scripted",
                "communities": settings.communities.model_copy(update={"reports": "llm"}),
            }
        )
        async with Sextant.open(by_model) as rag:
            await rag.ingest([tmp_path], on_progress=lambda far: told.append(far.note))
            report = await rag.import_graph([])
            built = await (await rag.communities()).build()
    [warning] = built.warnings
    assert warning.startswith("The chat model did not compare similar names: ")
    assert report.warnings == (warning,)
    assert f"up to date. {warning}" in told


async def test_building_tells_that_names_became_one_where_there_is_no_community(
    settings: Settings, scope: Scope
) -> None:
    async with ScriptedOpenAI(lambda _: '{"same": [1]}', dimension=384) as server:
        offline = embedding_at(server, settings, scope)
        async with Sextant.open(offline) as rag:
            names = ("Johann Sebastian Bach", "Johan Sebastian Bach")
            await rag.import_graph([{"type": "entity", "name": name} for name in names])
        told = {"reports": "llm"}
        by_model = offline.model_copy(
            update={
                "chat_model": "scripted",
                "communities": settings.communities.model_copy(update=told),
            }
        )
        async with Sextant.open(by_model) as rag:
            communities = await rag.communities()
            done, again = await communities.build(), await communities.build()
    assert (done.pairs_judged, done.names_merged, done.communities) == (1, 1, 0)
    assert (
        _refreshed_message(done)
        == "1 name merged into others; 1 pair of names judged by the chat model."
    )
    assert _refreshed_message(again) == "Nothing has changed."


async def test_deleting_the_document_deletes_its_communities(rag: Sextant) -> None:
    [document] = await rag.documents()
    await rag.delete_document(document.id)
    assert await (await rag.communities()).all() == []


async def test_reports_and_entities_are_embedded_again_with_the_chunks(
    rag: Sextant, database: Database, scope: Scope
) -> None:
    mine = Scope(scope.user_id)
    reports, entities = CommunityStore(database), EntityVectors(database)
    async with database.transaction(scope.user_id) as connection:
        await connection.execute("update communities set embedding = null")
        await connection.execute("update entities set embedded_hash = null")
    assert await reports.to_embed(mine)
    assert await entities.to_embed(mine)
    await rag.reembed()
    assert await reports.to_embed(mine) == []
    assert await entities.to_embed(mine) == []


async def test_what_is_not_there_is_said(rag: Sextant) -> None:
    with pytest.raises(GraphNotFound):
        await rag.communities("nowhere")
    own = await rag.communities()
    for name in ("zz", "", "00000000-0000-0000-0000-000000000000"):
        with pytest.raises(OptionInvalid):
            await own.show(name)


async def test_parts_are_listed_under_the_whole(rag: Sextant) -> None:
    [whole] = await (await rag.communities()).all()
    other = replace(whole, id=UUID(int=1))
    part = replace(whole, id=UUID(int=2), level=1, parent_id=whole.id)
    assert [(one.id, depth) for one, depth in _walk_communities([whole, other, part])] == [
        (whole.id, 0),
        (part.id, 1),
        (other.id, 0),
    ]
    assert [depth for _, depth in _walk_communities([part])] == [0]


@pytest.mark.parametrize("level", [-1, 10**12, 2**70])
async def test_a_level_that_cannot_be_is_refused_by_its_name(rag: Sextant, level: int) -> None:
    own = await rag.communities()
    with pytest.raises(OptionInvalid, match="whole number") as refused:
        await own.all(level)
    assert refused.value.field == "level"
    assert await own.all(2**31 - 1) == []


@pytest.mark.parametrize("limit", [0, -5, 2**70])
async def test_a_limit_that_cannot_be_is_refused_by_its_name(rag: Sextant, limit: int) -> None:
    entities = await rag.entities()
    for ask in (entities.top, entities.duplicates):
        with pytest.raises(OptionInvalid, match="whole number") as refused:
            await ask(limit)
        assert refused.value.field == "limit"
    with pytest.raises(OptionInvalid, match="whole number"):
        await entities.show("Heater", limit)
    assert await entities.top(2**31 - 1)
