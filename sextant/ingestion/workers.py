"""The processes that ingest: which of them is alive, and how each shares its time among users."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from uuid import UUID

from sextant.domain.documents import Job, JobStage
from sextant.domain.errors import DependencyError, Superseded
from sextant.domain.tasks import end
from sextant.ingestion.progress import Progress
from sextant.stores.work.jobs import JobStore


def worker_name() -> str:
    """Name this process, told apart from all others: host, process namespace (of a container) and id."""
    return f"{_machine()}:{os.getpid()}"


def is_dead(worker: str | None) -> bool:
    """Return whether `worker` was a process of this machine and has ended; False where that is not known.

    A process that has been given the id of the dead one makes it look alive; then its heartbeat
    tells, later.
    """
    machine, _, process = (worker or "").rpartition(":")
    if machine != _machine() or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _is_zombie(int(process))


def _is_zombie(process: int) -> bool:
    """Killed, but not yet waited for by its parent: only where /proc says so."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] == "Z"


def _machine() -> str:
    # Two containers may have one host name and the same process ids.
    try:
        namespace = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        namespace = 0
    return f"{socket.gethostname()}:{namespace}"


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


class WorkShares:
    """Limit the documents of each user that are parsed and embedded at a time.

    A worker leaves one place to others than the user who has the rest (`sextant.facade.worker`); so
    whoever has that place must not wait behind the files in the other places.
    """

    def __init__(self) -> None:
        # While one file is embedded the next one is parsed; more at once would only cost memory.
        self._parsing = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(2))
        self._embedding = defaultdict[str, asyncio.Lock](asyncio.Lock)
        self._model = asyncio.Lock()

    @asynccontextmanager
    async def parsing(self, user_id: str) -> AsyncIterator[None]:
        """Wait until fewer than two files of the user are parsed, and count as one meanwhile."""
        async with self._parsing[user_id]:
            yield

    @asynccontextmanager
    async def embedding(self, user_id: str) -> AsyncIterator[None]:
        """Wait for the embedding model, and have it alone meanwhile; users take turns.

        Each user has one batch in the model's queue, so that queue alternates between them.
        """
        async with self._embedding[user_id], self._model:
            yield
