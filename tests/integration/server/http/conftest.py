"""The knowledge base of the OpenAPI document's examples, for the one user and for somebody else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest_asyncio
from fastapi import FastAPI

from sextant.facade import Sextant
from sextant.server.lifespan import Serving
from sextant.server.openapi import examples
from tests.integration.server.calling import calling

LINES = {"content-type": "application/x-ndjson"}
IMPORT: str = examples()["requests"]["importGraph"]


@pytest_asyncio.fixture(scope="session")
async def rag(app: FastAPI) -> Sextant:
    """Return what the server works with."""
    return cast("Serving", app.state.serving).rag


@pytest_asyncio.fixture(scope="session")
async def book(app: FastAPI, rag: Sextant) -> dict[str, Any]:
    """Return the examples' knowledge base, imported over HTTP; the answer."""
    async with calling(app) as client:
        answer = await client.post(
            "/api/graphs/rust/import", content=IMPORT.encode(), headers=LINES
        )
    assert answer.status_code == 200, answer.text
    brought = answer.json()
    assert isinstance(brought, dict)
    return brought


@pytest_asyncio.fixture(scope="session")
async def foreign(rag: Sextant) -> Sextant:
    """Return somebody else, who has a knowledge base of the same content under another name."""

    async def lines() -> AsyncIterator[bytes]:
        for line in IMPORT.encode().splitlines():
            yield line

    other = rag.as_user("somebody-else")
    await other.import_graph(lines(), "theirs")
    return other
