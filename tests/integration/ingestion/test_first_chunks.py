"""A long document can be searched before it is known what it is about; afterwards nothing tells."""

from __future__ import annotations

from sextant.domain.documents import Chunk, JobStage
from sextant.domain.errors import ModelUnavailable
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.ingestion.metadata.offline_descriptions import describe
from sextant.ingestion.parsing.hosts import parse_file
from sextant.ingestion.pipeline import Ingestor
from sextant.ingestion.progress import Progress
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database
from sextant.stores.work.jobs import JobStore
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.ingestion.resuming import resumed

BOOK = "# 设备手册\n\n" + "\n\n".join(
    f"## {n} 章\n\n离心泵 P-{n} 的轴承需要定期检修。润滑油每 {n} 个月更换一次。"
    for n in range(1, 41)
)
FIRST = 8


async def stored(database: Database, scope: Scope) -> list[StoredChunk]:
    probe = await HashEmbedder(384).embed_query("离心泵")
    hits = await ChunkStore(database).vector_search(scope, probe, 100)
    return sorted((hit.chunk for hit in hits), key=lambda chunk: chunk.ordinal)


def said(chunk: Chunk | StoredChunk) -> tuple[object, ...]:
    return (
        *(chunk.summary, chunk.keywords, chunk.entities, chunk.topics),
        *(chunk.topic_labels, chunk.tags, chunk.neighbours),
    )


async def expected(database: Database, settings: Settings, scope: Scope) -> list[Chunk]:
    [document] = await DocumentStore(database).list(scope)
    parsed = await parse_file(BOOK.encode(), "book.md", document_id=document.id, settings=settings)
    return sorted(describe(parsed).parsed.chunks, key=lambda chunk: chunk.ordinal)


async def test_the_first_chunks_of_a_book_say_what_the_whole_book_makes_of_them(
    ingestor: Ingestor, database: Database, settings: Settings, scope: Scope
) -> None:
    told: list[Progress] = []

    await ingestor.ingest_bytes(scope, BOOK.encode(), "book.md", on_progress=told.append)

    assert [one.done for one in told if one.stage is JobStage.EMBED][:2] == [0, FIRST]
    wanted = await expected(database, settings, scope)
    assert len(wanted) > 2 * FIRST
    assert [said(one) for one in await stored(database, scope)] == [said(one) for one in wanted]
    [document] = await DocumentStore(database).list(scope)
    sections = await DocumentStore(database).structure(scope, document.id)
    assert all(section.summary and section.tags for section in sections)


async def test_a_worker_that_stops_after_the_first_chunks_leaves_them_to_the_next_to_be_described(
    database: Database, settings: Settings, scope: Scope
) -> None:
    documents, jobs = DocumentStore(database), JobStore(database)
    content, embedder = BOOK.encode(), HashEmbedder(384)
    registered = await documents.register(
        scope, source="book.md", filename="book.md", media_type="text/markdown", content=content
    )
    own = registered.document_id
    job = await jobs.claim("a worker", user_id=scope.user_id)
    assert job
    parsed = await parse_file(content, "book.md", document_id=own, settings=settings)
    await documents.begin(scope, own, parsed, version=job.version)
    first = parsed.chunks[:FIRST]
    vectors = await embedder.embed_passages([chunk.text for chunk in first])
    await documents.add_chunks(scope, own, first, vectors, version=job.version)
    await jobs.release(job, ModelUnavailable("The embedding endpoint does not answer."))
    early = await stored(database, scope)

    assert await resumed(Ingestor(documents, jobs, embedder, settings), scope)

    assert [one.ordinal for one in early] == list(range(FIRST))
    wanted = await expected(database, settings, scope)
    assert [said(one) for one in await stored(database, scope)] == [said(one) for one in wanted]
