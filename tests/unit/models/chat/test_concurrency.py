"""How many calls an endpoint is given at a time follows from how it takes them."""

from __future__ import annotations

import asyncio

import pytest

from sextant.domain.answers import Usage
from sextant.models.chat.call_limits import AdaptiveLimit, note_overload

WORK = Usage(1, 0, 100)


async def answer(limit: AdaptiveLimit, slots: int, rounds: int = 1) -> None:
    """Let an endpoint with so many slots answer as many calls as it is given."""

    async def call(both: asyncio.Barrier) -> None:
        async with limit.slot() as slot:
            await both.wait()
            slot.note_answer(max(1.0, both.parties / slots), WORK)

    for _ in range(rounds):
        both = asyncio.Barrier(limit.size)
        await asyncio.gather(*(call(both) for _ in range(limit.size)))


async def test_an_endpoint_with_many_slots_gets_more_calls_up_to_the_ceiling() -> None:
    limit = AdaptiveLimit(8)
    await answer(limit, slots=100, rounds=20)
    assert limit.size == 8


@pytest.mark.parametrize("slots", [1, 4])
async def test_calls_that_would_wait_for_each_other_are_not_made(slots: int) -> None:
    limit = AdaptiveLimit(16)
    sizes = list[int]()
    for _ in range(60):
        await answer(limit, slots)
        sizes.append(limit.size)
    assert max(sizes) <= 1.5 * slots + 1
    assert sum(sizes[20:]) / 40 <= 1.5 * slots + 0.5
    assert sizes[-1] >= slots or slots == 1


async def test_a_refusal_halves_the_calls_once_for_all_that_were_under_way() -> None:
    limit = AdaptiveLimit(16, size=8)

    async def refused(both: asyncio.Barrier) -> None:
        async with limit.slot():
            await both.wait()
            note_overload()

    both = asyncio.Barrier(8)
    await asyncio.gather(*(refused(both) for _ in range(8)))
    assert limit.size == 4
    note_overload()  # of no call
    assert (limit.size, limit.busy) == (4, 0)


async def test_who_waits_and_leaves_keeps_no_slot() -> None:
    limit = AdaptiveLimit(1)
    entered = asyncio.Event()

    async def enter() -> None:
        async with limit.slot():
            entered.set()

    async with limit.slot():
        waiting = [asyncio.create_task(enter()) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
    await waiting[1]
    assert entered.is_set()
    assert limit.busy == 0
