"""Places for work that shall not be done by everybody at once: a short wait, in turn, then a refusal.

Also here: places that are there or not, for which nobody waits.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from enum import Enum, auto
from typing import Any

from sextant.domain.errors import Limited, Overloaded

# How somebody waits, who may have reasons to give it up.
Patience = Callable[[Coroutine[Any, Any, None]], Awaitable[None]]

# A place is free again within a fraction of it; HTTP has no less.
_RETRY_SECONDS = 1


async def _to_the_end(wait: Coroutine[Any, Any, None]) -> None:
    await wait


class FairSemaphore:
    """So many places. A free one goes to the caller who has fewest, of these to who waits longest.

    Whoever is away from a place (`release_slot`) and comes back goes before all who have had none yet. Beyond
    those who may wait, whoever would be last in turn is refused at once.

    Args:
        number: how many.
        seconds: how long one is waited for.
        most_waiting: how many may wait for their first one.
    """

    def __init__(self, number: int, seconds: float, most_waiting: int) -> None:
        self._line, self._seconds = _Queue(number, most_waiting), seconds

    @property
    def taken(self) -> int:
        """Place in use."""
        return self._line.here.total()

    @property
    def waiting(self) -> int:
        """Return those who wait for one."""
        return len(self._line.waiting)

    @asynccontextmanager
    async def place(self, caller: str, patience: Patience = _to_the_end) -> AsyncIterator[None]:
        """Have a place meanwhile.

        Args:
            caller: whose share it comes from.
            patience: waits; what it raises ends the wait.

        Raises:
            Overloaded: none was free in time.
        """
        slot = _Slot(self._line, caller)
        try:
            self._line.enter(slot)
            if slot.state is not _State.HERE:
                await patience(slot.wait(self._seconds))
            token = _current_slot.set(slot)
            try:
                yield
            finally:
                _current_slot.reset(token)
        finally:
            slot.leave()

    def require_capacity(self, caller: str | None) -> None:
        """Refuse whom those who wait leave no chance, before anything else is done for it.

        Args:
            caller: who it is; None: nobody knows yet, so it counts as one without a place.

        Raises:
            Overloaded: it would be the last, and too many wait already.
        """
        self._line.displaced_by(caller)


class _State(Enum):
    WAITING = auto()
    HERE = auto()
    OUT = auto()
    OVER = auto()


class _Queue:
    """Who has places, and in turn who waits for one."""

    def __init__(self, number: int, most_waiting: int) -> None:
        self.here = Counter[str | None]()  # by caller; None, whom nobody knows, has none
        self.waiting: list[_Slot] = []
        self._number, self._most_waiting = number, most_waiting

    def enter(self, slot: _Slot) -> None:
        """Have it wait, instead of who is last if too many do.

        Raises:
            Overloaded: it would be the last itself.
        """
        if not slot.was_here and (last := self.displaced_by(slot.caller)):
            last.leave()
        slot.state = _State.WAITING
        self.waiting.append(slot)
        self._call_next()

    def leave(self, slot: _Slot, state: _State) -> None:
        """Have it wait no longer, or be somebody else's."""
        before, slot.state = slot.state, state
        if before is _State.WAITING:
            self.waiting.remove(slot)
        elif before is _State.HERE:
            self.here -= Counter([slot.caller])  # drops what comes to 0
            self._call_next()

    def displaced_by(self, caller: str | None) -> _Slot | None:
        """Return who goes for one more of `caller`: the last of those who wait for their first place, if no more may.

        Raises:
            Overloaded: that one would be the last itself.
        """
        new = [slot for slot in self.waiting if not slot.was_here]
        if len(new) < self._most_waiting:
            return None
        last = max(reversed(new), key=self._order, default=None)
        if last is not None and self.here[caller] >= self.here[last.caller]:
            raise self.refusal()
        return last

    def refusal(self) -> Overloaded:
        """Return what is said to whom no place came free."""
        return Overloaded(
            f"All {self._number} places for searches are taken, and others wait for them.",
            next_step="Try again in a moment.",
            retry_after=_RETRY_SECONDS,
        )

    def _call_next(self) -> None:
        while self.waiting and self.here.total() < self._number:
            slot = min(self.waiting, key=self._order)  # of equals the first
            self.waiting.remove(slot)
            self.here[slot.caller] += 1
            slot.take()

    def _order(self, slot: _Slot) -> tuple[bool, int]:
        return not slot.was_here, self.here[slot.caller]


class _Slot:
    """One place from the first wish for it until it is left for good."""

    def __init__(self, line: _Queue, caller: str) -> None:
        self.caller = caller
        self.state = _State.OUT
        self.was_here = False
        self._line = line
        self._steps_out = 0
        self._turn = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Wait for it.

        Raises:
            Overloaded: it did not come.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._turn.wait()
        if self.state is not _State.HERE:
            raise self._line.refusal()

    def take(self) -> None:
        """Be there."""
        self.state, self.was_here = _State.HERE, True
        self._turn.set()

    def leave(self) -> None:
        """Be gone, wherever it was."""
        self._line.leave(self, _State.OVER)
        self._turn.set()

    def step_out(self) -> None:
        """Let somebody else have it for a while."""
        self._steps_out += 1
        if self.state is not _State.OVER:
            self._line.leave(self, _State.OUT)

    def step_in(self) -> asyncio.Event:
        """Want it again, when the last who stepped out is back; set when it is there."""
        self._steps_out -= 1
        if not self._steps_out and self.state is _State.OUT:
            self._turn.clear()
            self._line.enter(self)
        return self._turn


# The place of this context.
_current_slot: ContextVar[_Slot | None] = ContextVar("held", default=None)


@asynccontextmanager
async def release_slot() -> AsyncIterator[None]:
    """Let somebody else have this context's place, if it has one, while a model works elsewhere."""
    slot = _current_slot.get()
    if slot is None:
        yield
        return
    slot.step_out()
    try:
        yield
    finally:
        turn = slot.step_in()
    await turn.wait()


class Shares:
    """The places of one kind of work, for which nobody waits.

    Args:
        most: in all.
        most_of_one: of one caller.
        all_taken: what is said where none is left.
        share_taken: what is said where the caller has as many as it may.
    """

    def __init__(
        self,
        *,
        most: float = math.inf,
        most_of_one: int,
        all_taken: Callable[[], Overloaded] | None = None,
        share_taken: Callable[[], Limited],
    ) -> None:
        self._most, self._most_of_one = most, most_of_one
        self._all_taken, self._share_taken = all_taken, share_taken
        self._taken = Counter[str | None]()

    @contextmanager
    def slot(self, caller: str | None) -> Iterator[None]:
        """Have a place meanwhile.

        Args:
            caller: whose share it comes from; None: nobody shares with others.

        Raises:
            Overloaded, Limited: there is none left.
        """
        self.require_free()
        if caller is not None and self._taken[caller] >= self._most_of_one:
            raise self._share_taken()
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken -= Counter([caller])  # drops what comes to 0

    def require_free(self) -> None:
        """Make sure that there is a place.

        Raises:
            Overloaded: all are taken.
        """
        if self._all_taken is not None and self._taken.total() >= self._most:
            raise self._all_taken()
