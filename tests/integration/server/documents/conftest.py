"""The application with its worker, over a PostgreSQL of its own: a worker takes whatever is queued."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI

from sextant.domain.settings import IngestionSettings, Settings, WorkerSettings
from sextant.server.app import create_app
from tests.integration.own_database import settings_over, short_folder

# For a document of a few lines, on a machine that does much else.
PATIENCE = 60.0

Settled = Callable[[str], Awaitable[dict[str, Any]]]


@pytest_asyncio.fixture(scope="package")
async def app() -> AsyncIterator[FastAPI]:
    """Yield the running application, whose worker looks around twice a second."""
    with short_folder() as folder:
        created = create_app(_impatient(settings_over(folder)))
        async with created.router.lifespan_context(created):
            yield created


def _impatient(settings: Settings) -> Settings:
    worker = WorkerSettings(sweep=0.5, backoff=0.1, drain=1.0)
    ingestion = IngestionSettings(job_heartbeat=0.5, job_stale=10)
    return settings.model_copy(update={"worker": worker, "ingestion": ingestion})


@pytest.fixture
def settled(client: httpx.AsyncClient) -> Settled:
    """Return waits until a document's ingestion has ended, and returns the document."""

    async def wait(document_id: str) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while True:
                found = await client.get(f"/documents/{document_id}")
                document: dict[str, Any] = found.json()
                if document["job"]["stage"] in {"done", "failed"}:
                    return document
                await asyncio.sleep(0.1)

    return wait
