"""The reading half of a database: few round trips, since what is asked at the same moment shares one."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, LiteralString, TypeVar

from psycopg.rows import DictRow, dict_row

from sextant.domain.errors import DatabaseUnavailable
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.postgresql.lines import DedicatedConnections
from sextant.stores.postgresql.pools import Pools
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.values import values_of

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

# More statements than a question asks at once would only wait for each other.
_MOST_TOGETHER = 8
# A shorter statement (seconds) is not worth a trip of its own, which takes 0.13 ms of the client and 0.1
# of the server (docs/performance-notes.md, "Lanes side by side").
_LONG = 0.0008
# Keys remembered.
_MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Statement:
    """A query that changes nothing, or a part of one, with its parameters."""

    query: LiteralString
    values: Mapping[str, Any] | Sequence[Any]


class LatencyTracker:
    """Which keys have slow statements, judged by their latest."""

    def __init__(self) -> None:
        self._long: set[Hashable] = set()

    def is_long(self, key: Hashable) -> bool:
        """Return whether each of the key's statements is worth a trip of its own; False of a new key."""
        return key in self._long

    def took(self, key: Hashable, seconds: float, statements: int) -> None:
        """Note what some statements took in one trip; of several trips at once the longest ends last."""
        if seconds <= _LONG * statements:
            self._long.discard(key)
        elif len(self._long) < _MOST_KNOWN:
            self._long.add(key)


Answer = Callable[[K, Sequence[Statement]], Awaitable[list[T]]]


@dataclass(slots=True)
class _Trip(Generic[K, T]):
    """Statements that go together, and where the answer to each is awaited."""

    key: K
    statements: list[Statement] = field(default_factory=list[Statement])
    answers: list[asyncio.Future[T]] = field(default_factory=list[asyncio.Future[T]])
    task: asyncio.Task[None] | None = None


class QueryBatcher(Generic[K, T]):
    """Statements of one key that are asked in one turn of the event loop, as by `asyncio.gather`.

    Args:
        answer: gives the results of some statements of a key (a tenant, say), in their order and in one
            round trip.
        most: how many go together.
    """

    def __init__(self, answer: Answer[K, T], most: int = _MOST_TOGETHER) -> None:
        self._answer = answer
        self._most = most
        self._waiting: dict[tuple[asyncio.AbstractEventLoop, K], _Trip[K, T]] = {}

    async def ask(self, key: K, statement: Statement) -> T:
        """Return the result of a statement.

        Where several go together and fail, or take too long for `answer`, each is tried by itself, so
        that a failure reaches its own caller only, unless the server is gone.
        """
        loop = asyncio.get_running_loop()
        trip = self._waiting.get((loop, key))
        if trip is None or len(trip.answers) == self._most:
            trip = self._waiting[loop, key] = _Trip(key)
            trip.task = loop.create_task(self._take(loop, trip))  # begins in the loop's next turn
        wanted: asyncio.Future[T] = loop.create_future()
        trip.statements.append(statement)
        trip.answers.append(wanted)
        try:
            return await wanted
        except asyncio.CancelledError:
            if trip.task is not None and all(one.done() for one in trip.answers):
                trip.task.cancel()  # nobody waits any more
            raise

    async def _take(self, loop: asyncio.AbstractEventLoop, trip: _Trip[K, T]) -> None:
        if self._waiting.get((loop, trip.key)) is trip:
            del self._waiting[loop, trip.key]
        try:
            answers = await self._answer(trip.key, trip.statements)
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            if len(trip.statements) == 1 or isinstance(error, DatabaseUnavailable):
                for wanted in trip.answers:
                    if not wanted.done():
                        wanted.set_exception(error)
                return
            # One statement is at fault; the others were given up with it.
            alone = zip(trip.statements, trip.answers, strict=True)
            await asyncio.gather(*(self._alone(trip.key, *one) for one in alone))
            return
        for wanted, answer in zip(trip.answers, answers, strict=True):
            if not wanted.done():
                wanted.set_result(answer)

    async def _alone(self, key: K, statement: Statement, wanted: asyncio.Future[T]) -> None:
        if wanted.done():
            return
        try:
            [answer] = await self._answer(key, [statement])
        except Exception as error:  # noqa: BLE001 - as above
            if not wanted.done():
                wanted.set_exception(error)
        else:
            if not wanted.done():
                wanted.set_result(answer)


_SQL = load_queries("database")
# Sets the tenant for the statement that calls functions: each call's first value is the user, so that of the
# first is $1. What stands in FROM is evaluated before what is selected.
_AS_TENANT: LiteralString = " from set_config('sextant.user_id', $1::text, true)"
# The calls of a search that go together (two lanes; passages, entities and stamps), and the share of a
# lane's time that they may take so.
_CALLS, _PATIENCE = 4, 0.1


