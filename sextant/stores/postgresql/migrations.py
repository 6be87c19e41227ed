"""Brings a database to the schema of this version: numbered `.sql` files, each applied once.

An advisory lock lets many processes start at once; a checksum per file notices that a file was
changed after it had been applied. The application's role is made here too, since it belongs to the
whole server and not to one database.
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

_LOCK = 0x5E47A27  # any number nobody else uses
_LOCK_SECONDS = 120.0  # that another process may take before whoever waits for it gives up
_TRY_AGAIN_SECONDS = 0.1  # between two looks at the lock
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
    """Apply what is missing, as the schema's owner; `owner` must be in autocommit mode.

    Raises:
        ConflictError: a file that was applied has changed since, or the database is newer than we are.
        DatabaseUnavailable: it holds no Unicode, has no pgvector, the owner may not do what is needed
            (extension, role, schema), or another process does not come to an end with it.
    """
    await _require_unicode(owner)
    wanted = migrations()
    known = await _read_applied(owner) == {one.version: one.sha256 for one in wanted}
    if known and await queue_schema.is_current(owner):
        return
    try:
        async with _alone(owner):
            await _prepare(owner)
            applied = await _read_applied(owner)
            _require_same_history(applied, wanted)
            with limit_statements(math.inf):  # what is large takes its time
                for one in wanted:
                    if one.version not in applied:
                        await _apply(owner, one)
                await queue_schema.install(owner)
    except InsufficientPrivilege as error:
        raise DatabaseUnavailable(
            f"The database user may not set the database up: {error}.",
            next_step="Let an administrator run `CREATE EXTENSION vector; CREATE ROLE sextant_app; "
            "GRANT sextant_app TO <user>;` or give the user these rights.",
        ) from error


@asynccontextmanager
async def _alone(owner: AsyncConnection[Any]) -> AsyncIterator[None]:
    """Let no other process migrate meanwhile."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while await (await owner.execute(_SQL["lock"], {"key": _LOCK})).fetchone() != (True,):
        if time.monotonic() > deadline:
            raise DatabaseUnavailable(
                "Another process has been bringing the database's schema up to date for more than "
                f"{_LOCK_SECONDS:g} s.",
                next_step="Try again once it is done; if none runs any more, end the session that holds the "
                "advisory lock (`select pid from pg_locks where locktype = 'advisory'`).",
            )
        await asyncio.sleep(_TRY_AGAIN_SECONDS)
    try:
        yield
    finally:
        await owner.execute(_SQL["unlock"], {"key": _LOCK})


async def _require_unicode(owner: AsyncConnection[Any]) -> None:
    # Asked for: what a pooler says of the server as a connection begins may lack it.
    row = await (await owner.execute(_SQL["encoding"])).fetchone()
    encoding = row[0] if row else None
    if encoding != "UTF8":
        raise DatabaseUnavailable(
            f"The database has the encoding {encoding}, which does not hold every text.",
            next_step="Make one that does: `CREATE DATABASE sextant ENCODING 'UTF8' TEMPLATE template0`.",
        )


async def _read_applied(owner: AsyncConnection[Any]) -> dict[int, str]:
    row = await (await owner.execute(_SQL["has_history"])).fetchone()
    if row is None or not row[0]:
        return {}
    return {version: digest async for version, digest in await owner.execute(_SQL["history"])}


async def _prepare(owner: AsyncConnection[Any]) -> None:
    """Create the role, the schema, the extension and the history table, each unless it is there."""
    for step in ("create_role", "join_role", "create_schema"):
        await owner.execute(_SQL[step])
    try:
        await owner.execute(_SQL["create_extension"])
    except (FeatureNotSupported, UndefinedFile) as error:  # what a server says without its files
        raise DatabaseUnavailable(
            "This PostgreSQL has no pgvector: its extension `vector` is not installed on the server.",
            next_step="Install pgvector 0.8 or newer there (Debian: `apt install postgresql-18-pgvector`, with "
            "the number of the server's version; a container: the image `pgvector/pgvector`), or leave "
            "DATABASE_URL empty for the embedded PostgreSQL, which has it.",
        ) from error
    await owner.execute(_SQL["create_history"])


async def _apply(owner: AsyncConnection[Any], one: Migration) -> None:
    async with owner.transaction():
        await owner.execute(_SQL["set_path"], {"path": SEARCH_PATH})
        await owner.execute(one.sql)
        await owner.execute(
            _SQL["record"], {"version": one.version, "name": one.name, "sha256": one.sha256}
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
