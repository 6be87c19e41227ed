"""A changed embedding model is noticed, and re-embedding brings the store over to it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid5

import numpy as np
import pytest

from sextant.domain.documents import Chunk, ParsedDocument, Section
from sextant.domain.errors import ConflictError, EmbeddingModelChanged
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.embedding_space import (
    check_space,
    chunks_without_vectors,
    start_reembedding,
    store_vectors,
)
from sextant.stores.postgresql.database import Database
from tests.integration.chunk_hits import keyword_hits, vector_hits
from tests.integration.stored_state import JobStore


@dataclass(frozen=True)
class Space:
    name: str
    dimension: int


def unit(count: int, dimension: int) -> Vectors:
    return np.asarray(np.eye(count, dimension), np.float32)


async def store(database: Database, scope: Scope, texts: list[str], vectors: Vectors) -> None:
    documents = DocumentStore(database)
    content = "".join(texts)
    opened = await documents.register(
        scope, source="a", filename="a", media_type="text/plain", content=content.encode()
    )
    root = uuid5(opened.document_id, "root")
    chunks, at = [], 0
    for ordinal, text in enumerate(texts):
        chunk_id = uuid5(root, str(ordinal))
        chunks.append(Chunk(chunk_id, root, ordinal, at, at + len(text), text))
        at += len(text)
    section = Section(root, None, "", 0, 0, 0, at)
    parsed = ParsedDocument("", content, "en", (section,), tuple(chunks))
    await documents.begin(scope, opened.document_id, parsed)
    await documents.add_chunks(scope, opened.document_id, chunks, vectors)
    await documents.publish(scope, opened.document_id)


async def test_another_model_is_refused_until_every_chunk_is_embedded_anew(
    own_database: Database, scope: Scope
) -> None:
    old, new = Space("old", 768), Space("new", 512)
    await check_space(own_database, Space("never used", 384))
    await check_space(own_database, old)
    await store(own_database, scope, ["alpha", "beta", "gamma"], unit(3, 768))
    await check_space(own_database, old)
    with pytest.raises(EmbeddingModelChanged, match=r"old.*768.*new.*512.*sextant reembed"):
        await check_space(own_database, new)

    assert await start_reembedding(own_database, new) == [scope]
    chunks = ChunkStore(own_database)
    assert [hit.chunk.text for hit in await keyword_hits(chunks, scope, ["BETA"], 5)] == ["beta"]
    assert await vector_hits(chunks, scope, unit(1, 512)[0], 5) == []

    first = await chunks_without_vectors(own_database, scope, limit=2)
    await store_vectors(own_database, scope, [chunk.id for chunk in first], unit(2, 512))
    await start_reembedding(own_database, new)  # stopped and started again
    (rest,) = await chunks_without_vectors(own_database, scope, after=first[-1].id)
    await store_vectors(own_database, scope, [rest.id], unit(3, 512)[2:])
    hits = await vector_hits(chunks, scope, unit(1, 512)[0], 5)
    assert hits[0].chunk.id == first[0].id
    assert len(hits) == 3
    await check_space(own_database, new)


async def test_a_new_model_takes_claims_away_and_counts_against_no_file(
    own_database: Database, scope: Scope
) -> None:
    documents, jobs = DocumentStore(own_database), JobStore(own_database)
    for name in ("claimed", "waiting"):
        await documents.register(
            scope, source=name, filename=name, media_type="text/plain", content=name.encode()
        )
    claimed = await jobs.claim("a worker", user_id=scope.user_id)
    assert claimed
    await start_reembedding(own_database, Space("first", 384))

    with pytest.raises(ConflictError):
        await jobs.heartbeat(claimed)
    standing = {job.filename: (job.attempts, job.released) for job in await jobs.list(scope)}
    assert standing == {"claimed": (2, 1), "waiting": (0, 0)}


async def test_vectors_too_long_for_an_index_of_floats_have_one_of_halves(
    own_database: Database, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    retrieval = own_database.settings.retrieval.model_copy(update={"exact_below": 40})
    settings = own_database.settings.model_copy(update={"retrieval": retrieval})
    monkeypatch.setattr(own_database, "settings", settings)
    await check_space(own_database, Space("long", 3072))
    vectors = np.asarray(np.random.default_rng(1).normal(size=(50, 3072)), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    await store(own_database, scope, [f"text {n}" for n in range(50)], vectors)
    async with own_database.owner() as connection:
        cursor = await connection.execute(
            "select count(*) from pg_indexes where indexdef like '%halfvec(3072)%'"
        )
        assert await cursor.fetchone() == (1,)
    hits = await vector_hits(ChunkStore(own_database), scope, vectors[7], 5)
    nearest = np.argsort(-(vectors @ vectors[7]))[:5]
    assert [hit.chunk.text for hit in hits] == [f"text {n}" for n in nearest]


class Prefixed:
    """An embedder that writes something before its texts, or does not know what."""

    name, dimension = "folder:0a1b", 384

    def __init__(self, *prefixes: str) -> None:
        self.prefixes = prefixes or None

    def use_prefixes(self, query: str, passage: str) -> None:
        self.prefixes = (query, passage)


async def test_a_model_writes_before_texts_what_the_stored_vectors_were_made_with(
    own_database: Database, scope: Scope
) -> None:
    first, renamed = Prefixed("query: ", "passage: "), Prefixed()
    await check_space(own_database, first)
    await store(own_database, scope, ["alpha"], unit(1, 384))
    await check_space(own_database, renamed)
    assert renamed.prefixes == ("query: ", "passage: ")

    another = Prefixed("search_query: ", "search_document: ")
    await check_space(own_database, another)
    assert another.prefixes == ("query: ", "passage: ")

    async with own_database.owner() as owner:  # as versions before left it
        await owner.execute("update embedding_space set query_prefix = null, passage_prefix = null")
    unknown = Prefixed()
    await check_space(own_database, unknown)
    assert unknown.prefixes is None
    await check_space(own_database, first)
    await check_space(own_database, unknown)
    assert unknown.prefixes == ("query: ", "passage: ")


async def test_what_was_embedded_with_nothing_before_it_stays_so(own_database: Database) -> None:
    await start_reembedding(own_database, Prefixed())
    named = Prefixed("query: ", "passage: ")
    await check_space(own_database, named)
    assert named.prefixes == ("", "")
