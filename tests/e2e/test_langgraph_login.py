"""`langgraph dev` with logins: the same keys open LangGraph's own routes, and each user has their own."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from sextant.stores.embedded.server import EmbeddedServer
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply, endless, failing
from tests.e2e.conftest import SAMPLES, Sextant
from tests.e2e.studio import developing, foreign_routes
from tests.e2e.test_langgraph_dev import QUESTION

pytestmark = pytest.mark.e2e

STORY = "Tell me a story of a lighthouse."


@dataclass(frozen=True)
class Locked:
    """A running `langgraph dev`, and keys of two users and one that may only read."""

    url: str
    keys: dict[str, str]

    def client(self, who: str) -> LangGraphClient:
        return get_client(url=self.url, headers={"Authorization": f"Bearer {self.keys[who]}"})


def answering(request: ApiRequest) -> Reply:
    """Return a model that tells one story without end, and refuses everything else."""
    return endless() if STORY in request.prompt else failing(401)


@pytest_asyncio.fixture(scope="module")
async def model() -> AsyncIterator[ScriptedOpenAI]:
    async with ScriptedOpenAI(answering) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def locked(
    environment: dict[str, str], sextant: Sextant, model: ScriptedOpenAI
) -> Iterator[Locked]:
    with tempfile.TemporaryDirectory(prefix="sxt-", ignore_cleanup_errors=True) as folder:
        store = EmbeddedServer.start(Path(folder))
        own = {"SEXTANT_DATA_DIR": folder}
        guide = SAMPLES / "documents" / "糖尿病诊疗指南.pdf"
        sextant("ingest", guide, "--graph", "studio", **own, SEXTANT_USER_ID="alice")
        made = {
            user: sextant("keys", "create", "-u", user, "-s", "admin", "--json", **own).json()
            for user in ("alice", "bob")
        }
        made["reader"] = sextant(
            "keys", "create", "-u", "alice", "-s", "read", "--json", **own
        ).json()
        chat = {"SEXTANT_CHAT_MODEL": "scripted", "OPENAI_BASE_URL": model.base_url}
        # A model that never thinks: its answers are streamed at once.
        known = {model.base_url: {"scripted": False}}
        (Path(folder) / "endpoints.json").write_text(json.dumps(known))
        with developing(environment | own | chat) as address:
            yield Locked(address, {user: key["secret"] for user, key in made.items()})
        store.stop()


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer garbage"}, {"x-auth-scheme": "langsmith"}],
)
async def test_nobody_gets_in_without_a_key(locked: Locked, headers: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=locked.url, headers=headers, timeout=60) as client:
        for path in ("/assistants/search", "/threads/search", "/threads", "/runs/wait", "/search"):
            assert (await client.post(path, json={})).status_code == 401


async def test_of_what_langgraph_mounts_only_what_is_listed_can_be_reached(
    locked: Locked, environment: dict[str, str]
) -> None:
    routes = foreign_routes(environment)
    assert ("/internal/truncate", "POST") in routes
    key = {"Authorization": f"Bearer {locked.keys['alice']}"}
    public = {"/", "/ok", "/docs", "/openapi.json"}
    listed = {"assistants", "threads", "runs", "store", "info", "metrics"}
    async with httpx.AsyncClient(base_url=locked.url, timeout=60) as client:
        for path, method in routes:
            told = (await client.request(method, path, json={})).status_code
            if path in public:
                assert told == 200, (method, path)
            elif path.split("/")[1] in listed:
                assert told == 401, (method, path, told)
            elif path == "/mcp":  # ours answers there
                assert told in {401, 405}, (method, told)
            else:
                assert told == 404, (method, path, told)
                answer = await client.request(method, path, json={}, headers=key)
                assert answer.status_code == 404, (method, path)
                if method != "HEAD":
                    assert answer.json()["code"] == "not_found"


async def test_no_caller_wipes_or_reads_what_is_another_s(locked: Locked) -> None:
    thread = (await locked.client("alice").threads.create())["thread_id"]
    for who in ("alice", "bob"):
        headers = {"Authorization": f"Bearer {locked.keys[who]}"}
        async with httpx.AsyncClient(base_url=locked.url, headers=headers, timeout=60) as client:
            for path in ("/internal/truncate", "/internal/truncate/", "//internal/truncate"):
                assert (await client.post(path)).status_code == 404
            assert (await client.get(f"/internal/debug/thread/{thread}")).status_code == 404
    assert (await locked.client("alice").threads.get(thread))["thread_id"] == thread


async def test_a_socket_needs_a_key_too(locked: Locked) -> None:
    upgrade = {
        "Connection": "Upgrade", "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    async with httpx.AsyncClient(base_url=locked.url, headers=upgrade, timeout=60) as client:
        for path in (f"/threads/{UUID(int=7)}/stream/events", "/internal/truncate"):
            assert (await client.get(path)).status_code in {401, 403}


@pytest.mark.parametrize(
    ("path", "more", "status"),
    [
        ("/runs", {"webhook": "/internal/truncate"}, 422),
        ("/runs", {"webhook": "https://127.0.0.1/hook"}, 422),
        ("/runs", {"webhook": "https://10.0.0.1/hook"}, 422),
        ("/runs", {"webhook": "http://1.1.1.1/hook"}, 422),
        ("/runs/crons", {"schedule": "* * * * *"}, 403),
    ],
)
async def test_no_run_reaches_into_our_network_or_waits_for_a_key_it_will_not_have(
    locked: Locked, path: str, more: dict[str, str], status: int
) -> None:
    run = {"assistant_id": "sextant", "input": QUESTION, **more}
    headers = {"Authorization": f"Bearer {locked.keys['bob']}"}
    async with httpx.AsyncClient(base_url=locked.url, headers=headers, timeout=60) as client:
        assert (await client.post(path, json=run)).status_code == status


async def test_metrics_are_for_administrators(locked: Locked) -> None:
    for who, status in (("reader", 403), ("alice", 200)):
        headers = {"Authorization": f"Bearer {locked.keys[who]}"}
        async with httpx.AsyncClient(base_url=locked.url, headers=headers, timeout=60) as client:
            assert (await client.get("/metrics")).status_code == status
            assert (await client.get("/info")).status_code == 200


async def test_nobody_changes_the_assistant_of_all_users(locked: Locked) -> None:
    bob = locked.client("bob")
    [shared] = await bob.assistants.search(metadata={"created_by": "system"})
    for change in (
        partial(bob.assistants.delete),
        partial(bob.assistants.update, context={"mode": "bypass"}),
        partial(bob.assistants.set_latest, version=1),
    ):
        with pytest.raises(httpx.HTTPStatusError) as told:
            await change(shared["assistant_id"])
        assert told.value.response.status_code == 404
    [after] = await locked.client("alice").assistants.search(metadata={"created_by": "system"})
    assert after == shared


async def test_assistants_are_seen_by_who_made_them(locked: Locked) -> None:
    alice, bob = locked.client("alice"), locked.client("bob")
    made = await bob.assistants.create(
        "sextant", name="Bob's", context={"mode": "naive"}, metadata={"created_by": "system"}
    )
    own = made["assistant_id"]
    assert own not in [one["assistant_id"] for one in await alice.assistants.search()]
    assert own in [one["assistant_id"] for one in await bob.assistants.search()]
    with pytest.raises(httpx.HTTPStatusError):
        await alice.assistants.get(own)
    with pytest.raises(httpx.HTTPStatusError):
        await alice.assistants.delete(own)
    await bob.assistants.update(own, metadata={"created_by": "system"})
    with pytest.raises(httpx.HTTPStatusError):
        await alice.assistants.get(own)
    await bob.assistants.delete(own)


async def test_each_user_sees_the_assistant_and_their_own_threads(locked: Locked) -> None:
    alice, bob = locked.client("alice"), locked.client("bob")
    for client in (alice, bob):
        seen = await client.assistants.search(metadata={"created_by": "system"})
        assert [one["graph_id"] for one in seen] == ["sextant"]
    thread = (await alice.threads.create())["thread_id"]
    # `langgraph dev` keeps threads in the checkout: those of an earlier run may be there, too.
    assert thread in [one["thread_id"] for one in await alice.threads.search()]
    assert thread not in [one["thread_id"] for one in await bob.threads.search()]
    for asked in (
        bob.threads.get,
        bob.threads.get_state,
        bob.threads.get_history,
        bob.threads.delete,
    ):
        with pytest.raises(httpx.HTTPStatusError) as told:
            await asked(thread)
        assert told.value.response.status_code == 404
    with pytest.raises(httpx.HTTPStatusError):
        await bob.runs.wait(thread, "sextant", input=QUESTION)


async def test_a_run_works_on_the_knowledge_bases_of_whose_key_it_is(locked: Locked) -> None:
    mine = await locked.client("alice").runs.wait(None, "sextant", input=QUESTION)
    assert isinstance(mine, dict)
    assert mine["citations"]
    # The input's `user_id` does not outrank the key.
    parts: list[Any] = [
        part
        async for part in locked.client("bob").runs.stream(
            None, "sextant", input=QUESTION | {"user_id": "alice"}, stream_mode=["custom"]
        )
    ]
    told = [part.data for part in parts if part.event == "custom"]
    assert [one["code"] for one in told if one["type"] == "error"] == ["graph_not_found"]


async def test_our_own_routes_are_there_with_the_same_key(locked: Locked) -> None:
    headers = {"Authorization": f"Bearer {locked.keys['alice']}"}
    async with httpx.AsyncClient(base_url=locked.url, headers=headers, timeout=60) as client:
        graphs = (await client.get("/api/graphs")).json()["graphs"]
    assert [graph["graphId"] for graph in graphs] == ["studio"]


async def test_a_client_that_leaves_stops_the_model(locked: Locked, model: ScriptedOpenAI) -> None:
    before = model.disconnects
    run = locked.client("alice").runs.stream(
        None,
        "sextant",
        input={"query": STORY, "mode": "bypass"},
        stream_mode=["custom"],
        on_disconnect="cancel",
    )
    async for part in run:
        if part.event == "custom" and part.data["type"] == "token":
            break
    await model.wait_for_disconnects(before + 1)
    await model.wait_for_streams(0)


async def test_too_many_requests_are_refused_on_langgraph_s_routes_as_on_ours(
    locked: Locked,
) -> None:
    headers = {"Authorization": f"Bearer {locked.keys['reader']}"}
    async with httpx.AsyncClient(base_url=locked.url, headers=headers, timeout=60) as client:
        told = set[int]()
        while told <= {200}:
            answers = await asyncio.gather(
                *(client.post("/threads/search", json={}) for _ in range(40))
            )
            told = {answer.status_code for answer in answers}
        refused = next(answer for answer in answers if answer.status_code != 200)
        assert refused.status_code == 429
        assert refused.json()["code"] == "limited"
        assert int(refused.headers["Retry-After"]) >= 1
