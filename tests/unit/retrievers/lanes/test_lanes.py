"""Running lanes at once: failures stay in their lane, late ones are left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from sextant.domain.errors import DatabaseUnavailable, EmbeddingModelChanged
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.domain.scope import Scope
from sextant.retrievers.lanes.lane import Lane, LaneQuery, StoredLane, T, Then, run_lanes

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
class RememberingLane(StoredLane):
    name: str
    known: list[RetrievedItem] | Exception | None

    def at_once(self, query: LaneQuery) -> list[RetrievedItem] | None:
        if isinstance(self.known, Exception):
            raise self.known
        return self.known

    def asked(self, query: LaneQuery, then: Then[T]) -> None:
        return None

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


@dataclass(frozen=True)
class AskedLane(StoredLane):
    """A lane whose answer comes over a line: `None` where it must be searched for in another way."""

    name: str
    answer: list[RetrievedItem] | Exception | None
    searched: Callable[[], Awaitable[list[RetrievedItem]]] = fails

    def at_once(self, query: LaneQuery) -> None:
        return None

    def asked(self, query: LaneQuery, then: Then[T]) -> asyncio.Future[T | None]:
        wanted: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        if isinstance(self.answer, Exception):
            wanted.set_exception(self.answer)
        else:
            wanted.set_result(None if self.answer is None else then(self.answer))
        return wanted

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        return await self.searched()


async def test_what_was_asked_over_a_line_is_not_searched_for() -> None:
    lanes: list[Lane] = [AskedLane("a", [HIT]), ScriptedLane("b", finds), AskedLane("c", [])]
    runs = await run_lanes(lanes, QUERY, NEVER)
    assert [(run.name, run.hits, run.error) for run in runs] == [
        ("a", [HIT], None),
        ("b", [HIT], None),
        ("c", [], None),
    ]
    assert all(run.milliseconds > 0 for run in runs)


async def test_a_lane_whose_line_tells_nothing_is_searched_and_says_why_it_fails() -> None:
    lanes = [AskedLane("a", None, finds), AskedLane("b", [HIT]), AskedLane("c", None, fails)]
    one, other, failed = await run_lanes(lanes, QUERY, NEVER)
    assert (one.name, one.hits, one.error) == ("a", [HIT], None)
    assert (other.name, other.hits, other.error) == ("b", [HIT], None)
    assert isinstance(failed.error, DatabaseUnavailable)


async def test_what_comes_over_a_line_and_cannot_be_read_is_no_silent_loss() -> None:
    with pytest.raises(ValueError, match="broken"):
        await run_lanes([AskedLane("a", ValueError("broken"))], QUERY, NEVER)


@dataclass(frozen=True)
class SilentLane(AskedLane):
    """A lane whose line never answers."""

    line: list[asyncio.Future[Any]] = field(default_factory=list[asyncio.Future[Any]])

    def asked(self, query: LaneQuery, then: Then[T]) -> asyncio.Future[T | None]:
        wanted: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        self.line.append(wanted)
        return wanted


async def test_a_line_that_is_late_is_given_up() -> None:
    lane = SilentLane("a", None)
    [run] = await run_lanes([lane], QUERY, 0.01)
    assert isinstance(run.error, TimeoutError)
    assert lane.line[0].cancelled()


async def test_cancelling_the_search_gives_up_its_lines() -> None:
    lane = SilentLane("a", None)
    search = asyncio.create_task(run_lanes([lane], QUERY, NEVER))
    await asyncio.sleep(0)
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert lane.line[0].cancelled()
