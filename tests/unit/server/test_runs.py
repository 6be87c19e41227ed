"""Answers under way: which begin at once, and which wait for their turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from sextant.domain.answers import Answer, Done, Event, Failed, Retrieved, Status
from sextant.domain.errors import Cancelled, Limited, RunNotFound, TimedOut
from sextant.domain.retrieval import RetrievalError
from sextant.domain.scope import Permission, Principal
from sextant.domain.settings import RunSettings
from sextant.server.connections import PING
from sextant.server.runs import QUEUE, AnswerRun, Runs

ANN = Principal("ann", frozenset(Permission))


class Answering:
    """An answer whose steps the test lets go on."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.may_search = asyncio.Event()
        self.may_end = asyncio.Event()
        self.fails = False

    async def events(self) -> AsyncGenerator[Event]:
        """Analyze, search, end."""
        self.begun.set()
        yield Status("analyze")
        await self.may_search.wait()
        if self.fails:
            raise RetrievalError.of({})
        yield Retrieved("mix", 1, {})
        await self.may_end.wait()
        yield Done(Answer("Yes.", mode="mix"))


def told(event: Event, _: str) -> bytes:
    """Return what a client sees of an event here."""
    return (event.node if isinstance(event, Status) else event.type).encode()


async def started(runs: Runs, number: int) -> list[tuple[AnswerRun, Answering]]:
    answering = [Answering() for _ in range(number)]
    return [(runs.start(ANN, one.events, told), one) for one in answering]


async def test_those_without_a_turn_say_so_and_begin_when_another_has_its_first_result() -> None:
    runs = Runs(RunSettings(starting=1))
    (first, one), (second, two) = await started(runs, 2)
    await one.begun.wait()
    assert second.parts == [QUEUE.encode()]
    assert not two.begun.is_set()
    one.may_search.set()
    await two.begun.wait()
    assert not first.ended
    for answering in (one, two):
        answering.may_search.set()
        answering.may_end.set()
    assert (await second.answer()).answer == "Yes."
    assert second.parts == [b"queue", b"analyze", b"retrieval", b"done"]
    await runs.close()


async def test_a_turn_comes_back_from_an_answer_that_fails_or_is_stopped() -> None:
    runs = Runs(RunSettings(starting=1))
    (failing, one), (stopped, two), (waiting, _), (last, four) = await started(runs, 4)
    one.fails = True
    one.may_search.set()
    await failing.over()
    await two.begun.wait()
    waiting.stop()  # it never had one
    stopped.stop()
    await asyncio.gather(waiting.over(), stopped.over())
    four.may_search.set()
    four.may_end.set()
    assert (await last.answer()).answer == "Yes."
    assert waiting.parts == [b"queue", b"error"]
    await runs.close()


@pytest.mark.parametrize(
    "last", [Done(Answer("Yes.", mode="mix")), Failed("gone", "Gone.", retryable=True)]
)
async def test_nothing_follows_the_last_event(last: Done | Failed) -> None:
    """As where the database is gone when a conversation is to be released after its turn."""

    async def events() -> AsyncGenerator[Event]:
        yield last
        raise RetrievalError.of({})

    runs = Runs(RunSettings())
    run = runs.start(ANN, events, told)
    await run.over()
    assert run.parts == [last.type.encode()]
    if isinstance(last, Done):
        assert (await run.answer()).answer == "Yes."
    await runs.close()


async def test_an_answer_whose_client_leaves_after_its_last_event_is_closed_in_peace() -> None:
    may_close, closed = asyncio.Event(), False

    async def events() -> AsyncGenerator[Event]:
        nonlocal closed
        yield Done(Answer("Yes.", mode="mix"))
        await may_close.wait()
        closed = True

    run = Runs(RunSettings()).start(ANN, events, told)
    await run.begun(10)
    run.stop()
    may_close.set()
    await run.over()
    assert closed


async def test_as_many_begin_at_once_as_the_setting_says() -> None:
    runs = Runs(RunSettings(starting=3))
    begun = await started(runs, 5)
    await asyncio.gather(*(one.begun.wait() for _, one in begun[:3]))
    assert [one.begun.is_set() for _, one in begun] == [True, True, True, False, False]
    await runs.close()
    assert runs.live == 0


