"""A run keeps near its reader."""

from __future__ import annotations

import asyncio
from contextvars import copy_context

from sextant.nodes.context import Backpressure, wait_for_reader


def _begun(events: int, pace: Backpressure) -> tuple[asyncio.Task[None], list[int]]:
    """Return a run under this pace that writes so many events, and what it has written."""
    told, within = list[int](), copy_context()
    within.run(pace.set)

    async def run() -> None:
        for number in range(events):
            await wait_for_reader()
            told.append(number)

    return asyncio.create_task(run(), context=within), told


async def test_no_more_is_written_ahead_of_a_reader_than_the_pace_allows() -> None:
    pace = Backpressure(2)
    running, told = _begun(4, pace)
    await asyncio.sleep(0)
    assert told == [0, 1]
    pace.read()
    pace.read()
    await running
    assert told == [0, 1, 2, 3]


async def test_where_nobody_set_a_pace_nothing_waits() -> None:
    async with asyncio.timeout(5):
        for _ in range(100):
            await wait_for_reader()
