"""A PostgreSQL that is frozen says nothing: every request ends all the same, and says why."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from sextant.stores.embedded.server import EmbeddedServer
from tests.e2e.conftest import Sextant
from tests.e2e.served import served, serving
from tests.e2e.studio import developing
from tests.e2e.test_outages import until
from tests.integration.own_database import frozen, short_folder

pytestmark = pytest.mark.e2e

PATIENCE = 120.0
NOTE = {"text": "A lens may be kept for a week.", "title": "lens.txt", "graphId": "desk"}
ASKED = {"query": "How long may a lens be kept?", "graphId": "desk"}
CHAT = {"model": "sextant", "messages": [{"role": "user", "content": ASKED["query"]}]}
TOOL = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "kb.search", "arguments": {"query": ASKED["query"], "graphId": "desk"}},
}  # fmt: skip
MCP = {"Accept": "application/json, text/event-stream"}


@contextmanager
def running(
    environment: Mapping[str, str], **settings: str
) -> Iterator[tuple[str, Path, dict[str, str]]]:
    """Provide a server over a PostgreSQL of its own: its address, the folder, the environment of both."""
    with short_folder() as folder:
        postgres = EmbeddedServer.start(folder)
        url = f"postgresql://postgres@/postgres?host={postgres.socket_dir}"
        own = {**environment, "DATABASE_URL": url, "SEXTANT_DATABASE_TIMEOUT": "2", **settings}
        try:
            with served(own) as address:
                yield address, folder, own
        finally:
            postgres.stop()


async def ask_everything(client: httpx.AsyncClient) -> dict[str, httpx.Response]:
    """Return one request of every kind, all at the same time."""
    requests: dict[str, tuple[str, str, dict[str, Any]]] = {
        "list": ("GET", "/api/graphs", {}),
        "search": ("POST", "/search", {"json": ASKED}),
        "ask": ("POST", "/api/query", {"json": ASKED}),
        "stream": ("POST", "/api/query", {"json": ASKED | {"stream": True}}),
        "chat": ("POST", "/v1/chat/completions", {"json": CHAT}),
        "upload": ("POST", "/documents", {"json": NOTE | {"title": "prism.txt"}}),
        "delete": ("DELETE", "/api/graphs/desk", {}),
        "reports": ("GET", "/api/knowledge/communities?graphId=desk", {}),
        "tool": ("POST", "/mcp", {"json": TOOL, "headers": MCP}),
    }
    answers = await asyncio.gather(
        *(client.request(method, path, **more) for method, path, more in requests.values())
    )
    return dict(zip(requests, answers, strict=True))


def problem_of(name: str, answer: httpx.Response) -> str:
    """Return the code of what went wrong, wherever the kind of request says it."""
    if name == "stream" and answer.status_code == 200:
        return "database_unavailable" if "database_unavailable" in answer.text else answer.text
    if name == "tool" and answer.status_code == 200:
        return "database_unavailable" if "PostgreSQL" in answer.text else answer.text
    told = answer.json()
    code = told.get("code") or told["error"]["code"]
    assert isinstance(code, str)
    return code


async def test_every_request_ends_typed_while_postgresql_is_frozen(
    environment: dict[str, str], sextant: Sextant
) -> None:
    with running(environment) as (address, folder, _):
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
            [taken] = (await client.post("/documents", json=NOTE)).json()["documents"]
            await client.get(f"/documents/{taken['documentId']}/events")
            assert (await client.post("/search", json=ASKED)).json()["results"]
            with frozen(folder):
                answers = await ask_everything(client)
                ready = await client.get("/readyz")
                alive = await client.get("/healthz")
            codes = {name: problem_of(name, answer) for name, answer in answers.items()}
            assert set(codes.values()) == {"database_unavailable"}, codes
            assert ready.status_code == 503
            assert alive.status_code == 200
            await until(client, lambda answer: answer.json()["status"] == "up")
            assert (await client.post("/search", json=ASKED)).json()["results"]


async def test_nothing_opens_a_frozen_postgresql(
    environment: dict[str, str], sextant: Sextant
) -> None:
    with running(environment) as (_, folder, own), frozen(folder):
        for command in (["graphs"], ["ask", ASKED["query"]], ["worker"], ["serve", "--port", "0"]):
            told = sextant(*command, **own)
            assert told.status == 3, (command, told.out, told.err)
            assert "PostgreSQL" in told.err


async def test_no_command_waits_for_a_statement_that_never_ends(
    environment: dict[str, str], sextant: Sextant
) -> None:
    """The server lets others in, so that only our own bound ends it: a lock is as silent as a frozen backend."""
    with short_folder() as folder:
        postgres = EmbeddedServer.start(folder)
        url = f"postgresql://postgres@/postgres?host={postgres.socket_dir}"
        own = {**environment, "DATABASE_URL": url, "SEXTANT_LIMITS__ANSWER_SECONDS": "2"}
        assert sextant("graphs", **own).status == 0
        with psycopg.connect(url) as holding:
            holding.execute("lock table sextant.documents, sextant.graphs")
            for command in (["graphs"], ["documents", "list"], ["search", "lens"], ["chat"]):
                told = sextant(*command, **own)
                assert told.status == 3, (command, told.out, told.err)
                assert "PostgreSQL" in told.err
        postgres.stop()


async def test_a_server_with_its_worker_can_be_stopped_while_postgresql_is_frozen(
    environment: dict[str, str],
) -> None:
    """The queue's library waits for the statement in hand before it ends."""
    with short_folder() as folder:
        postgres = EmbeddedServer.start(folder)
        url = f"postgresql://postgres@/postgres?host={postgres.socket_dir}"
        own = {**environment, "DATABASE_URL": url, "SEXTANT_DATABASE_TIMEOUT": "2"}
        with serving(own) as server:
            async with httpx.AsyncClient(base_url=server.address, timeout=PATIENCE) as client:
                await until(client, lambda answer: answer.json()["status"] == "up")
                with frozen(folder):
                    assert (await client.get("/api/graphs")).status_code == 503
                    server.stop()
                    assert server.process.wait(PATIENCE) == 0, server.log
        postgres.stop()


