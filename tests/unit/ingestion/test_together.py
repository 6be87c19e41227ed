"""Files that go side by side ask for things at once, and each gets its own answer or error."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from sextant.domain.errors import ConflictError, DatabaseUnavailable
from sextant.domain.scope import Scope
from sextant.ingestion.batching import BatchCoordinator

SCOPE = Scope("user", "graph")


class Doubling:
    """Work on numbers that remembers what was asked of it at once."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.calls: list[list[int]] = []

    async def double(self, _: Scope, numbers: Sequence[int]) -> list[int]:
        self.calls.append(list(numbers))
        await asyncio.sleep(0)
        if self.error is not None and 2 in numbers:
            raise self.error
        return [2 * number for number in numbers]


async def test_what_all_ask_for_is_done_at_once() -> None:
    work = Doubling()
    async with BatchCoordinator(SCOPE, 3) as together:
        answers = await asyncio.gather(*(together.ask(work.double, n) for n in (1, 2, 3)))
    assert answers == [2, 4, 6]
    assert work.calls == [[1, 2, 3]]


async def test_those_who_ask_again_are_waited_for_again() -> None:
    work = Doubling()

    async def twice(together: BatchCoordinator, number: int) -> int:
        return await together.ask(work.double, await together.ask(work.double, number))

    async with BatchCoordinator(SCOPE, 3) as together:
        assert [*await asyncio.gather(*(twice(together, n) for n in (1, 3, 5)))] == [4, 12, 20]
    assert work.calls == [[1, 3, 5], [2, 6, 10]]


async def test_nobody_waits_for_one_who_left_or_is_away() -> None:
    work = Doubling()
    async with BatchCoordinator(SCOPE, 4) as together:
        together.leave()
        with together.detached():
            assert await asyncio.gather(*(together.ask(work.double, n) for n in (1, 3))) == [2, 6]
        assert await asyncio.gather(*(together.ask(work.double, n) for n in (1, 2, 3))) == [2, 4, 6]
    assert work.calls == [[1, 3], [1, 2, 3]]


async def test_one_who_comes_to_an_end_sets_the_waiting_free() -> None:
    work = Doubling()

    async def end(together: BatchCoordinator) -> None:
        await asyncio.sleep(0)
        together.leave()

    async with BatchCoordinator(SCOPE, 2) as together:
        answer, _ = await asyncio.gather(together.ask(work.double, 1), end(together))
    assert answer == 2


async def test_an_error_reaches_only_whom_it_concerns() -> None:
    work = Doubling(ConflictError("Replaced."))
    async with BatchCoordinator(SCOPE, 3) as together:
        answers = await asyncio.gather(
            *(together.ask(work.double, n) for n in (1, 2, 3)), return_exceptions=True
        )
    assert answers == [2, work.error, 6]
    assert work.calls == [[1, 2, 3], [1], [2], [3]]


async def test_a_service_that_is_gone_is_asked_once_and_all_hear_of_it() -> None:
    work = Doubling(DatabaseUnavailable("Gone."))
    async with BatchCoordinator(SCOPE, 2) as together:
        answers = await asyncio.gather(
            *(together.ask(work.double, n) for n in (1, 2)), return_exceptions=True
        )
    assert answers == [work.error, work.error]
    assert work.calls == [[1, 2]]


async def test_different_questions_are_answered_apart_and_what_runs_ends_with_the_context() -> None:
    work, other = Doubling(), Doubling()
    async with BatchCoordinator(SCOPE, 2) as together:
        asking = (together.ask(work.double, 1), together.ask(other.double, 2))
        assert [*await asyncio.gather(*asking)] == [2, 4]

    ended = asyncio.Event()

    async def never(_: Scope, numbers: Sequence[int]) -> list[int]:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return list(numbers)

    async def cancelled() -> None:
        async with BatchCoordinator(SCOPE, 2) as together, asyncio.TaskGroup() as group:
            asking = [group.create_task(together.ask(never, n)) for n in (1, 2)]
            for _ in range(3):
                await asyncio.sleep(0)
            for task in asking:
                task.cancel()

    await cancelled()
    assert ended.is_set()
    with pytest.raises(ConflictError):
        await BatchCoordinator(SCOPE).ask(Doubling(ConflictError("Replaced.")).double, 2)
