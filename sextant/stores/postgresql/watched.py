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
import socket
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from psycopg import AsyncConnection, OperationalError
from psycopg.abc import PQGen
from psycopg.conninfo import make_conninfo
from psycopg.errors import ConnectionTimeout
from psycopg.rows import TupleRow

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
CONNECT_SECONDS = 5  # enough even for a busy server
_CANCEL_SECONDS = 2.0  # for the server to acknowledge a cancellation
_SILENT_SECONDS = 1.0  # for a server that was silent to answer before each further statement

_limit: ContextVar[float | None] = ContextVar("statement_limit", default=None)
_probes: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Task[bool]]] = (
    WeakKeyDictionary()
)
# Connection strings of servers that took the last connection and said nothing.
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
        await asyncio.wait_for(server_answers(conninfo), _SILENT_SECONDS)
    if conninfo in _silent:
        raise OperationalError(STOPPED)


async def _can_connect(conninfo: str) -> bool:
    try:
        connection = await AsyncConnection.connect(conninfo, connect_timeout=CONNECT_SECONDS)
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
