"""A statement that takes long is looked into: it goes on while the server answers, within its limit."""

from __future__ import annotations

import asyncio

import pytest
from psycopg import OperationalError

from sextant.domain.errors import DatabaseUnavailable
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.watched import limit_statements, require_answer, server_answers

USER = "watched"


async def test_a_long_statement_goes_on_while_the_server_lets_others_in(database: Database) -> None:
    async with database.transaction(USER) as connection:
        connection.patience = 0.01
        cursor = await connection.execute("select 7 from pg_sleep(0.3)")
        assert await cursor.fetchone() == (7,)


async def test_a_statement_ends_at_its_limit_and_the_next_one_works(database: Database) -> None:
    with limit_statements(0.05), pytest.raises(DatabaseUnavailable, match=r"longer than 0\.05 s"):
        async with database.transaction(USER) as connection:
            await connection.execute("select pg_sleep(3600)")
    async with database.transaction(USER) as connection:
        assert await (await connection.execute("select 1")).fetchone() == (1,)


async def test_a_server_that_takes_connections_and_says_nothing_does_not_answer() -> None:
    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    async with silent:
        conninfo = f"host=127.0.0.1 port={port} user=u dbname=d"
        await require_answer(conninfo)  # nothing is known of it yet
        tries = [server_answers(conninfo) for _ in range(3)]
        assert await asyncio.gather(*tries) == [False, False, False]
        with pytest.raises(OperationalError, match="stopped answering"):
            await require_answer(conninfo)
    await server_answers(conninfo)  # the look of just now is over
    await require_answer(conninfo)  # refused, which is an answer: statements find out by themselves
