"""A worker takes turns between users, waits for what is gone, and loses nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from sextant.domain.documents import Job, JobStage, ParsedDocument
from sextant.domain.errors import ModelUnavailable
from sextant.domain.scope import Scope
from sextant.domain.settings import IngestionSettings, Settings, WorkerSettings
from sextant.facade.library import Library
from sextant.facade.worker import Worker, working
from sextant.ingestion.parsing.hosts import parse_file
from sextant.ingestion.pipeline import Ingestor
from sextant.models.protocols import Vectors
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.registration import Upload
from sextant.stores.jobs import URGENT_WAITING
from sextant.stores.postgresql.database import Database
from sextant.stores.queue import Turns, UploadStore
from sextant.stores.scopes import KnowledgeBases
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.own_database import settings_over, short_folder
from tests.integration.stored_state import JobStore

PATIENCE = 60.0


@pytest_asyncio.fixture(scope="module")
async def database() -> AsyncIterator[Database]:
    """Yield one of its own, because a worker takes whatever is queued."""
    with short_folder() as folder:
        settings = settings_over(folder).model_copy(
            update={
                "worker": WorkerSettings(sweep=0.3, backoff=0.05, drain=1, per_user=2),
                "ingestion": IngestionSettings(job_heartbeat=0.5, job_stale=5),
            }
        )
        async with await Database.open(settings) as opened:
            yield opened


class Embedding(HashEmbedder):
    """Fails as often as it is told, and waits while it is held."""

    def __init__(self, failures: int = 0) -> None:
        super().__init__(384)
        self.failures = failures
        self.free = asyncio.Event()
        self.free.set()

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        await self.free.wait()
        if self.failures:
            self.failures -= 1
            raise ModelUnavailable("The embedding endpoint does not answer.")
        return await super().embed_passages(texts)


class Refreshes:
    """Remembers how often a graph was refreshed."""

    def __init__(self, awaited: Scope | None = None) -> None:
        self.awaited = awaited
        self.number = 0
        self.done = asyncio.Event()

    async def __call__(self, scope: Scope) -> None:
        if scope == self.awaited:
            self.number += 1
            self.done.set()


@asynccontextmanager
async def worker_of(
    database: Database,
    embedder: Embedding | None = None,
    refresh: Callable[[Scope], Awaitable[None]] | None = None,
    concurrency: int = 2,
) -> AsyncIterator[None]:
    chosen = embedder or Embedding()

    async def opened() -> Ingestor:
        return Ingestor(DocumentStore(database), JobStore(database), chosen, database.settings)

    worker = Worker(database, opened, refresh or Refreshes(), concurrency=concurrency)
    async with working(worker):
        yield


def notes(number: int, padding: int = 0) -> list[Upload]:
    blank = b"\n" * padding
    named = [(f"note-{n}.txt", b"Note number %d.%s" % (n, blank)) for n in range(number)]
    return [Upload(name, name, "text/plain", content) for name, content in named]


async def until(database: Database, scope: Scope, hold: Callable[[list[Job]], bool]) -> list[Job]:
    async with asyncio.timeout(PATIENCE):
        while True:
            if hold(jobs := await JobStore(database).list(scope)):
                return jobs
            await asyncio.sleep(0.05)


def over(jobs: list[Job]) -> bool:
    return all(job.stage in {JobStage.DONE, JobStage.FAILED} for job in jobs)


def is_begun(jobs: list[Job]) -> bool:
    return any(job.worker is not None or over([job]) for job in jobs)


def someone() -> Scope:
    return Scope(f"user-{uuid4()}")


async def add(database: Database, scope: Scope, uploads: Sequence[Upload]) -> None:
    await Library(database, scope.user_id).add(uploads, scope.graph_id)


async def pass_by(database: Database, scope: Scope, seconds: float) -> None:
    """Have the last heartbeats of a scope's jobs be so much longer ago."""
    async with database.transaction(scope.user_id) as connection:
        await connection.execute(
            "update ingestion_jobs set heartbeat_at = heartbeat_at - make_interval(secs => %s)",
            [seconds + 1],
        )


async def forget_turns(database: Database) -> None:
    async with database.transaction("anybody") as connection:
        await connection.execute("delete from procrastinate_jobs")


async def test_a_user_with_a_thousand_documents_does_not_starve_one_with_a_single_one(
    database: Database,
) -> None:
    many, one = someone(), someone()
    await add(database, many, notes(1000))
    async with worker_of(database, concurrency=1):
        await until(database, many, lambda jobs: any(over([job]) for job in jobs))
        await add(database, one, notes(1))
        [other] = await until(database, one, over)
        finished_jobs = [job for job in await JobStore(database).list(many) if over([job])]
    # Those that had a turn already; 32 small ones are one turn. By the database's clock: however late
    # this test looks, what was done before and after does not count.
    began, ended = other.created_at, other.updated_at
    assert began
    assert ended
    meanwhile = [
        job for job in finished_jobs if job.updated_at and began <= job.updated_at <= ended
    ]
    assert len(meanwhile) <= 32 * (2 * database.settings.worker.per_user + 1)
    await KnowledgeBases(database).delete(many)


