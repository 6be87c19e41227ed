"""`Sextant.entities` and `sextant entities`: what a user sees of entities and decides about them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sextant.domain.errors import (
    ConflictError,
    EntityNotFound,
    GraphNotFound,
    OptionInvalid,
    SettingsInvalid,
)
from sextant.domain.scope import Scope
from sextant.domain.settings import ModelSettings, RoleSettings, Settings
from sextant.domain.warnings import CodedWarning
from sextant.facade import Sextant
from sextant.facade.entities import Entities
from sextant.models.chat import factory
from sextant.models.chat.roles import Role
from sextant.testing.openai_server import ScriptedOpenAI
from sextant.testing.replies import as_json

WHO = "# World Health Organization\n\nThe World Health Organization (WHO) sits in Geneva.\n"
CITY = "# Geneva\n\nThe WHO has its seat in Geneva. 日内瓦也有办公室。\n"
FOUND = {
    "entities": [{"name": "Geneva", "type": "LOCATION", "description": "Seat of the WHO."}],
    "relations": [],
}


@pytest.fixture
async def server() -> AsyncIterator[ScriptedOpenAI]:
    async with ScriptedOpenAI(lambda _: as_json(FOUND), dimension=384) as started:
        yield started


@pytest.fixture
async def rag(settings: Settings, scope: object, tmp_path: Path) -> AsyncIterator[Sextant]:
    user = settings.model_copy(update={"user_id": scope.user_id})  # type: ignore[attr-defined]
    (tmp_path / "who.md").write_text(WHO, encoding="utf-8")
    (tmp_path / "city.md").write_text(CITY, encoding="utf-8")
    async with Sextant.open(user) as opened:
        await opened.ingest([tmp_path])
        yield opened


@pytest.fixture
async def entities(rag: Sextant) -> Entities:
    return await rag.entities()


async def test_what_is_the_id_of_no_entity_is_told_so(entities: Entities) -> None:
    for given in ("2", "WHO", "\x00", "0" * 32):
        with pytest.raises(EntityNotFound) as refused:
            await entities.get(given)
        assert refused.value.field == "entity_id"


async def test_an_entity_is_shown_with_its_relations_and_the_sentences_that_mention_it(
    entities: Entities,
) -> None:
    view = await entities.show("who")
    assert view.entity.name == "World Health Organization"
    assert [one.name for one in view.merged] == ["WHO"]
    assert {"The World Health Organization (WHO) sits in Geneva."} <= {
        quote.sentence for quote in view.mentions
    }
    assert {"Geneva"} <= {end for one in view.relations for end in (one.source, one.target)}
    assert (await entities.show(str(view.entity.id))).entity == view.entity
    assert (await entities.get(str(view.entity.id))).entity == view.entity
    assert len((await entities.show("who", limit=1)).relations) == 1
    assert view.entity in await entities.top()


async def test_what_states_a_relation_or_mentions_an_entity_is_told_with_its_place_in_the_document(
    entities: Entities, rag: Sextant
) -> None:
    view = await entities.show("who")
    [related] = [one for one in view.relations if "Geneva" in (one.source, one.target)]
    assert {quote.sentence for quote in related.evidence} == {
        "The World Health Organization (WHO) sits in Geneva.",
        "The WHO has its seat in Geneva.",
    }
    for quote in (*related.evidence, *view.mentions):
        text = await rag.library().text(quote.document_id, quote.start, quote.end)
        assert " ".join(text.split()) == quote.sentence


async def test_a_relation_that_is_the_users_own_word_has_no_passage(rag: Sextant) -> None:
    lines: list[dict[str, object]] = [
        {"type": "entity", "id": "a", "name": "Acme"},
        {"type": "entity", "id": "b", "name": "Borealis"},
        {"type": "relation", "source": "a", "target": "b", "relationType": "OWNS"},
    ]
    await rag.import_graph(lines, "own")
    [related] = (await (await rag.entities("own")).show("Borealis")).relations
    assert (related.source, related.target, related.evidence) == ("Acme", "Borealis", ())


async def test_a_merge_of_what_is_deleted_meanwhile_says_so(rag: Sextant) -> None:
    async def emptied() -> tuple[CodedWarning, ...]:
        for document in await rag.documents():
            await rag.delete_document(document.id)
        return ()

    scope = Scope(rag.user_id, "default")
    entities = Entities(rag.database, scope, extractor=rag._parts.extractor, refresh=emptied)
    with pytest.raises(ConflictError, match="What mentions Geneva was deleted meanwhile"):
        await entities.merge("Geneva", "World Health Organization")


async def test_a_merge_is_undone_for_good_and_may_be_made_again(
    entities: Entities, rag: Sextant, tmp_path: Path
) -> None:
    await entities.unmerge("WHO")
    assert (await entities.show("WHO")).entity.name == "WHO"
    (tmp_path / "more.md").write_text("# Notes\n\nThe WHO again.\n", encoding="utf-8")
    await rag.ingest([tmp_path])
    assert (await entities.show("WHO")).entity.name == "WHO"
    merged = await entities.merge("WHO", "World Health Organization", "so it is")
    assert merged.name == "World Health Organization"
    assert (await entities.show("WHO")).merged[0].reason == "so it is"


async def test_mistakes_name_the_field_and_the_way_out(entities: Entities, rag: Sextant) -> None:
    with pytest.raises(OptionInvalid, match="No entity is called 'Health'") as unknown:
        await entities.merge("Health", "Geneva")
    assert unknown.value.field == "entity"
    assert "World Health Organization" in unknown.value.next_step
    with pytest.raises(OptionInvalid, match="No entity is called"):
        await entities.show("\0 Health " + " ".join(map(str, range(20_000))))
    with pytest.raises(OptionInvalid, match="one entity already") as same:
        await entities.merge("WHO", "World Health Organization")
    assert same.value.field == "into"
    with pytest.raises(OptionInvalid, match="not merged into another") as whole:
        await entities.unmerge("World Health Organization")
    assert "WHO" in whole.value.next_step
    with pytest.raises(SettingsInvalid, match="chat model"):
        await entities.extract()
    with pytest.raises(GraphNotFound):
        await rag.entities("nowhere")


async def test_extraction_after_the_fact_reads_what_was_ingested_offline(
    rag: Sextant, server: ScriptedOpenAI
) -> None:
    with_model = rag.settings.model_copy(
        update={"chat_model": "scripted", "openai_base_url": server.base_url}
    )
    async with Sextant.open(with_model) as opened:
        entities = await opened.entities()
        estimate = await entities.estimate()
        assert (estimate.passages, server.chat_requests) == (2, [])
        nothing = await entities.extract(budget_tokens=10)
        assert (nothing.done, nothing.left, server.chat_requests) == (0, 2, [])
        report = await entities.extract()
        assert (report.done, report.failed, report.left) == (2, 0, 0)
        view = await entities.show("Geneva")
        assert (view.entity.entity_type, view.entity.description) == (
            "LOCATION",
            "Seat of the WHO.",
        )


async def test_the_chat_model_is_opened_once_however_often_it_extracts(
    rag: Sextant, server: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = list[object]()
    build = factory.build_chat_model

    def noted(settings: Settings, role: Role) -> object:
        built.append(build(settings, role))
        return built[-1]

    monkeypatch.setattr(factory, "build_chat_model", noted)
    with_model = rag.settings.model_copy(
        update={"chat_model": "scripted", "openai_base_url": server.base_url}
    )
    async with Sextant.open(with_model) as opened:
        entities = await opened.entities()
        done = [(await entities.extract(budget_tokens=most)).done for most in (10, None)]
    assert (done, len(built)) == ([0, 2], 1)


async def test_a_model_for_extraction_alone_reads_what_is_quoted_otherwise(
    rag: Sextant, server: ScriptedOpenAI
) -> None:
    reader = ModelSettings(name="reader", base_url=server.base_url, temperature=0.2)
    chosen = rag.settings.model_copy(update={"models": RoleSettings(extract=reader)})
    async with Sextant.open(chosen) as opened:
        report = await (await opened.entities()).extract()
        answer = await opened.query("Where is the seat of the WHO?")
    assert (report.done, report.failed, answer.model) == (2, 0, "extractive")
    assert {request.body["model"] for request in server.chat_requests} == {"reader"}
    assert {request.body["temperature"] for request in server.chat_requests} == {0.2}
