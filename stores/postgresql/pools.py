"""Connection pools, one for each event loop that asks for connections."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool, PoolClosed

Connection = AsyncConnection[tuple[Any, ...]]


class Pools:
    """A pool's connections and workers live on the event loop that opened it, so every loop has its own.

    One is the usual number; a synchronous caller (`GraphRetriever.retrieve`) brings a second loop.

    Args:
        make: builds a pool that is not open yet.
    """

    def __init__(self, make: Callable[[], AsyncConnectionPool[Connection]]) -> None:
        self._make = make
        self._pools: dict[asyncio.AbstractEventLoop, AsyncConnectionPool[Connection]] = {}
        self._closed = False

    async def here(self) -> AsyncConnectionPool[Connection]:
        """The running loop's pool, opened on its first use.

        Raises:
            PoolClosed: the pools have been closed.
        """
        if self._closed:
            raise PoolClosed("the database has been closed")
        loop = asyncio.get_running_loop()
        if loop not in self._pools:
            self._pools = {old: pool for old, pool in self._pools.items() if not old.is_closed()}
            self._pools[loop] = self._make()
            await self._pools[loop].open()
        return self._pools[loop]

    async def renew(self, make: Callable[[], AsyncConnectionPool[Connection]]) -> None:
        """Give up the connections of a server that is gone; new ones come from `make`."""
        self._make = make
        await self._close_all()

    async def close(self) -> None:
        """Close every pool, each on its own loop; those of loops that have ended are gone already."""
        self._closed = True
        await self._close_all()

    async def _close_all(self) -> None:
        pools, self._pools = self._pools, {}
        for loop, pool in pools.items():
            if loop is asyncio.get_running_loop():
                await pool.close()
            elif loop.is_running():
                closing = asyncio.run_coroutine_threadsafe(pool.close(), loop)
                await asyncio.wrap_future(closing)
