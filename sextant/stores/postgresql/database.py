"""Open the database and its connection pools, in the role that row-level security binds."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString, TypeVar

from psycopg import InterfaceError, IsolationLevel, OperationalError, ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import BaseRowFactory, DictRow, class_row, dict_row
from psycopg.types import TypeInfo
from psycopg_pool import PoolClosed, PoolTimeout

from sextant.domain.errors import DOCTOR_ZH, DatabaseUnavailable, SettingsInvalid, Wording
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.embedded.server import SUPERUSER, EmbeddedServer
from sextant.stores.postgresql.migrations import APP_ROLE, SEARCH_PATH, migrate, migrations
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import (
    Connection,
    Pools,
    WatchedConnection,
    limit_statements,
    require_answer,
    server_answers,
)

T = TypeVar("T")

_SQL = load_queries("database")
# The application name of this process's connections, by which others are recognised.
_PROCESS = f"sextant {secrets.token_hex(8)}"
_SESSION = (
    f"-c search_path={SEARCH_PATH.replace(' ', '')} -c jit=off -c client_min_messages=warning"
)
# Sets the tenant of a statement that calls a function: FROM is evaluated before the select list.
_AS_TENANT: LiteralString = " from set_config('sextant.user_id', %s, true)"


# Limit of a statement while a database is opened; only migrations may take longer.
_OPENING_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class RoleRights:
    """The rights of the serving role, and versions, for `sextant doctor`."""

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


class Database:
    """An open database; create it with `await Database.open(settings)`, and close it.

    `app_conninfo` opens a connection as the serving role, for libraries with their own connections; `owner_conninfo`
    one as the schema's owner, for backup programs.
    """

    def __init__(
        self,
        settings: Settings,
        owner_conninfo: str,
        app_conninfo: str,
        pools: Pools,
        server: EmbeddedServer | None,
    ) -> None:
        self.settings = settings
        self.app_conninfo = app_conninfo
        self._pools = pools
        self.owner_conninfo = owner_conninfo
        self._server = server
        self._is_lost = False  # whether the last call found no server
        # When to look again whether chunks lack vectors; None: none does, and none will while this is open.
        self.next_vector_check: float | None = None

    @classmethod
    async def open(cls, settings: Settings) -> Database:
        """Connect, starting the embedded server if no URL is set; bring the schema up to date.

        Raises:
            DatabaseUnavailable: the server does not answer or cannot be used.
            SettingsInvalid: DATABASE_URL is invalid.
            ConflictError: the schema belongs to another version.
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
                await (await pools.current()).wait(settings.database_timeout)
        except BaseException:
            if server is not None:
                await asyncio.to_thread(server.stop)
            raise
        return cls(settings, owner, app, pools, server)

    async def close(self) -> None:
        """Close the connections; the last user of an embedded server stops it."""
        await self._pools.close()
        if self._server is not None:
            await asyncio.to_thread(self._server.stop)

    async def __aenter__(self) -> Database:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def read(
        self,
        user_id: str,
        query: LiteralString,
        values: Mapping[str, object],
    ) -> list[DictRow]:
        """Return the rows of one statement that sees only rows of `user_id`.

        It takes one round trip; a transaction of its own would take five.

        Args:
            user_id: the tenant, set for this statement only.
            query: a read-only query.
            values: its parameters.

        Raises:
            DatabaseUnavailable: the server does not answer within `retrieval.lane_timeout`.
        """
        seconds = self.settings.retrieval.lane_timeout
        reader = {"user_id": user_id, "timeout": f"{seconds * 1000:.0f}"}
        async with self._watch_server(), (await self._pools.current()).connection() as connection:
            cursor = connection.cursor(row_factory=dict_row, binary=True)
            try:
                # Without BEGIN, all statements of a pipeline are one transaction.
                async with connection.pipeline():
                    await connection.execute(_SQL["set_reader"], reader, prepare=True)
                    await cursor.execute(query, values)
            except BaseException:
                # The driver wrongly regards statements that the server skipped as prepared.
                await connection.close()
                raise
            return await cursor.fetchall()

    async def call(self, scope: Scope, function: LiteralString, *values: object) -> bytes | None:
        """Return the value of a function of the server, called for a tenant; cheaper than `read`.

        Args:
            scope: user and knowledge base, the function's first arguments.
            function: a call with a placeholder for each value.
            values: its other arguments.

        Raises:
            DatabaseUnavailable: the server does not answer within `retrieval.lane_timeout`.
        """
        seconds = self.settings.retrieval.lane_timeout
        arguments = (scope.user_id, scope.graph_id, *values, scope.user_id)
        try:
            async with (
                asyncio.timeout(seconds),
                self._watch_server(),
                (await self._pools.current()).connection() as connection,
            ):
                cursor = connection.cursor(binary=True)
                await cursor.execute(f"select {function}{_AS_TENANT}", arguments, prepare=True)
                [value] = await cursor.fetchone() or [None]
                return value
        except TimeoutError as error:
            raise DatabaseUnavailable(
                f"PostgreSQL did not answer within {seconds:g} s.",
                next_step="Try again; if it stays slow, run `sextant doctor`.",
            ) from error

    @asynccontextmanager
    async def transaction(
        self, user_id: str, *, snapshot: bool = False
    ) -> AsyncIterator[Connection]:
        """Open a transaction that sees and changes only rows of `user_id`; commit unless it raises.

        Args:
            user_id: the tenant, set for this transaction only.
            snapshot: all statements see the database as of the first one (REPEATABLE READ).

        Raises:
            DatabaseUnavailable: the server does not answer, or stopped meanwhile. The next call
                restarts an embedded server.
        """
        async with self._watch_server(), (await self._pools.current()).connection() as connection:
            if snapshot:
                await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
            try:
                async with connection.transaction():
                    await connection.execute(_SQL["set_tenant"], {"user_id": user_id})
                    yield connection
            finally:
                if snapshot and not connection.closed:
                    await connection.set_isolation_level(None)

    async def fetch(
        self,
        user_id: str,
        row_factory: BaseRowFactory[T],
        query: LiteralString,
        values: Mapping[str, object],
        *,
        binary: bool = False,
    ) -> list[T]:
        """Return the rows of one statement in a transaction of its own, each built by `row_factory`."""
        async with self.transaction(user_id) as connection:
            return await fetch_rows(connection, row_factory, query, values, binary=binary)

    @asynccontextmanager
    async def owner(self) -> AsyncIterator[Connection]:
        """Open a connection as the schema's owner, for maintenance; commit unless it raises."""
        async with (
            self._watch_server(),
            await WatchedConnection.connect(self.owner_conninfo) as connection,
        ):
            yield connection

    @asynccontextmanager
    async def _watch_server(self) -> AsyncIterator[None]:
        """Detect in the block that the server is lost; restart an embedded one before the next call."""
        if self._is_lost and self._server is not None:
            await asyncio.to_thread(self._server.revive)
            self._is_lost, before = False, self.app_conninfo
            self.owner_conninfo, self.app_conninfo = logins(self.settings, self._server)
            if self.app_conninfo != before:
                await self._pools.renew(self.app_conninfo)
        try:
            with unavailable():
                await require_answer(self.app_conninfo)
                try:
                    yield
                except PoolTimeout as error:
                    raise await self._without_connection() from error
        except DatabaseUnavailable:
            self._is_lost = True
            raise

    async def answers(self) -> bool:
        """Return whether the server lets a connection be opened."""
        return await server_answers(self.app_conninfo)

    async def _without_connection(self) -> DatabaseUnavailable:
        """Return why the pool had no connection: all are in use, or the server does not answer."""
        if await self.answers():
            return DatabaseUnavailable(
                f"All connections to PostgreSQL ({self.settings.database_pool}) are in use.",
                next_step="Send fewer requests at once, or increase SEXTANT_DATABASE_POOL.",
                translations={
                    "zh": Wording(
                        f"PostgreSQL 的全部连接（{self.settings.database_pool} 个）都在使用中。",
                        "请减少并发，或调高 SEXTANT_DATABASE_POOL。",
                    )
                },
            )
        return self.silence()

    @staticmethod
    def silence() -> DatabaseUnavailable:
        """Return the error of a server that does not answer."""
        return DatabaseUnavailable(
            "PostgreSQL does not answer: no connection can be opened.",
            next_step="Run `sextant doctor`, and try again once the database is back.",
            translations={"zh": Wording("PostgreSQL 无法连接。", DOCTOR_ZH)},
        )

    async def is_current(self) -> bool:
        """Return whether the schema is that of this version; raises as `read` does."""
        [row] = await self.read("", _SQL["schema_version"], {})
        return bool(row["version"] == migrations()[-1].version)

    async def role_rights(self) -> RoleRights:
        """Return the rights of the serving role.

        Raises:
            DatabaseUnavailable: the server does not answer, or the role was dropped.
        """
        async with self.transaction(self.settings.user_id) as connection:
            cursor = connection.cursor(row_factory=class_row(RoleRights))
            rights = await (await cursor.execute(_SQL["role_rights"])).fetchone()
        if rights is None:
            raise DatabaseUnavailable("The database does not know the serving role.")
        return rights


