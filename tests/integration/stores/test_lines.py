"""A statement asked over a line of its own is answered, or another way is gone: never another's answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.lines import DedicatedConnections
from sextant.stores.postgresql.pools import Connection

_LOCK = 0x5E47A2D  # any number nobody else uses
_WAITING = (
    "select count(*) from pg_locks where locktype = 'advisory' and not granted and objid = %s"
)


@pytest.fixture
def echo(database: Database) -> Iterator[DedicatedConnections]:
    lines = DedicatedConnections(lambda: database.app_conninfo, "textsend(%s::text)", 1)
    yield lines
    lines.close()


@pytest.fixture
def locks(database: Database) -> Iterator[DedicatedConnections]:
    lines = DedicatedConnections(lambda: database.app_conninfo, "pg_advisory_xact_lock(%s)", 1)
    yield lines
    lines.close()


def same(told: bytes | None) -> bytes | None:
    return told


async def answered(lines: DedicatedConnections, value: object) -> bytes | None:
    """Return what is told over a line once there is one."""
    async with asyncio.timeout(20):
        while (wanted := lines.ask([value], same)) is None:
            await asyncio.to_thread(time.sleep, 0.01)
        return await wanted


async def test_the_answer_is_read_as_soon_as_it_comes(echo: DedicatedConnections) -> None:
    assert echo.ask(["first"], same) is None  # a line is opened meanwhile
    for text in ("糖尿病", "rust", "x" * 100_000):
        assert await answered(echo, text) == text.encode()


async def test_while_a_line_is_busy_another_way_must_be_gone(echo: DedicatedConnections) -> None:
    await answered(echo, "")
    first = echo.ask(["first"], same)
    assert first is not None
    assert echo.ask(["second"], same) is None
    assert await first == b"first"
    assert await answered(echo, "third") == b"third"


async def test_what_cannot_be_read_is_told_to_whoever_waits(echo: DedicatedConnections) -> None:
    def broken(_: bytes | None) -> bytes:
        raise ValueError("broken")

    await answered(echo, "")
    wanted = echo.ask(["text"], broken)
    assert wanted is not None
    with pytest.raises(ValueError, match="broken"):
        await wanted
    assert await answered(echo, "next") == b"next"


async def test_what_the_server_refuses_is_asked_in_another_way(database: Database) -> None:
    lines = DedicatedConnections(lambda: database.app_conninfo, "int4send(1 / %s::int)", 1)
    assert await answered(lines, 1) == b"\0\0\0\1"
    assert await answered(lines, 0) is None
    assert lines.ask(["a\0b"], same) is None
    assert await answered(lines, 1) == b"\0\0\0\1"
    lines.close()


async def test_a_statement_given_up_is_cancelled_in_the_server(
    database: Database, locks: DedicatedConnections
) -> None:
    async with waiting(database, locks) as (owner, wanted):
        wanted.cancel()
        await until_waiting(owner, 0)
    assert await answered(locks, _LOCK) == b""


@asynccontextmanager
async def waiting(
    database: Database, locks: DedicatedConnections
) -> AsyncIterator[tuple[Connection, asyncio.Future[bytes | None]]]:
    """Provide a statement that waits in the server for a lock of this connection."""
    await answered(locks, _LOCK)
    async with database.owner() as owner:
        await owner.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
        wanted = locks.ask([_LOCK], same)
        assert wanted is not None
        await until_waiting(owner, 1)
        yield owner, wanted


async def until_waiting(owner: Connection, wanted: int) -> None:
    async with asyncio.timeout(20):
        while await (await owner.execute(_WAITING, [_LOCK])).fetchone() != (wanted,):
            pass


async def test_a_line_that_the_server_has_cut_is_opened_anew(
    database: Database, locks: DedicatedConnections
) -> None:
    async with waiting(database, locks) as (owner, wanted):
        await owner.execute(
            "select pg_terminate_backend(pid, 5000) from pg_locks"
            " where locktype = 'advisory' and not granted and objid = %s",
            [_LOCK],
        )
        assert await wanted is None
    assert await answered(locks, _LOCK) == b""


async def test_closed_lines_tell_no_more_than_they_were_asked(echo: DedicatedConnections) -> None:
    await answered(echo, "")
    wanted = echo.ask(["last"], same)
    echo.close()
    assert wanted is not None
    assert await wanted == b"last"
    assert echo.ask(["more"], same) is None


async def test_without_a_server_no_line_is_opened(database: Database) -> None:
    lines = DedicatedConnections(
        lambda: database.app_conninfo + " dbname=nowhere", "textsend(%s)", 1
    )
    for _ in range(3):
        assert lines.ask(["text"], same) is None
        await asyncio.sleep(0.05)
    lines.close()
