"""Workers as processes over one database: killed, stopped, side by side."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio

from sextant.domain.documents import DocumentStatus, JobStage
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.facade.library import Library
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.registration import Upload
from sextant.stores.postgresql.database import Database
from tests.e2e.workers import (
    IMPATIENT,
    ended,
    long_text,
    process_of,
    under_way,
    until,
    when,
    working,
)
from tests.integration.stored_state import JobStore

pytestmark = pytest.mark.e2e


@pytest_asyncio.fixture(scope="module")
async def database(environment: dict[str, str]) -> AsyncIterator[Database]:
    folder = Path(environment["SEXTANT_DATA_DIR"])
    settings = Settings(_env_file=None, data_dir=folder, database_url=None, neo4j_uri=None)
    async with await Database.open(settings) as opened:
        yield opened


@pytest.fixture
def scope() -> Scope:
    return Scope(user_id=f"user-{uuid4()}")


@pytest.fixture
def impatient(environment: dict[str, str]) -> dict[str, str]:
    """Return workers that take over after five seconds, and give back what they have when they are stopped."""
    return environment | IMPATIENT


async def add(database: Database, scope: Scope, content: bytes, name: str = "long.txt") -> UUID:
    upload = Upload(name, name, "text/plain", content)
    [registered] = await Library(database, scope.user_id).add([upload], scope.graph_id)
    return registered.document_id


async def test_a_killed_workers_document_is_taken_over_and_stored_exactly_once(
    database: Database, scope: Scope, impatient: dict[str, str]
) -> None:
    document_id = await add(database, scope, long_text())
    async with working(impatient, 2):
        first = await when(database, scope, under_way)
        os.kill(process_of(first), signal.SIGKILL)
        last = await when(database, scope, ended)

    standing = await Library(database, scope.user_id).status(document_id)
    assert (last.stage, last.attempts, standing.status) == (
        JobStage.DONE,
        first.attempts + 1,
        DocumentStatus.READY,
    )
    assert last.done == last.total == await ChunkStore(database).count(scope)


async def test_a_stopped_worker_gives_back_what_it_cannot_finish(
    database: Database, scope: Scope, impatient: dict[str, str]
) -> None:
    document_id = await add(database, scope, long_text())
    async with working(impatient) as [worker]:
        await when(database, scope, under_way)
        worker.send_signal(signal.SIGTERM)
        assert await worker.wait() == 0
    [given_back] = await JobStore(database).list(scope)
    assert (given_back.stage, given_back.worker, given_back.released) == (
        JobStage.QUEUED,
        None,
        1,
    )

    async with working(impatient):
        last = await when(database, scope, ended)
    standing = await Library(database, scope.user_id).status(document_id)
    assert (last.stage, standing.status) == (JobStage.DONE, DocumentStatus.READY)
    assert last.total == await ChunkStore(database).count(scope)


async def test_a_stopped_worker_finishes_what_it_can(
    database: Database, scope: Scope, impatient: dict[str, str]
) -> None:
    await add(database, scope, long_text(20))
    async with working(impatient | {"SEXTANT_WORKER__DRAIN": "60"}) as [worker]:
        await when(database, scope, lambda job: job.worker is not None)
        worker.send_signal(signal.SIGTERM)
        assert await worker.wait() == 0
    [job] = await JobStore(database).list(scope)
    assert (job.stage, job.attempts - job.released) == (JobStage.DONE, 1)


async def test_two_workers_share_the_documents_and_do_each_once(
    database: Database, scope: Scope, impatient: dict[str, str]
) -> None:
    for n in range(12):
        await add(database, scope, f"Note number {n}.".encode(), f"note-{n}.txt")
    # None of them dies, however long a busy machine lets it wait.
    async with working(impatient | {"SEXTANT_INGESTION__JOB_STALE": "120"}, 2):
        jobs = await until(database, scope, lambda jobs: all(map(ended, jobs)))
    assert {(job.stage, job.attempts) for job in jobs} == {(JobStage.DONE, 1)}
    assert await ChunkStore(database).count(scope) == 12


async def test_a_deleted_documents_ingestion_stops_and_leaves_nothing(
    database: Database, scope: Scope, impatient: dict[str, str]
) -> None:
    library = Library(database, scope.user_id)
    document_id = await add(database, scope, long_text())
    async with working(impatient):
        await when(database, scope, under_way)
        await library.delete(document_id)
        # The worker's one place is free again: another document goes through it.
        await add(database, scope, b"A short note.", "note.txt")
        last = await when(database, scope, ended)
    assert last.filename == "note.txt"
    assert await ChunkStore(database).count(scope) == 1


async def test_a_worker_tells_how_it_does_at_a_port_of_its_own(
    scope: Scope, database: Database, impatient: dict[str, str]
) -> None:
    await add(database, scope, b"A short note.", "note.txt")
    command = ("worker", "--concurrency", "1", "--metrics-port", "0")
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "sextant", *command), env=impatient, stdout=asyncio.subprocess.PIPE
    )
    assert worker.stdout
    told = re.search(r"http://127\.0\.0\.1:\d+/metrics", (await worker.stdout.readline()).decode())
    assert told
    await when(database, scope, ended)
    async with httpx.AsyncClient(timeout=60) as client:
        metrics = (await client.get(told[0])).text
    worker.send_signal(signal.SIGTERM)
    assert await worker.wait() == 0
    assert 'kb_ingest_stage_seconds_count{outcome="ok",stage="parse"} 1.0' in metrics
    assert 'kb_ingest_queue{state="waiting"}' in metrics


async def test_a_document_that_waits_without_any_worker_says_so_until_one_comes(
    database: Database, scope: Scope, impatient: dict[str, str]
) -> None:
    library = Library(database, scope.user_id)
    document_id = await add(database, scope, b"Berth 7 is taken.", "berths.txt")
    async with asyncio.timeout(90):  # workers that other tests have killed count for a minute
        while not (await library.status(document_id)).unattended:  # noqa: ASYNC110
            await asyncio.sleep(0.5)
    async with working(impatient, 1):
        await when(database, scope, ended)
    standing = await library.status(document_id)
    assert (standing.stage, standing.unattended) == (JobStage.DONE, False)
