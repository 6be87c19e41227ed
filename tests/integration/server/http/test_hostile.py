"""Whatever is sent, the answer is a problem document that is not the server's fault."""

from __future__ import annotations

import base64
import copy
import gzip
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from sextant.domain.scope import DEFAULT_USER
from sextant.domain.settings import HttpSettings
from sextant.retrievers.cursor import ListingKey
from sextant.server.openapi import examples

SOME_ID = examples()["parameters"]["documentId"]
pytestmark = pytest.mark.usefixtures("book")

JSON = {"content-type": "application/json"}
BODIES: dict[str, dict[str, Any]] = {
    "/search": examples()["requests"]["search"] | {"mode": None, "cursor": "AAAA"},
    "/api/knowledge/entities/search": examples()["requests"]["searchEntities"] | {"cursor": "AAAA"},
    "/api/query": examples()["requests"]["ask"],
    "/v1/chat/completions": examples()["requests"]["chatCompletions"],
}
ROUTES = sorted(BODIES)


def assert_refused(answer: httpx.Response) -> None:
    """Check a problem of the caller, told without what was sent."""
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:500])
    told = answer.json()
    assert "code" in told or "error" in told
    assert len(answer.content) < 5_000


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe\x00",
        b'{"query": "\xff"}',
        b'{"query": "\xed\xa0\x80"}',
        b'{"query": "\\ud800"}',
        b'{"query": NaN}',
        b'{"query": "a", "limit": Infinity}',
        b'{"query": "a", "limit": -Infinity}',
        b'{"query": "a", "limit": 1e999}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"query": ' + b"9" * 5_000 + b"}",
    ],
    ids=lambda body: repr(body[:24]),
)
async def test_what_is_no_json_or_of_no_use_is_refused(
    client: httpx.AsyncClient, path: str, body: bytes
) -> None:
    assert_refused(await client.post(path, content=body, headers=JSON))


async def test_what_is_no_json_is_told_with_its_place(client: httpx.AsyncClient) -> None:
    told = (await client.post("/search", content=b'{"query": tea}', headers=JSON)).json()
    assert told["detail"].startswith("The body is not JSON: ")
    assert told["detail"].endswith(" at character 10.")
    assert "field" not in told


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "a/b",
        "",
    ],
)
async def test_another_type_of_body_is_415(client: httpx.AsyncClient, path: str, kind: str) -> None:
    headers = {"content-type": kind} if kind else {}
    body = json.dumps(BODIES[path]).encode()
    answer = await client.post(path, content=body, headers=headers)
    assert answer.status_code == 415


@pytest.mark.parametrize("path", ROUTES)
async def test_a_body_in_a_coding_is_415_and_told_which_is_taken(
    client: httpx.AsyncClient, path: str
) -> None:
    body = gzip.compress(json.dumps(BODIES[path]).encode())
    answer = await client.post(path, content=body, headers=JSON | {"content-encoding": "gzip"})
    assert answer.status_code == 415
    assert answer.headers["accept-encoding"] == "identity"
    assert "Content-Encoding" in answer.text


async def test_a_knowledge_base_is_not_named_by_bytes_that_are_no_text(
    client: httpx.AsyncClient,
) -> None:
    line = b'{"type":"chunk","id":"c","text":"Tea is a drink."}'
    headers = {"content-type": "application/x-ndjson"}
    assert_refused(await client.post("/api/graphs/%ff/import", content=line, headers=headers))


@pytest.mark.parametrize("path", ROUTES)
async def test_a_body_that_is_too_large_is_413(client: httpx.AsyncClient, path: str) -> None:
    limits = HttpSettings()
    most = limits.body_bytes if "search" in path else limits.question_bytes
    body = json.dumps(BODIES[path] | {"query": "a" * most}).encode()
    assert (await client.post(path, content=body, headers=JSON)).status_code == 413


def changed(body: Any, put: object) -> Iterator[Any]:
    """Yield the body with each of its values, at any depth, replaced once."""
    whole = copy.deepcopy(body)

    def walk(node: Any) -> Iterator[None]:
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            kept = node[key]
            node[key] = put
            yield
            node[key] = kept
            if isinstance(kept, dict | list):
                yield from walk(kept)

    for _ in walk(whole):
        yield copy.deepcopy(whole)


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    "put",
    [
        "a\0b",
        "\0",
        "",
        "\r\nSet-Cookie: a=b",
        "'; drop table chunks; --",
        "x" * 100_000,
        -1,
        0,
        2**31,
        2**63,
        10**40,
        1e308,
        -0.0,
        True,
        None,
        [],
        {},
        [[]],
        {"": ""},
        ["\0"] * 101,
    ],
    ids=lambda put: repr(put)[:24],
)
async def test_no_value_in_any_field_makes_the_server_fail(
    client: httpx.AsyncClient, path: str, put: object
) -> None:
    for body in changed(BODIES[path], put):
        answer = await client.post(path, content=json.dumps(body).encode(), headers=JSON)
        assert answer.status_code < 500, (body, answer.text)


