"""The application over the session's database, called in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest_asyncio
from fastapi import FastAPI

from domain.settings import Settings, WorkerSettings
from server.app import create_app
from tests.integration.server.calling import calling


@pytest_asyncio.fixture(scope="session")
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    """The running application; tests keep apart by graph id."""
    # A worker would take the jobs that tests of this session queue for themselves.
    without_worker = settings.model_copy(update={"worker": WorkerSettings(in_server=False)})
    created = create_app(without_worker)
    async with created.router.lifespan_context(created):
        yield created


@pytest_asyncio.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of it, without a socket between."""
    async with calling(app) as opened:
        yield opened
