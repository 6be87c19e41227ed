"""Connections on which nobody waits for a server that has stopped answering.

A server that is gone closes its connections; one that is frozen (stopped, or on a disk that does not
answer) says nothing, for as long as it likes. So while a statement takes long, we try whether the server
still lets anybody in: where it does not, the connection is cut, and the statement fails. Where somebody
waits for the result, `limit_statements` bounds each statement whatever else the server does.
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
from psycopg.rows import TupleRow

T = TypeVar("T")

_abandoned: set[asyncio.Future[Any]] = set()


async def with_deadline(seconds: float, work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
    """Await `work`, but not longer than `seconds`, whatever its cancellation takes.

    Raises:
        TimeoutError: the time is over.
    """
    [task] = await gather_until(seconds, [work])
    if not task.done():
        raise TimeoutError(f"no answer within {seconds:g} s")
    return task.result()


async def detach_on_cancel(work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
    """Await `work`; whoever is cancelled meanwhile, as by `asyncio.timeout`, does not wait until it has ended."""
    [task] = await gather_until(None, [work])
    return task.result()


async def gather_until(
    seconds: float | None, works: Iterable[Coroutine[Any, Any, T] | asyncio.Future[T]]
) -> list[asyncio.Future[T]]:
    """Run works at once until all are done, one has failed, or `seconds` are over; None: without end.

    `asyncio.timeout` waits until the cancelled work has ended, and psycopg tells the server first:
    against a network that swallows packets a 3 s deadline took 13 s (anchors: reliability §2.4). Here
    what is not done is cancelled and left to end by itself.

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
    """Take note of how a task ended, so that asyncio reports no failure that nobody waits for."""
    if not task.cancelled():
        task.exception()


# Seconds that a server of ours takes at most to make a connection, however busy it is.
CONNECT_SECONDS = 5
# Seconds that whoever gives a statement up waits for the server to hear of it.
_CANCEL_SECONDS = 2.0

_limit: ContextVar[float | None] = ContextVar("statement_limit", default=None)
_probes: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Task[bool]]] = (
    WeakKeyDictionary()
)


@contextmanager
def limit_statements(seconds: float) -> Iterator[None]:
    """Bound every statement that is sent in this context."""
    token = _limit.set(seconds)
    try:
        yield
    finally:
        _limit.reset(token)


async def server_answers(conninfo: str) -> bool:
    """Return whether a connection can be made.

    All who ask at the same time share one try: a server in need has no places for each of them.
    """
    probes = _probes.setdefault(asyncio.get_running_loop(), {})
    if conninfo not in probes:
        probes[conninfo] = asyncio.create_task(_can_connect(conninfo))
        probes[conninfo].add_done_callback(lambda _: probes.pop(conninfo))
    return await asyncio.shield(probes[conninfo])


async def _can_connect(conninfo: str) -> bool:
    try:
        made = await AsyncConnection.connect(conninfo, connect_timeout=CONNECT_SECONDS)
    except OperationalError:
        return False
    await made.close()
    return True


class WatchedConnection(AsyncConnection[TupleRow]):
    """A connection whose statements end when the server stops answering.

    Attributes:
        patience: seconds until a statement that takes long is looked into.
    """

    patience: float = 5.0

    async def wait(self, gen: PQGen[T], *arguments: Any, **options: Any) -> T:  # noqa: ANN401
        """See `AsyncConnection`; raises OperationalError also when the server has stopped answering."""
        watch = _Watch(self)
        try:
            return await super().wait(gen, *arguments, **options)
        except OperationalError as error:
            if watch.reason:
                raise OperationalError(watch.reason) from error
            raise
        finally:
            watch.end()

    async def cancel_safe(self, *, timeout: float = _CANCEL_SECONDS) -> None:  # noqa: ASYNC109
        """See `AsyncConnection`; a server that does not hear of it in a moment is not waited for."""
        await super().cancel_safe(timeout=min(timeout, _CANCEL_SECONDS))

    @property
    def conninfo(self) -> str:
        """Return opens another connection like this one."""
        return make_conninfo(self.info.dsn, password=self.info.password or None)


class _Watch:
    """Looks after one statement of a connection until it ends."""

    def __init__(self, connection: WatchedConnection) -> None:
        self.reason = ""
        self._connection = connection
        self._limit = _limit.get()
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._probing: asyncio.Task[None] | None = None
        self._timer = self._set_timer()

    def end(self) -> None:
        """Stop looking."""
        self._timer.cancel()
        if self._probing is not None:
            self._probing.cancel()

    def _set_timer(self) -> asyncio.TimerHandle:
        seconds = self._connection.patience
        if self._limit is not None:
            seconds = min(seconds, max(self._limit - (self._loop.time() - self._began), 0.0))
        return self._loop.call_later(seconds, self._suspect)

    def _suspect(self) -> None:
        seconds = self._loop.time() - self._began
        if self._limit is not None and seconds >= self._limit:
            self._cut(f"it took longer than {self._limit:g} s over one statement")
        else:
            self._probing = self._loop.create_task(self._probe())

    async def _probe(self) -> None:
        if await server_answers(self._connection.conninfo):
            self._timer = self._set_timer()
        else:
            self._cut("it has stopped answering")

    def _cut(self, reason: str) -> None:
        """End the connection below the driver, which then finds it closed and raises."""
        self.reason = reason
        with (
            suppress(OSError),
            socket.socket(fileno=os.dup(self._connection.pgconn.socket)) as link,
        ):
            link.shutdown(socket.SHUT_RDWR)
