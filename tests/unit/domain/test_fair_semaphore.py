"""Places: so many at a time, the next who has fewest, and a refusal for whom none comes free."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from sextant.domain.concurrency import FairSemaphore, release_slot
from sextant.domain.errors import Overloaded

_LONG, _NONE, _MANY = 3600.0, 0.0, 100


class Work:
    """Something done in a place, until the test lets it end."""

    def __init__(self, places: FairSemaphore, caller: str) -> None:
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.task = asyncio.create_task(self._do(places, caller))

    async def _do(self, places: FairSemaphore, caller: str) -> None:
        async with places.slot(caller):
            self.begun.set()
            await self.may_end.wait()

    async def end(self) -> None:
        """Let it end."""
        self.may_end.set()
        await self.task


async def began(places: FairSemaphore, *callers: str) -> list[Work]:
    """Work of each, in this order; what finds no place waits."""
    works = [Work(places, caller) for caller in callers]
    await turned()
    return works


async def turned() -> None:
    """Let everybody who can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_without_a_free_place_there_is_a_refusal_and_with_one_there_is_none() -> None:
    places = FairSemaphore(2, _NONE, _MANY)
    first, second = await began(places, "ann", "bob")
    with pytest.raises(Overloaded) as refused:
        async with places.slot("carol"):
            pass
    assert (refused.value.code, refused.value.status) == ("overloaded", 503)
    assert refused.value.retry_after == 1
    assert (places.taken, places.waiting) == (2, 0)
    await first.end()
    async with places.slot("carol"):
        assert places.taken == 2
    await second.end()
    assert places.taken == 0


async def test_those_who_wait_go_on_in_the_order_of_their_coming() -> None:
    places = FairSemaphore(1, _LONG, _MANY)
    first, second, third = await began(places, "ann", "ann", "ann")
    assert (places.taken, places.waiting) == (1, 2)
    await first.end()
    await second.begun.wait()
    assert not third.begun.is_set()
    await second.end()
    await third.end()


async def test_who_has_fewest_places_is_next_however_many_of_another_came_before() -> None:
    places = FairSemaphore(2, _LONG, _MANY)
    many = await began(places, *["ann"] * 10)
    [one] = await began(places, "bob")
    await many[0].end()
    await one.begun.wait()
    assert not many[2].begun.is_set()
    await one.end()
    for work in many[1:]:
        await work.end()
    assert (places.taken, places.waiting) == (0, 0)


async def test_where_too_many_wait_the_last_is_refused_at_once() -> None:
    places = FairSemaphore(1, _LONG, 2)
    first, second, third = await began(places, "ann", "ann", "ann")
    for without_a_place in ("bob", None):
        places.require_capacity(without_a_place)
    with pytest.raises(Overloaded):
        places.require_capacity("ann")
    [late] = await began(places, "ann")
    with pytest.raises(Overloaded):
        await late.task
    [bob] = await began(places, "bob")  # instead of the last of ann
    with pytest.raises(Overloaded):
        await third.task
    for one in (first, second, bob):
        await one.end()
    assert (places.taken, places.waiting) == (0, 0)


async def test_who_gives_up_waiting_takes_no_place() -> None:
    places = FairSemaphore(1, _LONG, _MANY)
    first, leaving, patient = await began(places, "ann", "bob", "carol")
    leaving.task.cancel()
    await asyncio.wait({leaving.task})
    assert places.waiting == 1
    await first.end()
    await patient.end()
    assert not leaving.begun.is_set()
    assert (places.taken, places.waiting) == (0, 0)


async def test_a_place_that_comes_as_its_waiter_gives_up_is_the_next_ones() -> None:
    places = FairSemaphore(1, _LONG, _MANY)
    first, leaving, patient = await began(places, "ann", "bob", "carol")
    first.task.cancel()
    leaving.task.cancel()
    await patient.begun.wait()
    await patient.end()
    assert places.taken == 0


async def test_what_ends_the_wait_is_raised() -> None:
    class Left(Exception):
        pass

    async def leaves(wait: Coroutine[Any, Any, None]) -> None:
        wait.close()
        raise Left

    places = FairSemaphore(1, _LONG, _MANY)
    [first] = await began(places, "ann")
    with pytest.raises(Left):
        async with places.slot("bob", leaves):
            pass
    assert places.waiting == 0
    await first.end()


async def test_a_place_is_somebody_elses_while_its_holder_is_away() -> None:
    places, back = FairSemaphore(1, _LONG, _MANY), asyncio.Event()
    came: list[str] = []

    async def asks_a_model() -> None:
        async with places.slot("ann"):
            async with release_slot():
                await back.wait()
            came.append("ann")

    asking = asyncio.create_task(asks_a_model())
    await turned()
    assert places.taken == 0
    meanwhile, later = await began(places, "bob", "carol")
    assert meanwhile.begun.is_set()
    back.set()
    await turned()
    assert (came, places.waiting) == ([], 2)
    await meanwhile.end()
    await asking  # before those who had no place yet
    assert came == ["ann"]
    await later.end()
    assert (places.taken, places.waiting) == (0, 0)


async def test_who_leaves_while_away_has_nothing_to_come_back_to() -> None:
    places, back = FairSemaphore(1, _LONG, _MANY), asyncio.Event()

    async def model() -> None:
        async with release_slot():
            await back.wait()

    async with places.slot("ann"):
        asking = asyncio.create_task(model())
        await turned()
    back.set()
    await asking
    assert (places.taken, places.waiting) == (0, 0)


@pytest.mark.parametrize("gives_up", [False, True])
async def test_all_who_come_back_to_one_place_have_it_again(*, gives_up: bool) -> None:
    places = FairSemaphore(1, _LONG, _MANY)
    answers = [asyncio.Event(), asyncio.Event()]
    tasks: list[asyncio.Task[None]] = []

    async def asks(answer: asyncio.Event) -> None:
        async with release_slot():
            await answer.wait()

    async def asks_twice() -> None:
        async with places.slot("ann"):
            tasks.append(asyncio.create_task(asks(answers[0])))
            await turned()
            [other] = await began(places, "bob")
            answers[0].set()
            await turned()  # the first is back and waits; meanwhile the second goes
            tasks.append(asyncio.create_task(asks(answers[1])))
            await turned()
            answers[1].set()
            await turned()
            assert not any(task.done() for task in tasks)
            if gives_up:
                tasks[1].cancel()
                await turned()
            await other.end()
            await asyncio.wait(tasks)

    await asks_twice()
    assert [task.cancelled() for task in tasks] == [False, gives_up]
    assert (places.taken, places.waiting) == (0, 0)


async def test_without_a_place_nobody_is_away() -> None:
    async with release_slot():
        pass
