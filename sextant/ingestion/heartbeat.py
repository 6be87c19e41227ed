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

from sextant.domain.documents import Job, JobStage
from sextant.domain.errors import DependencyError, Superseded
from sextant.domain.tasks import end
from sextant.ingestion.progress import Progress
from sextant.stores.work.jobs import JobStore

# Progress is written down this often, beside the work: a small file would spend a tenth of its time on it. A lost
# job is stopped after this long.
_WATCH_SECONDS = 1.0
# Whoever ends a job writes that with all that belongs to it.
_ENDED = frozenset({JobStage.DONE, JobStage.FAILED})


class Heartbeats:
    """Keeps the records of running jobs.

    Args:
        jobs: the records.
        seconds: between two heartbeats.
    """

    def __init__(self, jobs: JobStore, seconds: float) -> None:
        self._jobs = jobs
        self._seconds = seconds
        self._noted: dict[UUID, Progress] = {}

    @asynccontextmanager
    async def of(self, job: Job) -> AsyncIterator[None]:
        """Write heartbeats of a job that was just claimed, as long as the block runs.

        Raises:
            Superseded: the job is lost; the block was stopped.
        """
        try:
            async with asyncio.timeout(None) as ours:
                beating = asyncio.create_task(self._beat(job, ours))
                try:
                    yield
                finally:
                    await end(beating)
                    self._noted.pop(job.id, None)
        except TimeoutError:
            if not ours.expired():
                raise
            raise Superseded(
                f"The ingestion of {job.filename} was cancelled, or somebody else has it.",
                next_step="Nothing to do, unless you want it again: then ingest the file again.",
            ) from None

    def note(self, job: Job, progress: Progress) -> None:
        """Have written down how far a job is, within a second."""
        self._noted[job.id] = progress

    async def _beat(self, job: Job, ours: asyncio.Timeout) -> None:
        """Write heartbeats, and stop the work as soon as the job is lost.

        A job that is done is not: whoever did it is told a moment later.
        """
        written, mine = time.monotonic(), True
        while mine:
            await asyncio.sleep(min(self._seconds, _WATCH_SECONDS))
            with suppress(DependencyError):
                noted = self._noted.pop(job.id, None)
                if noted is not None or time.monotonic() - written >= self._seconds:
                    with suppress(Superseded):  # closed: by whom is asked below
                        await self._write(job, noted)
                    written = time.monotonic()
                mine = await self._jobs.is_mine(job)
        if not ours.expired():
            ours.reschedule(asyncio.get_running_loop().time())

    async def _write(self, job: Job, noted: Progress | None) -> None:
        """Write how far the job is, if it got further; either way it lives."""
        if noted is None or noted.stage in _ENDED or not isinstance(noted.stage, JobStage):
            await self._jobs.heartbeat(job)
        else:
            await self._jobs.progress(job, noted.stage, noted.done, noted.total)
