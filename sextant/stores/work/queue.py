"""Turns of workers, handed out by the queue library procrastinate.

A turn names no document: it lets one worker take the next job of one user (`JobStore.claim`), and is
put back at the end of the queue when that user has more. So users take turns, however many documents
one of them has brought, and a turn that gets lost costs nothing: `Turns.offer_all` asks for those that
are missing, from what the jobs' own table says. The library brings the waking of idle workers, their
concurrency, order and delays, and the ordered stop; the jobs' table, who does what and how far it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.rows import class_row

from sextant.domain.documents import Backlog, DocumentStatus, JobStage
from sextant.domain.errors import ConflictError, DatabaseUnavailable
from sextant.domain.scope import Scope
from sextant.stores.documents.reading import not_found
from sextant.stores.documents.registering import Registered, open_again
from sextant.stores.documents.versions import fetch_one, open_version, withdraw_version
from sextant.stores.postgresql.database import Database, unavailable
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import lock_scope

if TYPE_CHECKING:
    from procrastinate import App

_SQL = load_queries("uploads")


@dataclass(frozen=True, slots=True)
class UploadStatus:
    """Where a document stands, and its newest job, if it ever had one.

    `done` of `total` chunks are through the `stage`. `not_before`: when a job that had to wait for a
    dependency is tried again. `warnings`: what of the document was not taken in. `unattended`: it waits, and
    no worker runs that could take it.
    """

    document_id: UUID
    graph_id: str
    filename: str
    status: DocumentStatus
    chunk_count: int
    job_id: UUID | None
    stage: JobStage | None
    done: int | None
    total: int | None
    attempts: int | None
    error_code: str | None
    error: str | None
    not_before: datetime | None
    warnings: Sequence[str] = ()
    unattended: bool = False

    @property
    def is_settled(self) -> bool:
        """Return whether nothing happens any more by itself."""
        return self.stage in {None, JobStage.DONE, JobStage.FAILED}


class UploadStore:
    """Documents on their way in; every call sees one user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def standings(
        self, user_id: str, document_ids: Sequence[UUID]
    ) -> dict[UUID, UploadStatus]:
        """Return where some documents stand; those that are not there, or not this user's, are left out."""
        key = {"user_id": user_id, "document_ids": list(document_ids)}
        async with self._database.transaction(user_id) as connection:
            cursor = connection.cursor(row_factory=class_row(UploadStatus))
            await cursor.execute(_SQL["states"], key)
            return {one.document_id: one async for one in cursor}

    async def retry(self, scope: Scope, document_id: UUID) -> Registered:
        """Queue a document again that could not be taken in; one that is under way goes on.

        Raises:
            DocumentNotFound: no such document in this scope.
            ConflictError: it is ready, and its newest bytes are the ones that serve.
        """
        async with self._database.transaction(scope.user_id) as connection:
            row = await lock_scope(connection, scope)
            key = {"scope_id": row.scope_id, "document_id": document_id}
            state = await fetch_one(connection, "lock_document", key)
            if state is None:
                raise not_found(document_id)
            if state["pending_version"] is None:
                raise ConflictError(
                    "There is nothing to try again: the document is ready.",
                    next_step="Upload the file once more if it has changed.",
                )
            return await open_again(connection, scope, row, document_id, live=False)

    async def cancel(self, scope: Scope, document_id: UUID) -> None:
        """Stop the ingestion of a document; its worker notices within a second or two.

        A version that served before serves on. A first version stays listed as failed, with its
        bytes, so that it can be tried again.

        Raises:
            DocumentNotFound: no such document in this scope.
            ConflictError: it is not being ingested.
        """
        async with self._database.transaction(scope.user_id) as connection:
            opened = await open_version(connection, scope, document_id, None)
            closed = await connection.execute(_SQL["cancel"], opened.key)
            if await closed.fetchone() is None:
                raise ConflictError(
                    "There is nothing to cancel: the document is not being ingested.",
                    next_step="Delete it if you do not want it.",
                )
            if opened.version is not None:
                await withdraw_version(connection, opened)


_QUEUE_SQL = load_queries("turns")

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
            await connection.execute(
                _QUEUE_SQL["workers_clock"], {"stale": timedelta(seconds=seconds)}
            )
            await connection.execute(_QUEUE_SQL["turns_clock"])

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
