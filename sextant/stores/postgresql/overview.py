"""The whole database at a glance, without anybody's data: for metrics and readiness."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.migrations import migrations
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("overview")
# No tenant: these functions count over all of them, and show no row.
_NOBODY = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """Documents that wait for ingestion, are in hand, or failed; and how long the oldest waits."""

    waiting: int
    running: int
    failed: int
    oldest_waiting_seconds: float


@dataclass(frozen=True, slots=True)
class Attendance:
    """How many workers live, and how many graphs wait to be brought up to date by one."""

    workers: int
    waiting_graphs: int


async def queue_of(database: Database) -> Queue:
    """Return how the queue stands, over all users.

    Raises:
        DatabaseUnavailable: the server does not answer.
    """
    stale = timedelta(seconds=database.settings.ingestion.job_stale)
    [row] = await database.read(_NOBODY, _SQL["queue"], {"stale": stale})
    return Queue(**row)


async def attendance_of(database: Database) -> Attendance:
    """Return who attends to the queue, over all users.

    Raises:
        DatabaseUnavailable: the server does not answer.
    """
    [row] = await database.read(_NOBODY, _SQL["attendance"], {})
    return Attendance(**row)


async def is_current(database: Database) -> bool:
    """Return whether the schema is the one that this version was made for.

    Raises:
        DatabaseUnavailable: the server does not answer.
    """
    [row] = await database.read(_NOBODY, _SQL["schema_version"], {})
    return bool(row["version"] == migrations()[-1].version)
