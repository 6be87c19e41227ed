"""Each module here has a database of its own: these tests choose embedding models, and a database has one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from domain.settings import Settings
from stores.database import Database


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """A short path outside any home folder."""
    folder = Path(tempfile.mkdtemp(prefix="sxt-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def settings(data_dir: Path) -> Settings:
    """Defaults over the module's data folder."""
    return Settings(_env_file=None, data_dir=data_dir, database_url=None, neo4j_uri=None)


@pytest_asyncio.fixture(scope="module")
async def database(settings: Settings) -> AsyncIterator[Database]:
    """The module's open database."""
    async with await Database.open(settings) as opened:
        yield opened
