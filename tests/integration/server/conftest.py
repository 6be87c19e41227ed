"""The application, called in this process.

Its database is its own: other tests choose other embedding models, and a database has one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI

from sextant.domain.settings import Settings, WorkerSettings
from sextant.server.app import create_app
from sextant.stores.postgresql.database import Database
from tests.integration.own_database import settings_over, short_folder
from tests.integration.server.calling import calling


@pytest.fixture(scope="session")
def settings() -> Iterator[Settings]:
    """Default over a data folder for the tests of the server."""
    with short_folder() as folder:
        yield settings_over(folder)


@pytest_asyncio.fixture(scope="session")
async def database(settings: Settings) -> AsyncIterator[Database]:
    """Yield its database."""
    async with await Database.open(settings) as opened:
        yield opened


@pytest_asyncio.fixture(scope="session")
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    """Yield the running application; tests keep apart by graph id."""
    # A worker would take the jobs that tests of this session queue for themselves.
    without_worker = settings.model_copy(update={"worker": WorkerSettings(in_server=False)})
    created = create_app(without_worker)
    async with created.router.lifespan_context(created):
        yield created


@pytest_asyncio.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of it, without a socket between."""
    async with calling(app) as opened:
        yield opened
