"""Running lanes at once: failures stay in their lane, late ones are left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from sextant.domain.errors import DatabaseUnavailable, EmbeddingModelChanged
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.domain.scope import Scope
from sextant.retrievers.lanes.lane import LaneQuery, run_lanes

QUERY = LaneQuery(Scope("ann", "hr"), "付款节点", 5)
HIT = RetrievedItem(ItemKind.CHUNK, "c1", "text", 0.5)
NEVER = 3600.0


@dataclass(frozen=True)
class ScriptedLane:
    name: str
    act: Callable[[], Awaitable[list[RetrievedItem]]]

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        return await self.act()


async def finds() -> list[RetrievedItem]:
    return [HIT]


async def fails() -> list[RetrievedItem]:
    raise DatabaseUnavailable("PostgreSQL does not answer.")


async def test_lanes_run_at_the_same_time() -> None:
    meeting = asyncio.Barrier(2)

    async def meets() -> list[RetrievedItem]:
        await meeting.wait()
        return [HIT]

    runs = await run_lanes([ScriptedLane("a", meets), ScriptedLane("b", meets)], QUERY, NEVER)
    assert [(run.name, run.hits, run.error) for run in runs] == [
        ("a", [HIT], None),
        ("b", [HIT], None),
    ]
    assert all(run.milliseconds > 0 for run in runs)


async def test_a_failing_lane_leaves_the_others_alone_and_says_why() -> None:
    runs = await run_lanes([ScriptedLane("a", fails), ScriptedLane("b", finds)], QUERY, NEVER)
    assert isinstance(runs[0].error, DatabaseUnavailable)
    assert runs[0].hits == []
    assert runs[1].hits == [HIT]


async def test_a_late_lane_is_given_up_even_if_it_ignores_its_cancellation() -> None:
    let_go = asyncio.Event()

    async def stubborn() -> list[RetrievedItem]:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        return [HIT]

    runs = await run_lanes([ScriptedLane("slow", stubborn), ScriptedLane("b", finds)], QUERY, 0.01)
    let_go.set()
    assert isinstance(runs[0].error, TimeoutError)
    assert runs[0].hits == []
    assert runs[1].hits == [HIT]


async def test_an_error_that_the_caller_must_mend_is_not_degraded_away() -> None:
    async def changed() -> list[RetrievedItem]:
        raise EmbeddingModelChanged("The stored vectors come from another model.")

    with pytest.raises(EmbeddingModelChanged):
        await run_lanes([ScriptedLane("a", changed), ScriptedLane("b", finds)], QUERY, NEVER)


async def test_cancelling_the_search_cancels_its_lanes() -> None:
    entered, cancelled = asyncio.Event(), asyncio.Event()

    async def waits() -> list[RetrievedItem]:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return []

    search = asyncio.create_task(run_lanes([ScriptedLane("a", waits)], QUERY, NEVER))
    await entered.wait()
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    await asyncio.wait_for(cancelled.wait(), 5)


async def test_no_lane_finds_nothing() -> None:
    assert await run_lanes([], QUERY, NEVER) == []
