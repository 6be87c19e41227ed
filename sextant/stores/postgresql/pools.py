"""Connection pools, one for each event loop."""

from __future__ import annotations

import asyncio
import select
from typing import Any, cast

from pgvector.psycopg.vector import register_vector_info
from psycopg.types import TypeInfo
from psycopg_pool import AsyncConnectionPool, PoolClosed

from sextant.domain.errors import DatabaseUnavailable
from sextant.domain.settings import Settings
from sextant.stores.postgresql.watched import WatchedConnection

Connection = WatchedConnection


class Pools:
    """The connection pools of a database; each belongs to the event loop that opened it.

    There is usually one; a synchronous caller (`GraphRetriever.retrieve`) adds a second loop.

    Args:
        settings: limit the number of connections and the wait for one.
        conninfo: opens a connection.
        vector: pgvector's type; None if the database has none.

    Raises:
        DatabaseUnavailable: the database has no pgvector.
    """

    def __init__(self, settings: Settings, conninfo: str, vector: TypeInfo | None) -> None:
        if vector is None:
            raise DatabaseUnavailable(
                "The database has no pgvector.", next_step="Run `CREATE EXTENSION vector` in it."
            )
        self._settings, self._conninfo, self._vector = settings, conninfo, vector
        self._pools: dict[asyncio.AbstractEventLoop, AsyncConnectionPool[Connection]] = {}
        self._closed = False

    async def current(self) -> AsyncConnectionPool[Connection]:
        """Return the pool of the running loop, opened on its first use.

        Raises:
            PoolClosed: the pools have been closed.
        """
        if self._closed:
            raise PoolClosed("the database has been closed")
        loop = asyncio.get_running_loop()
        if loop not in self._pools:
            self._pools = {
                past_loop: pool
                for past_loop, pool in self._pools.items()
                if not past_loop.is_closed()
            }
            self._pools[loop] = self._new()
            await self._pools[loop].open()
        return self._pools[loop]

    async def renew(self, conninfo: str) -> None:
        """Close the connections to a lost server; `conninfo` opens new ones."""
        self._conninfo = conninfo
        await self._close_all()

    async def close(self) -> None:
        """Close every pool on its own loop; those of closed loops are dropped."""
        self._closed = True
        await self._close_all()

    def _new(self) -> AsyncConnectionPool[Connection]:
        settings = self._settings
        return _Pool(
            self._conninfo,
            connection_class=WatchedConnection,
            kwargs={"autocommit": True},  # `transaction` begins one explicitly
            min_size=1,
            max_size=settings.database_pool,
            timeout=settings.database_timeout,
            reconnect_timeout=settings.database_timeout,
            check=_check,
            configure=self._configure,
            open=False,
        )

    async def _configure(self, connection: Connection) -> None:
        connection.patience = self._settings.database_timeout
        connection.server = self._conninfo
        register_vector_info(connection, self._vector)

    async def _close_all(self) -> None:
        pools, self._pools = self._pools, {}
        for loop, pool in pools.items():
            if loop is asyncio.get_running_loop():
                await pool.close()
            elif loop.is_running():
                closing = asyncio.run_coroutine_threadsafe(pool.close(), loop)
                await asyncio.wrap_future(closing)


class _Pool(AsyncConnectionPool[Connection]):
    """A pool whose workers end when they are cancelled while they open a connection.

    psycopg_pool treats the cancellation as a failed connection and continues, so that `asyncio.run`,
    which cancels remaining tasks, never ends.
    """

    @classmethod
    async def worker(cls, q: Any) -> None:  # noqa: ANN401 - a private type of the library
        """See `AsyncConnectionPool`."""
        await super().worker(cast("Any", _UntilCancelled(q)))


class _UntilCancelled:
    """A worker's queue, which gives no more tasks to a cancelled worker."""

    def __init__(self, tasks: asyncio.Queue[object]) -> None:
        self._tasks = tasks

    async def get(self) -> object:
        worker = asyncio.current_task()
        if worker is not None and worker.cancelling():
            raise asyncio.CancelledError
        return await self._tasks.get()


async def _check(connection: Connection) -> None:
    """Raise if the server has closed the connection; query it only if it has sent something."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        await AsyncConnectionPool.check_connection(connection)
