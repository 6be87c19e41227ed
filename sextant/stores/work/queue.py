"""Turns of workers, handed out by the queue library procrastinate.

A turn names no document: it lets one worker take the next job of one user (`JobStore.claim`), and is
put back at the end of the queue when that user has more. So users take turns, however many documents
one of them has brought, and a turn that gets lost costs nothing: `Turns.offer_all` asks for those that
are missing, from what the jobs' own table says. The library brings the waking of idle workers, their
concurrency, order and delays, and the ordered stop; the jobs' table, who does what and how far it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sextant.domain.documents import Backlog
from sextant.domain.errors import DatabaseUnavailable
from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database, unavailable
from sextant.stores.postgresql.queries import load_queries

if TYPE_CHECKING:
    from procrastinate import App

_SQL = load_queries("turns")

INGEST, REFRESH = "ingest", "refresh"
# Turns that somebody waits for go first; what follows from a graph comes after its documents.
_URGENT, _USUAL, _AFTERWARDS = 10, 0, -10
# The library's own calls are short; its listener has a connection beside these.
_POOL = 3


class Turns:
    """Asks for turns; needs no worker in this process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._app: App | None = None

    async def set_clock(self, seconds: float) -> None:
        """Mind a clock that went back by more than `seconds`, those after which a silent worker is dead."""
        async with self._database.transaction("") as connection:
            await connection.execute(_SQL["workers_clock"], {"stale": timedelta(seconds=seconds)})
            await connection.execute(_SQL["turns_clock"])

    async def offer_all(self, backlog: Backlog) -> None:
        """See that turns wait for what waits of a user."""
        await self._offer(backlog.user_id, backlog.urgent, urgent=True)
        await self._offer(backlog.user_id, backlog.waiting - backlog.urgent, urgent=False)

    async def _offer(self, user_id: str, number: int, *, urgent: bool) -> None:
        most = min(number, self._database.settings.worker.per_user)
        for place in range(most):
            # One waiting turn for each document that may be in hand at a time.
            name = f"{INGEST}/{'urgent' if urgent else 'usual'}/{place}/{user_id}"
            priority = _URGENT if urgent else _USUAL
            await self._put(INGEST, name, {"user_id": user_id}, priority=priority)

    async def offer_refresh(self, scope: Scope, *, since: float, wait: float = 0) -> None:
        """See that a graph is brought up to date, `wait` seconds from now at the earliest."""
        arguments = {"user_id": scope.user_id, "graph_id": scope.graph_id, "since": since}
        name = f"{REFRESH}/{scope.graph_id}/{scope.user_id}"
        await self._put(REFRESH, name, arguments, priority=_AFTERWARDS, wait=wait, lock=name)

    async def _put(
        self,
        task: str,
        name: str,
        arguments: dict[str, Any],
        *,
        priority: int,
        wait: float = 0,
        lock: str | None = None,
    ) -> None:
        from procrastinate.exceptions import AlreadyEnqueued

        self._app = self._app or library(self._database)
        with answering(), suppress(AlreadyEnqueued):
            async with self._database.transaction(arguments["user_id"]) as connection:
                configured = self._app.configure_task(
                    task,
                    queueing_lock=name,
                    lock=lock,
                    priority=priority,
                    schedule_in={"seconds": wait} if wait else None,
                    connection=connection,
                )
                await configured.defer_async(**arguments)


def library(database: Database) -> App:
    """Return the library over a database; connected once it is opened."""
    from procrastinate import App, PsycopgConnector

    timeout = database.settings.database_timeout
    connector = PsycopgConnector(
        conninfo=database.app_conninfo, min_size=1, max_size=_POOL, timeout=timeout
    )
    return App(connector=connector)


@contextmanager
def answering() -> Iterator[None]:
    """Turn the library's errors of connection into `DatabaseUnavailable`."""
    from procrastinate.exceptions import ConnectorException

    try:
        with unavailable():
            yield
    except ConnectorException as error:
        raise DatabaseUnavailable(
            f"The queue's database did not answer as it should: {error.__cause__ or error}.",
            next_step="Run `sextant doctor`, and try again once the database is back.",
        ) from error


async def free_turns_of_dead(app: App, turns: Turns, seconds: float) -> None:
    """Drop the turns of workers that said nothing for so long; who sweeps offers documents again.

    A refresh is offered again here, before its turn is dropped: nothing else tells that it is due.
    """
    from procrastinate.jobs import Status

    with answering():
        for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=seconds):
            if job.task_name == REFRESH:
                given: dict[str, Any] = dict(job.task_kwargs)
                scope = Scope(given["user_id"], given["graph_id"])
                await turns.offer_refresh(scope, since=given["since"])
            await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
        await app.job_manager.prune_stalled_workers(seconds)
