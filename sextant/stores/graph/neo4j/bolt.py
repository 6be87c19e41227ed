"""Connect to a Neo4j server, with one driver for each event loop and errors of the domain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, LiteralString

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    AsyncSession,
    Query,
    unit_of_work,
)
from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError

from sextant.domain.errors import GraphStoreUnavailable, SettingsInvalid
from sextant.domain.settings import Settings
from sextant.stores.postgresql.queries import load_cypher

_SCHEMA = load_cypher("schema")
_KEYS = ("entity_key", "chunk_key", "community_key", "merged_key", "graph_key")
_INDEXES = ("relation_key", "merged_roots", "entity_names", "entity_texts")
_EXISTS = frozenset(
    f"Neo.ClientError.Schema.{name}"
    for name in ("IndexWithNameAlreadyExists", "IndexAlreadyExists")
)
# Concurrent projectors may create the same index; IF NOT EXISTS does not prevent the conflict.
_SAME_EXISTS = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"

# Codes of wrong or missing credentials, expired passwords, too many attempts.
_SECURITY = "Neo.ClientError.Security."

_MIN_VERSION = (5, 23)  # for `CALL (row) { … }`
# Vector indexes can be filtered by graph from this version on.
_PREFILTERED = (2026, 1)

Row = dict[str, Any]
Statement = tuple[LiteralString, dict[str, Any]]


class Bolt:
    """The connection to the Neo4j server of the settings, opened when it is first used.

    Every call raises `GraphStoreUnavailable` if the server does not answer, refuses, or fails.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._drivers: dict[asyncio.AbstractEventLoop, AsyncDriver] = {}
        self._version: tuple[int, ...] | None = None

    async def read(self, query: LiteralString, **values: object) -> list[Row]:
        """Return the rows of a query, run in its own transaction within `retrieval.lane_timeout`."""
        rows, _ = await self.read_with_bookmarks(query, **values)
        return rows

    async def read_with_bookmarks(
        self, query: LiteralString, **values: object
    ) -> tuple[list[Row], frozenset[str]]:
        """Return the rows of a query, and the database's bookmarks, which change with every commit."""
        return await self._read(query, values, self._settings.retrieval.lane_timeout)

    async def stream(self, query: LiteralString, **values: object) -> AsyncGenerator[list[Row]]:
        """Yield the rows of a long answer in portions, each within `neo4j_timeout` of the previous one.

        A caller that may stop early must close the generator.
        """
        timeout = self._settings.neo4j_timeout
        clock = asyncio.get_running_loop().time
        async with self._translate_errors(), self._session(READ_ACCESS) as session:
            async with asyncio.timeout(timeout):
                result = await session.run(Query(query, timeout=600), values)
            while True:
                async with asyncio.timeout_at(clock() + timeout):
                    records = await result.fetch(1000)
                if not records:
                    return
                yield [record.data() for record in records]

    async def fetch(self, query: LiteralString, **values: object) -> list[Row]:
        """Return the rows of a query without a deadline, since a projector may wait for a server that starts."""
        rows, _ = await self._read(query, values, None)
        return rows

    async def _read(
        self, query: LiteralString, values: Mapping[str, object], seconds: float | None
    ) -> tuple[list[Row], frozenset[str]]:
        @unit_of_work(timeout=seconds)
        async def work(transaction: AsyncManagedTransaction) -> list[Row]:
            return await (await transaction.run(query, dict(values))).data()

        async with self._translate_errors(), self._session(READ_ACCESS) as session:
            rows = await session.execute_read(work)
            return rows, (await session.last_bookmarks()).raw_values

    async def write(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """Run statements in one transaction, and return the rows of each."""

        async def work(transaction: AsyncManagedTransaction) -> list[list[Row]]:
            return [
                await (await transaction.run(query, values)).data() for query, values in statements
            ]

        async with self._translate_errors(), self._session(WRITE_ACCESS) as session:
            return await session.execute_write(work)

    async def ping(self) -> None:
        """Raise `GraphStoreUnavailable` if the server does not answer."""
        await self.fetch(_SCHEMA["version"])

    async def version(self) -> tuple[int, ...]:
        """Return the server's version, like (5, 26, 30)."""
        if self._version is None:
            [row] = await self.fetch(_SCHEMA["version"])
            numbers = str(row["version"]).split("-")[0].split(".")
            self._version = tuple(int(number) for number in numbers if number.isdigit())
        return self._version

    async def can_prefilter(self) -> bool:
        """Return whether the server can filter a vector index by graph."""
        return await self.version() >= _PREFILTERED

    async def prepare(self) -> None:
        """Create missing constraints and indexes, and wait until they are online; drop those of earlier versions."""
        await self.prepare_keys()
        await self.write([(_SCHEMA["drop_entity_words"], {})])
        vectors = ("entity_vectors",) if await self.can_prefilter() else ()
        await self._make_indexes(*_INDEXES, *vectors)

    async def prepare_keys(self) -> None:
        """Create the constraints that a first load needs; full text is cheaper to index afterwards.

        Raises:
            GraphStoreUnavailable: Neo4j is older than 5.26, or does not answer.
        """
        if (version := await self.version()) < _MIN_VERSION:
            raise GraphStoreUnavailable(
                f"Neo4j {'.'.join(map(str, version))} is too old.",
                next_step="Upgrade to 5.26 or newer.",
            )
        await self._make_indexes(*_KEYS)

    async def _make_indexes(self, *names: str) -> None:
        for name in names:
            try:
                await self.write([(_SCHEMA[name], {})])
            except GraphStoreUnavailable as error:
                code = getattr(error.__cause__, "code", "")
                if code == _SAME_EXISTS:
                    continue
                if name not in _KEYS or code not in _EXISTS:
                    raise
                # Left without its constraint by a process that was killed while creating it.
                if await self.fetch(_SCHEMA["left_over"], name=f"sextant_{name}"):
                    await self.write([(_SCHEMA[f"drop_{name}"], {})])
                await self.write([(_SCHEMA[name], {})])
        await self.write([(_SCHEMA["await_indexes"], {"seconds": 600})])

    async def close(self) -> None:
        """Close every driver on its own event loop; those of closed loops are dropped."""
        drivers, self._drivers = self._drivers, {}
        for loop, driver in drivers.items():
            if loop is asyncio.get_running_loop():
                await driver.close()
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(driver.close(), loop))

    @asynccontextmanager
    async def _session(self, access: str) -> AsyncIterator[AsyncSession]:
        loop = asyncio.get_running_loop()
        if loop not in self._drivers:
            self._drivers = {
                past_loop: past_driver
                for past_loop, past_driver in self._drivers.items()
                if not past_loop.is_closed()
            }
            driver = await asyncio.to_thread(self._make)  # it reads certificates
            if self._drivers.setdefault(loop, driver) is not driver:
                await driver.close()  # another task created one first
        driver = self._drivers[loop]
        async with driver.session(
            database=self._settings.neo4j_database, default_access_mode=access
        ) as session:
            yield session

    def _make(self) -> AsyncDriver:
        settings = self._settings
        password = settings.neo4j_password
        try:
            return AsyncGraphDatabase.driver(
                settings.neo4j_uri or "",
                auth=(settings.neo4j_username, password.get_secret_value()) if password else None,
                connection_timeout=settings.neo4j_timeout,
                connection_acquisition_timeout=settings.neo4j_timeout,
                max_transaction_retry_time=1.0,
                # With the driver's default of a second the last attempt may end after three seconds, too late for a
                # caller with a shorter deadline to learn the reason.
                initial_retry_delay=0.2,
                liveness_check_timeout=10,
                telemetry_disabled=True,
                notifications_min_severity="OFF",
                user_agent="sextant",
            )
        except (ConfigurationError, ValueError) as error:
            raise SettingsInvalid(
                f"NEO4J_URI cannot be used: {error}.",
                next_step="Write it as bolt://host:7687 or neo4j+s://host:7687.",
                field="neo4j_uri",
            ) from None

    @asynccontextmanager
    async def _translate_errors(self) -> AsyncIterator[None]:
        """Translate the driver's errors."""
        try:
            yield
        except (DriverError, Neo4jError, OSError) as error:
            self._version = None
            # The text of a server's error has codes in braces; its message has not.
            text = (isinstance(error, Neo4jError) and error.message) or str(error)
            lines = text.strip().splitlines() or [type(error).__name__]
            reason = lines[0][:300].rstrip(" :.")
            if str(getattr(error, "code", "")).startswith(_SECURITY):
                raise GraphStoreUnavailable(
                    f"Neo4j refused the login: {reason}.",
                    next_step="Set NEO4J_USERNAME and NEO4J_PASSWORD to a login of this server.",
                    field="neo4j_password",
                ) from error
            raise GraphStoreUnavailable(
                f"Neo4j failed: {reason}.",
                next_step="Run `sextant doctor`, and `sextant graph sync` once Neo4j is back.",
            ) from error
