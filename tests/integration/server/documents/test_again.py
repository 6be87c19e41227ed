"""Uploads that come more than once, at once, or after something went wrong."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import httpx

from tests.integration.server.documents.conftest import Settled


async def send(
    client: httpx.AsyncClient,
    graph_id: str,
    content: str,
    name: str = "a.txt",
    **options: str,
) -> httpx.Response:
    return await client.post(
        "/documents",
        files={"files": (name, content.encode())},
        data={"graphId": graph_id, **options},
    )


def a_graph() -> str:
    return f"graph-{uuid4()}"


async def test_fifty_identical_uploads_at_once_are_one_document(
    client: httpx.AsyncClient, settled: Settled
) -> None:
    graph_id = a_graph()
    sent = [send(client, graph_id, "The same text.", f"{n}.txt") for n in range(50)]
    answers = await asyncio.gather(*sent)

    taken = [answer for answer in answers if answer.status_code == 202]
    assert {answer.status_code for answer in answers} <= {202, 429}
    ids = {answer.json()["documents"][0]["documentId"] for answer in taken}
    assert len(ids) == 1
    document = await settled(ids.pop())
    assert (document["status"], document["chunkCount"]) == ("ready", 1)
    listed = await client.get("/documents", params={"graphId": graph_id})
    assert len(listed.json()["documents"]) == 1


async def test_a_failed_document_is_tried_again_when_somebody_asks(
    client: httpx.AsyncClient, settled: Settled
) -> None:
    [sent] = (await send(client, a_graph(), "%PDF-1.7 and nothing", "a.pdf")).json()["documents"]
    path = f"/documents/{sent['documentId']}"
    first = await settled(sent["documentId"])
    assert first["status"] == "failed"

    answer = await client.post(f"{path}/retry")

    assert answer.status_code == 202
    assert answer.json()["job"]["jobId"] != first["job"]["jobId"]
    assert (await settled(sent["documentId"]))["job"]["errorCode"] == "file_broken"
    assert (await client.post(f"{path}/cancel")).status_code == 409


async def test_a_ready_document_can_be_neither_retried_nor_cancelled(
    client: httpx.AsyncClient, settled: Settled
) -> None:
    [sent] = (await send(client, a_graph(), "Some text.")).json()["documents"]
    await settled(sent["documentId"])
    for what in ("retry", "cancel"):
        answer = await client.post(f"/documents/{sent['documentId']}/{what}")
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


async def test_a_replacement_that_fails_leaves_the_version_before_it(
    client: httpx.AsyncClient, settled: Settled
) -> None:
    graph_id = a_graph()
    [first] = (await send(client, graph_id, "The old text.", "a.pdf.txt")).json()["documents"]
    await settled(first["documentId"])
    broken = await send(client, graph_id, "%PDF-1.7 broken", "a.pdf.txt", replace="true")
    [second] = broken.json()["documents"]
    assert second["documentId"] == first["documentId"]

    document = await settled(first["documentId"])

    assert (document["status"], document["job"]["errorCode"]) == ("ready", "file_broken")
    text = await client.get(f"/documents/{first['documentId']}/text")
    assert text.json()["text"].startswith("The old text.")


async def test_a_text_is_read_in_bounded_parts(client: httpx.AsyncClient, settled: Settled) -> None:
    [sent] = (await send(client, a_graph(), "0123456789 " * 2_000)).json()["documents"]
    await settled(sent["documentId"])

    async def part(**bounds: int) -> dict[str, Any]:
        answer = await client.get(f"/documents/{sent['documentId']}/text", params=bounds)
        found: dict[str, Any] = answer.json()
        return found

    assert await part(start=11, end=21) | {"documentId": ""} == {
        "documentId": "", "start": 11, "end": 21, "text": "0123456789",
    }  # fmt: skip
    assert len((await part())["text"]) == len((await part(end=2_000_000_000))["text"]) == 20_000
    beyond = await part(start=1_999_999_999, end=2_000_000_000)
    assert (beyond["text"], beyond["end"]) == ("", 1_999_999_999)
    assert (await part(start=20, end=10))["text"] == ""


async def test_ids_of_nobody_are_answered_alike(client: httpx.AsyncClient) -> None:
    for document_id, status in ((uuid4(), 404), ("no-uuid", 422)):
        for method, path in (
            ("GET", ""), ("DELETE", ""), ("GET", "/events"), ("GET", "/text"),
            ("GET", "/file"), ("GET", "/boxes"), ("GET", "/pages/1"), ("POST", "/retry"), ("POST", "/cancel"),
        ):  # fmt: skip
            answer = await client.request(method, f"/documents/{document_id}{path}")
            assert answer.status_code == status, (method, path)
