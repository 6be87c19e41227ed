"""One PostgreSQL and one pool of connections, always as the role that row-level security binds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from psycopg import InterfaceError, IsolationLevel, OperationalError
from psycopg.rows import class_row
from psycopg.types import TypeInfo
from psycopg_pool import PoolClosed, PoolTimeout

from sextant.domain.errors import DatabaseUnavailable
from sextant.domain.settings import Settings
from sextant.stores.embedded.server import EmbeddedServer
from sextant.stores.postgresql.logins import logins
from sextant.stores.postgresql.migrations import migrate
from sextant.stores.postgresql.pools import Connection, Pools
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.reading import QueryConnection
from sextant.stores.postgresql.watched import WatchedConnection, limit_statements, server_answers

_SQL = load_queries("database")
# That one look may take as a database is opened; only migrations may take longer.
_OPENING_SECONDS = 30.0
_DOCTOR_ZH = "请运行 `sextant doctor`，待数据库恢复后再试。"


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
        """Return whether row-level security binds the serving role on every tenant table."""
        return not (self.unrestricted or self.owns_tables or self.unprotected_tables)


class Database(QueryConnection):
    """An open database; make one with `await Database.open(settings)` and close it when done.

    `app_conninfo` opens a connection as the serving role, for a library that keeps its own.
    """

    def __init__(
        self,
        settings: Settings,
        owner_conninfo: str,
        app_conninfo: str,
        pools: Pools,
        server: EmbeddedServer | None,
    ) -> None:
        super().__init__(settings, pools, app_conninfo)
        self._owner_conninfo = owner_conninfo
        self._server = server
        self._lost = False  # whether the last call found no server

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
            with unavailable(), limit_statements(_OPENING_SECONDS):
                async with await WatchedConnection.connect(owner, autocommit=True) as connection:
                    await migrate(connection)
                    vector = await TypeInfo.fetch(connection, "vector")
                pools = Pools(settings, app, vector)
                await (await pools.here()).wait(settings.database_timeout)
        except BaseException:
            if server is not None:
                await asyncio.to_thread(server.stop)
            raise
        return cls(settings, owner, app, pools, server)

    async def close(self) -> None:
        """Give the connections back; the last user of an embedded server stops it."""
        for lines in self._lines.values():
            await asyncio.to_thread(lines.close)
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
        """Provide a transaction that sees and changes only rows of `user_id`; commits unless it raises.

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

    @asynccontextmanager
    async def owner(self) -> AsyncIterator[Connection]:
        """Provide a connection of the schema's owner, for maintenance only; commits unless it raises."""
        async with (
            self._answering(),
            await WatchedConnection.connect(self._owner_conninfo) as connection,
        ):
            yield connection

    @asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        if self._lost and self._server is not None:
            await asyncio.to_thread(self._server.revive)
            self._lost, before = False, self.app_conninfo
            self._owner_conninfo, self.app_conninfo = logins(self.settings, self._server)
            if self.app_conninfo != before:
                await self._pools.renew(self.app_conninfo)
        try:
            with unavailable():
                try:
                    yield
                except PoolTimeout as error:
                    raise await self._without_connection() from error
        except DatabaseUnavailable:
            self._lost = True
            raise

    async def _without_connection(self) -> DatabaseUnavailable:
        """Return why the pool had none: whoever waits for one that is made and whoever waits for his turn cannot tell."""
        if await server_answers(self.app_conninfo):
            return DatabaseUnavailable(
                f"All connections to PostgreSQL ({self.settings.database_pool}) are in use.",
                next_step="Ask for less at once, or set SEXTANT_DATABASE_POOL higher.",
                translations={
                    "zh": f"PostgreSQL 的全部连接（{self.settings.database_pool} 个）都在使用中。"
                    "请减少并发，或调高 SEXTANT_DATABASE_POOL。"
                },
            )
        return DatabaseUnavailable(
            "PostgreSQL does not answer: no connection to it can be made.",
            next_step="Run `sextant doctor`, and try again once the database is back.",
            translations={"zh": f"PostgreSQL 无法连接。{_DOCTOR_ZH}"},
        )

    @property
    def owner_conninfo(self) -> str:
        """Open a connection as the schema's owner, for programs that save or restore all of it."""
        return self._owner_conninfo

    async def role_rights(self) -> RoleRights:
        """Return who we are in the database, and whether row-level security binds us.

        Raises:
            DatabaseUnavailable: it is gone, or the role was dropped.
        """
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
    except PoolClosed as error:
        raise DatabaseUnavailable(
            "The database has been closed here.",
            next_step="Open Sextant again, and ask before it is closed.",
        ) from error
    except (OperationalError, InterfaceError) as error:
        raise DatabaseUnavailable(
            f"PostgreSQL did not answer as it should: {str(error).strip().rstrip(' :.?') or type(error).__name__}.",
            next_step="Run `sextant doctor`, and try again once the database is back.",
            translations={"zh": f"PostgreSQL 没有正常回答。{_DOCTOR_ZH}"},
        ) from error
