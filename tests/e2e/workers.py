"""`sextant worker` as processes, and how far their documents are."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from sextant.domain.documents import Job, JobStage
from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from tests.integration.stored_state import JobStore

# Long enough to be killed in the middle of it, on whatever machine.
PARAGRAPHS = 120
PATIENCE = 120.0
# They take over after five seconds, and give back what they have when they are stopped.
IMPATIENT = {
    "SEXTANT_INGESTION__JOB_HEARTBEAT": "0.5",
    "SEXTANT_INGESTION__JOB_STALE": "5",
    "SEXTANT_INGESTION__EMBED_BATCH": "8",
    "SEXTANT_WORKER__SWEEP": "0.5",
    "SEXTANT_WORKER__DRAIN": "0.2",
}

Worker = asyncio.subprocess.Process


@asynccontextmanager
async def working(environment: Mapping[str, str], number: int = 1) -> AsyncIterator[list[Worker]]:
    """Process that run `sextant worker`; whichever is left at the end is killed."""
    command = [sys.executable, "-m", "sextant", "worker", "--concurrency", "1"]
    pipe = asyncio.subprocess.PIPE
    workers = [
        await asyncio.create_subprocess_exec(*command, env=environment, stdout=pipe)
        for _ in range(number)
    ]
    try:
        for worker in workers:
            assert worker.stdout
            assert b"Working" in await worker.stdout.readline()
        yield workers
    finally:
        for worker in workers:
            if worker.returncode is None:
                worker.kill()
            await worker.wait()


def long_text(paragraphs: int = PARAGRAPHS) -> bytes:
    sentences = "A lens of number {0} may be kept for {0} days. " * 12
    return "\n\n".join(sentences.format(n) for n in range(paragraphs)).encode()


async def when(database: Database, scope: Scope, holds: Callable[[Job], bool]) -> Job:
    """Return the scope's newest job as soon as something holds of it."""
    return (await until(database, scope, lambda jobs: holds(jobs[0])))[0]


async def until(database: Database, scope: Scope, hold: Callable[[list[Job]], bool]) -> list[Job]:
    async with asyncio.timeout(PATIENCE):
        while True:
            if hold(jobs := await JobStore(database).list(scope)):
                return jobs
            await asyncio.sleep(0.1)


def under_way(job: Job) -> bool:
    return job.stage is JobStage.EMBED and 0 < job.done < job.total


def ended(job: Job) -> bool:
    return job.stage in {JobStage.DONE, JobStage.FAILED}


def process_of(job: Job) -> int:
    assert job.worker
    return int(job.worker.rpartition(":")[2])
