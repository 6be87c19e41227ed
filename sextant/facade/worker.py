"""Workers, which ingest the queued documents of all users, on one server or many.

The table of jobs (heartbeats, claims, attempts) makes work survive a worker; the queue only decides whose turn is next
(`sextant.stores.queue`). So a worker needs only the database and may die at any time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from sextant.domain.concurrency import Shares, end
from sextant.domain.errors import (
    ConflictError,
    DocumentNotFound,
    FileRejected,
    SextantError,
    Wording,
)
from sextant.domain.scope import Scope
from sextant.stores.documents.embedding_space import has_all_vectors, list_scopes
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.stores.queue import INGEST, REFRESH, Turns, answering, free_turns_of_dead, library

if TYPE_CHECKING:
    from procrastinate import App

    from sextant.ingestion.pipeline import Ingestor

log = logging.getLogger(__name__)

_QUIET_SECONDS = 1.0  # without new documents, before a graph is refreshed
_TURN_SECONDS = 1.0  # of one user's turn: taking a turn costs more than ingesting a small document


class Worker:
    """Ingests queued documents until it is stopped.

    Args:
        database: holds jobs, documents and the queue.
        opened: opens the ingestor; called at the first job, because it loads the embedding model.
        refresh: brings a graph up to date.
        reembed: embeds chunks without vectors; None: they are left.
        concurrency: turns at a time; from two on, one user gets all but one of them at most.
    """

    def __init__(
        self,
        database: Database,
        opened: Callable[[], Awaitable[Ingestor]],
        refresh: Callable[[Scope], Awaitable[None]],
        *,
        concurrency: int,
        reembed: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self._database = database
        self._jobs = JobStore(database)
        self._turns = Turns(database)
        self._settings = database.settings
        self._opened = opened
        self._refresh_graph = refresh
        self._reembed = reembed
        self._concurrency = concurrency
        self._user_slots = Shares(max(1, concurrency - 1), Wording("This user has enough turns."))
        self._ingestor: Ingestor | None = None
        self._opening = asyncio.Lock()
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Take no more turns, finish the current ones or give them back, and end."""
        self._stopping.set()

    async def run(self) -> None:
        """Work until `stop`; start again after the database was lost."""
        while not self._stopping.is_set():
            try:
                await self._work()
            except SextantError as error:
                log.warning("the worker starts again: %s", error)
            except Exception:
                log.exception("the worker starts again")
            with suppress(TimeoutError):
                # A pause before the next start.
                await asyncio.wait_for(self._stopping.wait(), 2.0)

    async def _work(self) -> None:
        """Take turns until `stop`, or until the queue's connection is lost."""
        # This call restarts an embedded server, which the queue's library does not.
        await self._jobs.backlog()
        app = library(self._database)
        app.task(name=INGEST)(self._take_turn)
        app.task(name=REFRESH)(self._refresh)
        stale = self._settings.ingestion.job_stale
        with answering():
            async with app.open_async():
                taking = asyncio.create_task(
                    app.run_worker_async(
                        concurrency=self._concurrency,
                        # Turns that become due later send no notification.
                        fetch_job_polling_interval=1.0,
                        shutdown_graceful_timeout=self._settings.worker.drain,
                        delete_jobs="always",
                        install_signal_handlers=False,
                        update_heartbeat_interval=self._settings.ingestion.job_heartbeat,
                        stalled_worker_timeout=stale,
                    )
                )
                sweeping = asyncio.create_task(self._sweep(app))
                embedding = asyncio.create_task(self._finish_embedding())
                stopping = asyncio.create_task(self._stopping.wait())
                await _until_one_ends(taking, sweeping, embedding, stopping)

    async def _sweep(self, app: App) -> None:
        """Release the jobs of dead workers, and offer missing turns."""
        stale = self._settings.ingestion.job_stale
        while True:
            with suppress(SextantError):
                await self._turns.set_clock(stale)
                await free_turns_of_dead(app, self._turns, stale)
                for backlog in await self._jobs.backlog():
                    await self._jobs.release_stale(backlog.user_id)
                    await self._turns.offer_all(backlog)
            await asyncio.sleep(self._settings.worker.sweep)

    async def _finish_embedding(self) -> None:
        """Go on with an interrupted re-embedding."""
        while True:
            try:
                if self._reembed is not None and not await has_all_vectors(self._database):
                    await self._reembed()
                    for scope in await list_scopes(self._database):
                        await self._announce(scope)
            except SextantError as error:
                log.warning("passages stay without vectors for now: %s", error)
            await asyncio.sleep(self._settings.worker.sweep)

    async def _take_turn(self, user_id: str) -> None:
        """Ingest the next documents of a user, whose next turn is then behind all others."""
        if self._user_slots.has_share(user_id):
            return  # whichever of the user's turns ends first offers it again
        with self._user_slots.slot(user_id):
            try:
                async with self._opening:
                    if self._ingestor is None:
                        self._ingestor = await self._opened()
                ingestor = self._ingestor
            except SextantError as error:
                _report(error)  # the sweep offers the turn again
                return
            ends, found = time.monotonic() + _TURN_SECONDS, False
            while not (found and (time.monotonic() > ends or self._stopping.is_set())):
                try:
                    if not await ingestor.run_next(user_id, on_claimed=self._announce):
                        break
                except Exception as error:  # noqa: BLE001 - one job must not stop others
                    _report(error)
                found = True
        if found:
            await self._offer_next(user_id)

    async def _offer_next(self, user_id: str) -> None:
        with suppress(SextantError):  # the sweep repeats it
            for backlog in await self._jobs.backlog(user_id):
                await self._turns.offer_all(backlog)

    async def _announce(self, scope: Scope) -> None:
        """Queue the graph's refresh before the document is done, so it is due even if this worker dies."""
        await self._turns.offer_refresh(scope, since=time.time(), wait=_QUIET_SECONDS)

    async def _refresh(self, user_id: str, graph_id: str, since: float) -> None:
        """Bring a graph up to date, once for all documents that are being ingested."""
        scope = Scope(user_id, graph_id)
        # A graph waits a minute at most for more documents before it is refreshed.
        late = time.time() - since > 60.0
        if self._user_slots.has_share(user_id):
            await self._turns.offer_refresh(scope, since=since, wait=_QUIET_SECONDS)
            return
        with self._user_slots.slot(user_id):
            if not late and await self._jobs.waiting(scope):
                await self._turns.offer_refresh(scope, since=since, wait=_QUIET_SECONDS)
                return
            await self._refresh_graph(scope)
        await self._offer_next(user_id)


async def _until_one_ends(taking: asyncio.Task[None], *others: asyncio.Task[Any]) -> None:
    """Wait for the first task to end, then stop all; a first cancellation stops the queue's library gracefully."""
    try:
        await asyncio.wait([taking, *others], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (taking, *others):
            task.cancel()
        await asyncio.wait([taking])
        await end(*others)
    if not taking.cancelled():
        taking.result()


def _report(error: Exception) -> None:
    """Log why a document was not ingested; refused files, conflicts and deleted documents are no matter of the operator."""
    if isinstance(error, SextantError):
        expected = isinstance(error, FileRejected | ConflictError | DocumentNotFound)
        level = logging.INFO if expected else logging.WARNING
        log.log(level, "a document was not ingested: %s", error)
    else:
        log.error("a document was not ingested", exc_info=error)


@asynccontextmanager
async def working(worker: Worker) -> AsyncIterator[None]:
    """Run a worker while the block runs."""
    task = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await task
