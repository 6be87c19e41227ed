"""One PostgreSQL and one pool of connections, always as the role that row-level security binds."""

from __future__ import annotations

import asyncio
import select
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import LiteralString, NamedTuple

from pgvector.psycopg.vector import register_vector_info
from psycopg import (
    AsyncConnection,
    InterfaceError,
    IsolationLevel,
    OperationalError,
)
from psycopg.rows import DictRow, class_row, dict_row
from psycopg.types import TypeInfo
from psycopg_pool import AsyncConnectionPool

from domain.errors import DatabaseUnavailable
from domain.scope import Scope
from domain.settings import Settings
from stores.embedded.server import EmbeddedServer
from stores.postgresql.logins import logins
from stores.postgresql.migrations import migrate
from stores.postgresql.pools import Connection, Pools
from stores.postgresql.queries import load_queries
from stores.postgresql.trips import Pace, Statement, Trips
from stores.stamps.stamp import STAMP, Stamp, stamp_from
from stores.stamps.stamp_lines import StampLines

_SQL = load_queries("database")
# The calls of a search that go together (two lanes; passages, entities and stamps), and the share of a
# lane's time that they may take so.
_CALLS, _PATIENCE = 4, 0.1


@dataclass(frozen=True, slots=True)
class RoleRights:
    """What `sextant doctor` reports about the database."""

    role: str
    unrestricted: bool
    owns_tables: bool
    unprotected_tables: int
    server_version: str
    vector_version: str | None

    @property
    def safe(self) -> bool:
        """Whether row-level security binds the serving role on every tenant table."""
        return not (self.unrestricted or self.owns_tables or self.unprotected_tables)


class _Lanes(NamedTuple):
    """Lanes that share a statement: all of a scope, or one of its."""

    scope: Scope
    alone: LiteralString | None


