"""Request the stamp of a scope before other work, and read the answer afterwards.

The request is sent over a dedicated connection, which costs less of the event loop than the pool.

Also here: the stamp of a knowledge base; the stamp of entities.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from psycopg import Error
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.lines import DedicatedConnections, Line, is_sent
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.values import rows_from_json
from sextant.stores.scopes import key_of

STAMP = load_queries("stamps")["stamp"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """Texts that change whenever the passages, the graph or the reports of a scope do.

    `copy` is the state of the Neo4j copy from which graph and reports are read; empty for the record.
    """

    passages: str
    graph: str
    reports: str
    copy: str = ""


async def stamp_of(database: Database, scope: Scope) -> Stamp:
    """Return the current stamp in one round trip, shared with concurrent calls."""
    return stamp_from(await database.call(scope, STAMP))


def stamp_from(answer: bytes | None) -> Stamp:
    """Decode the stamp in the server's answer."""
    [row] = rows_from_json(answer)
    return Stamp(**row)


_SQL = load_queries("entity_search")


@dataclass(frozen=True, slots=True)
class EntityStamp:
    """The state of a knowledge base's entities at one moment.

    Attributes:
        version: changes with every write that may change an entity search: to the graph, its vectors,
            or the embedding model.
        graph_version: changes with every write of the graph.
        taken_at: the time of the database.
        space: the embedding model of the vectors; None if there are none yet.
        dimension: length of the vectors.
    """

    version: str
    graph_version: str
    taken_at: datetime
    space: str | None
    dimension: int | None

    def of_copy(self, state: str) -> EntityStamp:
        """Return the stamp of a copy of the graph with its own `state`."""
        versions = f"{self.version} {state}", f"{self.graph_version} {state}"
        return replace(self, version=versions[0], graph_version=versions[1])


async def entity_stamp(database: Database, scope: Scope) -> EntityStamp | None:
    """Return the current stamp in one round trip; None if the user has no such knowledge base."""
    rows = await database.read(scope.user_id, _SQL["stamp"], key_of(scope))
    return EntityStamp(**rows[0]) if rows else None


# The interpreter lock makes more connections useless; further stamps go through the pool.
_MAX_CONNECTIONS = 2
_TIMEOUT_SECONDS = 0.1  # for the answer, after the other work


def stamp_connections(database: Database) -> DedicatedConnections:
    """Return the dedicated connections for stamps."""
    return database.lines(STAMP, _MAX_CONNECTIONS)


@contextmanager
def request_stamp(lines: DedicatedConnections, scope: Scope) -> Iterator[StampAnswer]:
    """Send the request for a stamp now; the answer is read by calling the yielded object."""
    line = lines.acquire()
    try:
        is_requested = line is not None and is_sent(line, (scope.user_id, scope.graph_id))
        yield StampAnswer(line if is_requested else None)
    finally:
        if line is not None:
            lines.release(line)


@dataclass(frozen=True, slots=True)
class StampAnswer:
    """The answer to a request, as of some moment between request and call.

    It is None if no connection was free or the server does not answer soon; then use the pool.
    """

    line: Line | None

    def __call__(self) -> Stamp | None:
        """Wait for the answer, blocking the thread."""
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

    async def receive(self) -> Stamp | None:
        """Wait for the answer on an event loop."""
        if self.line is None or not (_is_complete(self.line) or await _becomes_readable(self.line)):
            return None
        return self()


def _next(line: Line) -> PGresult | None:
    """Return the next result of the request; None after the last."""
    link = line.pgconn
    while link.is_busy():
        if not _is_readable(line, _TIMEOUT_SECONDS):
            raise TimeoutError
        link.consume_input()
    return link.get_result()


def _is_complete(line: Line) -> bool:
    """Return whether the result has arrived, or cannot arrive any more."""
    try:
        line.pgconn.consume_input()
    except Error:
        return True
    return not line.pgconn.is_busy()


def _is_readable(line: Line, patience: float) -> bool:
    """Return whether the connection becomes readable within `patience` seconds."""
    poll = select.poll()
    poll.register(line.pgconn.socket, select.POLLIN)
    return bool(poll.poll(patience * 1000))


async def _becomes_readable(line: Line) -> bool:
    """Return whether the connection becomes readable, without blocking the event loop."""
    loop, link = asyncio.get_running_loop(), line.pgconn.socket
    readable = asyncio.Event()
    loop.add_reader(link, readable.set)
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            return await readable.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(link)