async def finished(database: Database, scope: Scope) -> int:
    return sum(over([job]) for job in await JobStore(database).list(scope))


async def test_users_with_many_documents_each_go_on_side_by_side(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sextant.facade.worker._TURN_SECONDS", 0.0)
    scopes = [someone() for _ in range(3)]
    for scope in scopes:
        await add(database, scope, notes(8))
    async with worker_of(database, concurrency=1):
        await until(database, scopes[0], over)
        done = [await finished(database, scope) for scope in scopes]
        assert min(done) >= 4, done
        for scope in scopes:
            await until(database, scope, over)


async def test_a_turn_takes_several_small_documents(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sextant.facade.worker._TURN_SECONDS", PATIENCE)
    first, second = someone(), someone()
    for scope in (first, second):
        await add(database, scope, notes(4))
    async with worker_of(database, concurrency=1):
        await until(database, first, is_begun)
        await until(database, second, is_begun)
        assert max([await finished(database, scope) for scope in (first, second)]) == 4
        for scope in (first, second):
            await until(database, scope, over)


async def test_one_users_documents_do_not_take_all_places(database: Database) -> None:
    scope, embedder = someone(), Embedding()
    embedder.free.clear()
    await add(database, scope, notes(6, padding=100_000))
    async with worker_of(database, embedder, concurrency=6):
        most = database.settings.worker.per_user
        await until(
            database, scope, lambda jobs: sum(job.worker is not None for job in jobs) >= most
        )
        other = someone()
        await add(database, other, notes(1))
        await until(database, other, lambda jobs: jobs[0].worker is not None)
        jobs = await JobStore(database).list(scope)
        assert sum(job.worker is not None for job in jobs) == most
        embedder.free.set()
        await until(database, scope, over)


async def test_slow_documents_of_one_user_leave_the_last_place_of_a_worker(
    database: Database,
) -> None:
    many, one, embedder = someone(), someone(), Embedding()
    embedder.free.clear()
    await add(database, many, notes(12, padding=100_000))
    async with worker_of(database, embedder, concurrency=2):
        await until(database, many, is_begun)
        await add(database, one, notes(1))
        await until(database, one, is_begun)
        jobs = await JobStore(database).list(many)
        assert sum(job.worker is not None for job in jobs) == 1
        embedder.free.set()
        for scope in (many, one):
            assert {job.stage for job in await until(database, scope, over)} == {JobStage.DONE}


async def test_a_small_file_does_not_wait_for_another_users_files_to_be_parsed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    many, one, released = someone(), someone(), asyncio.Event()
    parsing = 0

    async def parse_slowly(content: bytes, filename: str, **options: Any) -> ParsedDocument:
        nonlocal parsing
        if filename.startswith("note-"):
            parsing += 1
            await released.wait()
        return await parse_file(content, filename, **options)

    monkeypatch.setattr("sextant.ingestion.job_runner.parse_file", parse_slowly)
    await add(database, many, notes(12, padding=100_000))
    async with worker_of(database, concurrency=3):
        await until(database, many, lambda _: parsing == 2)
        await add(database, one, [Upload("small.txt", "small.txt", "text/plain", b"A short one.")])
        await until(database, one, over)
        assert parsing == 2
        released.set()
        assert {job.stage for job in await until(database, many, over)} == {JobStage.DONE}


async def test_the_work_on_a_graph_takes_one_of_its_users_places(database: Database) -> None:
    scope, other, refreshing, released = someone(), someone(), asyncio.Event(), asyncio.Event()

    async def refresh(asked: Scope) -> None:
        if asked == scope:
            refreshing.set()
            await released.wait()

    await add(database, scope, notes(1))
    async with worker_of(database, refresh=refresh, concurrency=2):
        async with asyncio.timeout(PATIENCE):
            await refreshing.wait()
        second = Scope(scope.user_id, "second")
        await add(database, second, notes(2))
        await add(database, other, notes(1))
        await until(database, other, over)
        assert not any(is_begun([job]) for job in await JobStore(database).list(second))
        released.set()
        assert {job.stage for job in await until(database, second, over)} == {JobStage.DONE}


async def test_small_files_of_a_person_go_before_a_bulk_load(database: Database) -> None:
    scope, most = someone(), URGENT_WAITING
    await add(database, scope, notes(most + 5))
    hurried = Scope(scope.user_id, "asked-for")
    async with database.transaction(scope.user_id) as connection:
        found = await connection.execute("select count(*) from ingestion_jobs where urgent")
        assert await found.fetchone() == (0,)
    await KnowledgeBases(database).delete(scope)
    await add(database, hurried, notes(2))
    async with database.transaction(scope.user_id) as connection:
        found = await connection.execute("select count(*) from ingestion_jobs where urgent")
        assert await found.fetchone() == (2,)
    await KnowledgeBases(database).delete(hurried)


async def test_work_that_nobody_was_told_of_is_found(database: Database) -> None:
    scope = someone()
    await add(database, scope, notes(3))
    await forget_turns(database)
    async with worker_of(database):
        jobs = await until(database, scope, over)
    assert {job.stage for job in jobs} == {JobStage.DONE}


async def test_a_dead_workers_turns_and_claims_pass_to_the_next(database: Database) -> None:
    scope = someone()
    await add(database, scope, notes(1))
    claimed = await JobStore(database).claim("another-machine:1:1", user_id=scope.user_id)
    assert claimed
    async with database.transaction(scope.user_id) as connection:
        await connection.execute(
            """with dead as (
                 insert into procrastinate_workers (last_heartbeat)
                 values (now() - interval '1 minute') returning id)
               update procrastinate_jobs set status = 'doing', worker_id = dead.id from dead"""
        )
    async with worker_of(database):
        [job] = await until(database, scope, over)
    assert (job.stage, job.attempts) == (JobStage.DONE, 2)
    async with database.transaction(scope.user_id) as connection:
        left = await connection.execute(
            "select count(*) from procrastinate_jobs where status = 'doing'"
        )
        assert await left.fetchone() == (0,)


async def test_a_dead_workers_document_waits_in_the_queue_while_the_others_have_no_room(
    database: Database,
) -> None:
    """It was shown as if its worker went on with it, for as long as none could take it over."""
    scope, busy, embedder = someone(), someone(), Embedding()
    embedder.free.clear()
    await add(database, busy, notes(1))
    async with worker_of(database, embedder, concurrency=1):
        await until(database, busy, lambda jobs: jobs[0].worker is not None)
        await add(database, scope, notes(1))
        dead = await JobStore(database).claim("another-machine:1:1", user_id=scope.user_id)
        assert dead
        await JobStore(database).heartbeat(dead, JobStage.EMBED, 3, 10)
        await pass_by(database, scope, database.settings.ingestion.job_stale)
        [waiting] = await until(database, scope, lambda jobs: jobs[0].worker is None)
        assert (waiting.stage, waiting.attempts) == (JobStage.QUEUED, 1)
        embedder.free.set()
        [job] = await until(database, scope, over)
    assert (job.stage, job.attempts) == (JobStage.DONE, 2)


async def test_after_the_clock_went_back_a_dead_workers_document_and_turns_pass_to_the_next(
    database: Database,
) -> None:
    """Its heartbeats lie an hour ahead: it was thought to live until then, and its graph was not refreshed."""
    scope = someone()
    await add(database, scope, notes(2))
    claimed = await JobStore(database).claim("another-machine:1:1", user_id=scope.user_id)
    assert claimed
    await Turns(database).offer_refresh(scope, since=time.time(), wait=3600)
    async with database.transaction(scope.user_id) as connection:
        await connection.execute(
            """update ingestion_jobs set heartbeat_at = heartbeat_at + interval '1 hour',
                 not_before = case when worker is null then now() + interval '1 hour' end"""
        )
        await connection.execute(
            """with dead as (
                 insert into procrastinate_workers (last_heartbeat)
                 values (now() + interval '1 hour') returning id)
               update procrastinate_jobs set status = 'doing', worker_id = dead.id from dead
               where task_name = 'ingest'"""
        )
    refreshes = Refreshes(scope)
    async with worker_of(database, refresh=refreshes):
        jobs = await until(database, scope, over)
        async with asyncio.timeout(PATIENCE):
            await refreshes.done.wait()
    assert sorted((job.stage, job.attempts) for job in jobs) == [
        (JobStage.DONE, 1),
        (JobStage.DONE, 2),
    ]


async def test_of_a_documents_jobs_the_open_one_is_the_newest_whatever_the_clock_said(
    database: Database,
) -> None:
    scope = someone()
    for content in (b"First.", b"Second."):
        await add(database, scope, [Upload("note.txt", "note.txt", "text/plain", content)])
    async with database.transaction(scope.user_id) as connection:
        await connection.execute(
            """update ingestion_jobs set created_at = created_at + interval '1 hour'
               where stage = 'failed'"""
        )
    [document] = await DocumentStore(database).list(scope)
    standing = await UploadStore(database).statuses(scope.user_id, [document.id])
    assert standing[document.id].stage == JobStage.QUEUED
    await KnowledgeBases(database).delete(scope)


async def test_a_turn_that_waits_already_is_no_error_in_the_log_of_the_database(
    database: Database,
) -> None:
    scope, turns = someone(), Turns(database)
    for _ in range(3):
        await turns.offer_refresh(scope, since=time.time(), wait=3600)
    log = database.settings.data_dir / "postgres.log"
    assert scope.user_id not in log.read_text(errors="replace")
    async with database.transaction(scope.user_id) as connection:
        key = f"refresh/{scope.graph_id}/{scope.user_id}"
        gone = await connection.execute(
            "delete from procrastinate_jobs where queueing_lock = %s", [key]
        )
        assert gone.rowcount == 1


async def test_a_worker_that_was_thought_dead_goes_on_if_nobody_has_its_document(
    database: Database,
) -> None:
    scope, jobs = someone(), JobStore(database)
    await add(database, scope, notes(1))
    slow = await jobs.claim("slow", user_id=scope.user_id)
    assert slow
    await pass_by(database, scope, database.settings.ingestion.job_stale)
    await jobs.release_stale(scope.user_id)
    await jobs.heartbeat(slow)
    [again] = await jobs.list(scope)
    assert again.worker == "slow"
    assert await jobs.claim("other", user_id=scope.user_id) is None
    await jobs.release_stale(scope.user_id)
    assert (await jobs.list(scope))[0].worker == "slow"
    await KnowledgeBases(database).delete(scope)


async def test_a_model_that_is_gone_is_waited_for(database: Database) -> None:
    scope = someone()
    await add(database, scope, notes(1))
    async with worker_of(database, Embedding(failures=3)):
        [job] = await until(database, scope, over)
    assert (job.stage, job.released, job.attempts) == (JobStage.DONE, 3, 4)


async def test_a_model_that_stays_away_is_given_up_with_its_reason(database: Database) -> None:
    scope = someone()
    await add(database, scope, notes(1))
    async with database.transaction(scope.user_id) as connection:
        retries = database.settings.worker.retries
        await connection.execute(
            "update ingestion_jobs set released = %s, attempts = %s", [retries, retries]
        )
    async with worker_of(database, Embedding(failures=1000)):
        [job] = await until(database, scope, over)
    assert (job.stage, job.error_code) == (JobStage.FAILED, "model_unavailable")


async def test_a_file_that_is_refused_is_not_tried_again(database: Database) -> None:
    scope = someone()
    broken = Upload("a.pdf", "a.pdf", "application/pdf", b"%PDF-1.7 and then nothing")
    await add(database, scope, [broken])
    async with worker_of(database):
        [job] = await until(database, scope, over)
    assert (job.stage, job.attempts, job.released) == (JobStage.FAILED, 1, 0)
    assert job.error_code == "file_broken"


async def test_a_graph_is_refreshed_once_for_all_documents_that_came_together(
    database: Database,
) -> None:
    scope = someone()
    refreshes = Refreshes(scope)
    await add(database, scope, notes(10))
    async with worker_of(database, refresh=refreshes):
        await until(database, scope, over)
        async with asyncio.timeout(PATIENCE):
            await refreshes.done.wait()
    assert refreshes.number == 1


async def test_a_cancelled_ingestion_stops_and_can_be_tried_again(database: Database) -> None:
    scope, embedder = someone(), Embedding()
    embedder.free.clear()
    library = Library(database, scope.user_id)
    [added] = await library.add(notes(1), scope.graph_id)
    async with worker_of(database, embedder, concurrency=1):
        await until(database, scope, lambda jobs: jobs[0].worker is not None)
        await library.cancel(added.document_id)
        standing = await library.status(added.document_id)
        assert (standing.status, standing.error_code) == ("failed", "cancelled")
        # Its place is free again, although the embedder never answered.
        other = someone()
        other_jobs = until(database, other, lambda jobs: jobs[0].worker is not None)
        await add(database, other, notes(1))
        await other_jobs
        embedder.free.set()
        await library.retry(added.document_id)
        jobs = await until(database, scope, over)
    assert [job.stage for job in jobs] == [JobStage.DONE, JobStage.FAILED]


def test_a_dead_workers_document_is_back_in_the_queue_or_taken_over_within_half_a_minute() -> None:
    settings = Settings(_env_file=None)
    polled = 1.0
    assert settings.ingestion.job_stale + settings.worker.sweep + polled <= 30
    assert settings.ingestion.job_heartbeat * 3 <= settings.ingestion.job_stale
