"""Documents and their versions: what is visible when, and what is left afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid4, uuid5

import numpy as np
import pytest

from sextant.domain.documents import Chunk, DocumentStatus, JobStage, ParsedDocument, Section
from sextant.domain.errors import ConflictError, DocumentNotFound, GraphNotFound
from sextant.domain.page_boxes import PageBox, PlacedText, pack_boxes
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.registration import Registered
from sextant.stores.documents.versions import ReadyVersion, open_version
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.watched import Connection
from sextant.stores.scopes import KnowledgeBases, doom_scope, lock_scope
from tests.integration.chunk_hits import keyword_hits, vector_hits
from tests.integration.stored_state import JobStore

TEXT = "糖尿病患者的主要症状是多饮多尿。\nPayment is due in 30 days.\n第三段讲的是胰岛素。"


def parsed(text: str, document_id: UUID) -> ParsedDocument:
    """Return one section; a chunk per line."""
    root = uuid5(document_id, text)
    found, at = [], 0
    for ordinal, line in enumerate(text.splitlines(keepends=True)):
        body = line.rstrip("\n")
        found.append(Chunk(uuid5(root, str(ordinal)), root, ordinal, at, at + len(body), body))
        at += len(line)
    section = Section(root, None, "All", 0, 0, 0, len(text))
    return ParsedDocument("Title", text, "zh", (section,), tuple(found))


def vectors(chunks: Sequence[Chunk]) -> Vectors:
    rng = np.random.default_rng(7)
    raw = rng.normal(size=(len(chunks), 384)).astype(np.float32)
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), np.float32)


async def register(
    documents: DocumentStore, scope: Scope, text: str, source: str = "a.txt"
) -> Registered:
    return await documents.register(
        scope, source=source, filename=source, media_type="text/plain", content=text.encode()
    )


async def ingest(documents: DocumentStore, scope: Scope, text: str, source: str = "a.txt") -> UUID:
    registered = await register(documents, scope, text, source)
    content = parsed(text, registered.document_id)
    await documents.begin(scope, registered.document_id, content)
    await documents.add_chunks(
        scope, registered.document_id, content.chunks, vectors(content.chunks)
    )
    await documents.publish(scope, registered.document_id)
    return registered.document_id


async def texts(chunks: ChunkStore, scope: Scope) -> set[str]:
    probe = vectors([parsed("x", uuid4()).chunks[0]])[0]
    return {hit.chunk.text for hit in await vector_hits(chunks, scope, probe, 50)}


async def test_a_published_document_is_found_by_vector_and_by_keyword(
    database: Database, documents: DocumentStore, chunks: ChunkStore, scope: Scope
) -> None:
    document_id = await ingest(documents, scope, TEXT)

    assert await texts(chunks, scope) == set(TEXT.splitlines())
    hits = await keyword_hits(chunks, scope, ["糖尿病", "多尿", "PAYMENT"], 10)
    assert [hit.chunk.text for hit in hits] == TEXT.splitlines()[:2]
    assert int(hits[0].score) == 2
    assert hits[0].chunk.document_id == document_id
    assert hits[0].chunk.document_title == "Title"
    stored = await documents.get(scope, document_id)
    assert (stored.status, stored.chunk_count) == (DocumentStatus.READY, 3)
    assert await documents.text(scope, document_id, 0, 3) == "糖尿病"
    assert [graph.chunks for graph in await KnowledgeBases(database).list(scope.user_id)] == [3]
    (section,) = await documents.structure(scope, document_id)
    assert (section.start, section.end) == (0, len(TEXT))


async def test_a_small_document_and_its_replacement_are_stored_in_one_step_each(
    documents: DocumentStore, chunks: ChunkStore, jobs: JobStore, scope: Scope
) -> None:
    for version, text in enumerate((TEXT, "第二版。\nSecond edition."), start=1):
        opened = await register(documents, scope, text)
        content = parsed(text, opened.document_id)
        late = ReadyVersion(opened.document_id, version + 1, content, vectors(content.chunks))
        with pytest.raises(ConflictError):
            await documents.store(scope, [late])
        await documents.store(scope, [replace(late, version=version)])

        assert await texts(chunks, scope) == set(text.splitlines())
        assert await documents.is_live(scope, opened.document_id, version)
        assert (await jobs.list(scope))[0].stage is JobStage.QUEUED


async def test_the_planner_knows_tables_that_have_just_been_filled(
    database: Database, documents: DocumentStore, scope: Scope
) -> None:
    for number in range(60):
        await ingest(documents, scope, f"{number} {TEXT}\n" + "filler " * 500, f"{number}.txt")

    async with database.owner() as owner:
        cursor = await owner.execute(
            "select pg_relation_size(oid) <= (2 * relpages + 8) * 8192, reltuples"
            " from pg_class where oid = 'sextant.chunks'::regclass"
        )
        row = await cursor.fetchone()
    assert row is not None
    assert row[0]
    assert row[1] >= 0  # -1: nobody has looked


async def test_the_same_bytes_are_one_document_under_any_name(
    documents: DocumentStore, scope: Scope
) -> None:
    first = await ingest(documents, scope, TEXT)
    again = await register(documents, scope, TEXT, "copy.txt")
    assert again == Registered(first, None, unchanged=True, same_as="a.txt")
    assert len(await documents.list(scope)) == 1


async def test_a_first_version_shows_batch_by_batch_and_a_replacement_all_at_once(
    documents: DocumentStore, chunks: ChunkStore, scope: Scope
) -> None:
    opened = await register(documents, scope, TEXT)
    content = parsed(TEXT, opened.document_id)
    assert await documents.begin(scope, opened.document_id, content) == set()
    await documents.add_chunks(
        scope, opened.document_id, content.chunks[:1], vectors(content.chunks[:1])
    )
    assert await texts(chunks, scope) == set(TEXT.splitlines()[:1])
    stored = await documents.begin(scope, opened.document_id, content)
    assert stored == {content.chunks[0].id}
    await documents.add_chunks(scope, opened.document_id, content.chunks, vectors(content.chunks))
    await documents.publish(scope, opened.document_id)

    changed = "一个新版本。\nSecond line."
    second = await register(documents, scope, changed)
    assert second.document_id == opened.document_id
    content = parsed(changed, second.document_id)
    await documents.begin(scope, second.document_id, content)
    await documents.add_chunks(scope, second.document_id, content.chunks, vectors(content.chunks))
    assert await texts(chunks, scope) == set(TEXT.splitlines())
    assert await documents.text(scope, second.document_id, 0, 3) == "糖尿病"
    await documents.publish(scope, second.document_id)
    assert await texts(chunks, scope) == set(changed.splitlines())
    assert await keyword_hits(chunks, scope, ["糖尿病"], 5) == []


async def test_a_failed_replacement_leaves_the_old_version_and_a_failed_first_version_nothing(
    database: Database, documents: DocumentStore, chunks: ChunkStore, scope: Scope
) -> None:
    document_id = await ingest(documents, scope, TEXT)
    changed = await register(documents, scope, "Other.")
    content = parsed("Other.", document_id)
    await documents.begin(scope, document_id, content)
    await documents.add_chunks(scope, document_id, content.chunks, vectors(content.chunks))
    await documents.fail(scope, changed.document_id)
    assert await texts(chunks, scope) == set(TEXT.splitlines())
    assert (await documents.get(scope, document_id)).status is DocumentStatus.READY

    first = await register(documents, scope, "Third.", "b.txt")
    content = parsed("Third.", first.document_id)
    await documents.begin(scope, first.document_id, content)
    await documents.add_chunks(scope, first.document_id, content.chunks, vectors(content.chunks))
    await documents.fail(scope, first.document_id)
    assert await texts(chunks, scope) == set(TEXT.splitlines())
    assert (await documents.get(scope, first.document_id)).status is DocumentStatus.FAILED
    assert [graph.documents for graph in await KnowledgeBases(database).list(scope.user_id)] == [1]


async def test_batches_stored_at_the_same_time_are_each_there_once_and_counted(
    documents: DocumentStore, chunks: ChunkStore, scope: Scope
) -> None:
    text = "\n".join(f"Line {number} of many." for number in range(48))
    opened = await register(documents, scope, text)
    content = parsed(text, opened.document_id)
    await documents.begin(scope, opened.document_id, content)
    # Each batch overlaps with the next, as after a worker that was taken for dead.
    batches = [content.chunks[first : first + 8] for first in range(0, 48, 4)]
    await asyncio.gather(
        *(
            documents.add_chunks(scope, opened.document_id, batch, vectors(batch))
            for batch in batches
        )
    )
    await documents.publish(scope, opened.document_id)
    assert await texts(chunks, scope) == set(text.splitlines())
    assert (await documents.get(scope, opened.document_id)).chunk_count == 48


async def test_a_batch_waits_for_no_other_batch_and_deleting_waits_for_them(
    documents: DocumentStore, chunks: ChunkStore, database: Database, scope: Scope
) -> None:
    opened = await register(documents, scope, TEXT)
    content = parsed(TEXT, opened.document_id)
    await documents.begin(scope, opened.document_id, content)
    first, second = content.chunks[:1], content.chunks[1:]
    async with database.transaction(scope.user_id) as connection:
        await open_version(connection, scope, opened.document_id, None, lock="share_document")
        await documents.add_chunks(scope, opened.document_id, first, vectors(first))
        deleting = asyncio.create_task(documents.delete(scope, opened.document_id))
        await waits_for(connection)
        assert not deleting.done()
    await deleting
    with pytest.raises(DocumentNotFound):
        await documents.add_chunks(scope, opened.document_id, second, vectors(second))
    assert await texts(chunks, scope) == set()


async def waits_for(connection: Connection) -> None:
    """Return once somebody waits for a lock that this connection holds, also who connects later."""
    me = connection.info.backend_pid
    while True:
        await connection.execute("select pg_stat_clear_snapshot()")
        cursor = await connection.execute(
            "select 1 from pg_stat_activity where %s = any(pg_blocking_pids(pid))", [me]
        )
        if await cursor.fetchone():
            return


async def test_what_is_registered_while_its_knowledge_base_is_deleted_makes_another(
    documents: DocumentStore, database: Database, scope: Scope
) -> None:
    async with database.transaction(scope.user_id) as connection:
        await lock_scope(connection, scope)
    async with database.transaction(scope.user_id) as connection:
        await doom_scope(connection, scope)
        registering = asyncio.create_task(register(documents, scope, TEXT))
        await waits_for(connection)
        await connection.execute("delete from graphs where graph_id = %s", [scope.graph_id])
    opened = await registering
    assert [one.id for one in await documents.list(scope)] == [opened.document_id]


async def test_a_late_worker_of_a_replaced_version_is_refused(
    documents: DocumentStore, database: Database, scope: Scope
) -> None:
    jobs = JobStore(database)
    opened = await register(documents, scope, "One.")
    assert opened.job_id is not None
    job = await jobs.claim("w", user_id=scope.user_id, job_id=opened.job_id)
    assert job is not None
    await register(documents, scope, "Two.")
    with pytest.raises(ConflictError):
        await jobs.heartbeat(job)
    with pytest.raises(ConflictError):
        await documents.begin(
            scope, job.document_id, parsed("One.", job.document_id), version=job.version
        )


async def test_a_deleted_document_leaves_no_row_anywhere(
    documents: DocumentStore, database: Database, scope: Scope
) -> None:
    kept = await ingest(documents, scope, "Kept.", "kept.txt")
    gone = await ingest(documents, scope, TEXT)
    await register(documents, scope, "A replacement that is under way.")
    await documents.delete(scope, gone)

    assert [one.id for one in await documents.list(scope)] == [kept]
    assert await rows_per_table(database, scope) == {
        "documents": 1,
        "document_versions": 1,
        "sections": 1,
        "chunks": 1,
        "chunk_vectors": 1,
        "chunk_grams": 1,
        "staged_chunks": 0,
        "ingestion_jobs": 1,
    }
    with pytest.raises(DocumentNotFound):
        await documents.get(scope, gone)


async def test_a_deleted_graph_leaves_no_row_in_any_table_and_other_graphs_alone(
    settings: Settings, scope: Scope
) -> None:
    exact_below = settings.retrieval.model_copy(update={"exact_below": 2})
    large = settings.model_copy(update={"retrieval": exact_below})
    async with await Database.open(large) as database:
        documents = DocumentStore(database)
        await ingest(documents, scope, TEXT)  # grown enough for a partition of its own
        await register(documents, scope, "Under way.", "later.txt")
        sibling = Scope(scope.user_id, "sibling")
        kept = await ingest(documents, sibling, "Kept.", "kept.txt")
        number = await scope_number(database, scope)
        before = await rows_of_scope(database, number)
        assert 0 not in (before["chunks"], before["sections"], before[f"chunk_vectors_{number}"])
        with pytest.raises(GraphNotFound):
            await KnowledgeBases(database).delete(Scope(f"user-{uuid4()}", scope.graph_id))
        await KnowledgeBases(database).delete(scope)

        assert set((await rows_of_scope(database, number)).values()) == {0}
        left = await KnowledgeBases(database).list(scope.user_id)
        assert [one.graph_id for one in left] == ["sibling"]
        assert [one.id for one in await documents.list(sibling)] == [kept]
        async with database.owner() as connection:
            own = await connection.execute(
                "select to_regclass(%s)", [f"sextant.chunk_vectors_{number}"]
            )
            assert await own.fetchone() == (None,)
        with pytest.raises(GraphNotFound):
            await KnowledgeBases(database).delete(scope)


async def scope_number(database: Database, scope: Scope) -> int:
    query = "select scope_id from graphs where user_id = %s and graph_id = %s"
    async with database.owner() as connection:
        row = await (await connection.execute(query, [scope.user_id, scope.graph_id])).fetchone()
    assert row is not None
    return int(row[0])


async def rows_of_scope(database: Database, number: int) -> dict[str, int]:
    """Return every table that has rows of scopes, with the number of this one's."""
    listing = (
        "select table_name from information_schema.columns join information_schema.tables "
        "using (table_schema, table_name) where column_name = 'scope_id' "
        "and table_type = 'BASE TABLE' and table_schema = 'sextant'"
    )
    counts = {}
    async with database.owner() as connection:
        for (table,) in await (await connection.execute(listing)).fetchall():
            query = f"select count(*) from {table} where scope_id = %s".encode()
            row = await (await connection.execute(query, [number])).fetchone()
            assert row is not None
            counts[table] = row[0]
    return counts


