"""A server says that it lives, and what it does not have."""

from __future__ import annotations

import httpx


async def test_the_server_says_that_it_lives(client: httpx.AsyncClient) -> None:
    answer = await client.get("/healthz")
    assert answer.json() == {"status": "ok"}


async def test_a_path_that_is_not_there_is_a_problem_document(client: httpx.AsyncClient) -> None:
    answer = await client.get("/nowhere")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "not_found"
