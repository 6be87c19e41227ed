"""Files into a knowledge base: what becomes searchable, what is refused, what is resumed."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import pytest

from sextant.domain.documents import DocumentStatus, Job, JobStage, ParsedDocument
from sextant.domain.errors import (
    DocumentNotFound,
    FileEmpty,
    FileRejected,
    FileTypeUnknown,
    FileUnsafe,
    ModelUnavailable,
    Superseded,
)
from sextant.domain.scope import Scope
from sextant.domain.settings import IngestionSettings, Settings, WorkerSettings
from sextant.ingestion.pipeline import Ingestor
from sextant.ingestion.progress import Progress
from sextant.models.protocols import Vectors
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database
from sextant.stores.queue import UploadStore
from sextant.stores.scopes import KnowledgeBases
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.chunk_hits import keyword_hits
from tests.integration.ingestion.resuming import resumed
from tests.integration.ingestion.uploading import ingest_bytes
from tests.integration.stored_state import JobStore
from tests.pictures import data_uri, picture

GUIDE = "# 糖尿病指南\n\n## 症状\n\n糖尿病患者的主要症状是多饮、多尿。\n\n## 治疗\n\n二甲双胍是首选药物。\n"


def long_text(paragraphs: int) -> str:
    return "\n\n".join(
        f"Paragraph {n} says something about topic {n}. " * 12 for n in range(paragraphs)
    )


class FailingEmbedder(HashEmbedder):
    """Gives out after some batches, as an endpoint does when its network goes."""

    def __init__(self, batches: int) -> None:
        super().__init__(384)
        self.left = batches
        self.embedded: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if not self.left:
            raise ModelUnavailable("The embedding endpoint does not answer.")
        self.left -= 1
        self.embedded += texts
        return await super().embed_passages(texts)


def with_batches_of(size: int, settings: Settings) -> Settings:
    return settings.model_copy(update={"ingestion": IngestionSettings(embed_batch=size)})


async def test_after_a_long_document_its_memory_goes_back_to_the_system(
    ingestor: Ingestor, scope: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trims = list[bool]()
    monkeypatch.setattr("sextant.ingestion.job_runner._LARGE", 1000)
    monkeypatch.setattr("sextant.ingestion.job_runner.trim_memory", lambda: trims.append(True))
    (tmp_path / "short.txt").write_text(long_text(1))
    await ingestor.ingest(scope, tmp_path / "short.txt")
    assert trims == []
    (tmp_path / "long.txt").write_text(long_text(9))
    await ingestor.ingest(scope, tmp_path / "long.txt")
    assert trims == [True]


async def test_a_large_file_that_fails_gives_its_memory_back_as_well(
    ingestor: Ingestor, scope: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Watched:
        """A parsed document."""

    alive = list[bool]()
    held = list[weakref.ref[Watched]]()

    async def fail(*_: object, **__: object) -> None:
        document = Watched()
        held.append(weakref.ref(document))
        raise FileUnsafe("It is too wide.")

    monkeypatch.setattr("sextant.ingestion.job_runner._LARGE", 1000)
    monkeypatch.setattr("sextant.ingestion.job_runner.parse_file", fail)
    monkeypatch.setattr(
        "sextant.ingestion.job_runner.trim_memory", lambda: alive.append(held[0]() is not None)
    )
    (tmp_path / "long.txt").write_text(long_text(9))
    [result] = await ingestor.ingest(scope, tmp_path / "long.txt")
    assert isinstance(result.error, FileUnsafe)
    assert alive == [False]


async def test_a_folder_becomes_searchable_with_hidden_and_foreign_files_left_out(
    ingestor: Ingestor, chunks: ChunkStore, documents: DocumentStore, scope: Scope, tmp_path: Path
) -> None:
    (tmp_path / "指南").mkdir()
    (tmp_path / "指南" / "糖尿病.md").write_text(GUIDE, encoding="utf-8")
    (tmp_path / "notes.txt").write_bytes("付款节点：签约后七日内付三成。".encode("gb18030"))
    (tmp_path / ".hidden.txt").write_text("secret")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n")

    results = await ingestor.ingest(scope, [tmp_path])

    assert [(one.filename, one.error) for one in results] == [
        ("notes.txt", None),
        ("糖尿病.md", None),
    ]
    hits = await keyword_hits(chunks, scope, ["多饮", "付款节点"], 10)
    assert {hit.chunk.filename for hit in hits} == {"notes.txt", "糖尿病.md"}
    symptom = next(hit.chunk for hit in hits if hit.chunk.filename == "糖尿病.md")
    assert symptom.section_path == ("糖尿病指南", "症状")
    text = await documents.text(scope, symptom.document_id, symptom.start, symptom.end)
    assert text == symptom.text


async def test_the_same_file_again_costs_nothing_and_a_changed_one_replaces_it(
    ingestor: Ingestor, chunks: ChunkStore, scope: Scope, tmp_path: Path
) -> None:
    file = tmp_path / "guide.md"
    file.write_text(GUIDE, encoding="utf-8")
    first = await ingestor.ingest(scope, [file])
    again = await ingestor.ingest(scope, [str(file)])
    file.write_text(GUIDE.replace("二甲双胍", "胰岛素"), encoding="utf-8")
    changed = await ingestor.ingest(scope, [file])

    assert not first[0].unchanged
    assert again[0].unchanged
    assert first[0].document_id == again[0].document_id == changed[0].document_id
    assert await keyword_hits(chunks, scope, ["二甲双胍"], 5) == []
    assert len(await keyword_hits(chunks, scope, ["胰岛素"], 5)) == 1


async def test_a_bad_file_is_reported_and_stops_no_other(
    ingestor: Ingestor, jobs: JobStore, documents: DocumentStore, scope: Scope, tmp_path: Path
) -> None:
    (tmp_path / "a-empty.txt").write_bytes(b"")
    (tmp_path / "b-broken.docx").write_bytes(b"PK\x03\x04 but no archive")
    (tmp_path / "c-good.txt").write_text("Payment is due in 30 days.")
    (tmp_path / "d-binary.pdf").write_text("plain text")

    results = await ingestor.ingest(scope, [tmp_path, tmp_path / "missing.txt"])

    errors = {one.filename: type(one.error) for one in results if one.error}
    assert errors["a-empty.txt"] is FileEmpty
    assert errors["d-binary.pdf"] is FileTypeUnknown
    assert errors["missing.txt"] is FileRejected
    assert "b-broken.docx" in errors
    assert [one.filename for one in results if not one.error] == ["c-good.txt"]
    recorded = {job.filename: job.error_code for job in await jobs.list(scope)}
    assert recorded["b-broken.docx"] == "file_broken"
    states = {one.filename: one.status for one in await documents.list(scope)}
    assert states["c-good.txt"] is DocumentStatus.READY
    assert states["b-broken.docx"] is DocumentStatus.FAILED


async def test_the_same_bytes_under_two_names_in_one_call_are_one_document_and_said_so(
    ingestor: Ingestor, documents: DocumentStore, scope: Scope, tmp_path: Path
) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(GUIDE, encoding="utf-8")

    results = await ingestor.ingest(scope, [tmp_path])

    [kept] = await documents.list(scope)
    assert {one.document_id for one in results} == {kept.id}
    assert [one.same_as for one in results if one.source != kept.source] == [kept.source]
    assert [one.same_as for one in results if one.source == kept.source] == [None]
    again = await ingestor.ingest(scope, [tmp_path])
    assert [one.unchanged for one in again] == [True, True]


async def test_a_refused_file_keeps_its_reason_until_it_is_taken_in(
    ingestor: Ingestor, documents: DocumentStore, scope: Scope, tmp_path: Path
) -> None:
    file = tmp_path / "broken.docx"
    file.write_bytes(b"PK\x03\x04 but no archive")
    [refused] = await ingestor.ingest(scope, [file])
    [listed] = await documents.list(scope)
    assert refused.error is not None
    assert (listed.status, listed.error) == (DocumentStatus.FAILED, str(refused.error))
    file.write_bytes(GUIDE.encode())
    await ingest_bytes(ingestor, scope, GUIDE.encode(), "guide.md", source=file.as_posix())
    [listed] = await documents.list(scope)
    assert (listed.status, listed.error) == (DocumentStatus.READY, None)


async def test_progress_is_told_batch_by_batch(
    documents: DocumentStore, jobs: JobStore, settings: Settings, scope: Scope, tmp_path: Path
) -> None:
    (tmp_path / "long.txt").write_text(long_text(40))
    told: list[Progress] = []
    ingestor = Ingestor(documents, jobs, HashEmbedder(384), with_batches_of(3, settings))

    [result] = await ingestor.ingest(scope, [tmp_path], told.append)

    counts = [(one.done, one.total) for one in told if one.stage is JobStage.EMBED]
    total = result.chunks
    assert total > 6
    assert counts == [(done, total) for done in [*range(0, total, 3), total]]
    stages = list(dict.fromkeys(one.stage for one in told))
    assert stages == [JobStage.PARSE, JobStage.EMBED, JobStage.PUBLISH, JobStage.DONE]
    [job] = await jobs.list(scope)
    assert (job.stage, job.done, job.total) == (JobStage.DONE, total, total)


async def test_the_first_passages_of_a_long_document_do_not_wait_for_a_whole_batch(
    documents: DocumentStore, jobs: JobStore, settings: Settings, scope: Scope, tmp_path: Path
) -> None:
    (tmp_path / "long.txt").write_text(long_text(60))
    seen: list[Progress] = []
    ingestor = Ingestor(documents, jobs, HashEmbedder(384), with_batches_of(16, settings))
    [result] = await ingestor.ingest(scope, [tmp_path], seen.append)
    done = [one.done for one in seen if one.stage is JobStage.EMBED]
    assert result.chunks > 24
    assert done[:3] == [0, 8, 24]


async def test_a_job_that_lost_its_model_goes_on_with_the_missing_chunks_only(
    documents: DocumentStore,
    jobs: JobStore,
    settings: Settings,
    scope: Scope,
    tmp_path: Path,
) -> None:
    (tmp_path / "long.txt").write_text(long_text(40))
    at_once = {"worker": WorkerSettings(backoff=0)}
    settings = with_batches_of(2, settings).model_copy(update=at_once)
    failing = FailingEmbedder(batches=2)

    with pytest.raises(ModelUnavailable):
        await Ingestor(documents, jobs, failing, settings).ingest(scope, [tmp_path])
    [stopped] = await jobs.list(scope)
    [partial] = await documents.list(scope)
    working = FailingEmbedder(batches=100)
    assert await resumed(Ingestor(documents, jobs, working, settings), scope)

    assert (stopped.stage, stopped.error_code) == (JobStage.QUEUED, "model_unavailable")
    assert (partial.status, partial.chunk_count) == (DocumentStatus.INGESTING, 4)
    assert not set(failing.embedded) & set(working.embedded)
    [whole] = await documents.list(scope)
    assert whole.chunk_count == len(failing.embedded + working.embedded)


async def test_a_cancelled_ingestion_is_free_for_the_next_worker_at_once(
    documents: DocumentStore, jobs: JobStore, settings: Settings, scope: Scope, tmp_path: Path
) -> None:
    (tmp_path / "long.txt").write_text(long_text(40))
    embedding = asyncio.Event()

    class Slow(HashEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            embedding.set()
            await asyncio.Event().wait()
            return await super().embed_passages(texts)

    running = asyncio.create_task(
        Ingestor(documents, jobs, Slow(384), settings).ingest(scope, [tmp_path])
    )
    await embedding.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    [result] = await Ingestor(documents, jobs, HashEmbedder(384), settings).ingest(
        scope, [tmp_path]
    )

    assert result.error is None
    assert result.chunks > 0


async def test_ingestions_that_are_cancelled_while_they_are_claimed_are_free_at_once(
    documents: DocumentStore, database: Database, settings: Settings, scope: Scope, tmp_path: Path
) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"Note {number}.")
    claimed = asyncio.Event()

    class Slow(JobStore):
        async def claim_all(
            self, worker: str, user_id: str, job_ids: Sequence[UUID]
        ) -> list[Job | None]:
            done = await super().claim_all(worker, user_id, job_ids)
            claimed.set()
            await asyncio.sleep(0.1)
            return done

    running = asyncio.create_task(
        Ingestor(documents, Slow(database), HashEmbedder(384), settings).ingest(scope, [tmp_path])
    )
    await claimed.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert {job.worker for job in await JobStore(database).list(scope)} == {None}


async def test_of_many_longer_documents_few_are_stored_side_by_side(
    database: Database, settings: Settings, scope: Scope, tmp_path: Path
) -> None:
    """Each takes memory and connections; thirty at once took all connections, and ingestion broke off."""
    for number in range(12):
        (tmp_path / f"{number}.txt").write_text(f"Note {number}.\n\n{long_text(40)}")
    begun, most = set[UUID](), 0

    class Counting(DocumentStore):
        async def begin(
            self,
            scope: Scope,
            document_id: UUID,
            parsed: ParsedDocument,
            *,
            version: int | None = None,
        ) -> set[UUID]:
            nonlocal most
            begun.add(document_id)
            most = max(most, len(begun))
            return await super().begin(scope, document_id, parsed, version=version)

        async def publish(
            self,
            scope: Scope,
            document_id: UUID,
            *,
            version: int | None = None,
            close_job: bool = True,
        ) -> None:
            await super().publish(scope, document_id, version=version, close_job=close_job)
            begun.remove(document_id)

    class Slow(HashEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            await asyncio.sleep(0.05)
            return await super().embed_passages(texts)

    results = await Ingestor(Counting(database), JobStore(database), Slow(384), settings).ingest(
        scope, [tmp_path]
    )

    assert [one.error for one in results] == [None] * 12
    assert 1 < most <= 4


async def test_a_knowledge_base_that_is_deleted_meanwhile_is_no_fault_for_the_log(
    database: Database, settings: Settings, scope: Scope, caplog: pytest.LogCaptureFixture
) -> None:
    """Each document under way left an error with its traceback there."""

    class Deleting(HashEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            await KnowledgeBases(database).delete(scope)
            return await super().embed_passages(texts)

    ingestor = Ingestor(DocumentStore(database), JobStore(database), Deleting(384), settings)
    with pytest.raises(DocumentNotFound):
        await ingest_bytes(ingestor, scope, GUIDE.encode(), "guide.md")
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_a_document_that_kills_its_workers_is_given_up_after_the_last_try(
    ingestor: Ingestor, documents: DocumentStore, jobs: JobStore, database: Database, scope: Scope
) -> None:
    registered = await documents.register(
        scope, source="a.txt", filename="a.txt", media_type="text/plain", content=b"Some text."
    )
    assert registered.job_id
    for _ in range(database.settings.ingestion.job_attempts):
        assert await jobs.claim("a worker", user_id=scope.user_id)
        async with database.transaction(scope.user_id) as connection:
            await connection.execute(
                "update ingestion_jobs set heartbeat_at = now() - interval '1 hour'"
            )

    with pytest.raises(FileUnsafe):
        await resumed(ingestor, scope)

    [job] = await jobs.list(scope)
    assert job.stage is JobStage.FAILED
    assert await jobs.claim("a worker", user_id=scope.user_id) is None


async def test_two_ingestions_of_one_file_at_once_make_one_document(
    ingestor: Ingestor, documents: DocumentStore, chunks: ChunkStore, scope: Scope, tmp_path: Path
) -> None:
    (tmp_path / "guide.md").write_text(GUIDE, encoding="utf-8")

    results = await asyncio.gather(*(ingestor.ingest(scope, [tmp_path]) for _ in range(4)))

    assert all(one.error is None for [one] in results)
    assert len(await documents.list(scope)) == 1
    assert await chunks.count(scope) == 2


async def test_who_waited_for_anothers_work_on_a_file_hears_that_it_was_cancelled(
    ingestor: Ingestor, documents: DocumentStore, jobs: JobStore, database: Database, scope: Scope
) -> None:
    """It was an error of no kind, which HTTP tells as a fault of the server."""
    registered = await documents.register(
        scope,
        source="guide.md",
        filename="guide.md",
        media_type="text/markdown",
        content=GUIDE.encode(),
    )
    assert await jobs.claim("another worker", user_id=scope.user_id)
    told = asyncio.Queue[Progress]()
    taken = ingest_bytes(ingestor, scope, GUIDE.encode(), "guide.md", on_progress=told.put_nowait)
    waiting = asyncio.create_task(taken)
    assert (await told.get()).note.startswith("another process has it")
    await UploadStore(database).cancel(scope, registered.document_id)
    with pytest.raises(
        Superseded, match=r"guide\.md is not taken in\. The ingestion was cancelled"
    ):
        await waiting


async def test_who_waited_for_anothers_work_on_a_file_hears_what_it_lacks_too(
    ingestor: Ingestor, scope: Scope
) -> None:
    page = f'<p>A chart:</p><img src="{data_uri(picture())}">'.encode()
    one, other = await asyncio.gather(
        *(ingest_bytes(ingestor, scope, page, "chart.html") for _ in range(2))
    )
    assert [str(warning)[:18] for warning in one.warnings] == ["1 image not read: "]
    assert other.warnings == one.warnings


async def test_each_file_of_a_folder_has_a_job_and_an_end_of_its_own(
    ingestor: Ingestor, documents: DocumentStore, jobs: JobStore, scope: Scope, tmp_path: Path
) -> None:
    (tmp_path / "b.md").write_text("# The old one\n\nIt will be replaced.\n")
    await ingestor.ingest(scope, [tmp_path])
    for name in "abcdef":
        (tmp_path / f"{name}.md").write_text(f"# About {name}\n\nA sentence about {name}.\n")
    (tmp_path / "same.md").write_text((tmp_path / "a.md").read_text())
    (tmp_path / "broken.md").write_text(" \n")

    results = {one.filename: one for one in await ingestor.ingest(scope, [tmp_path])}

    assert isinstance(results["broken.md"].error, FileEmpty)
    assert results["same.md"].document_id == results["a.md"].document_id
    good = [results[f"{name}.md"] for name in "abcdef"]
    assert all(one.error is None and one.chunks == 1 for one in good)
    named = {"same.md": "a.md"}  # whichever came first gives the document its name
    listed = {
        named.get(name, name): one
        for one in await documents.list(scope)
        if (name := one.source.rsplit("/", 1)[1])
    }
    assert {name for name, one in listed.items() if one.status is DocumentStatus.READY} == {
        f"{name}.md" for name in "abcdef"
    }
    assert "About b" in await documents.text(scope, listed["b.md"].id, 0, 100)
    done = [job for job in await jobs.list(scope) if job.stage is JobStage.DONE]
    assert sorted(named.get(job.filename, job.filename) for job in done) == [
        *("a.md", "b.md", "b.md", "c.md", "d.md", "e.md", "f.md"),
    ]
    assert {(job.attempts, job.done, job.total, job.worker) for job in done} == {(1, 1, 1, None)}


async def test_metadata_of_the_users_own_stands_beside_what_the_parser_finds_out(
    ingestor: Ingestor, documents: DocumentStore, scope: Scope
) -> None:
    own = {"format": "memo", "team": "ops"}
    await ingest_bytes(ingestor, scope, GUIDE.encode(), "a.txt", metadata=own)
    [document] = await documents.list(scope)
    assert document.metadata == own | {"encoding": "utf-8"}
    again = await ingest_bytes(ingestor, scope, GUIDE.encode(), "a.txt", metadata=own)
    assert again.unchanged


async def test_tags_that_the_user_gives_a_file_are_those_of_its_passages(
    ingestor: Ingestor, database: Database, scope: Scope
) -> None:
    """Only imported documents had them; a search filtered by such a tag found no passage of an upload."""
    await ingest_bytes(ingestor, scope, GUIDE.encode(), "a.md", metadata={"tags": ["clinic"]})
    store = ChunkStore(database)
    found = await store.get(scope, [one.id for one in await store.passages(scope)])
    assert {chunk.tags for chunk in found} == {("clinic", "zh", "markdown")}
