"""Work of several documents is done in one call, and each keeps its own outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from sextant.domain.errors import DatabaseUnavailable, FileBroken
from sextant.domain.scope import Scope
from sextant.ingestion.workers import GroupCommit

SCOPE, OTHER = Scope("user", "one"), Scope("user", "other")


class Recorder:
    """Doubles numbers, and records each call; refuses -1."""

    def __init__(self) -> None:
        self.calls: list[tuple[Scope, list[int]]] = []
        self.lost = False

    async def work(self, scope: Scope, items: Sequence[int]) -> list[int]:
        self.calls.append((scope, list(items)))
        await asyncio.sleep(0.01)
        if self.lost:
            raise DatabaseUnavailable("gone")
        if -1 in items:
            raise FileBroken("-1 is refused")
        return [2 * item for item in items]


async def test_items_that_wait_while_others_are_done_are_done_in_one_call() -> None:
    recorder = Recorder()
    group = GroupCommit(recorder.work)

    results = await asyncio.gather(*(group.do(SCOPE, number) for number in range(5)))
    assert results == [0, 2, 4, 6, 8]
    first = asyncio.create_task(group.do(SCOPE, 5))
    while len(recorder.calls) < 2:  # noqa: ASYNC110 - nothing signals it
        await asyncio.sleep(0)
    later = await asyncio.gather(group.do(SCOPE, 6), group.do(OTHER, 7), group.do(SCOPE, 8))
    assert [await first, *later] == [10, 12, 14, 16]

    assert [items for scope, items in recorder.calls if scope == SCOPE] == [
        [0, 1, 2, 3, 4],
        [5],
        [6, 8],
    ]
    assert (OTHER, [7]) in recorder.calls


async def test_an_item_that_fails_costs_its_neighbours_nothing() -> None:
    group = GroupCommit(Recorder().work)

    one, refused, two = await asyncio.gather(
        *(group.do(SCOPE, number) for number in (1, -1, 2)), return_exceptions=True
    )

    assert (one, two) == (2, 4)
    assert isinstance(refused, FileBroken)


async def test_a_lost_database_is_not_asked_for_each_item_again() -> None:
    recorder = Recorder()
    recorder.lost = True
    group = GroupCommit(recorder.work)

    outcomes = await asyncio.gather(
        *(group.do(SCOPE, number) for number in range(3)), return_exceptions=True
    )

    assert [type(one) for one in outcomes] == [DatabaseUnavailable] * 3
    assert len(recorder.calls) == 1


async def test_a_cancelled_caller_stops_nobody_else() -> None:
    recorder = Recorder()
    group = GroupCommit(recorder.work)
    leaving = asyncio.create_task(group.do(SCOPE, 1))
    staying = asyncio.create_task(group.do(SCOPE, 2))
    while not recorder.calls:  # noqa: ASYNC110 - nothing signals it
        await asyncio.sleep(0)

    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving

    assert await staying == 4
    assert await group.do(SCOPE, 3) == 6


async def test_nobody_waits_for_work_that_was_stopped() -> None:
    async def stop(_: Scope, items: Sequence[int]) -> list[int]:
        raise asyncio.CancelledError

    group = GroupCommit(stop)
    outcomes = await asyncio.wait_for(
        asyncio.gather(*(group.do(SCOPE, number) for number in range(40)), return_exceptions=True),
        10,
    )

    assert {type(one) for one in outcomes} == {asyncio.CancelledError}
