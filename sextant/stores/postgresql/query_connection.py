"""Read from a database in few round trips, shared by concurrent statements."""

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

_MAX_BATCH = 8  # a question sends no more statements at once
# Statements that take less than this many seconds are not worth a round trip of their own.
_SLOW_SECONDS = 0.0008
_MAX_SLOW_KEYS = 10_000


@dataclass(frozen=True, slots=True)
class BatchedStatement:
    """A read-only query, or a part of one, with its parameters."""

    query: LiteralString
    values: Mapping[str, Any] | Sequence[Any]


class LatencyTracker:
    """Track which keys have slow statements, judged by the latest."""

    def __init__(self) -> None:
        self._slow: set[Hashable] = set()

    def is_slow(self, key: Hashable) -> bool:
        """Return whether the key's statements are worth a round trip each; false for a new key."""
        return key in self._slow

    def record(self, key: Hashable, seconds: float, statements: int) -> None:
        """Record the time of some statements in one round trip."""
        if seconds <= _SLOW_SECONDS * statements:
            self._slow.discard(key)
        elif len(self._slow) < _MAX_SLOW_KEYS:
            self._slow.add(key)


Answer = Callable[[K, Sequence[BatchedStatement]], Awaitable[list[T]]]


@dataclass(slots=True)
class _Batch(Generic[K, T]):
    """Statements of one round trip, with a future for each answer."""

    key: K
    statements: list[BatchedStatement] = field(default_factory=list[BatchedStatement])
    answers: list[asyncio.Future[T]] = field(default_factory=list[asyncio.Future[T]])
    task: asyncio.Task[None] | None = None


class QueryBatcher(Generic[K, T]):
    """Batch the statements of one key that are sent in one turn of the event loop.

    Args:
        answer: returns the results of statements of a key (for example a tenant), in their order and in
            one round trip.
        max_batch: the number of statements of a batch.
    """

    def __init__(self, answer: Answer[K, T], max_batch: int = _MAX_BATCH) -> None:
        self._answer = answer
        self._max_batch = max_batch
        self._open_batches: dict[tuple[asyncio.AbstractEventLoop, K], _Batch[K, T]] = {}

    async def ask(self, key: K, statement: BatchedStatement) -> T:
        """Return the result of a statement.

        If a batch fails or takes too long, each of its statements is repeated by itself, so that a
        failure reaches only its own caller, unless the server does not answer.
        """
        loop = asyncio.get_running_loop()
        batch = self._open_batches.get((loop, key))
        if batch is None or len(batch.answers) == self._max_batch:
            batch = self._open_batches[loop, key] = _Batch(key)
            batch.task = loop.create_task(
                self._run_batch(loop, batch)
            )  # starts in the loop's next turn
        future: asyncio.Future[T] = loop.create_future()
        batch.statements.append(statement)
        batch.answers.append(future)
        try:
            return await future
        except asyncio.CancelledError:
            if batch.task is not None and all(answer.done() for answer in batch.answers):
                batch.task.cancel()  # nobody waits for it
            raise

    async def _run_batch(self, loop: asyncio.AbstractEventLoop, batch: _Batch[K, T]) -> None:
        if self._open_batches.get((loop, batch.key)) is batch:
            del self._open_batches[loop, batch.key]
        try:
            answers = await self._answer(batch.key, batch.statements)
        except Exception as error:  # noqa: BLE001 - passed to the waiting callers
            if len(batch.statements) == 1 or isinstance(error, DatabaseUnavailable):
                for future in batch.answers:
                    if not future.done():
                        future.set_exception(error)
                return
            # One statement failed, and the others with it.
            pairs = zip(batch.statements, batch.answers, strict=True)
            await asyncio.gather(*(self._run_single(batch.key, *pair) for pair in pairs))
            return
        for future, answer in zip(batch.answers, answers, strict=True):
            if not future.done():
                future.set_result(answer)

    async def _run_single(
        self, key: K, statement: BatchedStatement, future: asyncio.Future[T]
    ) -> None:
        if future.done():
            return
        try:
            [answer] = await self._answer(key, [statement])
        except Exception as error:  # noqa: BLE001 - as above
            if not future.done():
                future.set_exception(error)
        else:
            if not future.done():
                future.set_result(answer)


_SQL = load_queries("database")
# Sets the tenant of a statement that calls functions. The first value of each call is the user, so $1 is,
# too; FROM is evaluated before the select list.
_AS_TENANT: LiteralString = " from set_config('sextant.user_id', $1::text, true)"
_MAX_CALLS = 4  # of one batch
_BATCH_SHARE = 0.1  # of a lane's timeout, for a batch


