"""How many calls an endpoint is given at a time, learnt from how it takes them.

An endpoint may answer one call at a time or a hundred, and does not say so. The limit begins at one call. It grows
by one as long as calls take no longer than before, which they do once they wait for each other; it is halved where
the endpoint refuses for now or falls silent (additive increase, multiplicative decrease: Chiu and Jain, 1989).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from sextant.domain.answers import Usage

# Seconds of a token, against the least there were, from which on calls wait for each other.
_SLOWER = 1.5
# After a decrease the next increase is tried after so many rounds of calls.
_PATIENCE = 8
# Reading a token of the prompt takes an endpoint about a tenth of writing one.
_PROMPT_SHARE = 0.1


@dataclass(slots=True, eq=False)
class Slot:
    """A call under way; `is_full`: during it as many were as may be, so that its time says what that costs."""

    limit: AdaptiveLimit
    decreases: int
    is_full: bool = False

    def note_answer(self, seconds: float, usage: Usage) -> None:
        """Note an answer, and how long it took."""
        work = usage.completion_tokens + _PROMPT_SHARE * usage.prompt_tokens
        if self.is_full and work > 0 and self.decreases == self.limit.decreases:
            self.limit.note_pace(seconds / work)

    def note_overload(self) -> None:
        """Note that the endpoint refused for now, or fell silent; of calls under way together that counts once."""
        if self.decreases == self.limit.decreases:
            self.limit.decrease()


_slot: ContextVar[Slot | None] = ContextVar("slot", default=None)


def note_overload() -> None:
    """Note, for the call under way, that its endpoint refused it for now; outside of a slot nothing."""
    if (slot := _slot.get()) is not None:
        slot.note_overload()


@dataclass(slots=True)
class AdaptiveLimit:
    """The calls that an endpoint is given at a time: at least one, at most `ceiling`.

    Attributes:
        size: how many may be under way.
        decreases: how often the limit became smaller.
    """

    ceiling: int
    size: int = 1
    decreases: int = 0
    _slots: set[Slot] = field(default_factory=set[Slot])
    _round: list[float] = field(default_factory=list[float])  # seconds of a token, of each answer
    _fastest: float | None = None
    _wait: int = 0  # rounds
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque[asyncio.Future[None]])

    @property
    def busy(self) -> int:
        """Return how many calls are under way."""
        return len(self._slots)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Slot]:
        """Wait until one more call may be made, and hold its slot meanwhile."""
        while self.busy >= self.size:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._wake()
                raise
        slot = Slot(self, self.decreases)
        self._slots.add(slot)
        if self.busy >= self.size:
            for one in self._slots:
                one.is_full = True
        token = _slot.set(slot)
        try:
            yield slot
        finally:
            _slot.reset(token)
            self._slots.discard(slot)
            self._wake()

    def note_pace(self, seconds: float) -> None:
        """Note how long a token took; after as many answers as there are slots the limit follows."""
        self._round.append(seconds)
        if len(self._round) < self.size:
            return
        mean = sum(self._round) / len(self._round)
        self._round.clear()
        # A call that is alone waits for none, however slow the endpoint has become.
        if self._fastest is None or self.size == 1 or mean < self._fastest:
            self._fastest = mean
        self._wait = max(0, self._wait - 1)
        if mean > self._fastest * _SLOWER and self.size > 1:
            self._shrink(self.size - 1)
        elif not self._wait:
            self.size = min(self.ceiling, self.size + 1)

    def decrease(self) -> None:
        """Halve the limit."""
        self._shrink(max(1, self.size // 2))

    def _shrink(self, size: int) -> None:
        self.size, self._wait = size, _PATIENCE
        self.decreases += 1
        self._round.clear()

    def _wake(self) -> None:
        """Let as many go on as there are free slots."""
        free = self.size - self.busy
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