async def fetch_rows(
    connection: Connection,
    row_factory: BaseRowFactory[T],
    query: LiteralString,
    values: Mapping[str, object],
    *,
    binary: bool = False,
) -> list[T]:
    """Return the rows of one statement of a transaction, each built by `row_factory`."""
    cursor = connection.cursor(row_factory=row_factory, binary=binary)
    await cursor.execute(query, values)
    return await cursor.fetchall()


@contextmanager
def unavailable() -> Iterator[None]:
    """Translate the driver's connection errors to `DatabaseUnavailable`."""
    try:
        yield
    except PoolClosed as error:
        raise DatabaseUnavailable(
            "This database has been closed.",
            next_step="Open Sextant again, and use it before it is closed.",
        ) from error
    except (OperationalError, InterfaceError) as error:
        first, *_ = str(error).strip().splitlines() or [""]  # the others are the driver's hints
        reason = first.rstrip(" :.?") or type(error).__name__
        raise DatabaseUnavailable(
            f"PostgreSQL did not answer: {reason}.",
            next_step="Run `sextant doctor`, and try again once the database is back.",
            translations={"zh": Wording("PostgreSQL 没有正常回答。", DOCTOR_ZH)},
        ) from error


def logins(settings: Settings, server: EmbeddedServer | None) -> tuple[str, str]:
    """Return the connection strings of the owner and of the serving role."""
    if server is not None:
        owner, app = server.conninfo(SUPERUSER), server.conninfo(APP_ROLE)
    else:
        assert settings.database_url is not None  # noqa: S101 - the caller started no server
        url = settings.database_url.get_secret_value()
        try:
            owner = dict(conninfo_to_dict(url))
        except ProgrammingError:
            raise SettingsInvalid(
                "DATABASE_URL is not a PostgreSQL connection string.",
                next_step="Write it as postgresql://user:password@host:5432/database.",
                field="database_url",
            ) from None  # the driver's message quotes the URL, password and all
        app = {**owner, "options": f"{owner.get('options') or ''} -c role={APP_ROLE}"}
    return _conninfo(owner, settings), _conninfo(app, settings)


