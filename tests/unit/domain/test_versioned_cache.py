"""Values in memory: built once for all who wait, at a version, evicted by size, share and idle time."""

from __future__ import annotations

import asyncio
import random
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from sextant.domain.versioned_cache import VersionedCache
from tests.clock import Clock

Cache = VersionedCache[str, int, int]


async def never(_: object) -> int:
    raise AssertionError("nothing had to be built")


async def test_all_who_wait_share_one_build() -> None:
    cache: Cache = VersionedCache(10)
    made, may_end = list[object](), asyncio.Event()

    async def make(before: object) -> int:
        made.append(before)
        await may_end.wait()
        return 7

    asking = [asyncio.create_task(cache.get("a", 1, make)) for _ in range(5)]
    await asyncio.sleep(0)
    asking[0].cancel()
    may_end.set()
    assert await asyncio.gather(*asking[1:]) == [(7, True)] * 4
    assert made == [None]
    assert await cache.get("a", 1, never) == (7, True)


async def test_another_version_is_built_from_the_one_before() -> None:
    cache: Cache = VersionedCache(10)

    async def make(before: tuple[int, int] | None) -> int:
        return 10 * before[1] if before else 1

    assert await cache.get("a", 1, make) == (1, True)
    assert await cache.get("a", 2, make) == (10, True)
    assert cache.at("a", 1) is None
    assert cache.at("a", 2) == 10


async def test_whoever_is_impatient_gets_the_version_before() -> None:
    cache: Cache = VersionedCache(10)
    cache.put("a", 1, 5)
    may_end = asyncio.Event()

    async def make(_: object) -> int:
        await may_end.wait()
        return 6

    assert await cache.get("a", 2, make, patience=0) == (5, False)
    may_end.set()
    assert await cache.get("a", 2, never) == (6, True)


def test_what_was_asked_for_longest_ago_goes_when_bytes_do_not_suffice() -> None:
    cache: VersionedCache[str, None, bytes] = VersionedCache(10, len)
    for key in ("one", "two"):
        cache.put(key, None, b"12345")
    assert cache.at("one", None) is not None
    cache.put("three", None, b"1")
    assert cache.keys == ["one", "three"]
    cache.put("huge", None, bytes(99))
    assert cache.keys == ["huge"]


def test_nobody_takes_more_than_their_share() -> None:
    cache: VersionedCache[tuple[str, int], int, int] = VersionedCache(
        5, owner=lambda key: key[0], most_per_owner=2
    )
    for number in range(10):
        cache.put(("greedy", number), 1, number)
    cache.put(("modest", 0), 1, 0)
    assert cache.keys == [("greedy", 8), ("greedy", 9), ("modest", 0)]
    for number in range(6):
        cache.put((f"user {number}", 0), 1, 0)
    assert len(cache.keys) == 5


def test_what_is_idle_is_gone_before_anybody_looks_for_it() -> None:
    clock = Clock()
    cache: Cache = VersionedCache(10, idle=300, clock=clock)
    cache.put("a", 1, 1)
    clock.now = 299.0
    assert cache.at("a", 1) == 1
    clock.now = 600.0
    assert cache.peek("a") is None


@pytest.mark.parametrize(("most", "idle"), [(0, 300.0), (10, 0.0)])
def test_nothing_is_kept_where_nothing_may_be(most: int, idle: float) -> None:
    cache: Cache = VersionedCache(most, idle=idle)
    cache.put("a", 1, 1)
    assert cache.keys == []


async def test_a_build_that_fails_fails_for_those_who_wait_for_it_alone() -> None:
    kept: VersionedCache[str, int, int] = VersionedCache(1e9, lambda value: value)
    begun, failing = asyncio.Event(), asyncio.Event()

    async def fail(before: object) -> int:
        begun.set()
        await failing.wait()
        raise OSError("gone")

    async def make(before: object) -> int:
        return 2

    first = asyncio.create_task(kept.get("a", 1, fail))
    await begun.wait()
    second = asyncio.create_task(kept.get("a", 2, make))
    await asyncio.sleep(0)
    failing.set()
    with pytest.raises(OSError, match="gone"):
        await first
    assert await second == (2, True)


async def test_what_nobody_asks_for_goes() -> None:
    now = [0.0]
    kept: VersionedCache[str, int, set[str]] = VersionedCache(
        1e9, len, idle=10, clock=lambda: now[0]
    )

    async def make(before: object) -> set[str]:
        return set()

    await kept.get("old", 1, make)
    now[0] = 6
    await kept.get("new", 1, make)
    now[0] = 11
    kept.release_idle()
    assert kept.keys == ["new"]


async def test_and_nobody_has_to_see_to_that() -> None:
    """The loop's own timer sees to it, and then looks no more."""
    kept: VersionedCache[str, int, set[str]] = VersionedCache(1e9, len, idle=0.001)
    gone = asyncio.Event()

    async def make(before: object) -> set[str]:
        return set[str]()

    value, _ = await kept.get("a", 1, make)
    weakref.finalize(value, gone.set)
    del value
    async with asyncio.timeout(5):
        await gone.wait()
    assert kept.keys == []


@pytest.mark.usefixtures("switching_often")
def test_callers_of_two_loops_all_get_a_value() -> None:
    """A synchronous caller brings a thread and a loop of its own; one of both was told that it was cancelled."""
    kept: VersionedCache[int, int, float] = VersionedCache(200, lambda _: 1.0)

    async def asking(seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311 - nothing is kept secret by it

        async def make(_: object) -> float:
            return dice.random()

        for _ in range(20_000):
            _, current = await kept.get(dice.randrange(600), dice.randrange(3), make)
            assert current

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(asyncio.run, asking(seed)) for seed in range(2)]:
            done.result(timeout=60)


def test_what_has_lived_its_time_is_gone_however_often_it_is_asked_for() -> None:
    now = [0.0]
    cache: VersionedCache[str, int, str] = VersionedCache(10, lifetime=300, clock=lambda: now[0])
    cache.put("a", 1, "value")
    now[0] = 299
    assert cache.at("a", 1) == "value"
    now[0] = 300
    assert cache.at("a", 1) is None
