"""Install and migrate the tables of the queue library, procrastinate, in a schema of their own.

The scripts come from the installed library: first its whole schema, later the migrations of newer
versions. `sql/schema/03_jobs.sql` creates the schema and the table of applied scripts.
"""

from __future__ import annotations

import asyncio
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, LiteralString

from psycopg import AsyncConnection

from sextant.domain.errors import DatabaseUnavailable
from sextant.stores.postgresql.queries import library_text, load_queries

SCHEMA = "sextant_queue"

_SQL = load_queries("queue_schema")


@cache
def library_migrations() -> tuple[str, ...]:
    """Return the names of the library's migrations, in the order of their application."""
    return tuple(sorted(file.name for file in (_folder() / "migrations").glob("*.sql")))


async def is_current(owner: AsyncConnection[Any]) -> bool:
    """Return whether all migrations were applied."""
    return set(await asyncio.to_thread(library_migrations)) <= await _read_applied(owner)


async def install(owner: AsyncConnection[Any]) -> None:
    """Apply missing migrations as the schema's owner; `owner` must be in autocommit mode."""
    if await is_current(owner):
        return
    applied = await _read_applied(owner)
    missing = [name for name in library_migrations() if name not in applied]
    scripts = await asyncio.to_thread(_scripts, missing, is_first=not applied)
    async with owner.transaction():
        await owner.execute(_SQL["set_path"])
        for script in scripts:
            await owner.execute(script)
        await owner.execute(_SQL["grant"])
        await owner.execute(_SQL["record"], {"names": missing})


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


async def _read_applied(owner: AsyncConnection[Any]) -> set[str]:
    return {name async for (name,) in await owner.execute(_SQL["applied"])}
