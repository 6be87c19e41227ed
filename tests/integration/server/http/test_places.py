"""Searches have places: without a free one a search is refused, soon and unharmed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import cast

import httpx
import pytest
from fastapi import FastAPI

from sextant.domain.concurrency import FairSemaphore
from sextant.server.lifespan import Serving
from tests.integration.own_database import short_folder
from tests.integration.server.served import serving_with

SEARCHES = {
    "/search": {"query": "Rust 的所有权和借用", "graphId": "rust"},
    "/api/knowledge/entities/search": {"query": "Rust", "graphId": "rust"},
}


@asynccontextmanager
async def all_taken(app: FastAPI, caller: str = "somebody") -> AsyncIterator[FairSemaphore]:
    """Have every place of the server meanwhile."""
    serving = cast("Serving", app.state.serving)
    async with AsyncExitStack() as taken:
        for _ in range(serving.settings.http.searches):
            await taken.enter_async_context(serving.searches.slot(caller))
        yield serving.searches


@pytest.mark.usefixtures("book")
@pytest.mark.parametrize("path", SEARCHES)
async def test_without_a_free_place_a_search_is_503_and_with_one_it_is_found_again(
    app: FastAPI, client: httpx.AsyncClient, path: str
) -> None:
    async with all_taken(app):
        refused = await client.post(path, json=SEARCHES[path])
        assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["retryable"]
        assert (await client.get("/api/graphs")).status_code == 200
    assert (await client.post(path, json=SEARCHES[path])).status_code == 200


@pytest.mark.usefixtures("book")
async def test_what_is_wrong_is_told_before_a_place_is_sought(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    async with all_taken(app):
        assert (await client.post("/search", json={"quary": "Rust"})).status_code == 422


async def test_where_too_many_wait_a_search_is_refused_before_it_is_read() -> None:
    with short_folder() as folder:
        patient = {"searches": 1, "search_wait_seconds": 3600}
        async with serving_with(folder, http=patient) as served, served.client() as client:
            async with all_taken(served.app, "another") as places:
                waiting = asyncio.create_task(client.post("/search", json={"query": "Rust"}))
                async with asyncio.timeout(60):
                    while not places.waiting:  # noqa: ASYNC110 - until it has come over TCP
                        await asyncio.sleep(0)
                for path in SEARCHES:
                    refused = await client.post(path, content=b"no JSON")
                    assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
                    assert refused.headers["retry-after"] == "1"
            assert (await waiting).status_code == 404


async def test_whoever_leaves_while_it_waits_takes_no_place() -> None:
    with short_folder() as folder:
        patient = {"searches": 2, "search_wait_seconds": 3600}
        async with serving_with(folder, http=patient) as served, served.client() as client:
            async with all_taken(served.app) as places:
                asking = asyncio.create_task(client.post("/search", json={"query": "Rust"}))
                async with asyncio.timeout(60):
                    while not places.waiting:  # noqa: ASYNC110 - until it has come over TCP
                        await asyncio.sleep(0)
                    asking.cancel()
                    while places.waiting:  # noqa: ASYNC110 - until the server knows
                        await asyncio.sleep(0)
            assert places.taken == 0
            asked = await client.post("/search", json={"query": "Rust"})
            assert (asked.status_code, asked.json()["code"]) == (404, "graph_not_found")
