"""A real PostgreSQL for the whole test session, its stores, and a tenant of its own for every test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.pipeline import Ingestor
from sextant.models.chat import endpoint_memory
from sextant.models.chat.endpoint_memory import EndpointMemory
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.embedding_space import check_space
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.own_database import fresh_database, settings_over, short_folder
from tests.integration.stored_state import GraphRecord, JobStore


class _KnownEndpoints(EndpointMemory):
    """Endpoints that keep thoughts apart: their answers are streamed from the first piece on."""

    def of(self, endpoint: str, model: str) -> Any:
        learnt = super().of(endpoint, model)
        if learnt.thinks_unopened is None:
            learnt.thinks_unopened = False
        return learnt

    def remember_in(self, file: Path) -> None:
        """Remember nothing of another test's endpoint, which may have had the same port."""


@pytest.fixture(autouse=True, scope="session")
def known_endpoints() -> Iterator[None]:
    """Endpoints are known, those of a server for the whole session among them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(endpoint_memory, "MEMORY", _KnownEndpoints())
        yield


@pytest.fixture(autouse=True)
def new_endpoints(known_endpoints: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of an endpoint from another test's, which may have had the same port."""
    monkeypatch.setattr(endpoint_memory, "MEMORY", _KnownEndpoints())


@pytest.fixture
def unknown_endpoints(new_endpoints: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No endpoint has answered yet."""
    monkeypatch.setattr(endpoint_memory, "MEMORY", EndpointMemory())


@pytest.fixture(scope="session")
def data_dir() -> Iterator[Path]:
    """Yield a short path outside any home folder."""
    with short_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def settings(data_dir: Path) -> Settings:
    """Default over the session's data folder; the environment's settings do not reach tests."""
    return settings_over(data_dir)


@pytest_asyncio.fixture(scope="session")
async def database(settings: Settings) -> AsyncIterator[Database]:
    """Yield the session's open database, which has the vectors of one embedder; tests keep apart by `scope`."""
    async with await Database.open(settings) as opened:
        await check_space(opened, HashEmbedder(384))
        yield opened


@pytest_asyncio.fixture
async def own_database() -> AsyncIterator[Database]:
    """Yield the test's own database: which embedding model has filled it is one thing for all tenants."""
    async with fresh_database() as opened:
        yield opened


@pytest.fixture
def scope() -> Scope:
    """Return a knowledge base of a user that no other test knows."""
    return Scope(user_id=f"user-{uuid4()}", graph_id="default")


@pytest.fixture
def documents(database: Database) -> DocumentStore:
    return DocumentStore(database)


@pytest.fixture
def chunks(database: Database) -> ChunkStore:
    return ChunkStore(database)


@pytest.fixture
def jobs(database: Database) -> JobStore:
    return JobStore(database)


@pytest.fixture
def record(database: Database) -> GraphRecord:
    return GraphRecord(database)


@pytest.fixture
def embedder() -> HashEmbedder:
    """As long as the column that a new database has."""
    return HashEmbedder(384)


@pytest.fixture
def ingestor(
    documents: DocumentStore, jobs: JobStore, embedder: HashEmbedder, settings: Settings
) -> Ingestor:
    """Return takes documents in, with an embedder that needs no model; builds no graph."""
    return Ingestor(documents, jobs, embedder, settings)


@pytest.fixture
def graphed(
    database: Database,
    documents: DocumentStore,
    jobs: JobStore,
    embedder: HashEmbedder,
    settings: Settings,
) -> Ingestor:
    """Return the same, and builds the graph."""
    return Ingestor(documents, jobs, embedder, settings, GraphIndexer(database))
