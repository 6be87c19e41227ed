"""Answers over HTTP that stop for a decision: 202 or an `interrupt` event, then the rest."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import pytest

APPROVED = {"decisions": [{"type": "approve"}]}


@pytest.fixture
def asked() -> dict[str, Any]:
    """Return a question whose sources are to be approved."""
    return {
        "query": "Rust 的所有权规则是什么？",
        "graphId": "rust",
        "threadId": f"t-{uuid4()}",
        "interrupts": True,
        "approveSources": True,
    }


@pytest.mark.usefixtures("book")
async def test_an_answer_waits_for_approval_and_is_given_then(
    client: httpx.AsyncClient, asked: dict[str, Any]
) -> None:
    stopped = await client.post("/api/query", json=asked)
    assert stopped.status_code == 202
    pending = stopped.json()
    assert pending["threadId"] == asked["threadId"]
    [action] = pending["request"]["action_requests"]
    assert action["name"] == "approve_sources"
    assert action["description"].startswith("回答将依据这些段落")
    said = await client.get(f"/api/threads/{asked['threadId']}")
    assert [(turn["role"], turn["text"]) for turn in said.json()["turns"]] == [
        ("user", asked["query"])
    ]

    body = {"threadId": asked["threadId"], **APPROVED}
    answered = await client.post("/api/query/resume", json=body)
    assert answered.status_code == 200
    assert answered.json()["citations"]

    again = await client.post("/api/query/resume", json=body)
    assert (again.status_code, again.json()["code"]) == (404, "conversation_not_found")


@pytest.mark.usefixtures("book")
async def test_a_stream_ends_with_what_to_decide_and_goes_on_as_another(
    client: httpx.AsyncClient, asked: dict[str, Any]
) -> None:
    first = await client.post("/api/query", json=asked | {"stream": True})
    assert first.text.split("event: ")[-1].startswith("interrupt\n")
    assert '"action_requests"' in first.text
    body = {"threadId": asked["threadId"], **APPROVED, "stream": True}
    second = await client.post("/api/query/resume", json=body)
    names = [block.partition("\n")[0] for block in second.text.split("event: ")[1:]]
    assert names[-1] == "done"
    assert "interrupt" not in names


@pytest.mark.usefixtures("book")
async def test_wrong_decisions_and_other_peoples_threads_are_refused(
    client: httpx.AsyncClient, asked: dict[str, Any]
) -> None:
    nameless = {name: value for name, value in asked.items() if name != "threadId"}
    refused = await client.post("/api/query", json=nameless)
    assert (refused.status_code, refused.json()["field"]) == (422, "threadId")

    await client.post("/api/query", json=asked)
    wrong = {"threadId": asked["threadId"], "decisions": [{"type": "edit"}]}
    refused = await client.post("/api/query/resume", json=wrong)
    assert (refused.status_code, refused.json()["field"]) == (422, "decisions")
    assert "选" in refused.json()["detail"], "in the language of the question"
    unknown = await client.post("/api/query/resume", json={"threadId": "none", **APPROVED})
    assert unknown.status_code == 404
