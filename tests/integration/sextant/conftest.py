"""Each module here has a database of its own: these tests choose embedding models, and a database has one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from sextant.domain.settings import Settings
from sextant.stores.postgresql.database import Database
from tests.integration.own_database import settings_over, short_folder


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """Yield a short path outside any home folder."""
    with short_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def settings(data_dir: Path) -> Settings:
    """Default over the module's data folder."""
    return settings_over(data_dir)


@pytest_asyncio.fixture(scope="module")
async def database(settings: Settings) -> AsyncIterator[Database]:
    """Yield the module's open database."""
    async with await Database.open(settings) as opened:
        yield opened
