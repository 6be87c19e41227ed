"""Schedule turns of users with the queue library procrastinate.

A turn names no document: it lets a worker claim the next job of one user (`JobStore.claim`), and is
queued again at the end if that user has more. So users alternate, however many documents one of them
has uploaded. A lost turn does no harm: `Turns.offer_all` queues missing ones from the jobs' table. The
library wakes idle workers and handles concurrency, order, delays and shutdown; the jobs' table records
who does what.

Also here: what became of uploads; what waits and who works, of all users, for metrics and readiness.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.rows import dict_row

from sextant.domain.documents import Backlog, DocumentStatus, JobStage
from sextant.domain.errors import ConflictError, DatabaseUnavailable
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning
from sextant.stores.documents.document_reader import not_found
from sextant.stores.documents.registration import Registered, open_again
from sextant.stores.documents.versions import fetch_one, open_version, withdraw_version
from sextant.stores.postgresql.database import Database, unavailable
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import WatchedConnection
from sextant.stores.scopes import lock_scope

if TYPE_CHECKING:
    from procrastinate import App


_SQL = load_queries("uploads")


@dataclass(frozen=True, slots=True)
class UploadStatus:
    """The status of a document and its newest job, if it has one.

    Attributes:
        done, total: numbers of chunks that have passed the `stage`, and of all.
        not_before: the time of the next attempt of a job that waits for a dependency.
        warnings: parts of the document that were not ingested.
        unattended: whether it waits and no worker runs.
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
    warnings: Sequence[CodedWarning] = ()
    unattended: bool = False

    @property
    def is_settled(self) -> bool:
        """Return whether the status is final unless the user acts."""
        return self.stage in {None, JobStage.DONE, JobStage.FAILED}


def _status(row: dict[str, Any]) -> UploadStatus:
    warnings = tuple(map(CodedWarning.from_json, row["warnings"]))
    return UploadStatus(**row | {"warnings": warnings})


class UploadStore:
    """Read, cancel and retry uploads; every call sees one user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def statuses(
        self, user_id: str, document_ids: Sequence[UUID]
    ) -> dict[UUID, UploadStatus]:
        """Return the status of documents by id; unknown documents and those of other users are left out."""
        key = {"user_id": user_id, "document_ids": list(document_ids)}
        rows = await self._database.fetch(user_id, dict_row, _SQL["states"], key)
        return {row["document_id"]: _status(row) for row in rows}

    async def retry(self, scope: Scope, document_id: UUID) -> Registered:
        """Queue a failed document again; one that is being ingested continues.

        Raises:
            DocumentNotFound: no such document in this scope.
            ConflictError: it is ready with its newest bytes.
        """
        async with self._database.transaction(scope.user_id) as connection:
            row = await lock_scope(connection, scope)
            key = {"scope_id": row.scope_id, "document_id": document_id}
            state = await fetch_one(connection, "lock_document", key)
            if state is None:
                raise not_found(document_id)
            if state["pending_version"] is None:
                raise ConflictError(
                    "There is nothing to retry: the document is ready.",
                    next_step="Upload the file again if it has changed.",
                )
            return await open_again(connection, scope, row, document_id, live=False)

    async def cancel(self, scope: Scope, document_id: UUID) -> None:
        """Stop the ingestion of a document; its worker notices within a second or two.

        An earlier live version stays searchable. A first version stays listed as failed, with its
        bytes, so that it can be retried.

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
# Urgent turns come first; the update of a graph comes after its documents.
_URGENT, _USUAL, _AFTERWARDS = 10, 0, -10


