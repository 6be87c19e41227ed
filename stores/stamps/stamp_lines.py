"""The stamp of a scope, for who has other work until the answer comes.

Through the pool a stamp takes a third of a millisecond of the event loop, most of it the way to a
connection and back. Here the question is written to a connection of its own before the work, and the answer
read afterwards: 0.04 ms (docs/performance.md, "A question in the graph modes").
"""

from __future__ import annotations

import asyncio
import select
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any

from psycopg import Connection, Error
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from domain.scope import Scope
from stores.stamps.stamp import STAMP, Stamp, stamp_from

# More would only wait for each other's Python, so further stamps go through the pool.
_MOST = 2
# An answer that comes later than this (seconds) after the work is done is not waited for.
_PATIENCE = 0.1
_NAME = b"asked"
_PREPARE = b"prepare asked (text, text) as select " + (STAMP % ("$1", "$2")).encode()


class StampLines:
    """Connections used for nothing else, opened in the background when they are first needed.

    Args:
        conninfo: what a connection is opened with now.
    """

    def __init__(self, conninfo: Callable[[], str]) -> None:
        self._conninfo = conninfo
        self._free: deque[Connection[Any]] = deque()
        self._open = 0  # lines, free or not
        self._closed = False
        self._lock = Lock()

    @contextmanager
    def asked(self, scope: Scope) -> Iterator[Answer]:
        """Ask for the stamp of a scope now, and for the answer once there is nothing else to do."""
        line = self._taken()
        try:
            yield Answer(_asked(line, scope) if line is not None else None)
        finally:
            if line is not None:
                self._give_back(line)

    def close(self) -> None:
        """Close all lines, those that are in use as soon as they are not."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, deque()
        for line in free:
            line.close()

    def _taken(self) -> Connection[Any] | None:
        with self._lock:
            if self._free:
                return self._free.pop()
            if self._closed or self._open == _MOST:
                return None
            self._open += 1
        try:
            Thread(target=self._connect, name="stamp line", daemon=True).start()
        except RuntimeError:  # the system has no more threads
            self._lost()
        return None

    def _connect(self) -> None:
        line = None
        try:
            line = Connection.connect(self._conninfo(), autocommit=True)
            line.execute(_PREPARE)
        except Error:
            if line is not None:
                line.close()
            self._lost()
        else:
            self._give_back(line)

    def _lost(self) -> None:
        with self._lock:
            self._open -= 1

    def _give_back(self, line: Connection[Any]) -> None:
        """Keep a line for the next question, if its answer was read to the end."""
        with self._lock:
            idle = line.pgconn.transaction_status == TransactionStatus.IDLE
            if idle and not self._closed:
                self._free.append(line)
                return
            self._open -= 1
        line.close()


def _asked(line: Connection[Any], scope: Scope) -> Connection[Any] | None:
    """The line, over which an answer will come."""
    try:
        values = [scope.user_id.encode(), scope.graph_id.encode()]
        line.pgconn.send_query_prepared(_NAME, values, result_format=1)
        line.pgconn.flush()
    except Error:
        return None
    return line


@dataclass(frozen=True, slots=True)
class Answer:
    """A stamp as of some moment between the question and the call; None where another way must be gone.

    None: no line was free, or the server does not answer at once.
    """

    line: Connection[Any] | None

    def __call__(self) -> Stamp | None:
        """Wait for it in a thread."""
        if self.line is None:
            return None
        try:
            result = _next(self.line)
            if result is None or result.status != ExecStatus.TUPLES_OK:
                return None
            stamp = stamp_from(result.get_value(0, 0))
            return stamp if _next(self.line) is None else None
        except (Error, TimeoutError):
            return None

    async def awaited(self) -> Stamp | None:
        """Wait for it on an event loop."""
        if self.line is None or not (_has_come(self.line) or await _comes(self.line)):
            return None
        return self()


def _next(line: Connection[Any]) -> PGresult | None:
    """The next result of what was asked; None after the last."""
    link = line.pgconn
    while link.is_busy():
        if not _is_there(line, _PATIENCE):
            raise TimeoutError
        link.consume_input()
    return link.get_result()


def _has_come(line: Connection[Any]) -> bool:
    """Whether a result is there, or will not come any more."""
    try:
        line.pgconn.consume_input()
    except Error:
        return True
    return not line.pgconn.is_busy()


def _is_there(line: Connection[Any], patience: float) -> bool:
    """Whether the server says something within so many seconds."""
    poll = select.poll()
    poll.register(line.pgconn.socket, select.POLLIN)
    return bool(poll.poll(patience * 1000))


async def _comes(line: Connection[Any]) -> bool:
    """The same, while others go on."""
    loop, link = asyncio.get_running_loop(), line.pgconn.socket
    said = asyncio.Event()
    loop.add_reader(link, said.set)
    try:
        async with asyncio.timeout(_PATIENCE):
            return await said.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(link)
