"""Places for work that shall not be done by everybody at once: a short wait, in turn, then a refusal."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

from domain.errors import Overloaded

# How somebody waits, who may have reasons to give it up.
Patience = Callable[[Coroutine[Any, Any, None]], Awaitable[None]]

# A place is free again within a fraction of it; HTTP has no less.
_RETRY_SECONDS = 1


async def _to_the_end(wait: Coroutine[Any, Any, None]) -> None:
    await wait


class Places:
    """So many places. A free one goes to the caller who has fewest, of these to who waits longest.

    Whoever is away from a place (`away`) and comes back goes before all who have had none yet. Beyond
    those who may wait, whoever would be last in turn is refused at once.

    Args:
        number: how many.
        seconds: how long one is waited for.
        most_waiting: how many may wait for their first one.
    """

    def __init__(self, number: int, seconds: float, most_waiting: int) -> None:
        self._number, self._seconds = number, seconds
        self._most_waiting = most_waiting
        self._of_caller = Counter[str]()
        self._waiting: list[_Place] = []

    @property
    def taken(self) -> int:
        """Places in use."""
        return self._of_caller.total()

    @property
    def waiting(self) -> int:
        """Those who wait for one."""
        return len(self._waiting)

    @asynccontextmanager
    async def place(self, caller: str, patience: Patience = _to_the_end) -> AsyncIterator[None]:
        """Have a place meanwhile.

        Args:
            caller: whose share it comes from.
            patience: waits; what it raises ends the wait.

        Raises:
            Overloaded: none was free in time.
        """
        place = _Place(self, caller)
        try:
            if not place.wants():
                await patience(place.wait(self._seconds))
            held = _held.set(place)
            try:
                yield
            finally:
                _held.reset(held)
        finally:
            place.leave()

    def require_room(self, caller: str | None) -> None:
        """Refuse whom those who wait leave no chance, before anything else is done for it.

        Args:
            caller: who it is; None: nobody knows yet, so it counts as one without a place.

        Raises:
            Overloaded: it would be the last, and too many wait already.
        """
        last = self._last_of_too_many()
        if last is not None and self._has(caller) >= self._has(last.caller):
            raise self.refusal()

    def call_next(self) -> None:
        """Give what is free to those who wait."""
        while self._waiting and self.taken < self._number:
            place = min(self._waiting, key=self._order)  # of equals the first
            self._waiting.remove(place)
            self._of_caller[place.caller] += 1
            place.take()

    def queue(self, place: _Place) -> None:
        """Have it wait, instead of who is last if too many do.

        Raises:
            Overloaded: it would be the last itself.
        """
        if not place.was_here and (last := self._last_of_too_many()) is not None:
            self.require_room(place.caller)
            last.leave()
        self._waiting.append(place)
        self.call_next()

    def give_up(self, place: _Place) -> None:
        """Have it wait no longer."""
        if place in self._waiting:
            self._waiting.remove(place)

    def give_back(self, place: _Place) -> None:
        """Have it be somebody else's."""
        self._of_caller -= Counter([place.caller])  # drops what comes to 0
        self.call_next()

    def refusal(self) -> Overloaded:
        """What is said to whom no place came free."""
        return Overloaded(
            f"All {self._number} places for searches are taken, and others wait for them.",
            next_step="Try again in a moment.",
            retry_after=_RETRY_SECONDS,
        )

    def _last_of_too_many(self) -> _Place | None:
        """The last in turn of those who wait for their first place, if no more may."""
        new = [place for place in self._waiting if not place.was_here]
        if len(new) < self._most_waiting:
            return None
        return max(reversed(new), key=self._order, default=None)

    def _has(self, caller: str | None) -> int:
        return 0 if caller is None else self._of_caller[caller]

    def _order(self, place: _Place) -> tuple[bool, int]:
        return not place.was_here, self._has(place.caller)


class _Place:
    """One place from the first wish for it until it is left for good."""

    def __init__(self, places: Places, caller: str) -> None:
        self.caller = caller
        self.was_here = False
        self._places = places
        self._here = self._over = False
        self._away = 0
        self._turn = asyncio.get_running_loop().create_future()

    def wants(self) -> bool:
        """Wish for it; whether it is there at once."""
        self._places.queue(self)
        return self._here

    async def wait(self, seconds: float) -> None:
        """Wait for it.

        Raises:
            Overloaded: it did not come.
        """
        await asyncio.wait({self._turn}, timeout=seconds)
        if not self._here:
            raise self._places.refusal()

    def take(self) -> None:
        """Be there."""
        self._here = self.was_here = True
        self._called()

    def leave(self) -> None:
        """Be gone, wherever it was."""
        self._over = True
        self._places.give_up(self)
        self._called()
        self._give_back()

    def step_out(self) -> None:
        """Let somebody else have it for a while."""
        self._away += 1
        self._places.give_up(self)
        self._give_back()

    def step_in(self) -> asyncio.Future[None]:
        """Want it again, when the last who stepped out is back; over when it is there."""
        self._away -= 1
        if not self._away and not self._over:
            if self._turn.done():  # else others who came back wait for it still
                self._turn = asyncio.get_running_loop().create_future()
            self._places.queue(self)
        return self._turn

    def _give_back(self) -> None:
        if self._here:
            self._here = False
            self._places.give_back(self)

    def _called(self) -> None:
        if not self._turn.done():
            self._turn.set_result(None)


# The place of this context.
_held: ContextVar[_Place | None] = ContextVar("held", default=None)


@asynccontextmanager
async def away() -> AsyncIterator[None]:
    """Let somebody else have this context's place, if it has one, while a model works elsewhere."""
    place = _held.get()
    if place is None:
        yield
        return
    place.step_out()
    try:
        yield
    finally:
        turn = place.step_in()
    await asyncio.shield(turn)  # one who gives up waiting must not cancel what others wait for
