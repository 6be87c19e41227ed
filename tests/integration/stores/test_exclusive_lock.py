"""Work that one process at a time may do: who waits for it keeps nobody else from theirs."""

from __future__ import annotations

import asyncio

from sextant.stores.postgresql.database import Database, exclusive_lock

LOCK = "select pg_try_advisory_lock(20020, %(number)s)"
KEY = {"number": 7}


async def test_who_waits_has_its_turn_afterwards_and_holds_up_no_index_until_then(
    own_database: Database,
) -> None:
    """`create index concurrently` waits for every statement and transaction that began before it."""
    turns = list[str]()

    async def second() -> None:
        async with exclusive_lock(own_database, LOCK, KEY):
            turns.append("second")

    async with exclusive_lock(own_database, LOCK, KEY):
        waiting = asyncio.create_task(second())
        await asyncio.sleep(0.3)
        async with asyncio.timeout(10), own_database.owner() as owner:
            await owner.set_autocommit(True)
            await owner.execute("create index concurrently on sextant.entities (degree)")
        turns.append("first")
    await waiting

    assert turns == ["first", "second"]


async def test_the_lock_goes_with_whoever_is_cancelled(own_database: Database) -> None:
    held = asyncio.Event()

    async def forever() -> None:
        async with exclusive_lock(own_database, LOCK, KEY):
            held.set()
            await asyncio.Event().wait()

    first = asyncio.create_task(forever())
    await held.wait()
    first.cancel()
    async with asyncio.timeout(10), exclusive_lock(own_database, LOCK, KEY):
        pass