async def test_keys_that_nobody_can_look_up_are_no_reason_to_wait(
    environment: dict[str, str], sextant: Sextant
) -> None:
    with running(environment, SEXTANT_AUTH__KEY_CACHE_SECONDS="0") as (address, folder, own):
        made = sextant("keys", "create", "-u", "alice", "-s", "admin", "--json", **own).json()
        known = {"Authorization": f"Bearer {made['secret']}"}
        strangers = [
            {"Authorization": f"Bearer {made['secret'][:-2]}{number:02}"} for number in range(8)
        ]
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
            assert (await client.get("/api/graphs", headers=known)).status_code == 200
            with frozen(folder):
                answers = await asyncio.gather(
                    *(client.get("/api/graphs", headers=one) for one in [known, *strangers])
                )
            codes = {answer.json()["code"] for answer in answers}
            assert codes <= {"database_unavailable", "unauthorised"}
            assert answers[0].json()["code"] == "database_unavailable"
            await until(client, lambda answer: answer.json()["status"] == "up")
            assert (await client.get("/api/graphs", headers=known)).status_code == 200


async def test_langgraph_s_own_routes_end_typed_too(
    environment: dict[str, str], sextant: Sextant
) -> None:
    with short_folder() as folder:
        postgres = EmbeddedServer.start(folder)
        own = {
            **environment,
            "SEXTANT_DATA_DIR": str(folder),
            "SEXTANT_DATABASE_TIMEOUT": "2",
            "SEXTANT_AUTH__KEY_CACHE_SECONDS": "0",
        }
        made = sextant("keys", "create", "-u", "alice", "-s", "admin", "--json", **own).json()
        key = {"Authorization": f"Bearer {made['secret']}"}
        with developing(own) as address:
            async with httpx.AsyncClient(base_url=address, headers=key, timeout=PATIENCE) as client:
                thread = (await client.post("/threads", json={})).json()["thread_id"]
                run = {"assistant_id": "sextant", "input": ASKED}
                with frozen(folder):
                    answers = await asyncio.gather(
                        client.post("/threads/search", json={}),
                        client.get(f"/threads/{thread}"),
                        client.post(f"/threads/{thread}/runs/wait", json=run),
                        client.post("/runs/stream", json=run),
                    )
        assert {answer.json()["code"] for answer in answers} == {"database_unavailable"}
        postgres.stop()
