"""An answer out of its events, whole or not at all."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from sextant.domain.answers import Answer, Done, Event, Failed, Status, Token, answer_of
from sextant.domain.errors import DatabaseUnavailable, SextantError

ANSWER = Answer("Yes.", mode="mix")


class Run:
    """Events of a run, which says when it was closed."""

    def __init__(self, *events: Event) -> None:
        self._events = events
        self.closed = False

    async def told(self) -> AsyncGenerator[Event]:
        try:
            for event in self._events:
                yield event
        finally:
            self.closed = True


async def test_an_answer_is_what_its_events_end_with_and_all_before_it_is_told() -> None:
    heard = list[Event]()

    async def hear(event: Event) -> None:
        heard.append(event)

    run = Run(Status("analyze"), Token("Yes."), Done(ANSWER), Token("never read"))
    assert await answer_of(run.told(), hear) == ANSWER
    assert heard == [Status("analyze"), Token("Yes.")]
    assert run.closed
    assert await answer_of(Run(Token("Yes."), Done(ANSWER)).told()) == ANSWER


@pytest.mark.parametrize(
    ("detail", "next_step"),
    [({"next_step": "Start it.", "field": None}, "Start it."), (None, "Ask again.")],
)
async def test_a_failure_is_raised_as_the_error_that_it_was(
    detail: dict[str, str | None] | None, next_step: str
) -> None:
    failed = Failed("database_unavailable", "Gone.", retryable=True, detail=detail)
    run = Run(Token("Ye"), failed)
    with pytest.raises(DatabaseUnavailable, match="Gone") as error:
        await answer_of(run.told(), next_step="Ask again.")
    assert error.value.next_step == next_step
    assert run.closed


async def test_events_that_break_off_are_no_answer() -> None:
    with pytest.raises(SextantError, match="broke off"):
        await answer_of(Run(Token("Ye")).told())
