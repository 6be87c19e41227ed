"""Which knowledge bases are kept in memory, and for how long."""

from __future__ import annotations

import asyncio
from uuid import uuid4

from psutil import Process

from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.system import give_back
from sextant.retrievers.index.scope_cache import ScopeCache
from sextant.stores.postgresql.database import Database
from tests.clock import Clock
from tests.integration.retrievers.hot_world import Write, packed, seeded, texts_of, timed


async def test_what_is_searched_seldom_or_filtered_is_left_to_the_store(
    database: Database, write: Write, scope: Scope
) -> None:
    await write(scope, "a", ["糖尿病"])
    clock = Clock(1000.0)
    hots = timed(database, clock)
    for _ in range(5):
        assert hots.of(scope) is None
        await hots.memory.settle()
        clock.now += 120
    assert not hots.sizes


async def test_nothing_is_kept_when_the_memory_is_set_to_none(
    settings: Settings, write: Write, scope: Scope
) -> None:
    await write(scope, "a", ["糖尿病"])
    async with await Database.open(with_memory(settings, 0)) as database:
        hots = ScopeCache(database)
        for _ in range(10):
            assert hots.of(scope) is None
        await hots.memory.settle()
        assert not hots.sizes


def with_memory(settings: Settings, hot_memory: int) -> Settings:
    retrieval = settings.retrieval.model_copy(update={"hot_memory": hot_memory})
    return settings.model_copy(update={"retrieval": retrieval})


async def test_memory_stays_within_its_bound_and_goes_to_those_searched_clearly_more(
    settings: Settings, write: Write
) -> None:
    scopes = [Scope(f"user-{uuid4()}") for _ in range(3)]
    rng, clock = seeded(5), Clock(1000.0)
    for scope in scopes:
        await write(scope, "a", texts_of(rng, 40))
    bound = 140_000  # room for two of them
    async with await Database.open(with_memory(settings, bound)) as database:
        hots = timed(database, clock)
        first, second, third = scopes
        await packed(hots, first)
        await packed(hots, second)
        for _ in range(4):
            hots.of(third)
            await hots.memory.settle()
        assert set(hots.sizes) == {first, second}
        clock.now += 200
        await packed(hots, second)
        await packed(hots, third)
        assert set(hots.sizes) == {second, third}
        assert sum(hots.sizes.values()) <= bound
        clock.now += 900
        hots.memory.release_idle()
        assert not hots.sizes
        await hots.memory.close()


async def test_a_scope_that_is_larger_than_the_memory_stays_in_the_store(
    settings: Settings, write: Write, scope: Scope
) -> None:
    await write(scope, "a", texts_of(seeded(1), 60))
    async with await Database.open(with_memory(settings, 50_000)) as database:
        hots = ScopeCache(database)
        for _ in range(6):
            assert hots.of(scope) is None
            await hots.memory.settle()
        assert not hots.sizes


async def test_closing_while_a_scope_is_being_packed_leaves_nothing_behind(
    hots: ScopeCache, write: Write, scope: Scope
) -> None:
    await write(scope, "a", texts_of(seeded(2), 60))
    for _ in range(3):
        hots.of(scope)
    await asyncio.sleep(0)
    await hots.memory.close()
    assert not hots.sizes


async def test_memory_freed_by_packing_goes_back_to_the_system() -> None:
    """Blocks below what glibc maps by itself, each with a small thing after it that stays."""
    give_back()
    before = Process().memory_info().rss
    blocks, stay = list[bytearray](), list[bytearray]()
    for _ in range(600):
        blocks.append(bytearray(100_000))
        stay.append(bytearray(600))
    taken = Process().memory_info().rss - before
    blocks.clear()
    give_back()
    assert taken > 50_000_000
    assert Process().memory_info().rss - before < taken / 4
    assert stay
