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
from enum import Enum, auto
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
        self._queue, self._seconds = _Queue(number, most_waiting), seconds

    @property
    def taken(self) -> int:
        """Return the number of slots in use."""
        return self._queue.held.total()

    @property
    def waiting(self) -> int:
        """Return how many wait for a slot."""
        return len(self._queue.waiting)

    @asynccontextmanager
    async def slot(self, caller: str, patience: Patience = _to_the_end) -> AsyncIterator[None]:
        """Hold a slot while the block runs.

        Args:
            caller: whose slots are counted together.
            patience: awaits the wait; what it raises ends it.

        Raises:
            Overloaded: no slot was free in time.
        """
        held = _Slot(self._queue, caller)
        try:
            self._queue.enter(held)
            if held.state is not _State.HELD:
                await patience(held.wait(self._seconds))
            token = _current_slot.set(held)
            try:
                yield
            finally:
                _current_slot.reset(token)
        finally:
            held.leave()

    def require_capacity(self, caller: str | None) -> None:
        """Refuse a caller for whom the queue is full, before any work is done for it.

        Args:
            caller: who asks; None: not known yet, so it counts as holding no slot.

        Raises:
            Overloaded: the queue is full, and the caller would be served last.
        """
        self._queue.displaced_by(caller)


class _State(Enum):
    WAITING = auto()
    HELD = auto()
    RELEASED = auto()
    CLOSED = auto()


class _Queue:
    """The slots in use, by caller, and those that wait for one."""

    def __init__(self, number: int, most_waiting: int) -> None:
        self.held = Counter[str | None]()  # an unknown caller, None, holds none
        self.waiting: list[_Slot] = []
        self._number, self._most_waiting = number, most_waiting

    def enter(self, slot: _Slot) -> None:
        """Queue a slot; if the queue is full, the one that would be served last leaves.

        Raises:
            Overloaded: that one is the slot itself.
        """
        if not slot.was_held and (last := self.displaced_by(slot.caller)):
            last.leave()
        slot.state = _State.WAITING
        self.waiting.append(slot)
        self._serve_next()

    def leave(self, slot: _Slot, state: _State) -> None:
        """Take a slot out of the queue, or give it to the next caller."""
        before, slot.state = slot.state, state
        if before is _State.WAITING:
            self.waiting.remove(slot)
        elif before is _State.HELD:
            self.held -= Counter([slot.caller])  # removes counts of 0
            self._serve_next()

    def displaced_by(self, caller: str | None) -> _Slot | None:
        """Return the slot that must leave the full queue for one more of `caller`; None if there is room.

        Raises:
            Overloaded: the new one would be served last itself.
        """
        new = [slot for slot in self.waiting if not slot.was_held]
        if len(new) < self._most_waiting:
            return None
        last = max(reversed(new), key=self._order, default=None)
        if last is not None and self.held[caller] >= self.held[last.caller]:
            raise self.refusal()
        return last

    def refusal(self) -> Overloaded:
        """Return the error of a caller that gets no slot."""
        error = Overloaded(
            f"All {self._number} places for searches are taken, and others wait for them.",
            next_step="Try again in a moment.",
        )
        # A slot is free again sooner; `Retry-After` counts whole seconds.
        error.retry_after = 1
        return error

    def _serve_next(self) -> None:
        while self.waiting and self.held.total() < self._number:
            slot = min(self.waiting, key=self._order)  # the first of equals
            self.waiting.remove(slot)
            self.held[slot.caller] += 1
            slot.take()

    def _order(self, slot: _Slot) -> tuple[bool, int]:
        return not slot.was_held, self.held[slot.caller]


class _Slot:
    """A slot from the moment that a caller asks for it until it is given up."""

    def __init__(self, queue: _Queue, caller: str) -> None:
        self.caller = caller
        self.state = _State.RELEASED
        self.was_held = False
        self._queue = queue
        self._releases = 0
        self._turn = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Wait until the slot is held.

        Raises:
            Overloaded: it took longer than `seconds`.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._turn.wait()
        if self.state is not _State.HELD:
            raise self._queue.refusal()

    def take(self) -> None:
        """Note that the slot is held."""
        self.state, self.was_held = _State.HELD, True
        self._turn.set()

    def leave(self) -> None:
        """Give the slot up for good."""
        self._queue.leave(self, _State.CLOSED)
        self._turn.set()

    def release(self) -> None:
        """Let another caller have the slot for a while."""
        self._releases += 1
        if self.state is not _State.CLOSED:
            self._queue.leave(self, _State.RELEASED)

    def reclaim(self) -> asyncio.Event:
        """Queue for the slot again once all releases have ended; return the event that is set when it is held."""
        self._releases -= 1
        if not self._releases and self.state is _State.RELEASED:
            self._turn.clear()
            self._queue.enter(self)
        return self._turn


_current_slot: ContextVar[_Slot | None] = ContextVar("current_slot", default=None)


@asynccontextmanager
async def release_slot() -> AsyncIterator[None]:
    """Let another caller have this context's slot, if it has one, while a remote model works."""
    slot = _current_slot.get()
    if slot is None:
        yield
        return
    slot.release()
    try:
        yield
    finally:
        turn = slot.reclaim()
    await turn.wait()


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
