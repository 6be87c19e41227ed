"""The ingestor over the session's database, with an embedder that needs no model."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from domain.settings import IngestionSettings, Settings
from ingestion.graph.index import GraphIndexer
from ingestion.pipeline import Ingestor
from ingestion.transfer.importing import Importer
from stores.database import Database
from stores.documents import DocumentStore
from stores.graph.record import GraphRecord
from stores.jobs import JobStore
from testing.hash_embedder import HashEmbedder


@pytest.fixture
def ingestor(
    documents: DocumentStore, jobs: JobStore, embedder: HashEmbedder, settings: Settings
) -> Ingestor:
    return Ingestor(documents, jobs, embedder, settings)


@pytest.fixture
def graphed(
    database: Database,
    documents: DocumentStore,
    jobs: JobStore,
    embedder: HashEmbedder,
    settings: Settings,
) -> Ingestor:
    """The same, with the stage that builds the graph."""
    return Ingestor(documents, jobs, embedder, settings, GraphIndexer(database))


@pytest.fixture
def importer(ingestor: Ingestor, database: Database) -> Importer:
    return Importer(ingestor, GraphRecord(database))


@pytest_asyncio.fixture(scope="module")
async def impatient(settings: Settings, database: Database) -> AsyncIterator[Database]:
    """The session's database, where a worker counts as dead after a fifth of a second."""
    changed = settings.model_copy(update={"ingestion": IngestionSettings(job_stale=0.2)})
    async with await Database.open(changed) as opened:
        yield opened
