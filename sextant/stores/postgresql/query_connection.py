"""Read from a database by single statements, each in one round trip."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import LiteralString

from psycopg.rows import DictRow, dict_row

from sextant.domain.errors import DatabaseUnavailable
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.postgresql.pools import Pools
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("database")
# Sets the tenant of a statement that calls a function: FROM is evaluated before the select list.
_AS_TENANT: LiteralString = " from set_config('sextant.user_id', %s, true)"


class QueryConnection(ABC):
    """The read-only part of `Database`, for single statements.

    Args:
        settings: define the timeout of a statement.
        pools: connections of the serving role.
        app_conninfo: opens a further connection of that role.
    """

    def __init__(self, settings: Settings, pools: Pools, app_conninfo: str) -> None:
        self.settings = settings
        self.app_conninfo = app_conninfo
        self._pools = pools

    @abstractmethod
    def _watch_server(self) -> AbstractAsyncContextManager[None]:
        """Detect in the block that the server is lost; restart an embedded one before the next call."""

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
