"""Heartbeats of running jobs, and the share of each user in a process."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from uuid import UUID

from sextant.domain.documents import Job, JobStage
from sextant.domain.errors import DependencyError, Superseded
from sextant.domain.tasks import end
from sextant.ingestion.group_commit import GroupCommit
from sextant.ingestion.progress import Progress
from sextant.stores.work.jobs import Beat, JobStore

# The interval at which progress is stored, and a lost job is noticed.
_WATCH_SECONDS = 1.0

# Stages that are stored when a job is closed.
_ENDED = frozenset({JobStage.DONE, JobStage.FAILED})


class Heartbeats:
    """Write heartbeats and progress of running jobs.

    Args:
        jobs: stores jobs.
        seconds: the time between two heartbeats.
    """

    def __init__(self, jobs: JobStore, seconds: float) -> None:
        self._jobs = jobs
        self._beats = GroupCommit(jobs.beat_all)
        self._seconds = seconds
        self._noted: dict[UUID, Progress] = {}

    @asynccontextmanager
    async def of(self, job: Job) -> AsyncIterator[None]:
        """Write heartbeats of a claimed job while the block runs.

        Raises:
            Superseded: the job was lost, and the block was stopped.
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
        """Note the progress of a job, which is stored within a second."""
        self._noted[job.id] = progress

    async def _beat(self, job: Job, ours: asyncio.Timeout) -> None:
        """Write heartbeats, and stop the work once the job is lost."""
        written, mine = time.monotonic(), True
        wait = min(self._seconds, _WATCH_SECONDS)
        while mine:
            # All jobs beat at the same moments, and so in one statement.
            await asyncio.sleep(wait - time.monotonic() % wait if wait else 0)
            noted = self._noted.pop(job.id, None)
            due = noted is not None or time.monotonic() - written >= self._seconds
            beat = Beat(job, due)
            if (
                noted is not None
                and noted.stage not in _ENDED
                and isinstance(noted.stage, JobStage)
            ):
                beat = Beat(job, due, noted.stage, noted.done, noted.total)
            with suppress(DependencyError):
                mine = await self._beats.do(job.scope, beat)
                if due:
                    written = time.monotonic()
        if not ours.expired():
            ours.reschedule(asyncio.get_running_loop().time())


class WorkShares:
    """Limit the documents of each user that are parsed, added and embedded at a time.

    A worker reserves one slot for users without a running job (`sextant.facade.worker`), who must not wait here for
    the files of the others.
    """

    def __init__(self) -> None:
        # One file is parsed while the one before is embedded.
        self._parsing = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(2))
        self._adding = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(4))
        self._embedding = defaultdict[str, asyncio.Lock](asyncio.Lock)
        self._model = asyncio.Lock()

    @asynccontextmanager
    async def parsing(self, user_id: str) -> AsyncIterator[None]:
        """Hold one of the user's two slots for parsing."""
        async with self._parsing[user_id]:
            yield

    @asynccontextmanager
    async def adding(self, user_id: str) -> AsyncIterator[None]:
        """Hold one of the user's four places for parsed documents that are not small."""
        async with self._adding[user_id]:
            yield

    @asynccontextmanager
    async def embedding(self, user_id: str) -> AsyncIterator[None]:
        """Hold the embedding model; each user has at most one batch in its queue, so users alternate."""
        async with self._embedding[user_id], self._model:
            yield
