"""Create the schema of this version in an empty database, or migrate an older one to it.

An empty database gets `sql/schema/`. An older one takes the steps of `sql/migrations/` that it has not taken yet.
An advisory lock serialises processes that start at the same time. The serving role is created here, too.

The tables of the queue library, procrastinate, lie in a schema of their own. Their scripts come from the installed
library: first its whole schema, later the migrations of newer versions.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, LiteralString

from psycopg import AsyncConnection
from psycopg.errors import FeatureNotSupported, InsufficientPrivilege, UndefinedFile

from sextant.domain.errors import ConflictError, DatabaseUnavailable
from sextant.stores.postgresql.queries import library_text, load_queries
from sextant.stores.postgresql.watched import limit_statements

APP_ROLE = "sextant_app"
QUEUE_SCHEMA = "sextant_queue"
SEARCH_PATH = f"sextant, {QUEUE_SCHEMA}, public, extensions, pg_temp"

_LOCK = 0x5E47A27  # key of the advisory lock
_LOCK_SECONDS = 120.0  # to wait for the migration of another process
_SQL = load_queries("migrations")
_QUEUE_SQL = load_queries("queue_schema")


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step from the schema of the version before."""

    version: int
    name: str
    sql: LiteralString


_INITIAL = Migration(90, "initial schema", "")  # the oldest version that is opened


@cache
def migrations() -> tuple[Migration, ...]:
    """Return the initial schema's version, without SQL, and the files of `sql/migrations/`, in order."""
    steps = _read_files("migrations").items()
    return (_INITIAL, *(Migration(int(name[:4]), name, text) for name, text in steps))


@cache
def schema() -> dict[str, LiteralString]:
    """Return the files of `sql/schema/` by name, in the order of their execution."""
    return _read_files("schema")


@cache
def schema_digest() -> str:
    """Return the SHA-256 of the schema's statements; comments and white space may change."""
    code = re.sub(r"--.*", "", "\n".join(schema().values()))
    return hashlib.sha256(" ".join(code.split()).encode()).hexdigest()


def _read_files(folder: str) -> dict[str, LiteralString]:
    entries = (files("sextant.stores") / "sql" / folder).iterdir()
    return {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in sorted(entries, key=lambda entry: entry.name)
        if entry.name.endswith(".sql")
    }


async def migrate(owner: AsyncConnection[Any]) -> None:
    """Create or migrate the schema as its owner; `owner` must be in autocommit mode.

    Raises:
        ConflictError: the database is newer than this version, or too old for it, or the schema's files were
            changed without a migration.
        DatabaseUnavailable: the database is not UTF-8 or has no pgvector, the owner lacks rights
            (extension, role, schema), or another process does not finish its migration.
    """
    # Queried, since a pooler may not report it when a connection starts.
    row = await (await owner.execute(_SQL["encoding"])).fetchone()
    encoding = row[0] if row else None
    if encoding != "UTF8":
        raise DatabaseUnavailable(
            f"The database has the encoding {encoding}, which cannot store every text.",
            next_step="Create a UTF-8 database: `CREATE DATABASE sextant ENCODING 'UTF8' TEMPLATE template0`.",
        )
    current = (migrations()[-1].version, schema_digest())
    if await _read_version(owner) == current and await _is_queue_current(owner):
        return
    try:
        async with _migration_lock(owner):
            await _prepare(owner)
            with limit_statements(math.inf):  # large migrations take long
                await _create_or_migrate(owner)
                await _install_queue(owner)
    except InsufficientPrivilege as error:
        raise DatabaseUnavailable(
            f"The database user lacks the rights to set up the database: {error}.",
            next_step="Let an administrator run `CREATE EXTENSION vector; CREATE ROLE sextant_app; "
            "GRANT sextant_app TO <user>;` or give the user these rights.",
        ) from error


async def _create_or_migrate(owner: AsyncConnection[Any]) -> None:
    steps = migrations()
    version, digest = await _read_version(owner)
    if version == 0:
        await _execute(owner, schema().values(), steps)
        return
    first, last = steps[0].version, steps[-1].version
    if version > last:
        raise ConflictError(
            f"The database has schema version {version}, which this Sextant does not know.",
            next_step="Install the newer Sextant that last used this database.",
        )
    if version < first:
        raise ConflictError(
            f"The database has schema version {version}, from before the first release; this Sextant "
            f"migrates from version {first} on.",
            next_step="Ingest the documents again into a new SEXTANT_DATA_DIR or DATABASE_URL.",
        )
    if version == last and digest != schema_digest():
        raise ConflictError(
            "The files of sextant/stores/sql/schema differ from the schema that the database was given.",
            next_step="Put the change into a new file of sextant/stores/sql/migrations, too.",
        )
    for step in steps:
        if step.version > version:
            await _execute(owner, [step.sql], [step])


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
        await asyncio.sleep(0.1)
    try:
        yield
    finally:
        await owner.execute(_SQL["unlock"], {"key": _LOCK})


async def _read_version(owner: AsyncConnection[Any]) -> tuple[int, str]:
    """Return the version of the schema, 0 for none, and the digest of the files that gave it."""
    row = await (await owner.execute(_SQL["has_history"])).fetchone()
    if row is None or not row[0]:
        return 0, ""
    return await (await owner.execute(_SQL["version"])).fetchone() or (0, "")


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


async def _execute(
    owner: AsyncConnection[Any], statements: Iterable[LiteralString], steps: Sequence[Migration]
) -> None:
    """Execute SQL in one transaction, and record that the database has taken `steps`."""
    async with owner.transaction():
        await owner.execute(_SQL["set_path"], {"path": SEARCH_PATH})
        for sql in statements:
            await owner.execute(sql)
        for step in steps:
            row = {"version": step.version, "name": step.name, "sha256": schema_digest()}
            await owner.execute(_SQL["record"], row)


@cache
def library_migrations() -> tuple[str, ...]:
    """Return the names of the library's migrations, in the order of their application."""
    return tuple(sorted(file.name for file in (_folder() / "migrations").glob("*.sql")))


async def _is_queue_current(owner: AsyncConnection[Any]) -> bool:
    """Return whether all migrations were applied."""
    return set(await asyncio.to_thread(library_migrations)) <= await _read_applied_scripts(owner)


async def _install_queue(owner: AsyncConnection[Any]) -> None:
    """Apply missing migrations as the schema's owner; `owner` must be in autocommit mode."""
    if await _is_queue_current(owner):
        return
    applied = await _read_applied_scripts(owner)
    missing = [name for name in library_migrations() if name not in applied]
    scripts = await asyncio.to_thread(_scripts, missing, is_first=not applied)
    async with owner.transaction():
        await owner.execute(_QUEUE_SQL["set_path"])
        for script in scripts:
            await owner.execute(script)
        await owner.execute(_QUEUE_SQL["grant"])
        await owner.execute(_QUEUE_SQL["record"], {"names": missing})


def _scripts(missing: list[str], *, is_first: bool) -> list[LiteralString]:
    if is_first:
        return [library_text(_folder() / "schema.sql")]
    return [library_text(_folder() / "migrations" / name) for name in missing]


def _folder() -> Path:
    # Importing the library is slow.
    spec = find_spec("procrastinate")
    if spec is None or spec.origin is None:
        raise DatabaseUnavailable(
            "The package procrastinate is not installed.", next_step="Run `make setup`."
        )
    return Path(spec.origin).parent / "sql"


async def _read_applied_scripts(owner: AsyncConnection[Any]) -> set[str]:
    return {name async for (name,) in await owner.execute(_QUEUE_SQL["applied"])}