@pytest.mark.parametrize(
    "path",
    [
        "/api/knowledge/graph",
        "/api/knowledge/communities",
        "/api/knowledge/entities/duplicates",
        f"/api/knowledge/entities/{SOME_ID}",
        f"/documents/{examples()['parameters']['documentId']}/structure",
        "/documents",
        "/api/graphs",
    ],
)
@pytest.mark.parametrize(
    "value", ["%00", "%ff%fe", "%ed%a0%80", "-1", "9" * 40, "nan", "", "%0d%0a"]
)
async def test_no_value_of_a_parameter_makes_the_server_fail(
    client: httpx.AsyncClient, path: str, value: str
) -> None:
    for name in ("graphId", "seed", "limit", "depth", "level", "parentId", "cursor", "unknown"):
        query = f"{name}={value}" if name == "graphId" else f"graphId={'rust'}&{name}={value}"
        answer = await client.get(f"{path}?{query}")
        assert answer.status_code < 500, (query, answer.text)
        if name == "unknown":
            assert answer.status_code == 422


@pytest.mark.parametrize("name", ["../../etc/passwd", "%00", "%2e%2e", "a" * 201, "%ff", "'\"<>"])
async def test_no_name_of_a_graph_makes_the_server_fail(
    client: httpx.AsyncClient, name: str
) -> None:
    for request in (
        client.get(f"/api/graphs/{name}/export"),
        client.delete(f"/api/graphs/{name}"),
    ):
        assert_refused(await request)


@pytest.mark.parametrize(
    "key",
    [
        [2**40, 1.5, SOME_ID],
        [-1, 1.5, SOME_ID],
        [1, 1e308, SOME_ID],
        [1, 1.5, "no id"],
        [1, 1.5, "\0"],
    ],
    ids=repr,
)
async def test_a_cursor_that_somebody_made_up_with_its_seal_makes_nothing_fail(
    client: httpx.AsyncClient, key: list[Any]
) -> None:
    listing = ListingKey.of("communities", DEFAULT_USER, "rust", None, None)
    position = dict(zip(("level", "rating", "id"), key, strict=True))
    query = {"graphId": "rust", "cursor": listing.cursor(position)}
    answer = await client.get("/api/knowledge/communities", params=query)
    assert answer.status_code in {200, 422}


@pytest.mark.parametrize(
    "key", [["no time", "no id"], ["2026-01-01", "no id"], ["0001-01-01", "\0"]]
)
async def test_the_same_of_documents(client: httpx.AsyncClient, key: list[str]) -> None:
    listing = ListingKey.of("documents", DEFAULT_USER, "rust")
    query = {"graphId": "rust", "cursor": listing.cursor(key)}
    assert_refused(await client.get("/documents", params=query))


@pytest.mark.parametrize("skip", [-5, 2**62])
async def test_the_same_of_a_search_by_mode(client: httpx.AsyncClient, skip: int) -> None:
    asked = {"query": "Rust", "graphId": "rust", "mode": "naive", "limit": 1}
    first = (await client.post("/search", json=asked)).json()
    sealed = base64.urlsafe_b64decode(first["nextCursor"] + "==")
    assert sealed.endswith(b"1")
    forged = base64.urlsafe_b64encode(sealed[:-1] + f"{skip}".encode()).decode()
    assert_refused(await client.post("/search", json=asked | {"cursor": forged}))


async def test_headers_are_not_carried_into_the_answer(client: httpx.AsyncClient) -> None:
    hostile = {"X-Request-Id": "a\tb: c", "Last-Event-ID": "\x7f", "Accept": "a" * 8_000}
    answer = await client.get("/api/graphs", headers=hostile)
    assert answer.status_code == 200
    assert "b: c" not in str(answer.headers)


async def test_of_two_members_of_one_name_the_last_counts(client: httpx.AsyncClient) -> None:
    body = b'{"query": "Rust", "graphId": "nowhere", "graphId": "rust"}'
    assert (await client.post("/search", content=body, headers=JSON)).status_code == 200