class Turns:
    """Queue turns; needs no worker in this process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._app: App | None = None

    async def set_clock(self, seconds: float) -> None:
        """Correct times in the future after the clock was set back by more than `seconds`."""
        async with self._database.transaction("") as connection:
            await connection.execute(
                _QUEUE_SQL["workers_clock"], {"stale": timedelta(seconds=seconds)}
            )
            await connection.execute(_QUEUE_SQL["turns_clock"])

    async def offer_all(self, backlog: Backlog) -> None:
        """Queue the turns that a user's waiting jobs need."""
        await self._offer(backlog.user_id, backlog.urgent, urgent=True)
        await self._offer(backlog.user_id, backlog.waiting - backlog.urgent, urgent=False)

    async def _offer(self, user_id: str, number: int, *, urgent: bool) -> None:
        limit = min(number, self._database.settings.worker.per_user)
        for index in range(limit):
            # One waiting turn for each job of a user that may run at a time.
            name = f"{INGEST}/{'urgent' if urgent else 'usual'}/{index}/{user_id}"
            priority = _URGENT if urgent else _USUAL
            await self._put(INGEST, name, {"user_id": user_id}, priority=priority)

    async def offer_refresh(self, scope: Scope, *, since: float, wait: float = 0) -> None:
        """Queue the update of a graph, after at least `wait` seconds."""
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
                waiting = await connection.execute(_QUEUE_SQL["is_waiting"], {"name": name})
                if await waiting.fetchone():
                    return
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
    """Return the library's app for a database; it connects when it is opened.

    It waits for the statement in hand before it stops, so its connections are watched like ours.
    """
    from procrastinate import App, PsycopgConnector

    timeout = database.settings.database_timeout

    async def configure(connection: WatchedConnection) -> None:
        connection.patience = timeout

    connector = PsycopgConnector(
        conninfo=database.app_conninfo,
        min_size=1,
        # The library's calls are short; its listener uses a connection of its own.
        max_size=3,
        timeout=timeout,
        connection_class=WatchedConnection,
        configure=configure,
    )
    return App(connector=connector)


@contextmanager
def answering() -> Iterator[None]:
    """Translate the library's connection errors to `DatabaseUnavailable`."""
    from procrastinate.exceptions import ConnectorException

    try:
        with unavailable():
            yield
    except ConnectorException as error:
        raise DatabaseUnavailable(
            f"The queue's database failed: {error.__cause__ or error}.",
            next_step="Run `sextant doctor`, and try again once the database is back.",
        ) from error


async def free_turns_of_dead(app: App, turns: Turns, seconds: float) -> None:
    """Drop the turns of workers without a heartbeat for `seconds`; the sweep queues documents again.

    A refresh is queued again here before its turn is dropped, since nothing else records that it is due.
    """
    from procrastinate.jobs import Status

    with answering():
        for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=seconds):
            if job.task_name == REFRESH:
                arguments: dict[str, Any] = dict(job.task_kwargs)
                scope = Scope(arguments["user_id"], arguments["graph_id"])
                await turns.offer_refresh(scope, since=arguments["since"])
            await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
        await app.job_manager.prune_stalled_workers(seconds)


_OVERVIEW_SQL = load_queries("overview")
# These functions count over all tenants, and return no rows of them.
_NO_TENANT = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """Numbers of documents that wait, run, or failed, and how long the oldest has been waiting."""

    waiting: int
    running: int
    failed: int
    oldest_waiting_seconds: float


@dataclass(frozen=True, slots=True)
class Attendance:
    """The numbers of live workers, and of graphs that wait for an update."""

    workers: int
    waiting_graphs: int


async def queue_of(database: Database) -> Queue:
    """Return the state of the queue of all users.

    Raises:
        DatabaseUnavailable: the server does not answer.
    """
    stale = timedelta(seconds=database.settings.ingestion.job_stale)
    [row] = await database.read(_NO_TENANT, _OVERVIEW_SQL["queue"], {"stale": stale})
    return Queue(**row)


async def attendance_of(database: Database) -> Attendance:
    """Return the numbers of workers and waiting graphs of all users.

    Raises:
        DatabaseUnavailable: the server does not answer.
    """
    [row] = await database.read(_NO_TENANT, _OVERVIEW_SQL["attendance"], {})
    return Attendance(**row)
