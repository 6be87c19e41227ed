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

    `copy`: the state of the copy in Neo4j that graph and reports are read from; empty: they are the record's.
    """

    passages: str
    graph: str
    reports: str
    copy: str = ""


async def stamp_of(database: Database, scope: Scope) -> Stamp:
    """Return the stamp as it is now; one round trip, which what is called at the same moment shares."""
    return stamp_from(await database.call(scope, STAMP))


def stamp_from(sent: bytes | None) -> Stamp:
    """Return a stamp from what the server sent."""
    [row] = rows_from_json(sent)
    return Stamp(**row)


_SQL = load_queries("entity_search")


@dataclass(frozen=True, slots=True)
class EntityStamp:
    """A moment of a knowledge base's entities.

    Attributes:
        version: changes with every write that a search for entities could notice: of the graph, of
            its vectors, of the embedding model.
        graph_version: changes with every write of the graph.
        taken_at: the database's clock.
        space: the embedding model that the vectors come from, None when there are none yet.
        dimension: length of the vectors.
    """

    version: str
    graph_version: str
    taken_at: datetime
    space: str | None
    dimension: int | None

    def of_copy(self, state: str) -> EntityStamp:
        """Return the stamp of the same graph in a store that may change by itself."""
        versions = f"{self.version} {state}", f"{self.graph_version} {state}"
        return replace(self, version=versions[0], graph_version=versions[1])


async def entity_stamp(database: Database, scope: Scope) -> EntityStamp | None:
    """Return the stamp as it is now, in one round trip; None when the user has no such knowledge base."""
    rows = await database.read(scope.user_id, _SQL["stamp"], key_of(scope))
    return EntityStamp(**rows[0]) if rows else None


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
