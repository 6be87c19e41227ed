"""Migrate a database to the schema of this version, by numbered `.sql` files, each applied once.

An advisory lock serialises processes that start concurrently. A checksum detects files that were changed
after they had been applied. The serving role is created here, too, since it belongs to the whole server.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, LiteralString

from psycopg import AsyncConnection
from psycopg.errors import FeatureNotSupported, InsufficientPrivilege, UndefinedFile

from sextant.domain.errors import ConflictError, DatabaseUnavailable
from sextant.stores.postgresql import queue_schema
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import limit_statements

APP_ROLE = "sextant_app"
SEARCH_PATH = f"sextant, {queue_schema.SCHEMA}, public, extensions, pg_temp"

_LOCK = 0x5E47A27  # key of the advisory lock
_LOCK_SECONDS = 120.0  # to wait for the migration of another process
_POLL_SECONDS = 0.1
_SQL = load_queries("migrations")


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file."""

    version: int
    name: str
    sql: LiteralString
    sha256: str


@cache
def migrations() -> tuple[Migration, ...]:
    """Return the files of `sql/migrations/`, in order."""
    folder = files("sextant.stores") / "sql" / "migrations"
    entries = sorted((entry for entry in folder.iterdir()), key=lambda entry: entry.name)
    found = []
    for entry in entries:
        if entry.name.endswith(".sql"):
            text = entry.read_text(encoding="utf-8")
            digest = hashlib.sha256(text.encode()).hexdigest()
            found.append(Migration(int(entry.name[:4]), entry.name, text, digest))
    return tuple(found)


async def migrate(owner: AsyncConnection[Any]) -> None:
    """Apply missing migrations as the schema's owner; `owner` must be in autocommit mode.

    Raises:
        ConflictError: an applied file has changed, or the database is newer than this version.
        DatabaseUnavailable: the database is not UTF-8 or has no pgvector, the owner lacks rights
            (extension, role, schema), or another process does not finish its migration.
    """
    await _require_unicode(owner)
    wanted = migrations()
    known = await _read_applied(owner) == {
        migration.version: migration.sha256 for migration in wanted
    }
    if known and await queue_schema.is_current(owner):
        return
    try:
        async with _migration_lock(owner):
            await _prepare(owner)
            applied = await _read_applied(owner)
            _require_same_history(applied, wanted)
            with limit_statements(math.inf):  # large migrations take long
                for migration in wanted:
                    if migration.version not in applied:
                        await _apply(owner, migration)
                await queue_schema.install(owner)
    except InsufficientPrivilege as error:
        raise DatabaseUnavailable(
            f"The database user lacks the rights to set up the database: {error}.",
            next_step="Let an administrator run `CREATE EXTENSION vector; CREATE ROLE sextant_app; "
            "GRANT sextant_app TO <user>;` or give the user these rights.",
        ) from error


@asynccontextmanager
async def _migration_lock(owner: AsyncConnection[Any]) -> AsyncIterator[None]:
    """Hold the lock for migrations."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while await (await owner.execute(_SQL["lock"], {"key": _LOCK})).fetchone() != (True,):
        if time.monotonic() > deadline:
            raise DatabaseUnavailable(
                "Another process has been migrating the database for more than "
                f"{_LOCK_SECONDS:g} s.",
                next_step="Try again when it is done; if none is running, end the session that holds the "
                "advisory lock (`select pid from pg_locks where locktype = 'advisory'`).",
            )
        await asyncio.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        await owner.execute(_SQL["unlock"], {"key": _LOCK})


async def _require_unicode(owner: AsyncConnection[Any]) -> None:
    # Queried, since a pooler may not report it when a connection starts.
    row = await (await owner.execute(_SQL["encoding"])).fetchone()
    encoding = row[0] if row else None
    if encoding != "UTF8":
        raise DatabaseUnavailable(
            f"The database has the encoding {encoding}, which cannot store every text.",
            next_step="Create a UTF-8 database: `CREATE DATABASE sextant ENCODING 'UTF8' TEMPLATE template0`.",
        )


async def _read_applied(owner: AsyncConnection[Any]) -> dict[int, str]:
    row = await (await owner.execute(_SQL["has_history"])).fetchone()
    if row is None or not row[0]:
        return {}
    return {version: digest async for version, digest in await owner.execute(_SQL["history"])}


async def _prepare(owner: AsyncConnection[Any]) -> None:
    """Create the role, the schema, the extension and the history table if they are missing."""
    for step in ("create_role", "join_role", "create_schema"):
        await owner.execute(_SQL[step])
    try:
        await owner.execute(_SQL["create_extension"])
    except (FeatureNotSupported, UndefinedFile) as error:  # the server lacks the files of pgvector
        raise DatabaseUnavailable(
            "This PostgreSQL has no pgvector: its extension `vector` is not installed on the server.",
            next_step="Install pgvector 0.8 or newer there (Debian: `apt install postgresql-18-pgvector`, with "
            "the number of the server's version; a container: the image `pgvector/pgvector`), or leave "
            "DATABASE_URL empty for the embedded PostgreSQL, which has it.",
        ) from error
    await owner.execute(_SQL["create_history"])


async def _apply(owner: AsyncConnection[Any], migration: Migration) -> None:
    async with owner.transaction():
        await owner.execute(_SQL["set_path"], {"path": SEARCH_PATH})
        await owner.execute(migration.sql)
        await owner.execute(
            _SQL["record"],
            {"version": migration.version, "name": migration.name, "sha256": migration.sha256},
        )


def _require_same_history(applied: dict[int, str], wanted: tuple[Migration, ...]) -> None:
    known = {one.version: one for one in wanted}
    for version, digest in applied.items():
        if version not in known:
            raise ConflictError(
                f"The database has schema version {version}, which this Sextant does not know.",
                next_step="Install the newer Sextant that last used this database.",
            )
        if known[version].sha256 != digest:
            raise ConflictError(
                f"Migration {known[version].name} was changed after it had been applied.",
                next_step="Restore the file, and put the change into a new migration.",
            )
