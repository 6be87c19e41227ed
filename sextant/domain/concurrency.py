"""Asyncio: stop tasks for certain, run several together or from synchronous code, and limit how many run at a time.

Slots that callers wait for in turn are a `FairSemaphore`, quotas without waiting are `Shares`.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from sextant.domain.errors import Limited, Overloaded, Wording

# Time for a cancelled task to clean up before it is cancelled again.
_AGAIN_SECONDS = 2.0


async def stop(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, and again until all have ended, however they end.

    Cancelling once is not enough for a task that loops: up to Python 3.11 `asyncio.wait_for` loses a cancellation
    that arrives just as its awaitable completes (python/cpython#86296), and the connection pool uses it.
    """
    going = {task for task in tasks if not task.done()}
    while going:
        for task in going:
            task.cancel()
        _, going = await asyncio.wait(going, timeout=_AGAIN_SECONDS)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # an error that nobody reads is logged as never retrieved


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Stop tasks, and raise the first error that one of them ended with."""
    await stop(*tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()


_Result = TypeVar("_Result")

_starting = threading.Lock()


async def run_together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines side by side; the first error stops the others and is raised by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


def run_sync(make: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Run the coroutine that `make` returns on a background event loop and wait for its result.

    The calling thread may have a running loop of its own, which is blocked meanwhile. All calls
    share one background loop, so connections opened on it stay useful from call to call.
    """
    waiting = _submit(make)
    try:
        return waiting.result()
    except BaseException:
        waiting.cancel()
        raise