class Database:
    """An open database; make one with `await Database.open(settings)` and close it when done.

    `app_conninfo` opens a connection as the serving role, for a library that keeps its own; `stamp_lines`
    are connections beside the pool's.
    """

    def __init__(
        self,
        settings: Settings,
        owner_conninfo: str,
        app_conninfo: str,
        pools: Pools,
        *,
        vector: TypeInfo | None,
        server: EmbeddedServer | None,
    ) -> None:
        self.settings = settings
        self.app_conninfo = app_conninfo
        self._owner_conninfo = owner_conninfo
        self._pools = pools
        self._vector = vector
        self._server = server
        self._lost = False  # whether the last call found no server
        self._trips: Trips[str, list[DictRow]] = Trips(self._answer)
        self._calls: Trips[Scope, bytes | None] = Trips(self._values, most=_CALLS)
        self._lanes: Trips[_Lanes, bytes | None] = Trips(self._timed_values, most=_CALLS)
        self._pace = Pace()  # of lanes
        self._under_way = 0  # statements of calls
        self.stamp_lines = StampLines(lambda: self.app_conninfo)

    @classmethod
    async def open(cls, settings: Settings) -> Database:
        """Connect, starting the embedded server if no URL is set; bring the schema up to date.

        Raises:
            DatabaseUnavailable: nothing answers, or what answers cannot be used.
            SettingsInvalid: DATABASE_URL cannot be read.
            ConflictError: the schema was made by another version.
        """
        server = None
        if settings.database_url is None:
            server = await asyncio.to_thread(EmbeddedServer.start, settings.data_dir)
        try:
            owner, app = logins(settings, server)
            with unavailable():
                async with await AsyncConnection.connect(owner, autocommit=True) as connection:
                    await migrate(connection)
                    vector = await TypeInfo.fetch(connection, "vector")
                pools = Pools(_pool_maker(settings, app, vector))
                await (await pools.here()).wait(settings.database_timeout)
        except BaseException:
            if server is not None:
                await asyncio.to_thread(server.stop)
            raise
        return cls(settings, owner, app, pools, vector=vector, server=server)

    async def close(self) -> None:
        """Give the connections back; the last user of an embedded server stops it."""
        await asyncio.to_thread(self.stamp_lines.close)
        await self._pools.close()
        if self._server is not None:
            await asyncio.to_thread(self._server.stop)

    async def __aenter__(self) -> Database:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @asynccontextmanager
    async def transaction(
        self, user_id: str, *, snapshot: bool = False
    ) -> AsyncIterator[Connection]:
        """A transaction that sees and changes only rows of `user_id`; commits unless it raises.

        Args:
            user_id: the tenant, set for this transaction only.
            snapshot: all statements see the database as of the first one (REPEATABLE READ).

        Raises:
            DatabaseUnavailable: the server does not answer, or went away in the middle. The next call
                starts an embedded server again.
        """
        async with self._answering(), (await self._pools.here()).connection() as connection:
            if snapshot:
                await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
            try:
                async with connection.transaction():
                    await connection.execute(_SQL["set_tenant"], {"user_id": user_id})
                    yield connection
            finally:
                if snapshot and not connection.closed:
                    await connection.set_isolation_level(None)

    async def read(
        self, user_id: str, query: LiteralString, values: Mapping[str, object]
    ) -> list[DictRow]:
        """The rows of one statement that sees only rows of `user_id`, in a single round trip.

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
        """The value of a server's function that names its tenant itself, in a single round trip.

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
        alone = self._pace.is_long(scope) and not self._under_way
        together = _Lanes(scope, function if alone else None)
        whose = (scope.user_id, scope.graph_id)
        return await self._lanes.ask(together, Statement(function, (*whose, *values)))

    async def _timed_values(
        self, together: _Lanes, calls: Sequence[Statement]
    ) -> list[bytes | None]:
        started = time.perf_counter()
        values = await self._values(together.scope, calls)
        self._pace.took(together.scope, time.perf_counter() - started, len(calls))
        return values

    async def stamp(self, scope: Scope) -> Stamp:
        """The stamp of the scope as it is now; one round trip."""
        return stamp_from(await self.call(scope, STAMP))

    async def _values(self, _: Scope, calls: Sequence[Statement]) -> list[bytes | None]:
        query = "select " + ", ".join(call.query for call in calls)
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
                    cursor = connection.cursor(binary=True)
                    await cursor.execute(query, values, prepare=True)
                    return list(await cursor.fetchone() or ())
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

    @asynccontextmanager
    async def owner(self) -> AsyncIterator[Connection]:
        """A connection of the schema's owner, for maintenance only; commits unless it raises."""
        async with (
            self._answering(),
            await AsyncConnection.connect(self._owner_conninfo) as connection,
        ):
            yield connection

    @asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        """Notice that the server has gone; before the next call, start an embedded one again."""
        if self._lost and self._server is not None:
            await asyncio.to_thread(self._server.revive)
            self._lost, before = False, self.app_conninfo
            self._owner_conninfo, self.app_conninfo = logins(self.settings, self._server)
            if self.app_conninfo != before:
                make = _pool_maker(self.settings, self.app_conninfo, self._vector)
                await self._pools.renew(make)
        try:
            with unavailable():
                yield
        except DatabaseUnavailable:
            self._lost = True
            raise

    @property
    def owner_conninfo(self) -> str:
        """Opens a connection as the schema's owner, for programs that save or restore all of it."""
        return self._owner_conninfo

    async def role_rights(self) -> RoleRights:
        """Who we are in the database, and whether row-level security binds us."""
        async with self.transaction(self.settings.user_id) as connection:
            cursor = connection.cursor(row_factory=class_row(RoleRights))
            rights = await (await cursor.execute(_SQL["role_rights"])).fetchone()
        if rights is None:
            raise DatabaseUnavailable("The database does not know the role we serve as.")
        return rights


@contextmanager
def unavailable() -> Iterator[None]:
    """Turn the driver's connection errors into `DatabaseUnavailable`."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise DatabaseUnavailable(
            f"PostgreSQL did not answer as it should: {str(error).strip().rstrip(' :.?') or type(error).__name__}.",
            next_step="Run `sextant doctor`, and try again once the database is back.",
        ) from error


async def _check(connection: Connection) -> None:
    """Raise if the server has closed the connection; asks it only if it has said something."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        await AsyncConnectionPool.check_connection(connection)


def _pool_maker(
    settings: Settings, conninfo: str, vector: TypeInfo | None
) -> Callable[[], AsyncConnectionPool[Connection]]:
    if vector is None:
        raise DatabaseUnavailable(
            "The database has no pgvector.", next_step="Run `CREATE EXTENSION vector` in it."
        )

    async def configure(connection: Connection) -> None:
        register_vector_info(connection, vector)

    return lambda: AsyncConnectionPool(
        conninfo,
        kwargs={"autocommit": True},  # `transaction` begins one where it is wanted
        min_size=1,
        max_size=settings.database_pool,
        timeout=settings.database_timeout,
        reconnect_timeout=settings.database_timeout,
        check=_check,
        configure=configure,
        open=False,
    )
