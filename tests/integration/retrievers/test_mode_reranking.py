"""A reranker behind a mode: it orders the passages, or leaves them as they were and says so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import uuid4

import pytest
import pytest_asyncio

from sextant.domain.errors import ModelUnavailable
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.evals.sets import load_corpus
from sextant.models.protocols import Embedder
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.retrievers.modes_world import PASSAGES, QUESTION, files, over


@pytest_asyncio.fixture(scope="module")
async def scope(database: Database) -> Scope:
    """Return one knowledge base for all tests, which only read it."""
    scope = Scope(f"user-{uuid4()}", "read-only")
    await load_corpus(database, HashEmbedder(384), scope, PASSAGES)
    return scope


class ByLength:
    """A reranker that prefers short passages."""

    name = "by length"

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        assert query
        return [-float(len(text)) for text in texts]


class NoReranker(ByLength):
    """A reranker whose model does not answer."""

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        raise ModelUnavailable(f"no scores for {len(texts)}")


class LateReranker(ByLength):
    """A reranker whose model does not answer until it is cancelled."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()
        return []


@pytest.mark.parametrize("mode", ["hybrid", "mix"])
async def test_a_reranker_orders_the_passages_and_says_how(
    database: Database,
    embedder: Embedder,
    settings: Settings,
    scope: Scope,
    mode: str,
) -> None:
    retriever = over(database, embedder, settings, reranker=ByLength())
    found = await retriever.search(scope, QUESTION, mode=mode, top_k=len(PASSAGES))
    lengths = [len(item.text) for item in found.results]
    assert lengths == sorted(lengths)
    assert [item.lanes["rerank"].rank for item in found.results] == [*range(1, len(lengths) + 1)]
    scores = [item.score for item in found.results]
    assert scores == sorted(scores, reverse=True)
    assert found.timings["rerank"] >= 0


async def test_a_reranker_that_fails_leaves_the_order_and_a_warning(
    database: Database, embedder: Embedder, settings: Settings, scope: Scope
) -> None:
    retriever = over(database, embedder, settings, reranker=NoReranker())
    found = await retriever.search(scope, QUESTION, mode="mix", top_k=2)
    assert set(files(found)) == {"mounds", "state"}
    assert any("Reranking failed" in warning for warning in found.warnings)


async def test_a_reranker_that_is_late_is_cancelled_and_leaves_the_order_and_a_warning(
    database: Database, embedder: Embedder, settings: Settings, scope: Scope
) -> None:
    hasty = settings.retrieval.model_copy(update={"rerank_timeout": 0.01})
    late = LateReranker()
    plain = over(database, embedder, settings)
    retriever = over(
        database, embedder, settings.model_copy(update={"retrieval": hasty}), reranker=late
    )
    found = await retriever.search(scope, QUESTION, mode="mix", top_k=2)
    assert files(found) == files(await plain.search(scope, QUESTION, mode="mix", top_k=2))
    assert any("Reranking took longer than 0.01 s" in warning for warning in found.warnings)
    await asyncio.wait_for(late.cancelled.wait(), 60)