async def rows_per_table(database: Database, scope: Scope) -> dict[str, int]:
    tables = [
        "documents",
        "document_versions",
        "sections",
        "chunks",
        "chunk_vectors",
        "chunk_grams",
        "staged_chunks",
        "ingestion_jobs",
    ]
    counts = {}
    async with database.owner() as connection:
        for table in tables:
            query = f"select count(*) from {table} where user_id = %s".encode()
            row = await (await connection.execute(query, [scope.user_id])).fetchone()
            assert row is not None
            counts[table] = row[0]
    return counts


async def test_another_user_sees_nothing_of_it(
    database: Database, documents: DocumentStore, chunks: ChunkStore, scope: Scope
) -> None:
    document_id = await ingest(documents, scope, TEXT)
    stranger = Scope(f"user-{uuid4()}", scope.graph_id)
    assert await texts(chunks, stranger) == set()
    assert await keyword_hits(chunks, stranger, ["糖尿病"], 5) == []
    assert await documents.list(stranger) == []
    with pytest.raises(GraphNotFound):
        await KnowledgeBases(database).require(stranger)
    with pytest.raises(DocumentNotFound):
        await documents.read_source(stranger, document_id)


async def test_boxes_come_with_their_version_and_belong_to_its_tenant(
    documents: DocumentStore, scope: Scope
) -> None:
    first = await register(documents, scope, "Motor runs.")
    content = parsed("Motor runs.", first.document_id)
    boxes = pack_boxes([PlacedText(0, 5, 1, 0.1, 0.2, 0.3, 0.25)])
    ready = ReadyVersion(
        first.document_id, 1, replace(content, boxes=boxes), vectors(content.chunks)
    )
    await documents.store(scope, [ready])

    assert await documents.boxes(scope, first.document_id, 0, 11) == [
        PageBox(1, 0.1, 0.2, 0.3, 0.25)
    ]
    with pytest.raises(DocumentNotFound):
        await documents.boxes(replace(scope, user_id="somebody else"), first.document_id, 0, 11)

    await ingest(documents, scope, "Motor stands.")

    assert await documents.boxes(scope, first.document_id, 0, 11) == []
