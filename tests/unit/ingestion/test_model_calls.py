"""Calls about several items: what an endpoint does not answer at first is asked about again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sextant.domain.answers import Usage
from sextant.domain.errors import ModelUnavailable
from sextant.domain.settings import Settings
from sextant.ingestion.graph.extraction.cost import CostBudget
from sextant.ingestion.model_calls import CallRun, ModelCall, Pace

CALL = Usage(1, 100, 20)


class Endpoint:
    """Answers about each item with its name, and is silent at its first calls."""

    def __init__(self, silent: int) -> None:
        self.silent = silent
        self.asked = list[tuple[str, ...]]()

    def call_about(self, items: Sequence[str]) -> ModelCall[str]:
        async def send() -> tuple[Mapping[int, str], Usage]:
            self.asked.append(tuple(items))
            if len(self.asked) <= self.silent:
                raise ModelUnavailable("It does not answer.", next_step="Wait.")
            return dict(enumerate(items)), CALL

        return ModelCall(CALL, send)


def _run() -> CallRun[str, str]:
    settings = Settings(_env_file=None)
    return CallRun(Pace.of(settings), CostBudget())


async def _ask(
    run: CallRun[str, str], endpoint: Endpoint, *items: str
) -> tuple[set[str], set[str]]:
    """Return what was answered, and what failed."""
    answered, failed = set[str](), set[str]()
    async for outcome in run.ask(items, endpoint.call_about):
        answered |= set(outcome.found.values())
        failed |= {outcome.items[at] for at in outcome.errors}
    return answered, failed


async def test_one_silence_at_the_beginning_ends_no_run() -> None:
    run, endpoint = _run(), Endpoint(silent=1)

    assert await _ask(run, endpoint, "a") == (set(), {"a"})
    assert await _ask(run, endpoint, "b", "c") == ({"b", "c"}, set())
    assert run.stopped is None


async def test_what_a_silent_call_was_about_is_asked_in_halves() -> None:
    run, endpoint = _run(), Endpoint(silent=1)

    assert await _ask(run, endpoint, "a", "b", "c") == ({"a", "b", "c"}, set())
    assert endpoint.asked == [("a", "b", "c"), ("a", "b"), ("c",)]


async def test_three_calls_in_a_row_without_an_answer_end_the_run() -> None:
    run, endpoint = _run(), Endpoint(silent=99)

    for item in "abcd":
        await _ask(run, endpoint, item)
    assert [len(endpoint.asked), run.is_over] == [3, True]
