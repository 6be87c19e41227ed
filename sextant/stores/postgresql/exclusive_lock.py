"""Hold an advisory lock for work that one process at a time may do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import LiteralString

from sextant.stores.postgresql.database import Database

_POLL_SECONDS = 0.1


@asynccontextmanager
async def exclusive_lock(
    database: Database, lock: LiteralString, key: Mapping[str, object]
) -> AsyncIterator[None]:
    """Hold an advisory lock during the block; others wait for it.

    The lock is held on its own connection, since the pool is for the work. It is polled outside of
    transactions: a waiting statement or an idle transaction may hold a snapshot for which `create index
    concurrently` waits in turn, and PostgreSQL does not detect that deadlock.

    Args:
        database: the database of the lock.
        lock: a query that tries to take the lock for the session and returns whether it did.
        key: the parameters of the query.

    Raises:
        DatabaseUnavailable: the server does not answer; the lock is lost with the connection.
    """
    async with database.owner() as owner:
        await owner.set_autocommit(True)
        while await (await owner.execute(lock, key)).fetchone() != (True,):  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(_POLL_SECONDS)
        yield
