"""Tasks are ended, also those that miss being cancelled."""

from __future__ import annotations

import asyncio

import pytest

from sextant.domain import concurrency
from sextant.domain.concurrency import end, stop


@pytest.fixture(autouse=True)
def again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "_AGAIN_SECONDS", 0.01)


class Deaf:
    """Goes on for ever, and misses the first of what it is told."""

    heard = 0

    async def __call__(self) -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.heard += 1
                if self.heard > 1:
                    raise


async def test_a_loop_that_missed_being_cancelled_is_cancelled_again() -> None:
    deaf = Deaf()
    looping = asyncio.create_task(deaf())
    await asyncio.sleep(0)
    await end(looping)
    assert looping.cancelled()
    assert deaf.heard == 2


async def test_what_had_ended_before_is_left_alone() -> None:
    done = asyncio.create_task(asyncio.sleep(0, "an answer"))
    await done
    await end(done)
    assert done.result() == "an answer"


async def test_an_error_that_one_had_ended_with_is_told_once_all_have_ended() -> None:
    async def fails() -> None:
        raise ValueError("what was wrong")

    failing, waiting = asyncio.create_task(fails()), asyncio.create_task(asyncio.Event().wait())
    await asyncio.sleep(0)
    with pytest.raises(ValueError, match="what was wrong"):
        await end(failing, waiting)
    assert waiting.cancelled()


async def test_what_is_stopped_is_stopped_however_it_ends() -> None:
    async def fails() -> None:
        raise ValueError("what was wrong")

    deaf = Deaf()
    failing, looping = asyncio.create_task(fails()), asyncio.create_task(deaf())
    await asyncio.sleep(0)
    await stop(failing, looping)
    assert failing.done()
    assert looping.cancelled()
    assert deaf.heard == 2
