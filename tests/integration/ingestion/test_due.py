"""When the communities of a large graph are due, whatever came and went while they were built."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from uuid import UUID

import pytest

from sextant.domain.scope import Scope
from sextant.domain.settings import IngestionSettings, Settings
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.pipeline import Ingested, Ingestor
from sextant.models.protocols import Vectors
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.community_store import Follows, HierarchyStore
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.ingestion.uploading import ingest_bytes
from tests.integration.stored_state import GraphRecord

SHARE = 0.5
ROUNDS = 12


class Gated(HashEmbedder):
    """Waits before the last batch of a document called half, as long as a test wants."""

    def __init__(self) -> None:
        super().__init__(384)
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if any("一半" in text for text in texts):
            self.reached.set()
            await self.opened.wait()
        return await super().embed_passages(texts)


class History:
    """What happens to a knowledge base, and what of it the communities have not followed."""

    def __init__(self, database: Database, settings: Settings, scope: Scope) -> None:
        self.scope, self.gated = scope, Gated()
        self.documents, self.record = DocumentStore(database), GraphRecord(database)
        self.hierarchy = HierarchyStore(database)
        one_by_one = {"ingestion": IngestionSettings(embed_batch=1)}
        own, jobs = settings.model_copy(update=one_by_one), JobStore(database)
        self.ingestor, self.slow = (
            Ingestor(self.documents, jobs, embedder, own, GraphIndexer(database))
            for embedder in (HashEmbedder(384), self.gated)
        )
        self.there: dict[UUID, int] = {}
        self.new: set[UUID] = set()
        self.followed, self.gone, self.number = 0, False, 0

    async def add(self) -> None:
        self._added(await self._ingest(self.ingestor))

    async def delete(self, random: Random) -> None:
        if self.there:
            document = random.choice(sorted(self.there))
            await self.documents.delete(self.scope, document)
            self.there.pop(document)
            self.gone = self.gone or document not in self.new
            self.new.discard(document)

    async def follow(self, random: Random) -> None:
        """Build the communities while one document arrives and another is half stored."""
        self.gated.reached.clear()
        self.gated.opened.clear()
        half = asyncio.create_task(self._ingest(self.slow, "一半"))
        await self.gated.reached.wait()
        moment = await self.hierarchy.moment(self.scope)
        arrays = await self.record.arrays(self.scope)
        self.followed, self.new, self.gone = sum(self.there.values()), set(), False
        await self.add()
        if random.random() < 0.5:
            await self.delete(random)
        await self.hierarchy.write(self.scope, [], [], Follows(arrays.version, 0, 0.0), moment)
        assert await self.hierarchy.is_due(self.scope, SHARE) == self.due
        self.gated.opened.set()
        self._added(await half)

    @property
    def due(self) -> bool:
        return self.gone or sum(self.there[one] for one in self.new) >= SHARE * self.followed

    async def _ingest(self, ingestor: Ingestor, end: str = "") -> Ingested:
        self.number += 1
        told = [f"热控系统{self.number}给回路{n}供电。" for n in range(self.number % 3 + 1)]
        sections = (f"# 第{n}节\n\n{text}" for n, text in enumerate([*told, end]) if text)
        name = f"{self.number}.md"
        return await ingest_bytes(ingestor, self.scope, "\n\n".join(sections).encode(), name)

    def _added(self, done: Ingested) -> None:
        assert done.document_id is not None
        self.there[done.document_id] = done.chunks
        self.new.add(done.document_id)


@pytest.mark.parametrize("seed", range(3))
async def test_they_are_due_when_anything_they_follow_has_gone_or_a_share_of_it_is_new(
    database: Database,
    settings: Settings,
    scope: Scope,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sextant.stores.graph.community_store._MAX_EAGER_PASSAGES", 0)
    random, history = Random(seed), History(database, settings, scope)  # noqa: S311 - a test's choice
    await history.add()
    await history.follow(random)
    steps: list[Callable[[], Awaitable[None]]] = [
        history.add,
        lambda: history.delete(random),
        lambda: history.follow(random),
    ]
    seen = set()
    for _ in range(ROUNDS):
        await random.choice(steps)()
        due = await history.hierarchy.is_due(scope, SHARE)
        assert due == history.due
        seen.add(due)
    assert seen == {True, False}
