"""Conversations over HTTP: begun by a question, listed in pages, read, forgotten."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import httpx
import pytest


@pytest.fixture
def thread() -> str:
    """Return a name that a path must not stumble over."""
    return f"所有权/a thread {uuid4()}"


async def ask(client: httpx.AsyncClient, thread: str, query: str, **more: Any) -> httpx.Response:
    asked = {"query": query, "graphId": "rust", "threadId": thread} | more
    return await client.post("/api/query", json=asked)


async def listed(client: httpx.AsyncClient, **query: Any) -> dict[str, Any]:
    told = (await client.get("/api/threads", params=query)).json()
    assert isinstance(told, dict)
    return told


@pytest.mark.usefixtures("book")
async def test_a_conversation_is_begun_read_and_forgotten(
    client: httpx.AsyncClient, thread: str
) -> None:
    question = "Rust 的所有权规则是什么？"
    answer = (await ask(client, thread, question)).json()
    assert (await ask(client, thread, "你好", stream=True)).status_code == 200
    said = (await client.get(f"/api/threads/{thread}")).json()
    assert said["threadId"] == thread
    assert [turn["role"] for turn in said["turns"]] == ["user", "assistant"] * 2
    first, second = said["turns"][:2]
    assert first["text"] == question
    assert (second["text"], second["citations"]) == (answer["answer"], answer["citations"])
    assert second["sources"][0]["documentId"] == answer["sources"][0]["documentId"]
    assert said["turns"][3]["mode"] == "bypass"
    newest = (await listed(client))["threads"][0]
    assert (newest["threadId"], newest["title"]) == (thread, question)
    assert newest["createdAt"] < newest["updatedAt"]
    renamed = await client.patch(f"/api/threads/{thread}", json={"title": " 所有权 \n 规则 "})
    assert renamed.status_code == 204
    assert (await listed(client))["threads"][0]["title"] == "所有权 规则"
    for nothing in (" ", "\0"):
        empty = await client.patch(f"/api/threads/{thread}", json={"title": nothing})
        assert (empty.status_code, empty.json()["field"]) == (422, "title")
    assert (await client.delete(f"/api/threads/{thread}")).status_code == 204
    gone = await client.patch(f"/api/threads/{thread}", json={"title": "gone"})
    assert (gone.status_code, gone.json()["code"]) == (404, "conversation_not_found")
    for method in ("GET", "DELETE"):
        gone = await client.request(method, f"/api/threads/{thread}")
        assert (gone.status_code, gone.json()["code"]) == (404, "conversation_not_found")


async def test_a_first_question_that_fails_leaves_no_conversation_however_it_is_asked(
    client: httpx.AsyncClient, thread: str
) -> None:
    """What stopped its stream stopped its clearing up: the name stayed, and was busy for minutes."""
    for stream in (True, False, True):
        answer = await ask(client, thread, "Why?", graphId="nowhere", stream=stream)
        # A stream that was slow has begun before it fails, and ends with the error.
        assert '"graph_not_found"' in answer.text
    assert thread not in [one["threadId"] for one in (await listed(client))["threads"]]


@pytest.mark.usefixtures("book")
async def test_the_list_comes_in_pages(client: httpx.AsyncClient) -> None:
    names = [f"{uuid4()}" for _ in range(3)]
    for name in names:
        await ask(client, name, "hello")
    found, cursor = list[str](), None
    while not set(names) <= set(found):
        page = await listed(client, limit=2, **({"cursor": cursor} if cursor else {}))
        found += [one["threadId"] for one in page["threads"]]
        cursor = page["nextCursor"]
        assert cursor or set(names) <= set(found)
    assert [name for name in found if name in names] == names[::-1]
    assert len(set(found)) == len(found)
    bad = await client.get("/api/threads", params={"cursor": "AAAA"})
    assert bad.status_code == 422


@pytest.mark.usefixtures("book")
@pytest.mark.parametrize("stream", [True, False])
async def test_of_two_questions_at_once_one_is_told_to_wait(
    client: httpx.AsyncClient, thread: str, stream: bool
) -> None:
    both = (ask(client, thread, "Who owns a value in Rust?", stream=stream) for _ in range(2))
    statuses = sorted([answer.status_code for answer in await asyncio.gather(*both)])
    assert statuses in ([200, 409], [200, 200])  # the one may have ended as the other began
    said = (await client.get(f"/api/threads/{thread}")).json()
    assert len(said["turns"]) == 2 * statuses.count(200)


async def test_a_name_that_cannot_be_one_is_refused(client: httpx.AsyncClient) -> None:
    for name in ("", "x" * 201, "a\x00b"):
        answer = await ask(client, name, "Why?")
        assert answer.status_code == 422, name