def _conninfo(login: dict[str, Any], settings: Settings) -> str:
    options = f"{login.get('options') or ''} {_SESSION}".strip()
    defaults = {
        "connect_timeout": max(2, round(settings.database_timeout)),
        "keepalives_idle": 30,
        # Dropped packets are noticed after this time, not after the kernel's 15 minutes.
        "tcp_user_timeout": round(settings.database_timeout * 1000),
    }
    return make_conninfo(**{**defaults, **login, "options": options, "application_name": _PROCESS})


@asynccontextmanager
async def exclusive_lock(
    database: Database, lock: LiteralString, key: Mapping[str, object]
) -> AsyncIterator[None]:
    """Hold an advisory lock during the block; others wait for it.

    The lock is held on its own connection, since the pool is for the work. It is polled outside of
    transactions: a waiting statement or an idle transaction may hold a snapshot for which `create index
    concurrently` waits in turn, and PostgreSQL does not detect that deadlock.

    Args:
        database: the database of the lock.
        lock: a query that tries to take the lock for the session and returns whether it did.
        key: the parameters of the query.

    Raises:
        DatabaseUnavailable: the server does not answer; the lock is lost with the connection.
    """
    async with database.owner() as owner:
        await owner.set_autocommit(True)
        while await (await owner.execute(lock, key)).fetchone() != (True,):  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.1)
        yield
