"""Reading the next portion while the last is being written."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from sextant.stores.graph.neo4j.projection import prefetch


async def test_every_portion_comes_in_order_with_what_was_read_of_it() -> None:
    async def read(number: int) -> str:
        return str(number)

    assert [one async for one in prefetch(read, range(3))] == [(0, "0"), (1, "1"), (2, "2")]
    assert [one async for one in prefetch(read, ())] == []


async def test_whoever_breaks_off_leaves_nothing_being_read() -> None:
    own, ended = asyncio.all_tasks(), list[int]()

    async def read(number: int) -> int:
        try:
            return number if number == 0 else await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(number)

    async with aclosing(prefetch(read, range(3))) as portions:
        async for _ in portions:
            await asyncio.sleep(0)
            break
    assert ended == [0, 1]
    assert asyncio.all_tasks() <= own
