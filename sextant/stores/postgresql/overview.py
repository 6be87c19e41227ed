"""Summarise the whole database without users' data, for metrics and readiness."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.migrations import migrations
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("overview")
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
    [row] = await database.read(_NO_TENANT, _SQL["queue"], {"stale": stale})
    return Queue(**row)


async def attendance_of(database: Database) -> Attendance:
    """Return the numbers of workers and waiting graphs of all users.

    Raises:
        DatabaseUnavailable: the server does not answer.
    """
    [row] = await database.read(_NO_TENANT, _SQL["attendance"], {})
    return Attendance(**row)


async def is_current(database: Database) -> bool:
    """Return whether the schema is that of this version.

    Raises:
        DatabaseUnavailable: the server does not answer.
    """
    [row] = await database.read(_NO_TENANT, _SQL["schema_version"], {})
    return bool(row["version"] == migrations()[-1].version)
