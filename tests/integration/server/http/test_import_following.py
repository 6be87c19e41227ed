"""What follows from an import's graph takes its time: the answer does not wait for all of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI

from sextant.domain.scope import Scope
from sextant.domain.settings import (
    HttpSettings,
    IngestionSettings,
    RetrievalSettings,
    Settings,
    WorkerSettings,
)
from sextant.server.app import create_app
from sextant.server.openapi import examples
from sextant.stores.graph.extraction import ExtractionStore
from sextant.stores.postgresql.database import Database
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply
from tests.integration.own_database import settings_over, short_folder
from tests.integration.server.calling import calling
from tests.integration.server.served import sent

LINES = {"content-type": "application/x-ndjson"}
NAME = '{"type": "entity", "id": "e1", "name": "Mill Lane"}\n'


@pytest_asyncio.fixture(scope="module")
async def hasty(settings: Settings, database: Database) -> AsyncIterator[FastAPI]:
    """Yield a server without workers whose imports wait for nothing that follows."""
    changed = {
        "http": HttpSettings(import_patience=0.0),
        "worker": WorkerSettings(in_server=False),
    }
    created = create_app(settings.model_copy(update=changed))
    async with created.router.lifespan_context(created):
        yield created


@pytest.fixture
def graph() -> str:
    return f"kb {uuid4()}"


async def brought(client: httpx.AsyncClient, graph: str) -> dict[str, Any]:
    answer = await client.post(
        f"/api/graphs/{graph}/import",
        content=examples()["requests"]["importGraph"].encode(),
        headers=LINES,
    )
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def listed(client: httpx.AsyncClient, graph: str) -> dict[str, Any]:
    graphs = (await client.get("/api/graphs", params={"limit": "1000"})).json()["graphs"]
    [found] = [one for one in graphs if one["graphId"] == graph]
    return dict(found)


async def test_an_import_answers_once_all_is_stored_and_a_worker_does_what_follows(
    hasty: FastAPI, graph: str
) -> None:
    async with calling(hasty) as client:
        told = await brought(client, graph)
        assert told["pending"]
        assert (told["chunks"], told["entities"], told["graph"]["communities"]) == (2, 2, 0)
        found = await client.post("/search", json={"query": "所有权", "graphId": graph})
        assert found.json()["results"]
        assert (await listed(client, graph))["pending"]

        rag = hasty.state.serving.rag
        worker = rag.worker()
        working = asyncio.create_task(worker.run())
        while (await listed(client, graph))["pending"]:  # noqa: ASYNC110 - as a client does
            await asyncio.sleep(0.1)
        worker.stop()
        await working
        status = await (await rag.graph(graph)).status()
        assert status.record.communities > 0


async def test_an_import_does_not_wait_for_a_silent_model_to_read_its_documents(
    settings: Settings, graph: str
) -> None:
    speaks = asyncio.Event()
    found = Reply('{"entities": [{"name": "所有权", "type": "CONCEPT"}], "relations": []}',
                  pause_after=0, resume=speaks)  # fmt: skip
    async with ScriptedOpenAI(lambda _: found) as endpoint:
        changed = {
            "http": HttpSettings(import_patience=0.5),
            "worker": WorkerSettings(in_server=False),
            "ingestion": IngestionSettings(graph="llm"),
            "chat_model": "scripted",
            "openai_base_url": endpoint.base_url,
            "model_timeout": 3600.0,
        }
        created = create_app(settings.model_copy(update=changed))
        async with created.router.lifespan_context(created), calling(created) as client:
            told = await brought(client, graph)
            assert told["pending"]
            assert told["chunks"] == 2
            speaks.set()
            rag = created.state.serving.rag
            worker = rag.worker()
            working = asyncio.create_task(worker.run())
            store, scope = ExtractionStore(rag.database), Scope(rag.user_id, graph)
            while (await store.counts(scope)).done < 2:  # noqa: ASYNC110 - as a client does
                await asyncio.sleep(0.1)
            worker.stop()
            await working
            assert len(endpoint.chat_requests) >= 2


@pytest.mark.parametrize("from_the_start", [False, True])
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_an_import_ends_before_anything_is_stored_where_the_embedding_model_is_silent(
    graph: str, accept: str, *, from_the_start: bool
) -> None:
    silent = from_the_start

    def embedding(_: ApiRequest) -> Reply:
        return Reply(delay=3600.0 if silent else 0.0)

    with short_folder() as folder:
        async with ScriptedOpenAI(embeddings=embedding) as endpoint:
            settings = Settings(
                **settings_over(folder).model_dump()
                | {
                    "http": HttpSettings(import_patience=0.0),
                    "worker": WorkerSettings(in_server=False),
                    "embedding": "openai:hashed",
                    "openai_base_url": endpoint.base_url,
                    "model_timeout": 3600.0,
                    "retrieval": RetrievalSettings(lane_timeout=1.0),
                }
            )
            created = create_app(settings)
            async with created.router.lifespan_context(created), calling(created) as client:
                silent = True
                answer = await client.post(
                    f"/api/graphs/{graph}/import",
                    content=examples()["requests"]["importGraph"].encode(),
                    headers=LINES | {"accept": accept},
                )
                graphs = (await client.get("/api/graphs")).json()["graphs"]
                ready = (await client.get("/readyz")).json()
                named = await client.post(
                    f"/api/graphs/{graph}/import", content=NAME.encode(), headers=LINES
                )
    if from_the_start:
        [state] = [one["state"] for one in ready["dependencies"] if one["name"] == "embedding"]
        assert state == "down"
    assert named.json()["entities"] == 1  # which needs no vector to be stored
    if accept == "application/json":
        assert answer.status_code == 503
        problem = answer.json()
    else:
        [*_, last] = sent(answer.text)
        assert last.name == "error"
        problem = last.data | {"detail": last.data["message"]}
    assert problem["code"] == "model_unavailable"
    assert "hashed did not answer within 5 s" in problem["detail"]
    assert "sextant doctor" in problem["nextStep"]
    assert graphs == []


async def test_an_import_that_is_followed_says_how_far_it_is_and_ends_with_its_report(
    client: httpx.AsyncClient, graph: str
) -> None:
    answer = await client.post(
        f"/api/graphs/{graph}/import",
        content=examples()["requests"]["importGraph"].encode(),
        headers=LINES | {"accept": "text/event-stream"},
    )
    assert answer.headers["content-type"].startswith("text/event-stream")
    *progress, last = sent(answer.text)
    assert {one.name for one in progress} <= {"progress"}  # none, where it is done at once
    assert all(one.data["done"] >= 0 and one.data["stage"] for one in progress)
    assert last.name == "done"
    again = (await brought(client, graph)) | {"unchanged": 0}
    assert last.data == again


async def test_what_is_wrong_with_the_lines_of_a_followed_import_has_its_status(
    client: httpx.AsyncClient, graph: str
) -> None:
    answer = await client.post(
        f"/api/graphs/{graph}/import?strict=true",
        content=b'{"type":"entity"}\n',
        headers=LINES | {"accept": "text/event-stream", "accept-language": "zh-CN"},
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "option_invalid")
    assert answer.json()["detail"].startswith("第 1 行：")
    assert answer.json()["nextStep"].startswith("请修正该行")


async def test_an_import_that_everything_followed_at_once_is_not_pending(
    client: httpx.AsyncClient, graph: str
) -> None:
    assert not (await brought(client, graph))["pending"]
    assert await listed(client, graph) | {"createdAt": None} == {
        "graphId": graph,
        "documents": 1,
        "chunks": 2,
        "createdAt": None,
        "underWay": 0,
        "pending": False,
        "unattended": False,
        "warnings": [],
        "codedWarnings": [],
    }
