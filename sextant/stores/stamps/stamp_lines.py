"""The stamp of a scope, for who has other work until the answer comes.

Through the pool a stamp takes a third of a millisecond of the event loop, most of it the way to a
connection and back. Here the question is written to a connection of its own before the work, and the answer
read afterwards: 0.04 ms (docs/performance.md, "A question in the graph modes").
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from psycopg import Error
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.lines import DedicatedConnections, Line, is_sent
from sextant.stores.stamps.stamp import STAMP, Stamp, stamp_from

# More would only wait for each other's Python, so further stamps go through the pool.
_MOST = 2
# An answer that comes later than this (seconds) after the work is done is not waited for.
_PATIENCE = 0.1


def stamp_lines(database: Database) -> DedicatedConnections:
    """Return the lines over which stamps are asked for."""
    return database.lines(STAMP, _MOST)


@contextmanager
def request_stamp(lines: DedicatedConnections, scope: Scope) -> Iterator[StampAnswer]:
    """Ask for the stamp of a scope now, and for the answer once there is nothing else to do."""
    line = lines.taken()
    try:
        there = line is not None and is_sent(line, (scope.user_id, scope.graph_id))
        yield StampAnswer(line if there else None)
    finally:
        if line is not None:
            lines.give_back(line)


@dataclass(frozen=True, slots=True)
class StampAnswer:
    """A stamp as of some moment between the question and the call; None where another way must be gone.

    None: no line was free, or the server does not answer at once.
    """

    line: Line | None

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


def _next(line: Line) -> PGresult | None:
    """Return the next result of what was asked; None after the last."""
    link = line.pgconn
    while link.is_busy():
        if not _is_there(line, _PATIENCE):
            raise TimeoutError
        link.consume_input()
    return link.get_result()


def _has_come(line: Line) -> bool:
    """Return whether a result is there, or will not come any more."""
    try:
        line.pgconn.consume_input()
    except Error:
        return True
    return not line.pgconn.is_busy()


def _is_there(line: Line, patience: float) -> bool:
    """Return whether the server says something within so many seconds."""
    poll = select.poll()
    poll.register(line.pgconn.socket, select.POLLIN)
    return bool(poll.poll(patience * 1000))


async def _comes(line: Line) -> bool:
    """Return the same, while others go on."""
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
