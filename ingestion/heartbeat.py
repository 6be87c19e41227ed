"""The record of a job while it runs: heartbeats and progress are written, and lost jobs are stopped.

A job is lost to its worker when somebody cancels it, deletes or replaces its document, or when another
worker has taken it over.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from uuid import UUID

from domain.documents import Job, JobStage
from domain.errors import DependencyError, Superseded
from domain.tasks import end
from stores.work.jobs import JobStore

# Progress is written down once a second: a small file would spend a tenth of its time on it.
_NOTE_SECONDS = 1.0
# A lost job is stopped after this long.
_WATCH_SECONDS = 1.0


class Heartbeats:
    """Keeps the records of running jobs.

    Args:
        jobs: the records.
        seconds: between two heartbeats.
    """

    def __init__(self, jobs: JobStore, seconds: float) -> None:
        self._jobs = jobs
        self._seconds = seconds
        self._noted: dict[UUID, float] = {}

    @asynccontextmanager
    async def of(self, job: Job) -> AsyncIterator[None]:
        """Write heartbeats of a job that was just claimed, as long as the block runs.

        Raises:
            Superseded: the job is lost; the block was stopped.
        """
        self._noted[job.id] = time.monotonic()
        try:
            async with asyncio.timeout(None) as ours:
                beating = asyncio.create_task(self._beat(job, ours))
                try:
                    yield
                finally:
                    await end(beating)
                    del self._noted[job.id]
        except TimeoutError:
            if not ours.expired():
                raise
            raise Superseded(
                f"The ingestion of {job.filename} was cancelled, or somebody else has it.",
                next_step="Nothing to do, unless you want it again: then ingest the file again.",
            ) from None

    async def note(self, job: Job, stage: JobStage, done: int, total: int) -> None:
        """Write down how far a job is, unless that was done a moment ago."""
        now = time.monotonic()
        if now - self._noted[job.id] >= _NOTE_SECONDS:
            self._noted[job.id] = now
            await self._jobs.progress(job, stage, done, total)

    async def _beat(self, job: Job, ours: asyncio.Timeout) -> None:
        """Write heartbeats, and stop the work as soon as the job is lost.

        A job that is done is not: whoever did it is told a moment later.
        """
        written, mine = time.monotonic(), True
        while mine:
            await asyncio.sleep(min(self._seconds, _WATCH_SECONDS))
            with suppress(DependencyError):
                if time.monotonic() - written >= self._seconds:
                    with suppress(Superseded):  # closed: by whom is asked below
                        await self._jobs.heartbeat(job)
                    written = time.monotonic()
                mine = await self._jobs.is_mine(job)
        if not ours.expired():
            ours.reschedule(asyncio.get_running_loop().time())
