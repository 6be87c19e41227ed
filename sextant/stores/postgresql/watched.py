"""Connections that do not wait forever for a server that has stopped answering.

A server that ends closes its connections; one that hangs (suspended, or on a disk that does not answer)
stays silent. So while a statement takes long, it is tested whether the server accepts a new connection. If
not, the connection is cut and the statement fails, and until the server answers again further statements
fail at once (`require_answer`). `limit_statements` limits each statement in any case.

Also here: waiting for work no longer than a deadline, whatever its cancellation takes.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from pgvector.psycopg.vector import register_vector_info
from psycopg import AsyncConnection, OperationalError
from psycopg.abc import PQGen
from psycopg.conninfo import make_conninfo
from psycopg.errors import ConnectionTimeout
from psycopg.rows import TupleRow
from psycopg.types import TypeInfo
from psycopg_pool import AsyncConnectionPool, PoolClosed

from sextant.domain.errors import DatabaseUnavailable
from sextant.domain.settings import Settings

T = TypeVar("T")

_abandoned: set[asyncio.Future[Any]] = set()


async def with_deadline(seconds: float, work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
    """Await `work` for at most `seconds`, without waiting for its cancellation.

    Raises:
        TimeoutError: the work is not done in time.
    """
    [task] = await gather_until(seconds, [work])
    if not task.done():
        raise TimeoutError(f"no answer within {seconds:g} s")
    return task.result()


async def detach_on_cancel(work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
    """Await `work`; if the caller is cancelled, do not wait until the work has ended."""
    [task] = await gather_until(None, [work])
    return task.result()


async def gather_until(
    seconds: float | None, works: Iterable[Coroutine[Any, Any, T] | asyncio.Future[T]]
) -> list[asyncio.Future[T]]:
    """Run works concurrently until all are done, one has failed, or `seconds` have passed.

    `asyncio.timeout` waits until the cancelled work has ended. psycopg notifies the server first, which
    takes long if the network drops packets. Here unfinished works are cancelled and end by themselves.

    Returns:
        The works as tasks or futures, in their order.
    """
    tasks: list[asyncio.Future[T]] = [asyncio.ensure_future(work) for work in works]
    try:
        if tasks:
            await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            _forget(task) if task.done() else _abandon(task)
    return tasks


def _abandon(task: asyncio.Future[Any]) -> None:
    _abandoned.add(task)
    task.add_done_callback(_forget)
    task.cancel()


def _forget(task: asyncio.Future[Any]) -> None:
    _abandoned.discard(task)
    seen(task)


def seen(task: asyncio.Future[Any]) -> None:
    """Retrieve a task's exception, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()


STOPPED = "it has stopped answering"
_CANCEL_SECONDS = 2.0  # for the server to acknowledge a cancellation

_limit: ContextVar[float | None] = ContextVar("statement_limit", default=None)
_probes: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Task[bool]]] = (
    WeakKeyDictionary()
)
# Connection strings of servers that accepted the last connection without an answer.
_silent: set[str] = set()


@contextmanager
def limit_statements(seconds: float) -> Iterator[None]:
    """Limit the time of every statement that is sent in this context."""
    token = _limit.set(seconds)
    try:
        yield
    finally:
        _limit.reset(token)


async def server_answers(conninfo: str) -> bool:
    """Return whether a connection can be opened.

    Concurrent callers share one attempt, since a busy server has no connections for each of them.
    """
    probes = _probes.setdefault(asyncio.get_running_loop(), {})
    if conninfo not in probes:
        probes[conninfo] = asyncio.create_task(_can_connect(conninfo))
        probes[conninfo].add_done_callback(lambda _: probes.pop(conninfo))
    return await asyncio.shield(probes[conninfo])


async def require_answer(conninfo: str) -> None:
    """Return if the server is not known to be silent, or answers again, if only by a refusal.

    Otherwise each of the many statements of a request would wait its full time for the same silence.

    Raises:
        OperationalError: it was silent, and still is.
    """
    if conninfo not in _silent:
        return
    with suppress(TimeoutError):
        await asyncio.wait_for(server_answers(conninfo), 1.0)
    if conninfo in _silent:
        raise OperationalError(STOPPED)


async def _can_connect(conninfo: str) -> bool:
    try:
        connection = await AsyncConnection.connect(conninfo, connect_timeout=5)  # seconds
    except ConnectionTimeout:
        _silent.add(conninfo)
        return False
    except OperationalError:
        _silent.discard(conninfo)  # a refusal is an answer, and comes at once
        return False
    _silent.discard(conninfo)
    await connection.close()
    return True


class WatchedConnection(AsyncConnection[TupleRow]):
    """A connection whose statements end when the server stops answering.

    Attributes:
        patience: seconds after which a running statement is checked.
        server: the connection string that checks connect with; empty: the connection's own.
    """

    patience: float = 5.0
    server: str = ""

    async def wait(self, gen: PQGen[T], *arguments: Any, **options: Any) -> T:  # noqa: ANN401
        """See `AsyncConnection`; also raise OperationalError if the server has stopped answering."""
        watch = _StatementWatch(self)
        try:
            return await super().wait(gen, *arguments, **options)
        except OperationalError as error:
            if watch.reason:
                raise OperationalError(watch.reason) from error
            raise
        finally:
            watch.end()

    async def cancel_safe(self, *, timeout: float = _CANCEL_SECONDS) -> None:  # noqa: ASYNC109
        """See `AsyncConnection`; wait only briefly for the server's acknowledgement."""
        await super().cancel_safe(timeout=min(timeout, _CANCEL_SECONDS))

    @property
    def conninfo(self) -> str:
        """Return the connection string that a check of the server connects with."""
        return self.server or make_conninfo(self.info.dsn, password=self.info.password or None)


class _StatementWatch:
    """Watch one statement of a connection until it ends."""

    def __init__(self, connection: WatchedConnection) -> None:
        self.reason = ""
        self._connection = connection
        self._limit = _limit.get()
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._probing: asyncio.Task[None] | None = None
        self._timer = self._set_timer()

    def end(self) -> None:
        """Stop watching."""
        self._timer.cancel()
        if self._probing is not None:
            self._probing.cancel()

    def _set_timer(self) -> asyncio.TimerHandle:
        seconds = self._connection.patience
        if self._limit is not None:
            seconds = min(seconds, max(self._limit - (self._loop.time() - self._began), 0.0))
        return self._loop.call_later(seconds, self._check)

    def _check(self) -> None:
        seconds = self._loop.time() - self._began
        if self._limit is not None and seconds >= self._limit:
            self._cut(f"it took longer than {self._limit:g} s over one statement")
        else:
            self._probing = self._loop.create_task(self._probe())

    async def _probe(self) -> None:
        if await server_answers(self._connection.conninfo):
            self._timer = self._set_timer()
        else:
            self._cut(STOPPED)

    def _cut(self, reason: str) -> None:
        """Shut down the socket under the driver, which then raises."""
        self.reason = reason
        with (
            suppress(OSError),
            socket.socket(fileno=os.dup(self._connection.pgconn.socket)) as link,
        ):
            link.shutdown(socket.SHUT_RDWR)


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
            settings = self._settings
            self._pools[loop] = _Pool(
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