class QueryConnection(ABC):
    """The part of `Database` that reads single statements, and changes nothing.

    Args:
        settings: say how long a lane may take.
        pools: connections as the serving role.
        app_conninfo: opens one more.
    """

    def __init__(self, settings: Settings, pools: Pools, app_conninfo: str) -> None:
        self.settings = settings
        self.app_conninfo = app_conninfo
        self._pools = pools
        self._lines: dict[str, DedicatedConnections] = {}  # by function
        self._trips: QueryBatcher[str, list[DictRow]] = QueryBatcher(self._answer)
        self._calls: QueryBatcher[Scope, bytes | None] = QueryBatcher(self._values, most=_CALLS)
        self._lanes: QueryBatcher[Scope, bytes | None] = QueryBatcher(
            self._timed_values, most=_CALLS
        )
        self._pace = LatencyTracker()  # of lanes
        self._under_way = 0  # statements of calls

    @abstractmethod
    def _answering(self) -> AbstractAsyncContextManager[None]:
        """Return notice that the server has gone; before the next call, start an embedded one again."""

    async def read(
        self, user_id: str, query: LiteralString, values: Mapping[str, object]
    ) -> list[DictRow]:
        """Return the rows of one statement that sees only rows of `user_id`, in a single round trip.

        A question asks several; as transactions of their own each would take five trips. Those asked
        at the same moment share a trip, and are answered in the order asked.

        Args:
            user_id: the tenant, set for this statement only.
            query: reads, and changes nothing.
            values: its parameters.

        Raises:
            DatabaseUnavailable: the server does not answer within the time of a lane.
        """
        return await self._trips.ask(user_id, Statement(query, values))

    async def call(self, scope: Scope, function: LiteralString, *values: object) -> bytes | None:
        """Return the value of a server's function for its tenant, which the statement sets, in a single round trip.

        Those of a scope that are called at the same moment share a statement, and so a moment; if that
        fails or takes long, each goes by itself, so that none takes the others along.

        Args:
            scope: user and knowledge base, the function's first arguments.
            function: a call with a placeholder for each value.
            values: its other arguments.

        Raises:
            DatabaseUnavailable: the server does not answer within the time of a lane.
        """
        whose = (scope.user_id, scope.graph_id)
        return await self._calls.ask(scope, Statement(function, (*whose, *values)))

    async def lane(self, scope: Scope, function: LiteralString, *values: object) -> bytes | None:
        """As `call`, for a lane of a search, which need not see the same moment as the others.

        Where the scope's lanes took long and nothing else is under way, each goes by itself, so that the
        server can give each a core; otherwise one statement for all is cheaper.
        """
        asked = Statement(function, (scope.user_id, scope.graph_id, *values))
        if self._pace.is_long(scope) and not self._under_way:
            [value] = await self._timed_values(scope, [asked])  # under way before the next is asked
            return value
        return await self._lanes.ask(scope, asked)

    def request_lane(
        self,
        scope: Scope,
        function: LiteralString,
        values: Sequence[object],
        read: Callable[[bytes | None], T | None],
    ) -> asyncio.Future[T | None] | None:
        """Return the same over a connection of its own, sent before this returns; see `Lines.ask`.

        None, now or later: `lane` is to be asked. It is where the scope's lanes are short, or something
        else is under way.
        """
        if self._under_way or not self._pace.is_long(scope):
            return None
        started = time.perf_counter()

        def told(value: bytes | None) -> T | None:
            self._pace.took(scope, time.perf_counter() - started, 1)
            return read(value)

        return self.lines(function).ask((scope.user_id, scope.graph_id, *values), told)

    def lines(self, function: LiteralString, most: int = 1) -> DedicatedConnections:
        """Return connections beside the pool's for one function of a scope, at most so many; the same at each call."""
        lines = self._lines.get(function)
        if lines is None:  # two threads may come here at once
            made = DedicatedConnections(lambda: self.app_conninfo, function + _AS_TENANT, most)
            lines = self._lines.setdefault(function, made)
        return lines

    async def _timed_values(self, scope: Scope, calls: Sequence[Statement]) -> list[bytes | None]:
        started = time.perf_counter()
        values = await self._values(scope, calls)
        self._pace.took(scope, time.perf_counter() - started, len(calls))
        return values

    async def _values(self, _: Scope, calls: Sequence[Statement]) -> list[bytes | None]:
        query = "select " + ", ".join(call.query for call in calls) + _AS_TENANT
        values = [value for call in calls for value in call.values]
        deadline = self.settings.retrieval.lane_timeout
        try:
            async with asyncio.timeout(deadline if len(calls) == 1 else deadline * _PATIENCE):
                return await self._row(query, values)
        except TimeoutError as error:
            if len(calls) > 1:
                raise
            raise DatabaseUnavailable(
                f"PostgreSQL did not answer within {deadline:g} s.",
                next_step="Try again; if it stays slow, run `sextant doctor`.",
            ) from error

    async def _row(self, query: LiteralString, values: Sequence[object]) -> list[bytes | None]:
        self._under_way += 1
        try:
            async with self._answering():
                pool = await self._pools.here()
                # Not `pool.connection()`, which would end a transaction that was never begun.
                connection = await pool.getconn()
                try:
                    return await values_of(connection, query, values)
                finally:
                    await pool.putconn(connection)
        finally:
            self._under_way -= 1

    async def _answer(self, user_id: str, statements: Sequence[Statement]) -> list[list[DictRow]]:
        seconds = self.settings.retrieval.lane_timeout
        reader = {"user_id": user_id, "timeout": f"{seconds * 1000:.0f}"}
        async with self._answering(), (await self._pools.here()).connection() as connection:
            cursors = [connection.cursor(row_factory=dict_row, binary=True) for _ in statements]
            try:
                # Without BEGIN, all statements of a pipeline are one transaction.
                async with connection.pipeline():
                    await connection.execute(_SQL["set_reader"], reader)
                    for cursor, statement in zip(cursors, statements, strict=True):
                        await cursor.execute(statement.query, statement.values)
            except BaseException:
                # The driver believes that statements which the server skipped are prepared, and would for good.
                await connection.close()
                raise
            return [await cursor.fetchall() for cursor in cursors]
