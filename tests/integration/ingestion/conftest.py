"""Importers, and a database whose workers count as dead soon."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sextant.domain.settings import IngestionSettings, Settings
from sextant.ingestion.importer import Importer
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database


@pytest.fixture
def importer(ingestor: Ingestor, database: Database) -> Importer:
    return Importer(ingestor, GraphRecord(database))


@pytest_asyncio.fixture(scope="module")
async def impatient(settings: Settings, database: Database) -> AsyncIterator[Database]:
    """Yield the session's database, where a worker counts as dead after a fifth of a second."""
    changed = settings.model_copy(update={"ingestion": IngestionSettings(job_stale=0.2)})
    async with await Database.open(changed) as opened:
        yield opened