async def test_reports_leave_half_of_a_caller_s_slots_to_other_questions() -> None:
    runs = Runs(RunSettings(per_user=4, seconds=10))
    reports = [Answering() for _ in range(2)]
    first, _ = [runs.start(ANN, one.events, told, seconds=60) for one in reports]
    with pytest.raises(Limited, match="2 reports"):
        runs.start(ANN, Answering().events, told, seconds=60)

    for _ in range(2):
        runs.start(ANN, Answering().events, told)
    with pytest.raises(Limited, match="4 answers"):
        runs.start(ANN, Answering().events, told)
    reports[0].may_search.set()
    reports[0].may_end.set()
    await first.over()
    runs.start(ANN, Answering().events, told, seconds=60)
    await runs.close()


async def ended(runs: Runs, user: str = "ann") -> AnswerRun:
    """Return a run of this user that is over, and kept."""
    answering = Answering()
    answering.may_search.set()
    answering.may_end.set()
    principal = Principal(user, frozenset(Permission))
    run = runs.start(principal, answering.events, told, keep=True)
    await run.answer()
    await asyncio.sleep(0)  # what is called at its end
    return run


async def test_an_answer_is_found_by_its_user_and_by_nobody_else() -> None:
    runs = Runs(RunSettings())
    (under_way, _), over = (await started(runs, 1))[0], await ended(runs)
    for run in (under_way, over):
        assert runs.find(run.run_id, "ann") is run
        with pytest.raises(RunNotFound):
            runs.find(run.run_id, "bob")
    await runs.close()
    with pytest.raises(RunNotFound):
        runs.find(over.run_id, "ann")


async def test_of_ended_answers_the_oldest_are_forgotten_beyond_the_bytes_that_may_be_kept() -> (
    None
):
    size = len(b"analyze" + b"retrieval" + b"done")
    runs = Runs(RunSettings().model_copy(update={"keep_bytes": 2 * size}))
    first, second, third = [await ended(runs) for _ in range(3)]
    with pytest.raises(RunNotFound):
        runs.find(first.run_id, "ann")
    assert [runs.find(one.run_id, "ann") for one in (second, third)] == [second, third]


@pytest.mark.parametrize("bound", [{"keep_seconds": 0.0}, {"keep_bytes": 10}])
async def test_an_ended_answer_is_not_kept_beyond_its_time_or_the_bytes(
    bound: dict[str, Any],
) -> None:
    runs = Runs(RunSettings().model_copy(update=bound))
    run = await ended(runs)
    with pytest.raises(RunNotFound):
        runs.find(run.run_id, "ann")


async def test_whoever_comes_back_reads_on_behind_what_was_read() -> None:
    runs = Runs(RunSettings())
    (run, answering), *_ = await started(runs, 1)
    await answering.begun.wait()
    reading = run.read(0.01)
    assert await anext(reading) == b"analyze"
    assert await anext(reading) == PING
    answering.may_search.set()
    answering.may_end.set()
    await run.answer()
    assert b"".join([part async for part in run.read(60, after=1)]) == b"retrievaldone"


async def test_a_stopped_answer_and_one_that_takes_too_long_end_with_an_error() -> None:
    runs = Runs(RunSettings())
    (stopped, answering), *_ = await started(runs, 1)
    await answering.begun.wait()
    stopped.stop()
    with pytest.raises(Cancelled) as told:
        await stopped.answer()
    assert (told.value.code, told.value.status, told.value.retryable) == ("cancelled", 503, True)
    hurried = Runs(RunSettings().model_copy(update={"seconds": 0.01}))
    (late, _), *_ = await started(hurried, 1)
    with pytest.raises(TimedOut):
        await late.answer()
    assert stopped.parts == late.parts == [b"analyze", b"error"]


async def test_an_answer_that_is_stopped_before_its_first_step_says_so_too() -> None:
    runs = Runs(RunSettings())
    run = runs.start(ANN, Answering().events, told)
    run.stop()
    with pytest.raises(Cancelled):
        await run.answer()


async def test_who_has_its_share_under_way_begins_another_when_one_has_ended() -> None:
    runs = Runs(RunSettings(per_user=1))
    answering = Answering()
    run = runs.start(ANN, answering.events)
    with pytest.raises(Limited):
        runs.start(ANN, Answering().events)
    answering.may_search.set()
    answering.may_end.set()
    await run.answer()
    await asyncio.sleep(0)  # what is called at its end
    runs.start(ANN, Answering().events)
    assert runs.live == 1
    await runs.close()
