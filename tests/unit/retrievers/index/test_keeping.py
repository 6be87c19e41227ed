"""Indexes that are kept in memory, asked from more than one event loop."""

from __future__ import annotations

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from sextant.retrievers.index.index_cache import VersionedCache


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
