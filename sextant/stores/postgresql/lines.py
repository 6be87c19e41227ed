"""Connections beside the pool's: a statement is sent before other work, and its answer read afterwards.

Through the pool a statement takes a third of a millisecond of the event loop, most of it the way to a
connection and back (docs/performance-notes.md, "Lines").
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
# Seconds that the server may take over a statement, and to hear that one is not waited for any more.
_PATIENCE = 5.0


class DedicatedConnections:
    """Connections used for one statement only, opened in the background when they are first needed.

    One by one they may be taken from any thread.

    Args:
        conninfo: what a connection is opened with now.
        query: the statement, with a placeholder `%s` for each value.
        most: how many there are. More would only wait for each other's Python.
    """

    def __init__(self, conninfo: Callable[[], str], query: LiteralString, most: int) -> None:
        self._conninfo = conninfo
        self._query = number_placeholders(f"select {query}")
        self._most = most
        self._free: deque[Line] = deque()
        self._open = 0  # lines, free or not
        self._closed = False
        self._lock = Lock()

    def taken(self) -> Line | None:
        """Return a line that nobody else has until it is given back; None where none is free."""
        with self._lock:
            if self._free:
                return self._free.pop()
            if self._closed or self._open == self._most:
                return None
            self._open += 1
        try:
            Thread(target=self._connect, name="line", daemon=True).start()
        except RuntimeError:  # the system has no more threads
            self._lost()
        return None

    def give_back(self, line: Line) -> None:
        """Keep a line for the next statement, if its answer was read to the end."""
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
        """Send the statement now; what comes of it is `read` on this event loop once the server answers.

        None, now or later: another way must be gone, for no line was free, or the server gave no value.
        Whoever cancels the future has the statement cancelled in the server.

        Args:
            values: as `values_of` takes them.
            read: makes of the value what is wanted.
        """
        line = self.taken()
        if line is None:
            return None
        if not is_sent(line, values):
            self.give_back(line)
            return None
        return _PendingStatement(self, line, read).wanted

    def give_up(self, line: Line) -> None:
        """Have the server end what a line is busy with, and close it; in the background."""
        try:
            Thread(target=self._cancel, args=(line,), name="line", daemon=True).start()
        except RuntimeError:
            self.give_back(line)

    def close(self) -> None:
        """Close all lines, those that are in use as soon as they are not."""
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
            self.give_back(line)
            return
        if line is not None:
            line.close()
        self._lost()

    def _cancel(self, line: Line) -> None:
        with suppress(Error):
            line.cancel_safe(timeout=_PATIENCE)
        self.give_back(line)

    def _lost(self) -> None:
        with self._lock:
            self._open -= 1


def is_sent(line: Line, values: Sequence[object]) -> bool:
    """Return whether the statement of a line is on its way to the server."""
    try:
        written, formats = encode_values(values)
        line.pgconn.send_query_prepared(_NAME, written, formats, result_format=BINARY)
        return line.pgconn.flush() == 0
    except Error:
        return False


class _PendingStatement(Generic[T]):
    """A statement under way over a line, whose answer the running event loop waits for."""

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
        self.wanted: asyncio.Future[T | None] = self._loop.create_future()
        self.wanted.add_done_callback(self._left)
        self._socket = line.pgconn.socket  # the driver does not tell that of a line that is cut
        self._loop.add_reader(self._socket, self._heard)
        self._timer = self._loop.call_later(_PATIENCE, self._late)

    def _late(self) -> None:
        """Wait no longer: another way must be gone, on which it is noticed why."""
        self._end()
        self._lines.give_up(self._line)
        if not self.wanted.done():
            self.wanted.set_result(None)

    def _heard(self) -> None:
        """Read what the server has said so far."""
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
        self._lines.give_back(self._line)
        if self.wanted.cancelled():
            return
        try:
            self.wanted.set_result(self._read(self._value) if self._answered else None)
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            self.wanted.set_exception(error)

    def _left(self, wanted: asyncio.Future[T | None]) -> None:
        if wanted.cancelled() and not self._ended:
            self._end()
            self._lines.give_up(self._line)

    def _end(self) -> None:
        self._ended = True
        self._timer.cancel()
        self._loop.remove_reader(self._socket)
