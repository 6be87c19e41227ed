"""One server for all tests of answers, with papers in a knowledge base and a scripted chat model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from sextant.domain.scope import Scope
from sextant.evals.sets import load_corpus
from sextant.models.embedding import build_embedder
from sextant.stores.postgresql.database import Database
from tests.integration.graph.conftest import PASSAGES
from tests.integration.own_database import short_folder
from tests.integration.server.served import ANSWER, GRAPH, Served, judging, serving_with


@pytest.fixture(scope="session")
def streaming_folder() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


@pytest_asyncio.fixture(scope="session")
async def session_server(streaming_folder: Path) -> AsyncIterator[Served]:
    judged = {"judgements": "always"}  # or rules alone would find these passages good enough
    async with serving_with(streaming_folder, answers=judged) as served:
        settings = served.app.state.serving.settings
        async with await Database.open(settings) as database:
            embedder = build_embedder(settings)
            await load_corpus(database, embedder, Scope(settings.user_id, GRAPH), PASSAGES)
        yield served


@pytest.fixture
def served(session_server: Served) -> Iterator[Served]:
    """Yield the server, with a model that judges by the book and gives `ANSWER`."""
    yield session_server
    session_server.script = judging(ANSWER)
