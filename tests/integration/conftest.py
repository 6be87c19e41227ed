"""A real PostgreSQL for the whole test session, and a tenant of its own for every test."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio

from domain.scope import Scope
from domain.settings import Settings
from stores.database import Database


@pytest.fixture(scope="session")
def data_dir() -> Iterator[Path]:
    """A short path outside any home folder."""
    folder = Path(tempfile.mkdtemp(prefix="sxt-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def settings(data_dir: Path) -> Settings:
    """Defaults over the session's data folder; the environment's settings do not reach tests."""
    return Settings(_env_file=None, data_dir=data_dir, database_url=None, neo4j_uri=None)


@pytest_asyncio.fixture(scope="session")
async def database(settings: Settings) -> AsyncIterator[Database]:
    """The session's open database; tests keep apart by `scope`."""
    async with await Database.open(settings) as opened:
        yield opened


@pytest.fixture
def scope() -> Scope:
    """A knowledge base of a user that no other test knows."""
    return Scope(user_id=f"user-{uuid4()}", graph_id="default")