class QueryConnection(ABC):
    """The read-only part of `Database`, for single statements.

    Args:
        settings: define the timeout of a lane.
        pools: connections of the serving role.
        app_conninfo: opens a further connection of that role.
    """

    def __init__(self, settings: Settings, pools: Pools, app_conninfo: str) -> None:
        self.settings = settings
        self.app_conninfo = app_conninfo
        self._pools = pools
        self._dedicated: dict[str, DedicatedConnections] = {}  # by function
        self._reads: QueryBatcher[str, list[DictRow]] = QueryBatcher(self._answer)
        self._calls: QueryBatcher[Scope, bytes | None] = QueryBatcher(
            self._values, max_batch=_MAX_CALLS
        )
        self._lanes: QueryBatcher[Scope, bytes | None] = QueryBatcher(
            self._timed_values, max_batch=_MAX_CALLS
        )
        self._latency = LatencyTracker()  # of lanes
        self._pending_calls = 0  # statements of calls

    @abstractmethod
    def _watch_server(self) -> AbstractAsyncContextManager[None]:
        """Detect in the block that the server is lost; restart an embedded one before the next call."""

    async def read(
        self, user_id: str, query: LiteralString, values: Mapping[str, object]
    ) -> list[DictRow]:
        """Return the rows of one statement that sees only rows of `user_id`.

        Concurrent statements share one round trip; transactions of their own would take five each.

        Args:
            user_id: the tenant, set for this statement only.
            query: a read-only query.
            values: its parameters.

        Raises:
            DatabaseUnavailable: the server does not answer within `retrieval.lane_timeout`.
        """
        return await self._reads.ask(user_id, BatchedStatement(query, values))

    async def call(self, scope: Scope, function: LiteralString, *values: object) -> bytes | None:
        """Return the value of a function of the server, called for a tenant in one round trip.

        Concurrent calls for a scope share a statement, and so a snapshot. If that fails or takes long,
        each is repeated by itself, so that a failure does not affect the others.

        Args:
            scope: user and knowledge base, the function's first arguments.
            function: a call with a placeholder for each value.
            values: its other arguments.

        Raises:
            DatabaseUnavailable: the server does not answer within `retrieval.lane_timeout`.
        """
        statement = BatchedStatement(function, (scope.user_id, scope.graph_id, *values))
        return await self._calls.ask(scope, statement)

    async def lane(self, scope: Scope, function: LiteralString, *values: object) -> bytes | None:
        """Return the value of a function like `call`, for a lane, which needs no common snapshot.

        If the scope's lanes are slow and no other call is pending, each lane is sent by itself, so that
        the server can use a core for each; otherwise one statement for all is cheaper.
        """
        statement = BatchedStatement(function, (scope.user_id, scope.graph_id, *values))
        if self._latency.is_slow(scope) and not self._pending_calls:
            [value] = await self._timed_values(scope, [statement])  # pending before the next call
            return value
        return await self._lanes.ask(scope, statement)

    def request_lane(
        self,
        scope: Scope,
        function: LiteralString,
        values: Sequence[object],
        read: Callable[[bytes | None], T | None],
    ) -> asyncio.Future[T | None] | None:
        """Send a lane's call now over a dedicated connection; see `DedicatedConnections.ask`.

        Returns:
            A future of the result. `lane` must be used if this, or its result, is None: the scope's lanes
            are fast, or another call is pending.
        """
        if self._pending_calls or not self._latency.is_slow(scope):
            return None
        started = time.perf_counter()

        def read_value(value: bytes | None) -> T | None:
            self._latency.record(scope, time.perf_counter() - started, 1)
            return read(value)

        return self.lines(function).ask((scope.user_id, scope.graph_id, *values), read_value)

    def lines(self, function: LiteralString, limit: int = 1) -> DedicatedConnections:
        """Return the dedicated connections for a function of a scope, created on the first call."""
        lines = self._dedicated.get(function)
        if lines is None:  # two threads may get here at once
            created = DedicatedConnections(lambda: self.app_conninfo, function + _AS_TENANT, limit)
            lines = self._dedicated.setdefault(function, created)
        return lines

    async def _timed_values(
        self, scope: Scope, calls: Sequence[BatchedStatement]
    ) -> list[bytes | None]:
        started = time.perf_counter()
        values = await self._values(scope, calls)
        self._latency.record(scope, time.perf_counter() - started, len(calls))
        return values

    async def _values(self, _: Scope, calls: Sequence[BatchedStatement]) -> list[bytes | None]:
        query = "select " + ", ".join(call.query for call in calls) + _AS_TENANT
        values = [value for call in calls for value in call.values]
        deadline = self.settings.retrieval.lane_timeout
        try:
            async with asyncio.timeout(deadline if len(calls) == 1 else deadline * _BATCH_SHARE):
                return await self._row(query, values)
        except TimeoutError as error:
            if len(calls) > 1:
                raise
            raise DatabaseUnavailable(
                f"PostgreSQL did not answer within {deadline:g} s.",
                next_step="Try again; if it stays slow, run `sextant doctor`.",
            ) from error

    async def _row(self, query: LiteralString, values: Sequence[object]) -> list[bytes | None]:
        self._pending_calls += 1
        try:
            async with self._watch_server():
                pool = await self._pools.current()
                # Not `pool.connection()`, which would end a transaction that was never begun.
                connection = await pool.getconn()
                try:
                    return await values_of(connection, query, values)
                finally:
                    await pool.putconn(connection)
        finally:
            self._pending_calls -= 1

    async def _answer(
        self, user_id: str, statements: Sequence[BatchedStatement]
    ) -> list[list[DictRow]]:
        seconds = self.settings.retrieval.lane_timeout
        reader = {"user_id": user_id, "timeout": f"{seconds * 1000:.0f}"}
        async with self._watch_server(), (await self._pools.current()).connection() as connection:
            cursors = [connection.cursor(row_factory=dict_row, binary=True) for _ in statements]
            try:
                # Without BEGIN, all statements of a pipeline are one transaction.
                async with connection.pipeline():
                    await connection.execute(_SQL["set_reader"], reader)
                    for cursor, statement in zip(cursors, statements, strict=True):
                        await cursor.execute(statement.query, statement.values)
            except BaseException:
                # The driver wrongly regards statements that the server skipped as prepared.
                await connection.close()
                raise
            return [await cursor.fetchall() for cursor in cursors]
