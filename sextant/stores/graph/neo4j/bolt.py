"""The connection to a Neo4j server: one driver for each event loop, and errors of our own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
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
_INDEXES = ("relation_key", "merged_roots", "entity_words", "entity_names", "entity_texts")
_EXISTS = frozenset(
    f"Neo.ClientError.Schema.{name}"
    for name in ("IndexWithNameAlreadyExists", "IndexAlreadyExists")
)
# Of several projectors that begin at once one makes it; IF NOT EXISTS does not keep the others from trying.
_SAME_EXISTS = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"

# Wrong or missing logins, passwords to be changed, too many tries.
_SECURITY = "Neo.ClientError.Security."

# `CALL (row) { … }` needs 5.23; the rest is older.
_LEAST = (5, 23)
# From here on a vector index can be searched within a graph.
_PREFILTERED = (2026, 1)
_RETRY_SECONDS = 1.0
# With the driver's own delay of a second the last try may end after three, too late for a caller with a shorter
# limit to learn the reason.
_RETRY_DELAY = 0.2
_INDEX_SECONDS = 600
# Rows of a stream that come together, and seconds after which the server gives it up.
_PORTION = 1000
_STREAM_SECONDS = 600

Row = dict[str, Any]
Statement = tuple[LiteralString, dict[str, Any]]


class Bolt:
    """A Neo4j server as the settings name it; nothing is opened before it is first used.

    Every call raises `GraphStoreUnavailable` when the server does not answer, refuses, or fails.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._drivers: dict[asyncio.AbstractEventLoop, AsyncDriver] = {}
        self._version: tuple[int, ...] | None = None

    async def read(self, query: LiteralString, **values: object) -> list[Row]:
        """Return one statement in a transaction of its own; given up after `retrieval.lane_timeout`."""

        @unit_of_work(timeout=self._settings.retrieval.lane_timeout)
        async def work(transaction: AsyncManagedTransaction) -> list[Row]:
            return await (await transaction.run(query, values)).data()

        async with self._failing(), self._session(READ_ACCESS) as session:
            return await session.execute_read(work)

    async def read_marked(
        self, query: LiteralString, **values: object
    ) -> tuple[list[Row], frozenset[str]]:
        """As `read`, with a mark that is another one whenever anything was committed to the database meanwhile."""

        @unit_of_work(timeout=self._settings.retrieval.lane_timeout)
        async def work(transaction: AsyncManagedTransaction) -> list[Row]:
            return await (await transaction.run(query, values)).data()

        async with self._failing(), self._session(READ_ACCESS) as session:
            rows = await session.execute_read(work)
            return rows, (await session.last_bookmarks()).raw_values

    async def stream(self, query: LiteralString, **values: object) -> AsyncGenerator[list[Row]]:
        """Yield the rows of a long answer in portions, each within `neo4j_timeout` of the one before.

        To be closed by whoever may break off.
        """
        silence = self._settings.neo4j_timeout
        clock = asyncio.get_running_loop().time
        async with self._failing(), self._session(READ_ACCESS) as session:
            async with asyncio.timeout(silence):
                result = await session.run(Query(query, timeout=_STREAM_SECONDS), values)
            while True:
                async with asyncio.timeout_at(clock() + silence):
                    records = await result.fetch(_PORTION)
                if not records:
                    return
                yield [record.data() for record in records]

    async def fetch(self, query: LiteralString, **values: object) -> list[Row]:
        """Return the same without a limit: what a projector asks may wait for a server that has just started."""

        async def work(transaction: AsyncManagedTransaction) -> list[Row]:
            return await (await transaction.run(query, values)).data()

        async with self._failing(), self._session(READ_ACCESS) as session:
            return await session.execute_read(work)

    async def write(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """Return statements in one transaction; returns the rows of each."""

        async def work(transaction: AsyncManagedTransaction) -> list[list[Row]]:
            return [
                await (await transaction.run(query, values)).data() for query, values in statements
            ]

        async with self._failing(), self._session(WRITE_ACCESS) as session:
            return await session.execute_write(work)

    async def version(self) -> tuple[int, ...]:
        """Return the server's version, like (5, 26, 30)."""
        if self._version is None:
            [row] = await self.fetch(_SCHEMA["version"])
            numbers = str(row["version"]).split("-")[0].split(".")
            self._version = tuple(int(number) for number in numbers if number.isdigit())
        return self._version

    async def prefiltered(self) -> bool:
        """Return whether a vector index can be searched within a graph."""
        return await self.version() >= _PREFILTERED

    async def prepare(self) -> None:
        """Make constraints and indexes that are not there yet, and wait until they are."""
        await self.prepare_keys()
        vectors = "entity_vectors_by_graph" if await self.prefiltered() else "entity_vectors"
        await self._make_indexes(*_INDEXES, vectors)

    async def prepare_keys(self) -> None:
        """Only what a graph's first load needs: full text is indexed at half the cost afterwards.

        Raises:
            GraphStoreUnavailable: Neo4j is older than 5.26, or gone.
        """
        if (version := await self.version()) < _LEAST:
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
                await self._clear(name)
                await self.write([(_SCHEMA[name], {})])
        await self.write([(_SCHEMA["await_indexes"], {"seconds": _INDEX_SECONDS})])

    async def _clear(self, key: str) -> None:
        """Remove an index left without its constraint by a process that was killed while making it."""
        if await self.fetch(_SCHEMA["left_over"], name=f"sextant_{key}"):
            await self.write([(_SCHEMA[f"drop_{key}"], {})])

    async def close(self) -> None:
        """Close every driver, each on its own loop; those of loops that have ended are gone."""
        drivers, self._drivers = self._drivers, {}
        for loop, driver in drivers.items():
            if loop is asyncio.get_running_loop():
                await driver.close()
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(driver.close(), loop))

    @asynccontextmanager
    async def _session(self, access: str) -> AsyncIterator[AsyncSession]:
        driver = await self._here()
        async with driver.session(
            database=self._settings.neo4j_database, default_access_mode=access
        ) as session:
            yield session

    async def _here(self) -> AsyncDriver:
        loop = asyncio.get_running_loop()
        if loop not in self._drivers:
            self._drivers = {old: one for old, one in self._drivers.items() if not old.is_closed()}
            driver = await asyncio.to_thread(self._make)  # reads certificates
            if self._drivers.setdefault(loop, driver) is not driver:
                await driver.close()  # another task was first
        return self._drivers[loop]

    def _make(self) -> AsyncDriver:
        settings = self._settings
        password = settings.neo4j_password
        try:
            return AsyncGraphDatabase.driver(
                settings.neo4j_uri or "",
                auth=(settings.neo4j_username, password.get_secret_value()) if password else None,
                connection_timeout=settings.neo4j_timeout,
                connection_acquisition_timeout=settings.neo4j_timeout,
                max_transaction_retry_time=_RETRY_SECONDS,
                initial_retry_delay=_RETRY_DELAY,
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
    async def _failing(self) -> AsyncIterator[None]:
        """Turn the driver's errors into ours."""
        try:
            yield
        except (DriverError, Neo4jError, OSError) as error:
            self._version = None
            # A server's error written as a whole is its codes and states in braces.
            told = (isinstance(error, Neo4jError) and error.message) or str(error)
            said = told.strip().splitlines() or [type(error).__name__]
            reason = said[0][:300].rstrip(" :.")
            if str(getattr(error, "code", "")).startswith(_SECURITY):
                raise GraphStoreUnavailable(
                    f"Neo4j refuses the login: {reason}.",
                    next_step="Set NEO4J_USERNAME and NEO4J_PASSWORD to a login that this server knows.",
                    field="neo4j_password",
                ) from error
            raise GraphStoreUnavailable(
                f"Neo4j did not answer as it should: {reason}.",
                next_step="Run `sextant doctor`, and `sextant graph sync` once Neo4j is back.",
            ) from error
