"""Dedicated connections outside the pool, on which a statement is sent before other work.

The answer is read after that work. This costs less of the event loop than the pool.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, Generic, LiteralString, TypeVar

from psycopg import Connection, Error
from psycopg.pq import ExecStatus, TransactionStatus

from sextant.stores.postgresql.values import BINARY, encode_values, number_placeholders

T = TypeVar("T")
Line = Connection[Any]

_NAME = b"asked"
_TIMEOUT_SECONDS = 5.0  # of a statement, and of its cancellation


class DedicatedConnections:
    """Connections for one statement only, opened in the background when they are first needed.

    They may be acquired from any thread.

    Args:
        conninfo: returns the current connection string.
        query: the statement, with a placeholder `%s` for each value.
        limit: the number of connections; the interpreter lock makes more of them useless.
    """

    def __init__(self, conninfo: Callable[[], str], query: LiteralString, limit: int) -> None:
        self._conninfo = conninfo
        self._query = number_placeholders(f"select {query}")
        self._limit = limit
        self._free: deque[Line] = deque()
        self._open = 0  # connections, free or not
        self._closed = False
        self._lock = Lock()

    def acquire(self) -> Line | None:
        """Return a connection for exclusive use until `release`; None if none is free."""
        with self._lock:
            if self._free:
                return self._free.pop()
            if self._closed or self._open == self._limit:
                return None
            self._open += 1
        try:
            Thread(target=self._connect, name="line", daemon=True).start()
        except RuntimeError:  # no more threads can be started
            self._note_closed()
        return None

    def release(self, line: Line) -> None:
        """Make a connection available again, or close it if its answer was not read completely."""
        with self._lock:
            idle = line.pgconn.transaction_status == TransactionStatus.IDLE
            if idle and not self._closed:
                self._free.append(line)
                return
            self._open -= 1
        line.close()

    def ask(
        self, values: Sequence[object], read: Callable[[bytes | None], T]
    ) -> asyncio.Future[T | None] | None:
        """Send the statement now, and apply `read` to its value on this event loop.

        Cancelling the future cancels the statement in the server.

        Args:
            values: as for `values_of`.
            read: converts the value to the result.

        Returns:
            A future of the result. The pool must be used if this, or its result, is None: no connection
            was free, or the server returned no value.
        """
        line = self.acquire()
        if line is None:
            return None
        if not is_sent(line, values):
            self.release(line)
            return None
        return _PendingStatement(self, line, read).future

    def cancel(self, line: Line) -> None:
        """Cancel the statement of a connection in the server, and release it, in the background."""
        try:
            Thread(target=self._cancel, args=(line,), name="line", daemon=True).start()
        except RuntimeError:
            self.release(line)

    def close(self) -> None:
        """Close all connections; those in use are closed when they are released."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, deque()
        for line in free:
            line.close()

    def _connect(self) -> None:
        line = None
        try:
            line = Connection.connect(self._conninfo(), autocommit=True)
            prepared = line.pgconn.prepare(_NAME, self._query)
        except Error:
            prepared = None
        if line is not None and prepared is not None and prepared.status == ExecStatus.COMMAND_OK:
            self.release(line)
            return
        if line is not None:
            line.close()
        self._note_closed()

    def _cancel(self, line: Line) -> None:
        with suppress(Error):
            line.cancel_safe(timeout=_TIMEOUT_SECONDS)
        self.release(line)

    def _note_closed(self) -> None:
        with self._lock:
            self._open -= 1


def is_sent(line: Line, values: Sequence[object]) -> bool:
    """Send the statement of a connection; return whether it was sent."""
    try:
        encoded, formats = encode_values(values)
        line.pgconn.send_query_prepared(_NAME, encoded, formats, result_format=BINARY)
        return line.pgconn.flush() == 0
    except Error:
        return False


class _PendingStatement(Generic[T]):
    """A sent statement, for whose answer the running event loop waits."""

    def __init__(
        self, lines: DedicatedConnections, line: Line, read: Callable[[bytes | None], T]
    ) -> None:
        self._lines = lines
        self._line = line
        self._read = read
        self._value: bytes | None = None
        self._answered = False
        self._ended = False
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[T | None] = self._loop.create_future()
        self.future.add_done_callback(self._cancel_statement)
        self._socket = line.pgconn.socket  # unknown to the driver once the connection is cut
        self._loop.add_reader(self._socket, self._receive)
        self._timer = self._loop.call_later(_TIMEOUT_SECONDS, self._time_out)

    def _time_out(self) -> None:
        """Stop waiting; the pool, used instead, will report the error."""
        self._end()
        self._lines.cancel(self._line)
        if not self.future.done():
            self.future.set_result(None)

    def _receive(self) -> None:
        """Read the available part of the answer."""
        link = self._line.pgconn
        try:
            link.consume_input()
            while not link.is_busy():
                if (result := link.get_result()) is None:
                    break
                self._answered = result.status == ExecStatus.TUPLES_OK
                self._value = result.get_value(0, 0) if self._answered else None
            else:
                return
        except Error:
            self._answered = False
        self._end()
        self._lines.release(self._line)
        if self.future.cancelled():
            return
        try:
            self.future.set_result(self._read(self._value) if self._answered else None)
        except Exception as error:  # noqa: BLE001 - passed to the waiting caller
            self.future.set_exception(error)

    def _cancel_statement(self, future: asyncio.Future[T | None]) -> None:
        if future.cancelled() and not self._ended:
            self._end()
            self._lines.cancel(self._line)

    def _end(self) -> None:
        self._ended = True
        self._timer.cancel()
        self._loop.remove_reader(self._socket)
