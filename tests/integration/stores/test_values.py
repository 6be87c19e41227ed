"""A function of the server gets its values as they are, and its connection serves the next call."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from psycopg import DataError
from psycopg.errors import DataException, DivisionByZero

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database

_LOCK = 0x5E47A2C  # any number nobody else uses
# The first two arguments are user and knowledge base.
_OWN = "nullif(concat(%s::text, %s::text), concat(%s::text, %s::text)) is not null"


async def sent(database: Database, scope: Scope, value: str, *values: object) -> bytes | None:
    """Return the value of an expression, which the user and the knowledge base go before."""
    return await database.call(scope, f"case when {_OWN} then null else {value} end", *values)


async def test_texts_and_lists_of_texts_arrive_as_they_are(
    database: Database, scope: Scope
) -> None:
    own = scope.user_id, scope.graph_id
    text = "糖尿病 'α' \\ \""
    assert await sent(database, scope, "textsend(%s)", *own, text) == text.encode()
    texts = ['"', "\\", "a,b", "{}", "", "null", "NULL", " ", "糖\n", "%s"]
    joined = "textsend(array_to_string(%s::text[], '|', '?'))"
    assert await sent(database, scope, joined, *own, texts) == "|".join(texts).encode()
    assert await sent(database, scope, joined, *own, []) == b""
    assert await sent(database, scope, joined, *own, None) is None


async def test_octets_and_vectors_arrive_bit_by_bit(database: Database, scope: Scope) -> None:
    own = scope.user_id, scope.graph_id
    for octets in (b"", b"\0\1\xff'\\x41"):
        assert await sent(database, scope, "%s::bytea", *own, octets) == octets
    vector = np.random.default_rng(1).normal(size=384).astype(np.float32)
    found = await sent(database, scope, "vector_send(%s::vector)", *own, vector)
    assert found is not None
    assert np.frombuffer(found[4:], ">f4").astype(np.float32).tolist() == vector.tolist()


async def test_a_text_is_never_cut_short(database: Database, scope: Scope) -> None:
    """Another tenant's name may be what is left of it."""
    for value in ("user\0else", ["user\0else"]):
        with pytest.raises(DataError, match="NUL"):
            await database.call(scope, "nullif(%s, %s)::bytea, %s", value)


async def test_after_an_error_calls_go_on(database: Database, scope: Scope) -> None:
    own = scope.user_id, scope.graph_id
    short = "float8send(%s::vector <=> array_fill(1, array[8])::vector)"
    with pytest.raises(DataException, match="different vector dimensions 3 and 8"):
        await sent(database, scope, short, *own, np.ones(3, np.float32))
    divided = "int4send(1 / %s::int)"
    for _ in range(2 * database.settings.database_pool):
        with pytest.raises(DivisionByZero):
            await sent(database, scope, divided, *own, 0)
    async with database.transaction(scope.user_id) as connection:
        await connection.execute("select 1", prepare=True)
        await connection.execute("savepoint one")
        await connection.execute("rollback to one")
    assert await sent(database, scope, divided, *own, 1) == b"\0\0\0\1"


async def test_a_call_given_up_is_cancelled_in_the_server(database: Database, scope: Scope) -> None:
    own = scope.user_id, scope.graph_id
    wait = "textsend(pg_advisory_xact_lock(%s)::text)"
    waiting = (
        "select exists (select from pg_locks where locktype = 'advisory' and not granted"
        f" and objid = {_LOCK})"
    )
    async with database.owner() as other:
        await other.execute("select pg_advisory_xact_lock(%s)", [_LOCK])

        async def is_waiting() -> bool:
            row = await (await other.execute(waiting)).fetchone()
            return row == (True,)

        asked = asyncio.create_task(sent(database, scope, wait, *own, _LOCK))
        while not await is_waiting():
            assert not asked.done()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        while await is_waiting():
            pass
    assert await sent(database, scope, wait, *own, _LOCK) == b""
