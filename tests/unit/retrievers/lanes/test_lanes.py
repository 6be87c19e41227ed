"""Running lanes at once: failures stay in their lane, late ones are left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from domain.errors import DatabaseUnavailable, EmbeddingModelChanged
from domain.retrieval import ItemKind, RetrievedItem
from domain.scope import Scope
from retrievers.lanes.lane import Lane, LaneQuery, MemoryLane, run_lanes

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
    """Seed 000, "并行执行检索": two lanes that wait for each other both finish."""
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


@dataclass(frozen=True)
class RememberingLane(MemoryLane):
    name: str
    known: list[RetrievedItem] | Exception | None

    def at_once(self, query: LaneQuery) -> list[RetrievedItem] | None:
        if isinstance(self.known, Exception):
            raise self.known
        return self.known

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        return [] if self.known is None else await fails()


async def test_lanes_in_memory_are_not_waited_for() -> None:
    lanes = [RememberingLane("a", [HIT]), RememberingLane("b", [])]
    search = run_lanes(lanes, QUERY, NEVER)
    with pytest.raises(StopIteration) as done:
        search.send(None)
    assert [(run.name, run.hits, run.error) for run in done.value.value] == [
        ("a", [HIT], None),
        ("b", [], None),
    ]


async def test_lanes_after_one_that_must_be_waited_for_run_beside_it() -> None:
    lanes: list[Lane] = [
        RememberingLane("a", None),
        ScriptedLane("b", finds),
        ScriptedLane("c", finds),
    ]
    runs = await run_lanes(lanes, QUERY, NEVER)
    assert [(run.name, run.hits) for run in runs] == [("a", []), ("b", [HIT]), ("c", [HIT])]


async def test_a_lane_that_fails_in_memory_is_waited_for_and_says_why() -> None:
    [run] = await run_lanes([RememberingLane("a", ValueError("broken"))], QUERY, NEVER)
    assert isinstance(run.error, DatabaseUnavailable)
