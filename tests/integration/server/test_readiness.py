"""Readiness says which dependency is down, and whether anything can be answered without it."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from fastapi import FastAPI

from sextant.domain.settings import ModelSettings, RoleSettings, Settings, WorkerSettings
from sextant.models.embedding import build_embedder
from sextant.models.embedding.remote import RemoteEmbedder
from sextant.models.protocols import Vectors
from sextant.server.app import create_app
from sextant.server.observe.readiness import Dependency, DependencyState, ReadinessProbe, is_ready
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import ScriptedOpenAI
from tests.integration.own_database import settings_over, short_folder
from tests.integration.server.calling import started

PATIENCE = 60.0


def states(found: list[Dependency]) -> dict[str, DependencyState]:
    return {one.name: one.state for one in found}


async def test_a_server_without_its_database_is_not_ready(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with short_folder() as folder:
        database = await Database.open(settings_over(folder))
        await database.close()
        readiness = ReadinessProbe(database.settings, database, HashEmbedder(384))
        found = await readiness.dependencies()
    assert states(found)["database"] is DependencyState.DOWN
    assert not is_ready(found)
    assert "database is down" in caplog.text


async def test_a_chat_model_or_neo4j_that_is_away_leaves_the_server_ready(
    settings: Settings,
    database: Database,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sextant.server.observe.readiness._WAITED", PATIENCE)
    async with ScriptedOpenAI() as endpoint:
        gone = endpoint.base_url
    chosen = settings.model_copy(
        update={
            "chat_model": "scripted",
            "openai_base_url": gone,
            "neo4j_uri": gone.replace("http", "bolt").removesuffix("/v1"),
        }
    )
    found = await ReadinessProbe(chosen, database, HashEmbedder(384)).dependencies()
    assert states(found) | {"chat": DependencyState.DOWN, "neo4j": DependencyState.DOWN} == states(
        found
    )
    assert states(found)["database"] is DependencyState.UP
    assert is_ready(found)
    assert "chat is down: " in caplog.text
    assert "neo4j is down: Neo4j" in caplog.text


class _Silent(HashEmbedder):
    """A model that never has an answer."""

    async def embed_query(self, text: str) -> Vectors:
        await asyncio.Event().wait()
        raise AssertionError(text)


async def test_the_log_says_of_what_is_silent_that_no_answer_came(
    settings: Settings,
    database: Database,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sextant.server.observe.readiness._PATIENCE", 0.05)
    found = await ReadinessProbe(settings, database, _Silent(384)).dependencies()
    assert states(found)["embedding"] is DependencyState.DOWN
    assert "embedding is down: no answer in time" in caplog.text


class _Busy(_Silent):
    """A model that answered once."""

    answers = 1

    async def embed_query(self, text: str) -> Vectors:
        self.answers -= 1
        if self.answers < 0:
            await super().embed_query(text)
        return np.zeros((1, 384), np.float32)


async def test_what_is_slow_to_answer_is_as_it_was_until_patience_ends(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in (("_WAITED", 0.0), ("_OUTSIDE_CACHE_SECONDS", 0.0), ("_PATIENCE", 3.0)):
        monkeypatch.setattr(f"sextant.server.observe.readiness.{name}", seconds)
    readiness = ReadinessProbe(settings, database, _Busy(384))

    async def embedding() -> DependencyState:
        return states(await readiness.dependencies())["embedding"]

    async def until(state: DependencyState) -> DependencyState:
        while (told := await embedding()) is not state:
            assert told is not DependencyState.OFF
        return told

    async with asyncio.timeout(PATIENCE):
        assert await until(DependencyState.UP) is DependencyState.UP
        assert await embedding() is DependencyState.UP
        assert await until(DependencyState.DOWN) is DependencyState.DOWN


async def test_a_chat_model_that_is_left_empty_is_none(
    settings: Settings, database: Database
) -> None:
    """As compose passes on what nobody has written into its file of variables."""
    empty = settings.model_copy(update={"chat_model": "", "openai_base_url": ""})
    found = await ReadinessProbe(empty, database, HashEmbedder(384)).dependencies()
    assert states(found)["chat"] is DependencyState.OFF


async def test_each_role_has_its_endpoint_looked_at_and_only_the_answers_is_the_chat_model(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sextant.server.observe.readiness._WAITED", PATIENCE)
    async with ScriptedOpenAI() as there, ScriptedOpenAI() as endpoint:
        gone = endpoint.base_url
        await endpoint.__aexit__(None, None, None)
        found = list[DependencyState]()
        for answer, judge in ((there, there), (there, None), (None, there)):
            named = ModelSettings(name="small", base_url=judge.base_url if judge else gone)
            chosen = settings.model_copy(
                update={
                    "chat_model": "large",
                    "openai_base_url": answer.base_url if answer else gone,
                    "models": RoleSettings(judge=named),
                }
            )
            probe = ReadinessProbe(chosen, database, HashEmbedder(384))
            found.append(states(await probe.dependencies())["chat"])
    assert found == [DependencyState.UP, DependencyState.DEGRADED, DependencyState.DOWN]


async def test_what_is_down_is_told_without_saying_where_it_is(settings: Settings) -> None:
    secret = {"chat_model": "scripted", "openai_base_url": "http://127.0.0.1:9/secret-path"}
    # A worker inside would ask that model about whatever other tests have left in the store.
    alone = {"worker": WorkerSettings(in_server=False)}
    app: FastAPI = create_app(settings.model_copy(update=secret | alone))
    async with started(app) as client:
        answer = await client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "degraded"
    assert "secret-path" not in answer.text
    assert "127.0.0.1" not in answer.text


async def test_an_endpoint_that_fell_silent_for_questions_is_down(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sextant.server.observe.readiness._WAITED", PATIENCE)
    async with ScriptedOpenAI() as endpoint:
        asked = settings.model_copy(
            update={"embedding": "openai:hashed", "openai_base_url": endpoint.base_url}
        )
        embedder = build_embedder(asked)
        up = states(await ReadinessProbe(asked, database, embedder).dependencies())
        monkeypatch.setattr(RemoteEmbedder, "is_silent", True)
        down = states(await ReadinessProbe(asked, database, embedder).dependencies())
    assert (up["embedding"], down["embedding"]) == (DependencyState.UP, DependencyState.DOWN)
