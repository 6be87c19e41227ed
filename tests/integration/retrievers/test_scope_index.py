"""Keeping a knowledge base in memory: what is read again when something changes, and what is not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from sextant.domain.graph import Community, Finding
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning, WarningCode, collect_warnings
from sextant.ingestion.pipeline import Ingestor
from sextant.retrievers import GraphRetriever
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import IndexPassage
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.community_store import CommunityStore
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.communities import keep
from tests.integration.ingestion.uploading import ingest_bytes

WORDS = ("bread", "dough", "chess", "rust", "tide", "comet", "loom", "violet")


class CountingChunks(ChunkStore):
    """Notes of which documents passages are read; `gate` holds the reading up."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.read: list[list[UUID]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def passages(
        self, scope: Scope, documents: Sequence[UUID] | None = None
    ) -> list[IndexPassage]:
        self.read.append(list(documents or ()))
        await self.gate.wait()
        return await super().passages(scope, documents)


async def add(graphed: Ingestor, scope: Scope, *words: str) -> list[UUID]:
    ids = []
    for word in words:
        text = f"# About {word}\n\nHere {word} meets {word} and the other things.\n"
        registered = await ingest_bytes(graphed, scope, text.encode(), f"{word}.md")
        assert registered.document_id is not None
        ids.append(registered.document_id)
    return ids


async def test_only_documents_that_have_changed_are_read_again(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await add(graphed, scope, *WORDS[:4])
    chunks = CountingChunks(database)
    indexes = ScopeIndexes(chunks, GraphRecord(database), 1000)
    await indexes.get(scope)
    [new] = await add(graphed, scope, WORDS[4])
    await indexes.get(scope)
    assert chunks.read[1:] == [[new]]


async def test_an_index_brought_up_to_date_answers_as_one_built_anew(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    chunks, record = ChunkStore(database), GraphRecord(database)
    indexes = ScopeIndexes(chunks, record, 1000)
    ids = await add(graphed, scope, *WORDS[:5])
    await indexes.get(scope)
    await DocumentStore(database).delete(scope, ids[1])
    await add(graphed, scope, *WORDS[5:])
    kept, anew = await indexes.get(scope), await ScopeIndexes(chunks, record, 1000).get(scope)
    assert (kept.chunk_ids.halves == anew.chunk_ids.halves).all()
    question = "Does chess meet the tide or the dough?"
    rows = np.arange(len(kept.chunk_ids))
    np.testing.assert_array_equal(
        kept.lexical.match(question).weights(rows), anew.lexical.match(question).weights(rows)
    )
    assert kept.passages.vectors is not None
    assert anew.passages.vectors is not None
    np.testing.assert_allclose(kept.passages.vectors, anew.passages.vectors, atol=1e-6)


async def test_vectors_in_memory_rank_as_the_store_does(
    graphed: Ingestor, database: Database, settings: Settings, scope: Scope
) -> None:
    await add(graphed, scope, *WORDS)
    chunks = ChunkStore(database)
    found = []
    for kept in (1000, 0):
        indexes = ScopeIndexes(chunks, GraphRecord(database), 1000, vectors=kept)
        assert ((await indexes.get(scope)).passages.vectors is None) is (kept == 0)
        retriever = GraphRetriever(
            chunks=chunks, embedder=HashEmbedder(384), settings=settings, indexes=indexes
        )
        answer = await retriever.search(scope, "The violet meets the comet.", mode="mix", top_k=8)
        found.append([(item.id, pytest.approx(item.score, abs=1e-5)) for item in answer.results])
    assert found[0] == found[1]


async def test_a_report_written_is_seen_by_the_next_question_and_reads_no_passage(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await add(graphed, scope, *WORDS[:3])
    chunks = CountingChunks(database)
    indexes = ScopeIndexes(chunks, GraphRecord(database), 1000)
    before = await indexes.get(scope)
    finding = Finding("Bread rises.", (before.chunk_ids[0],))
    report = Community(uuid4(), 0, None, "Baking", "Of bread.", (finding,), 5.0, ())
    await keep(database, scope, [report])
    after = await indexes.get(scope)
    assert [one.community.title for one in after.reports.reports] == ["Baking"]
    assert after.walk is before.walk
    assert len(chunks.read) == 1


async def test_the_nearest_reports_are_those_with_the_nearest_vectors(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await add(graphed, scope, *WORDS[:3])
    store, embedder = CommunityStore(database), HashEmbedder(384)
    made = [Community(uuid4(), 0, None, word, f"Of {word}.", (), 5.0, ()) for word in WORDS]
    await keep(database, scope, made)
    waiting = await store.to_embed(scope)
    vectors = await embedder.embed_passages([one.text for one in waiting])
    question = await embedder.embed_query("Of comet and rust.")
    cosines = dict(zip((one.id for one in waiting), (vectors @ question).tolist(), strict=True))
    await store.store_vectors(scope, waiting, vectors)
    index = await ScopeIndexes(ChunkStore(database), GraphRecord(database), 1000).get(scope)
    near, found = index.reports.near(question, 3)
    nearest = sorted(cosines, key=lambda one: (-cosines[one], one))[:3]
    assert [one.community.id for one in near] == nearest
    assert found == pytest.approx([cosines[one] for one in nearest], abs=1e-5)


async def test_while_an_update_takes_long_the_index_of_before_answers_and_says_so(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await add(graphed, scope, *WORDS[:2])
    chunks = CountingChunks(database)
    indexes = ScopeIndexes(chunks, GraphRecord(database), 1000, patience=0.0)
    before = await indexes.get(scope)
    await add(graphed, scope, WORDS[2])
    chunks.gate.clear()
    with collect_warnings() as notices:
        assert await indexes.get(scope) is before
    assert notices == [CodedWarning(WarningCode.INDEX_BEHIND)]
    chunks.gate.set()
    patient: Any = indexes
    patient._patience = 30.0
    assert len((await indexes.get(scope)).chunk_ids) == 3
