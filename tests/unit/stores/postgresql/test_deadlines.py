"""Waiting for work no longer than a deadline."""

from __future__ import annotations

import asyncio

import pytest

from sextant.stores.postgresql.watched import detach_on_cancel, gather_until, with_deadline


async def test_a_deadline_does_not_wait_for_the_cancelled_work() -> None:
    released = asyncio.Event()

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await released.wait()

    with pytest.raises(TimeoutError):
        await with_deadline(0.01, stubborn())
    released.set()


async def test_whoever_gives_up_what_is_awaited_apart_does_not_wait_for_its_end() -> None:
    released, cancelled = asyncio.Event(), asyncio.Event()

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
            await released.wait()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await detach_on_cancel(stubborn())
    await cancelled.wait()
    assert not released.is_set()
    released.set()


async def test_what_is_awaited_apart_gives_what_it_gives_and_raises_what_it_raises() -> None:
    async def answers() -> int:
        return 1

    async def fails() -> None:
        raise ValueError("at fault")

    assert await detach_on_cancel(answers()) == 1
    with pytest.raises(ValueError, match="at fault"):
        await detach_on_cancel(fails())


async def test_what_is_done_in_time_is_kept_and_what_is_not_is_left() -> None:
    async def answers() -> int:
        return 1

    quick, slow = await gather_until(0.01, [answers(), asyncio.Event().wait()])
    assert quick.result() == 1
    assert not slow.done()
    await asyncio.wait({slow})
    assert slow.cancelled()


async def test_a_failure_ends_the_waiting() -> None:
    async def fails() -> None:
        raise ValueError("at fault")

    failed, waiting = await gather_until(60, [fails(), asyncio.Event().wait()])
    assert isinstance(failed.exception(), ValueError)
    await asyncio.wait({waiting})
    assert waiting.cancelled()
