"""Store ingestion jobs, each claimed by one worker at a time and taken over if that worker dies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import timedelta
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from psycopg.rows import dict_row, scalar_row
from psycopg.types.json import Jsonb

from sextant.domain.documents import Backlog, Job, JobStage
from sextant.domain.errors import Superseded
from sextant.domain.scope import Scope, key_of
from sextant.domain.warnings import CodedWarning
from sextant.stores.documents.versions import reason_of
from sextant.stores.postgresql.database import Database, fetch_rows
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import share_scope

_SQL = load_queries("jobs")
URGENT_WAITING = 10
"""Waiting documents of a user from which on the next ones count as a bulk load."""


class Beat(NamedTuple):
    """A sign of life of a job's worker, to be written if it `is_due`; None: no progress."""

    job: Job
    is_due: bool
    stage: JobStage | None = None
    done: int | None = None
    total: int | None = None


class JobStore:
    """Read and change ingestion jobs. A job's `attempts` distinguishes a claim from later ones."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stale = timedelta(seconds=database.settings.ingestion.job_stale)

    async def claim(self, worker: str, *, user_id: str, job_id: UUID | None = None) -> Job | None:
        """Claim a waiting job, or one whose worker sent no heartbeat for `job_stale` seconds.

        Urgent jobs come first, then the oldest.

        Args:
            worker: a name for the log.
            user_id: the owner of the job.
            job_id: claim only this job.

        Returns:
            The job, or None if there is none. Its `attempts` include this claim: after more than
            `job_attempts` the worker closes it with `fail`, so that a document that kills its workers
            is not tried forever.
        """
        values = {"worker": worker, "stale": self._stale, "job_id": job_id, "user_id": user_id}
        jobs = await self._rows(user_id, _SQL["claim"], values)
        return jobs[0] if jobs else None

    async def claim_all(
        self, worker: str, user_id: str, job_ids: Sequence[UUID]
    ) -> list[Job | None]:
        """Claim several jobs of a user as `claim` does, in order; None for each that cannot be claimed, or was before."""
        key = {"worker": worker, "stale": self._stale}
        key |= {"user_id": user_id, "job_ids": list(set(job_ids))}
        jobs = {job.id: job for job in await self._rows(user_id, _SQL["claim_all"], key)}
        return [jobs.pop(job_id, None) for job_id in job_ids]

    async def claim_turn(self, worker: str, user_id: str, *, max_running: int) -> Job | None:
        """Claim the next job of a user, as `claim` does, one claim of a user at a time.

        Args:
            worker: a name for the log.
            user_id: the owner of the jobs.
            max_running: claim nothing while so many jobs of this user run on all workers.
        """
        key = {"worker": worker, "stale": self._stale, "user_id": user_id, "job_id": None}
        async with self._database.transaction(user_id) as connection:
            await connection.execute(_SQL["alone"], key)
            running = await fetch_rows(connection, scalar_row, _SQL["running"], key)
            if not running or running[0] >= max_running:
                return None
            rows = await fetch_rows(connection, dict_row, _SQL["claim"], key)
        return _job(rows[0]) if rows else None

    async def heartbeat(
        self,
        job: Job,
        stage: JobStage | None = None,
        done: int | None = None,
        total: int | None = None,
    ) -> None:
        """Record that the worker is alive, and its progress if there is any.

        Raises:
            Superseded: the job failed, was cancelled or taken over.
        """
        [is_mine] = await self.beat_all(
            job.scope, [Beat(job, is_due=True, stage=stage, done=done, total=total)]
        )
        if not is_mine:
            raise lost(job)

    async def beat_all(self, scope: Scope, beats: Sequence[Beat]) -> list[bool]:
        """Record heartbeats of jobs of a user; return for each whether it was not cancelled, deleted, replaced or taken over."""
        values = {
            "user_id": scope.user_id,
            "job_ids": [one.job.id for one in beats],
            "attempts": [one.job.attempts for one in beats],
            "workers": [one.job.worker for one in beats],
            "due": [one.is_due for one in beats],
            "stages": [one.stage and one.stage.value for one in beats],
            "done": [one.done for one in beats],
            "totals": [one.total for one in beats],
        }
        valid = {
            row["id"]
            for row in await self._database.fetch(scope.user_id, dict_row, _SQL["beat"], values)
        }
        return [one.job.id in valid for one in beats]

    async def finish(
        self, job: Job, total: int | None = None, warnings: Sequence[CodedWarning] = ()
    ) -> None:
        """Close the job as done, with `total` chunks and warnings; raises like `heartbeat`."""
        [is_closed] = await self.finish_all(job.scope, [(job, total, warnings)])
        if not is_closed:
            raise lost(job)

    async def finish_all(
        self, scope: Scope, ended: Sequence[tuple[Job, int | None, Sequence[CodedWarning]]]
    ) -> list[bool]:
        """Close jobs of a user as `finish` does; return for each whether it was not closed or taken over."""
        values = {
            "user_id": scope.user_id,
            "job_ids": [job.id for job, _, _ in ended],
            "attempts": [job.attempts for job, _, _ in ended],
            "totals": [total for _, total, _ in ended],
            "warnings": [Jsonb([one.to_json() for one in said]) for _, _, said in ended],
        }
        async with self._database.transaction(scope.user_id) as connection:
            await share_scope(connection, scope)  # or a deletion of it could deadlock with this
            cursor = await connection.execute(_SQL["finish"], values)
            closed = {row[0] async for row in cursor}
        return [job.id in closed for job, _, _ in ended]

    async def fail(self, job: Job, error: BaseException) -> None:
        """Close the job as failed, with its error; raises like `heartbeat`."""
        await self._mine(job, _SQL["fail"], **reason_of(error))

    async def release(self, job: Job, error: BaseException, *, wait: float = 0) -> None:
        """Release the job for another attempt after `wait` seconds, with its error; raises like `heartbeat`."""
        await self._mine(job, _SQL["release"], wait=timedelta(seconds=wait), **reason_of(error))

    async def hurry(self, user_id: str, job_ids: Sequence[UUID]) -> None:
        """Mark small files as urgent, ahead of bulk loads, if their user has few waiting jobs."""
        limits = {"most_bytes": 1_000_000, "most_waiting": URGENT_WAITING}
        async with self._database.transaction(user_id) as connection:
            key = {"user_id": user_id, "job_ids": list(job_ids)}
            await connection.execute(_SQL["hurry"], {**key, **limits})

    async def backlog(self, user_id: str | None = None) -> list[Backlog]:
        """Return the numbers of waiting and running jobs, of one user or of all with open jobs."""
        key = {"stale": self._stale, "user_id": user_id}
        return [
            Backlog(**row)
            for row in await self._database.fetch(user_id or "", dict_row, _SQL["backlog"], key)
        ]

    async def waiting(self, scope: Scope) -> int:
        """Count the open jobs of a knowledge base that run or could run."""
        [row] = await self._database.fetch(
            scope.user_id, dict_row, _SQL["open_jobs"], key_of(scope)
        )
        return int(row["number"])

    async def release_stale(self, user_id: str) -> None:
        """Release a user's jobs whose workers sent no heartbeat for `job_stale` seconds.

        `claim` would take them in any case, but until then they would be shown as running. If the clock
        was set back, a heartbeat from the future counts as one of now.
        """
        key = {"user_id": user_id, "stale": self._stale}
        async with self._database.transaction(user_id) as connection:
            await connection.execute(_SQL["set_clock"], key)
            await connection.execute(_SQL["free_of_dead"], key)

    async def get(self, user_id: str, job_id: UUID) -> Job | None:
        """Return one job, or None."""
        jobs = await self._rows(user_id, _SQL["get"], {"user_id": user_id, "job_id": job_id})
        return jobs[0] if jobs else None

    async def _mine(self, job: Job, query: LiteralString, **values: object) -> None:
        key = {"user_id": job.scope.user_id, "job_id": job.id, "attempts": job.attempts}
        async with self._database.transaction(job.scope.user_id) as connection:
            cursor = await connection.execute(query, {**key, **values})
            if await cursor.fetchone() is None:
                raise lost(job)

    async def _rows(self, user_id: str, query: LiteralString, values: dict[str, Any]) -> list[Job]:
        return [_job(row) for row in await self._database.fetch(user_id, dict_row, query, values)]


def lost(job: Job) -> Superseded:
    """Return the error of a worker whose job was closed or taken over."""
    return Superseded(
        f"The ingestion job of {job.filename} was closed or taken over.",
        next_step="Nothing to do: its current worker, if any, continues.",
    )


def _job(row: dict[str, Any]) -> Job:
    columns = {column.name: row[column.name] for column in fields(Job) if column.name in row}
    scope, stage = Scope(row["user_id"], row["graph_id"]), JobStage(row["stage"])
    warnings = tuple(map(CodedWarning.from_json, row["warnings"]))
    return Job(**columns | {"scope": scope, "stage": stage, "warnings": warnings})
