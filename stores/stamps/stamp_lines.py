"""The stamp of a scope, for a thread that has other work until the answer comes.

Through the pool a stamp takes a third of a millisecond of the event loop, most of it the way to a
connection and back. Here a thread writes the question to a connection of its own before it works, and reads
the answer afterwards: 0.04 ms (docs/performance.md, "A question in the graph modes").
"""

from __future__ import annotations

import select
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Any

from psycopg import Connection, Error
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from domain.scope import Scope
from stores.stamps.stamp import STAMP, Stamp, stamp_from

# More would only wait for each other's Python, so further stamps go through the pool.
_MOST = 2
# An answer that comes later than this after the work is done is not waited for.
_PATIENCE_MS = 100
_NAME = b"asked"
_PREPARE = b"prepare asked (text, text) as select " + (STAMP % ("$1", "$2")).encode()

Answer = Callable[[], Stamp | None]


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
        """Ask for the stamp of a scope now, and for the answer once there is nothing else to do.

        Yields:
            A function that returns the stamp as of some moment between now and its call. None: no line is
            free or the server does not answer at once, so ask another way.
        """
        line = self._taken()
        try:
            yield _asked(line, scope) if line is not None else lambda: None
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


def _asked(line: Connection[Any], scope: Scope) -> Answer:
    values = [scope.user_id.encode(), scope.graph_id.encode()]

    def answer() -> Stamp | None:
        try:
            result = _next(line)
            if result is None or result.status != ExecStatus.TUPLES_OK:
                return None
            stamp = stamp_from(result.get_value(0, 0))
            return stamp if _next(line) is None else None
        except (Error, TimeoutError):
            return None

    try:
        line.pgconn.send_query_prepared(_NAME, values, result_format=1)
        line.pgconn.flush()
    except Error:
        return lambda: None
    return answer


def _next(line: Connection[Any]) -> PGresult | None:
    """The next result of what was asked; None after the last."""
    link = line.pgconn
    while link.is_busy():
        poll = select.poll()
        poll.register(link.socket, select.POLLIN)
        if not poll.poll(_PATIENCE_MS):
            raise TimeoutError
        link.consume_input()
    return link.get_result()
