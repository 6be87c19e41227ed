"""Work that one process at a time may do, however long it takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import LiteralString

from sextant.stores.postgresql.database import Database

_TRY_AGAIN_SECONDS = 0.1  # between two looks at the lock


@asynccontextmanager
async def alone(
    database: Database, lock: LiteralString, key: Mapping[str, object]
) -> AsyncIterator[None]:
    """Hold an advisory lock; whoever wants it meanwhile waits.

    It is held on a connection of its own, since the pool is for the work that goes on meanwhile, and
    polled for outside any transaction: a statement that waits, like a transaction that is idle, may
    hold a snapshot that `create index concurrently` waits for in turn, and PostgreSQL does not detect
    that deadlock.

    Args:
        database: where the lock is.
        lock: a query that tries to take it for the session and says whether it could.
        key: the query's values.

    Raises:
        DatabaseUnavailable: the database is gone; the lock goes with the connection.
    """
    async with database.owner() as owner:
        await owner.set_autocommit(True)
        while await (await owner.execute(lock, key)).fetchone() != (True,):  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(_TRY_AGAIN_SECONDS)
        yield
