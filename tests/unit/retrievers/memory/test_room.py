"""A room keeps what is asked most, as far as its bytes go, and loses nothing in vain."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from sextant.domain.scope import Scope
from sextant.retrievers.memory.room import Fits, MemoryBoundedCache, together
from tests.clock import Clock


@dataclass(frozen=True)
class Value:
    """Something that takes room."""

    nbytes: int


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room(clock: Clock) -> MemoryBoundedCache:
    return MemoryBoundedCache(100, clock)


async def ask(room: MemoryBoundedCache, name: str, size: int, times: int = 3) -> None:
    """Ask for a value of this size as often, and wait until it has been made or not."""

    async def make(_: Fits) -> Value:
        return Value(size)

    for _ in range(times):
        room.ask(Value, Scope("user", name), make)
        await room.settled()


def kept(room: MemoryBoundedCache) -> set[str]:
    return {scope.graph_id for _, scope in room.memory}


async def test_what_is_asked_clearly_more_takes_the_place_of_what_is_asked_least(
    room: MemoryBoundedCache, clock: Clock
) -> None:
    await ask(room, "seldom", 50)
    await ask(room, "sometimes", 50, times=5)
    clock.now += 61
    await ask(room, "often", 50, times=9)
    assert kept(room) == {"sometimes", "often"}


async def test_for_what_has_no_room_even_so_nothing_goes(
    room: MemoryBoundedCache, clock: Clock
) -> None:
    await ask(room, "seldom", 50)
    await ask(room, "often", 50, times=40)
    for _ in range(3):
        await ask(room, "too large beside what is asked often", 60, times=30)
        await ask(room, "too large for any room", 101, times=30)
        clock.now += 61
        await ask(room, "often", 50, times=40)
    assert kept(room) == {"seldom", "often"}


async def test_what_keeps_changing_is_made_again_at_once_until_that_has_taken_a_second(
    room: MemoryBoundedCache, clock: Clock
) -> None:
    made = 0

    async def make(_: Fits) -> Value:
        nonlocal made
        made += 1
        clock.now += 0.4
        return Value(1)

    async def changes(times: int) -> None:
        for _ in range(times):
            value = room.ask(Value, Scope("user", "written to"), make)
            if value is not None:
                room.drop(Scope("user", "written to"), value)
            await room.settled()

    await changes(30)
    assert made == 3
    for _ in range(5):  # from then on a twentieth of the time
        clock.now += 8
        await changes(30)
    assert made == 8


async def test_what_cannot_be_made_is_told_of_and_tried_again(
    room: MemoryBoundedCache, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    failures = [ValueError("unreadable")]

    async def make(_: Fits) -> Value:
        if failures:
            raise failures.pop()
        return Value(1)

    for _ in range(6):
        assert room.ask(Value, Scope("user", "broken"), make) is None
        await room.settled()
    [told] = caplog.records
    assert told.levelno == logging.ERROR
    assert told.exc_info is not None
    assert "unreadable" in str(told.exc_info[1])

    clock.now += 61
    for _ in range(3):
        room.ask(Value, Scope("user", "broken"), make)
        await room.settled()
    assert kept(room) == {"broken"}


async def test_two_are_made_at_once_and_none_twice(room: MemoryBoundedCache) -> None:
    made, may_end = list[str](), asyncio.Event()

    def asked(name: str) -> None:
        async def make(_: Fits) -> Value:
            made.append(name)
            await may_end.wait()
            return Value(10)

        for _ in range(3):
            room.ask(Value, Scope("user", name), make)

    for name in ("first", "first", "second", "third"):
        asked(name)
    await asyncio.sleep(0)
    assert made == ["first", "second"]
    may_end.set()
    await room.settled()
    asked("third")
    await room.settled()
    assert kept(room) == {"first", "second", "third"}


def test_what_is_made_at_once_has_room_only_as_far_as_all_of_it_has() -> None:
    one, other = together(lambda size: size <= 100, 2)
    assert one(60)
    assert not other(50)
    assert one(50)
    assert other(50)
    assert not one(51)


@pytest.mark.usefixtures("switching_often")
def test_callers_of_two_loops_do_not_disturb_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A synchronous caller brings a thread and a loop of its own."""
    for name, value in {"_REST": 0.0, "_SHARE": 1e9, "_REMEMBERED": 200}.items():
        monkeypatch.setattr(f"sextant.retrievers.memory.room.{name}", value)
    room, faults = MemoryBoundedCache(100), list[object]()

    async def make(_: Fits) -> Value:
        return Value(1)

    async def asking(seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311 - nothing is kept secret by it
        asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
        for turn in range(5_000):
            scope = Scope("user", str(dice.randrange(300)))
            value = room.ask(Value, scope, make)
            if value is not None and dice.random() < 0.1:
                room.drop(scope, value)
            if turn % 10 == 0:
                await asyncio.sleep(0)
        await room.close()

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(asyncio.run, asking(seed)) for seed in range(2)]:
            done.result()
    gc.collect()  # an error that nobody waited for is told by then
    assert faults == []
