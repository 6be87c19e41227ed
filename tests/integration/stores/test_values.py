"""A statement by the driver's own library says what a cursor would have said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest
import pytest_asyncio
from psycopg import DataError
from psycopg.errors import DataException, DivisionByZero
from psycopg.pq import TransactionStatus

from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.pools import Connection
from sextant.stores.postgresql.values import values_of
from sextant.stores.postgresql.watched import WatchedConnection

_LOCK = 0x5E47A2C  # any number nobody else uses


@pytest_asyncio.fixture
async def connection(database: Database) -> AsyncIterator[Connection]:
    async with await WatchedConnection.connect(database.app_conninfo, autocommit=True) as opened:
        yield opened


async def test_the_first_row_comes_as_the_server_sends_it(connection: Connection) -> None:
    row = await values_of(
        connection, "select %s::int, textsend(%s), null::bytea", [7, "糖尿病 'α' \\ \""]
    )
    assert row == [b"\0\0\0\7", "糖尿病 'α' \\ \"".encode(), None]
    assert await values_of(connection, "select 1 where false", []) == []


async def test_any_texts_arrive_in_a_list(connection: Connection) -> None:
    texts = ['"', "\\", "a,b", "{}", "", "null", "NULL", " ", "糖\n", "%s"]
    joined = "select textsend(array_to_string(%s::text[], '|', '?'))"
    assert await values_of(connection, joined, [texts]) == ["|".join(texts).encode()]
    assert await values_of(connection, "select cardinality(%s::text[])", [[]]) == [bytes(4)]
    assert await values_of(connection, joined, [None]) == [None]


async def test_octets_arrive_as_they_are(connection: Connection) -> None:
    for octets in (b"", b"\0\1\xff'\\x41"):
        assert await values_of(connection, "select %s::bytea", [octets]) == [octets]


async def test_vectors_arrive_bit_by_bit(connection: Connection) -> None:
    vector = np.random.default_rng(1).normal(size=384).astype(np.float32)
    [sent] = await values_of(connection, "select vector_send(%s::vector)", [vector])
    assert sent is not None
    assert np.frombuffer(sent[4:], ">f4").astype(np.float32).tolist() == vector.tolist()


async def test_a_text_is_never_cut_short(connection: Connection) -> None:
    """Another tenant's name may be what is left of it."""
    for value in ("user\0else", ["user\0else"]):
        with pytest.raises(DataError, match="NUL"):
            await values_of(connection, "select %s::text", [value])


async def test_after_an_error_the_connection_goes_on(connection: Connection) -> None:
    short = "select %s::vector <=> array_fill(1, array[8])::vector"
    with pytest.raises(DataException, match="different vector dimensions 3 and 8"):
        await values_of(connection, short, [np.ones(3, np.float32)])
    for number in (0, 0, 1):
        if number:
            assert await values_of(connection, "select 1 / %s::int", [number]) == [b"\0\0\0\1"]
            continue
        with pytest.raises(DivisionByZero):
            await values_of(connection, "select 1 / %s::int", [number])
    with pytest.raises(Exception, match="no_such_function"):
        await values_of(connection, "select no_such_function(%s)", [1])
    assert await values_of(connection, "select %s::int", [2]) == [b"\0\0\0\2"]


async def test_statements_that_the_driver_has_forgotten_are_prepared_again(
    connection: Connection,
) -> None:
    """It deallocates all of a connection's, ours too, when a transaction is rolled back."""
    for number in range(3):
        assert await values_of(connection, "select 1 + %s::int", [1]) == [b"\0\0\0\2"]
        async with connection.transaction(force_rollback=True):
            await connection.execute("select 1", prepare=True)
        await connection.execute("select %s::int", [number], prepare=True)


async def test_a_statement_given_up_while_it_is_prepared_is_in_nobodys_way(
    connection: Connection,
) -> None:
    asked = asyncio.create_task(values_of(connection, "select %s::int", [1]))
    await asyncio.sleep(0)
    assert connection.pgconn.transaction_status == TransactionStatus.ACTIVE
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert await values_of(connection, "select %s::int", [1]) == [b"\0\0\0\1"]


async def test_a_statement_given_up_is_cancelled_in_the_server(
    database: Database, connection: Connection
) -> None:
    wait = "select pg_advisory_xact_lock(%s)"
    waiting = (
        "select count(*) from pg_locks where locktype = 'advisory' and not granted and pid = %s"
    )
    async with database.owner() as other:
        await other.execute(wait, [_LOCK])
        asked = asyncio.create_task(values_of(connection, wait, [_LOCK]))
        begun = (0,)
        while begun != (1,):
            cursor = await other.execute(waiting, [connection.info.backend_pid])
            begun = await cursor.fetchone() or begun
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert connection.pgconn.transaction_status == TransactionStatus.IDLE
    assert await values_of(connection, wait, [_LOCK]) == [b""]