async def run_in_background(make: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Run the coroutine that `make` returns on the loop of `run_sync`; cancelling the one cancels the other."""
    return await asyncio.wrap_future(_submit(make))


def _submit(make: Callable[[], Coroutine[Any, Any, _Result]]) -> Future[_Result]:
    with _starting:
        loop = _background_loop()
    return asyncio.run_coroutine_threadsafe(make(), loop)


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="sextant-sync", daemon=True).start()
    return loop


# Awaits a wait, and may end it early by raising.
Patience = Callable[[Coroutine[Any, Any, None]], Awaitable[None]]


async def _to_the_end(wait: Coroutine[Any, Any, None]) -> None:
    await wait


class FairSemaphore:
    """A semaphore that gives a free slot to the waiting caller with the fewest slots, first come first served among equals.

    A holder that releases its slot for a while (`release_slot`) gets the next one before all who wait for their first.
    When the queue is full, the caller who would be served last is refused at once.

    Args:
        number: slots.
        seconds: how long a caller waits for one.
        most_waiting: how many may wait for their first slot.
    """

    def __init__(self, number: int, seconds: float, most_waiting: int) -> None:
        self._number, self._seconds, self._most_waiting = number, seconds, most_waiting
        self._held = Counter[str | None]()  # by caller; an unknown one, None, holds none
        self._waiting: list[_Slot] = []

    @property
    def taken(self) -> int:
        """Return the number of slots in use."""
        return self._held.total()

    @property
    def waiting(self) -> int:
        """Return how many wait for a slot."""
        return len(self._waiting)

    @asynccontextmanager
    async def slot(self, caller: str, patience: Patience = _to_the_end) -> AsyncIterator[None]:
        """Hold a slot while the block runs.

        Args:
            caller: whose slots are counted together.
            patience: awaits the wait; what it raises ends it.

        Raises:
            Overloaded: no slot was free in time.
        """
        slot = _Slot(self, caller)
        if last := self._displaced_by(caller):
            self.close(last)
        self.queue(slot)
        try:
            if not slot.is_held:
                await patience(self._wait(slot))
            token = _current_slot.set(slot)
            try:
                yield
            finally:
                _current_slot.reset(token)
        finally:
            self.close(slot)

    def require_capacity(self, caller: str | None) -> None:
        """Refuse a caller for whom the queue is full, before any work is done for it.

        Args:
            caller: who asks; None: not known yet, so it counts as holding no slot.

        Raises:
            Overloaded: the queue is full, and the caller would be served last.
        """
        self._displaced_by(caller)

    def queue(self, slot: _Slot) -> None:
        """Let a slot wait for its turn, which may come at once."""
        slot.turn.clear()
        self._waiting.append(slot)
        self._serve_next()

    def free(self, slot: _Slot) -> None:
        """Give a held slot to the next caller; one that waits leaves the queue."""
        if slot.is_held:
            slot.is_held = False
            self._held -= Counter([slot.caller])  # removes counts of 0
            self._serve_next()
        elif slot in self._waiting:
            self._waiting.remove(slot)

    def close(self, slot: _Slot) -> None:
        """Give a slot up for good."""
        slot.is_closed = True
        self.free(slot)
        slot.turn.set()

    async def _wait(self, slot: _Slot) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                await slot.turn.wait()
        if not slot.is_held:
            raise self._refusal()

    def _displaced_by(self, caller: str | None) -> _Slot | None:
        """Return the slot that must leave the full queue for one more of `caller`; None if there is room.

        Raises:
            Overloaded: the new one would be served last itself.
        """
        new = [slot for slot in self._waiting if not slot.was_held]
        if len(new) < self._most_waiting:
            return None
        last = max(reversed(new), key=self._order, default=None)
        if last is not None and self._held[caller] >= self._held[last.caller]:
            raise self._refusal()
        return last

    def _serve_next(self) -> None:
        while self._waiting and self.taken < self._number:
            slot = min(self._waiting, key=self._order)  # the first of equals
            self._waiting.remove(slot)
            self._held[slot.caller] += 1
            slot.is_held = slot.was_held = True
            slot.turn.set()

    def _order(self, slot: _Slot) -> tuple[bool, int]:
        return not slot.was_held, self._held[slot.caller]

    def _refusal(self) -> Overloaded:
        error = Overloaded(
            f"All {self._number} places for searches are taken, and others wait for them.",
            next_step="Try again in a moment.",
        )
        # A slot is free again sooner; `Retry-After` counts whole seconds.
        error.retry_after = 1
        return error


@dataclass(slots=True, eq=False)
class _Slot:
    """A slot from the moment that a caller asks for it until it is given up; `turn` is set when it need not wait."""

    semaphore: FairSemaphore
    caller: str
    is_held: bool = False
    was_held: bool = False
    is_closed: bool = False
    releases: int = 0
    turn: asyncio.Event = field(default_factory=asyncio.Event)


_current_slot: ContextVar[_Slot | None] = ContextVar("current_slot", default=None)


@asynccontextmanager
async def release_slot() -> AsyncIterator[None]:
    """Let another caller have this context's slot, if it has one, while a remote model works."""
    slot = _current_slot.get()
    if slot is None:
        yield
        return
    slot.releases += 1
    slot.semaphore.free(slot)
    try:
        yield
    finally:
        slot.releases -= 1
        if not (slot.releases or slot.is_held or slot.is_closed):  # all releases have ended
            slot.semaphore.queue(slot)
    await slot.turn.wait()


_NEVER = Wording("")  # without a total it is never raised


class Shares:
    """The slots of one kind of work; a caller gets one at once or is refused.

    Args:
        per_caller: slots of one caller at most.
        share_taken: message and next step where a caller has all of its share.
        total: slots of all callers at most.
        all_taken: message and next step where no slot is left.
    """

    def __init__(
        self,
        per_caller: int,
        share_taken: Wording,
        *,
        total: float = math.inf,
        all_taken: Wording = _NEVER,
    ) -> None:
        self._per_caller, self._share_taken = per_caller, share_taken
        self._total, self._all_taken = total, all_taken
        self._taken = Counter[str | None]()

    @contextmanager
    def slot(self, caller: str | None) -> Iterator[None]:
        """Take a slot while the block runs.

        Args:
            caller: whose share it comes from; None: only the total counts.

        Raises:
            Overloaded: no slot is left.
            Limited: the caller has all of its share.
        """
        self.require_free()
        if self.has_share(caller):
            raise Limited.worded({"en": self._share_taken})
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken -= Counter([caller])  # drops what comes to 0

    def has_share(self, caller: str | None) -> bool:
        """Return whether the caller has all slots that it may have."""
        return caller is not None and self._taken[caller] >= self._per_caller

    def require_free(self) -> None:
        """Make sure that a slot is left.

        Raises:
            Overloaded: all are taken.
        """
        if self._taken.total() >= self._total:
            raise Overloaded.worded({"en": self._all_taken})
