"""A server says that it lives, and what it does not have."""

from __future__ import annotations

import httpx
import pytest
from starlette.types import Message

from sextant.server.problems import CLIENT_LEFT


async def test_the_server_says_that_it_lives(client: httpx.AsyncClient) -> None:
    answer = await client.get("/healthz")
    assert answer.json() == {"status": "ok"}


async def test_a_path_that_is_not_there_is_a_problem_document(client: httpx.AsyncClient) -> None:
    answer = await client.get("/nowhere")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "not_found"
    assert answer.json()["nextStep"] == "/docs lists every route."


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz", "/metrics", "/v1/models"])
async def test_head_answers_as_get_does_without_the_body(
    client: httpx.AsyncClient, path: str
) -> None:
    """Uptime monitors and `wget --spider` ask so."""
    answer, whole = await client.head(path), await client.get(path)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == whole.headers["content-type"]


async def test_a_request_that_is_asked_for_its_head_is_counted_by_its_route(
    client: httpx.AsyncClient,
) -> None:
    await client.head("/healthz")
    assert 'method="HEAD",route="/healthz"' in (await client.get("/metrics")).text


async def test_a_request_for_options_is_counted_by_its_route(client: httpx.AsyncClient) -> None:
    await client.options("/api/threads/x")
    counted = 'method="OPTIONS",route="/api/threads/{threadId}",status="204"'
    assert counted in (await client.get("/metrics")).text


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/documents", "GET, HEAD, OPTIONS, POST"),
        ("HEAD", "/search", "OPTIONS, POST"),
        ("HEAD", "/api/query/x/events", "GET, OPTIONS"),
    ],
)
async def test_another_method_is_told_all_that_the_path_allows(
    client: httpx.AsyncClient, method: str, path: str, allowed: str
) -> None:
    answer = await client.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


async def test_whoever_asks_for_its_options_is_told_what_a_path_allows(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.options("/api/threads/x")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["allow"] == "DELETE, GET, HEAD, OPTIONS, PATCH"
    assert (await client.options("/nowhere")).status_code == 404


@pytest.mark.parametrize("path", ["/healthz", "/api/graphs"])
async def test_another_site_that_asks_before_it_calls_is_told_methods_and_gets_no_leave(
    client: httpx.AsyncClient, path: str
) -> None:
    asked = {"Origin": "https://chat.example", "Access-Control-Request-Method": "GET"}
    answer = await client.options(path, headers=asked)
    assert answer.status_code == 204
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
    assert "access-control-allow-origin" not in answer.headers


async def test_who_leaves_in_the_middle_of_a_form_is_no_fault_of_the_server(
    client: httpx.AsyncClient,
) -> None:
    transport = client._transport
    assert isinstance(transport, httpx.ASGITransport)
    sent: list[Message] = []

    async def leaving() -> Message:
        return {"type": "http.disconnect"}

    async def noting(message: Message) -> None:
        sent.append(message)

    form = b"multipart/form-data; boundary=a"
    scope = {
        "type": "http", "method": "POST", "path": "/documents", "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", form)], "client": ("127.0.0.1", 1),
    }  # fmt: skip
    await transport.app(scope, leaving, noting)
    assert sent[0]["status"] == CLIENT_LEFT
