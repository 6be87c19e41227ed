"""What was begun is done to its end, however often whoever waits for it is cancelled."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from sextant.graph.streaming import to_its_end


async def one_turn() -> None:
    """Let every task do what it can at once."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_is_waited_for_is_told() -> None:
    assert await to_its_end(asyncio.sleep(0, "done")) == "done"
    with pytest.raises(TimeoutError):
        await to_its_end(asyncio.wait_for(asyncio.Event().wait(), 0))


async def test_whoever_is_cancelled_meanwhile_is_so_at_the_end() -> None:
    go, done = asyncio.Event(), list[str]()

    async def work() -> None:
        await go.wait()
        done.append("done")

    waiting = asyncio.create_task(to_its_end(work()))
    for _ in range(2):
        await one_turn()
        waiting.cancel()
    await one_turn()
    assert not waiting.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert done == ["done"]


async def test_a_scope_that_is_cancelled_waits_too() -> None:
    done = list[str]()

    async def work() -> None:
        await one_turn()
        done.append("done")

    with anyio.CancelScope() as scope:
        scope.cancel()
        await to_its_end(work())
    assert done == ["done"]
