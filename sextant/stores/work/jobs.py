"""Ingestion jobs: durable, claimed by one worker at a time, taken over when a worker dies."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from sextant.domain.documents import Backlog, Job, JobStage
from sextant.domain.errors import Superseded
from sextant.domain.scope import Scope
from sextant.stores.documents.versions import reason_of
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import share_scope

_SQL = load_queries("jobs")


@dataclass(frozen=True, slots=True)
class Batch:
    """How many small files go through the stages together: so many, of `each` and all together so many bytes."""

    files: int
    each: int
    bytes: int


class JobStore:
    """The queue of ingestion work. A claim is told apart from later ones by the job's `attempts`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._settings = database.settings.ingestion

    async def claim(self, worker: str, *, user_id: str, job_id: UUID | None = None) -> Job | None:
        """Take a job that waits or whose worker sent no heartbeat for `job_stale` seconds.

        Urgent ones go first, then the oldest.

        Args:
            worker: a name for the log.
            user_id: whose.
            job_id: only this job.

        Returns:
            The job, or None when there is none. `attempts` counts this claim: a worker that is given
            a job for more than the `job_attempts`-th time closes it with `fail`, which is how a
            document that kills its workers comes to an end.
        """
        values = {
            "worker": worker,
            "stale": timedelta(seconds=self._settings.job_stale),
            "job_id": job_id,
            "user_id": user_id,
        }
        jobs = await self._rows(user_id, _SQL["claim"], values)
        return jobs[0] if jobs else None

    async def claim_turn(
        self, worker: str, user_id: str, *, most: int, together: Batch
    ) -> builtins.list[Job]:
        """Return the next job of a user; of small documents, up to so many of its knowledge base together.

        Args:
            worker: a name for the log.
            user_id: whose.
            most: nothing is claimed while so many jobs of this user run, over all workers.
            together: how many at most.
        """
        stale = timedelta(seconds=self._settings.job_stale)
        key: dict[str, Any] = {"worker": worker, "stale": stale, "user_id": user_id}
        async with self._database.transaction(user_id) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(_SQL["alone"], key)
            running = await (await cursor.execute(_SQL["running"], key)).fetchone()
            if running is None or running["number"] >= most:
                return []
            await cursor.execute(_SQL["claim"], {**key, "job_id": None})
            claimed = await cursor.fetchall()
            if claimed and together.files > 1:
                beside = {
                    "first": claimed[0]["id"],
                    "small": together.each,
                    "more": together.files - 1,
                    "bytes": together.bytes,
                }
                await cursor.execute(_SQL["small_beside"], key | beside)
                ids = [row["id"] for row in await cursor.fetchall()]
                await cursor.execute(_SQL["claim_all"], {**key, "job_ids": ids})
                claimed += await cursor.fetchall()
            return [_job(row) for row in claimed]

    async def claim_all(
        self, scope: Scope, claims: Sequence[tuple[str, UUID]]
    ) -> builtins.list[Job | None]:
        """Take jobs, asked for as (worker, job); None for one that is not free, or asked for before."""
        key = {
            "worker": claims[0][0],
            "stale": timedelta(seconds=self._settings.job_stale),
            "job_ids": [job_id for _, job_id in claims],
            "user_id": scope.user_id,
        }
        jobs = {job.id: job for job in await self._rows(scope.user_id, _SQL["claim_all"], key)}
        return [jobs.pop(job_id, None) for _, job_id in claims]

    async def heartbeat(self, job: Job) -> None:
        """Say that the worker lives.

        Raises:
            Superseded: the job was closed or another worker has it.
        """
        await self._mine(job, _SQL["heartbeat"], worker=job.worker)

    async def progress(self, job: Job, stage: JobStage, done: int, total: int) -> None:
        """Record how far the work is; counts as a heartbeat, and raises like one."""
        values = {"stage": stage.value, "done": done, "total": total}
        await self._mine(job, _SQL["progress"], worker=job.worker, **values)

    async def finish(self, job: Job, total: int | None = None) -> None:
        """Close the job as done, all `total` chunks of it; raises like `heartbeat`."""
        await self._mine(job, _SQL["finish"], total=total)

    async def finish_all(
        self, scope: Scope, done: Sequence[tuple[Job, int, Sequence[str]]]
    ) -> builtins.list[None]:
        """Close several jobs as `finish` does, each with its warnings; all or none.

        Who registers, or deletes a knowledge base, takes jobs away, in another order: one waits for the other.
        """
        key = {
            "user_id": scope.user_id,
            "job_ids": [job.id for job, _, _ in done],
            "attempts": [job.attempts for job, _, _ in done],
            "totals": [total for _, total, _ in done],
            "warnings": [Jsonb(list(warnings)) for _, _, warnings in done],
        }
        async with self._database.transaction(scope.user_id) as connection:
            await share_scope(connection, scope)
            cursor = await connection.execute(_SQL["finish_all"], key)
            if cursor.rowcount < len(done):
                raise _lost(done[0][0])
        return [None] * len(done)

    async def fail(self, job: Job, error: BaseException) -> None:
        """Close the job as failed, with the reason; raises like `heartbeat`."""
        await self._mine(job, _SQL["fail"], **reason_of(error))

    async def release(self, job: Job, error: BaseException, *, wait: float = 0) -> None:
        """Put the job back for another try after `wait` seconds, with the reason; raises like `heartbeat`."""
        await self._mine(job, _SQL["release"], wait=timedelta(seconds=wait), **reason_of(error))

    async def is_mine(self, job: Job) -> bool:
        """Return whether the job is ours, open or done: not cancelled, deleted, replaced or taken over."""
        key = {"user_id": job.scope.user_id, "job_id": job.id, "attempts": job.attempts}
        return bool(await self._dicts(job.scope.user_id, _SQL["is_mine"], key))

    async def hurry(self, user_id: str, job_ids: Sequence[UUID]) -> None:
        """Let small files of a user who has few waiting go before bulk loads."""
        worker = self._database.settings.worker
        most = {"most_bytes": worker.urgent_bytes, "most_waiting": worker.urgent_waiting}
        async with self._database.transaction(user_id) as connection:
            key = {"user_id": user_id, "job_ids": list(job_ids)}
            await connection.execute(_SQL["hurry"], {**key, **most})

    async def backlog(self, user_id: str | None = None) -> builtins.list[Backlog]:
        """Return what waits and what runs, of everybody who has open jobs, or of one user."""
        key = {"stale": timedelta(seconds=self._settings.job_stale), "user_id": user_id}
        return [Backlog(**row) for row in await self._dicts(user_id or "", _SQL["backlog"], key)]

    async def waiting(self, scope: Scope) -> int:
        """Return how many jobs of a knowledge base run, or could."""
        key = {"user_id": scope.user_id, "graph_id": scope.graph_id}
        [row] = await self._dicts(scope.user_id, _SQL["open_jobs"], key)
        return int(row["number"])

    async def latest(self, user_id: str, document_ids: Sequence[UUID]) -> dict[UUID, Job]:
        """Return the newest job of each of some documents of a user, by document."""
        key = {"user_id": user_id, "document_ids": list(document_ids)}
        jobs = await self._rows(user_id, _SQL["latest"], key)
        return {job.document_id: job for job in jobs}

    async def free_of_dead(self, user_id: str) -> None:
        """Put a user's jobs back whose workers sent no heartbeat for `job_stale` seconds.

        `claim` would take them as they are; until a worker has room they would be shown as if one had them. After
        the clock went back, a heartbeat from the future counts as one of now.
        """
        key = {"user_id": user_id, "stale": timedelta(seconds=self._settings.job_stale)}
        async with self._database.transaction(user_id) as connection:
            await connection.execute(_SQL["set_clock"], key)
            await connection.execute(_SQL["free_of_dead"], key)

    async def take_from_dead(self, job: Job) -> None:
        """Free a job whose worker is known to be dead, without waiting for its heartbeat to be stale.

        Does nothing when the job has been closed or claimed again since it was read.
        """
        key = {"user_id": job.scope.user_id, "job_id": job.id, "attempts": job.attempts}
        async with self._database.transaction(job.scope.user_id) as connection:
            await connection.execute(_SQL["take_from_dead"], {**key, "worker": job.worker})

    async def get(self, user_id: str, job_id: UUID) -> Job | None:
        """Return one job, or None."""
        jobs = await self._rows(user_id, _SQL["get"], {"user_id": user_id, "job_id": job_id})
        return jobs[0] if jobs else None

    async def list(self, scope: Scope) -> builtins.list[Job]:
        """Return the jobs of a knowledge base, newest first."""
        key = {"user_id": scope.user_id, "graph_id": scope.graph_id}
        return await self._rows(scope.user_id, _SQL["list"], key)

    async def _mine(self, job: Job, query: LiteralString, **values: object) -> None:
        key = {"user_id": job.scope.user_id, "job_id": job.id, "attempts": job.attempts}
        async with self._database.transaction(job.scope.user_id) as connection:
            cursor = await connection.execute(query, {**key, **values})
            if await cursor.fetchone() is None:
                raise _lost(job)

    async def _rows(
        self, user_id: str, query: LiteralString, values: dict[str, Any]
    ) -> builtins.list[Job]:
        return [_job(row) for row in await self._dicts(user_id, query, values)]

    async def _dicts(
        self, user_id: str, query: LiteralString, values: dict[str, Any]
    ) -> builtins.list[dict[str, Any]]:
        async with self._database.transaction(user_id) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            return await (await cursor.execute(query, values)).fetchall()


def _lost(job: Job) -> Superseded:
    return Superseded(
        f"The ingestion job of {job.filename} was closed or taken over.",
        next_step="Nothing to do: its current worker, if any, goes on.",
    )


def _job(row: dict[str, Any]) -> Job:
    own = {column.name: row[column.name] for column in fields(Job) if column.name in row}
    scope, stage = Scope(row["user_id"], row["graph_id"]), JobStage(row["stage"])
    return Job(**own | {"scope": scope, "stage": stage, "warnings": tuple(row["warnings"])})
