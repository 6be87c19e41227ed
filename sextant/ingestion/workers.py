"""Jobs side by side: work shared in one transaction, heartbeats, and the share of each user in a process."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Generic, TypeVar
from uuid import UUID

from sextant.domain.concurrency import end
from sextant.domain.documents import Job, JobStage
from sextant.domain.errors import DependencyError, Superseded
from sextant.domain.scope import Scope
from sextant.ingestion.progress import Progress
from sextant.stores.jobs import Beat, JobStore

T = TypeVar("T")
R = TypeVar("R")

_MOST = 32  # items of one call, so that nobody waits long for its end


class GroupCommit(Generic[T, R]):
    """Call `work` with all items of a scope that wait at that moment; one call at a time for each scope.

    A call that fails is repeated for each item by itself, so that an item costs its neighbours nothing. A caller
    that is cancelled does not stop a call that has begun.

    Args:
        work: does several items, all or none, and returns a result for each.
    """

    def __init__(self, work: Callable[[Scope, Sequence[T]], Awaitable[Sequence[R]]]) -> None:
        self._work = work
        self._coming = 1
        self._waiting: dict[Scope, list[tuple[T, asyncio.Future[R]]]] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def do(self, scope: Scope, item: T, coming: int = 1) -> R:
        """Return the result of an item; raises what `work` raises for it.

        `coming`: how many items there may be soon, this one included.
        """
        self._coming = coming
        result: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        if scope in self._waiting:
            self._waiting[scope].append((item, result))
        else:
            self._waiting[scope] = [(item, result)]
            task = asyncio.create_task(self._run(scope))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return await result

    async def _run(self, scope: Scope) -> None:
        waiting = self._waiting[scope]
        group = list[tuple[T, asyncio.Future[R]]]()
        try:
            while waiting:
                # No delay once a quarter of the items that may come are waiting.
                if 4 * len(waiting) < self._coming:
                    # More items may come, as during PostgreSQL's `commit_delay`.
                    await asyncio.sleep(0.2)
                group = [one for one in waiting[:_MOST] if not one[1].done()]
                del waiting[:_MOST]
                if group:
                    await self._do(scope, group)
        finally:
            for _, future in (*group, *self._waiting.pop(scope)):
                future.cancel()  # of those without an outcome, if this task was stopped

    async def _do(self, scope: Scope, group: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        try:
            results = await self._work(scope, [item for item, _ in group])
        except Exception as error:  # noqa: BLE001 - raised to those who wait
            if len(group) > 1 and not isinstance(error, DependencyError):
                for one in group:
                    await self._do(scope, [one])
                return
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
        else:
            for (_, future), result in zip(group, results, strict=True):
                if not future.done():
                    future.set_result(result)


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

    def parsing(self, user_id: str) -> asyncio.Semaphore:
        """Return the user's two slots for parsing."""
        return self._parsing[user_id]

    def adding(self, user_id: str) -> asyncio.Semaphore:
        """Return the user's four slots for parsed documents that are not small."""
        return self._adding[user_id]

    @asynccontextmanager
    async def embedding(self, user_id: str) -> AsyncIterator[None]:
        """Hold the embedding model; each user has at most one batch in its queue, so users alternate."""
        async with self._embedding[user_id], self._model:
            yield
