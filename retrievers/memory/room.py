"""Room in memory for what is asked often: so many bytes, for those who ask most."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from threading import RLock
from typing import Protocol, TypeVar, cast

from sextant.domain.errors import SextantError
from sextant.domain.scope import Scope
from sextant.domain.tasks import stop

logger = logging.getLogger(__name__)

# Something is worth keeping from the third question within a minute or so.
_HALF_LIFE, _HOT, _REMEMBERED = 60.0, 2.5, 10_000
# One that is asked as often as those that would have to go for it does not push them out.
_CLEARLY = 2.0
_IDLE = 600.0
# Seconds until what could not be kept is looked at again; the share of the time that making one which
# keeps changing may take, and how many seconds of it may be taken at once: the texts of 2,000 passages,
# a fifth of a second, need not rest after a document has come.
_REST, _SHARE, _AT_A_STRETCH = 60.0, 0.05, 1.0
# While one waits for the database, another is taken in: what is made waits more than it works.
_AT_ONCE = 2


class Sized(Protocol):
    """What takes room."""

    @property
    def nbytes(self) -> int:
        """Return how much."""
        ...


V = TypeVar("V", bound=Sized)

# What is kept, and of which scope.
Key = tuple[type[Sized], Scope]
# Whether so many bytes would find room.
Fits = Callable[[int], bool]
Make = Callable[[Fits], Awaitable[V | None]]


def together(fits: Fits, parts: int) -> list[Fits]:
    """Of parts that are made at once: whether each finds room beside what is known of the others."""
    sizes = [0] * parts

    def fit(part: int, size: int) -> bool:
        sizes[part] = size
        return fits(sum(sizes))

    return [partial(fit, part) for part in range(parts)]


@dataclass(slots=True)
class _Heat:
    """How many questions there were, those of a half-life ago counting half."""

    questions: float
    at: float

    def now(self, moment: float) -> float:
        return self.questions * math.exp2((self.at - moment) / _HALF_LIFE)


@dataclass(slots=True)
class _CacheEntry:
    value: Sized
    used: float
    rest: float  # until when it is not made again if it turns out to be of before


class MemoryBoundedCache:
    """Of every scope a value of each kind: those asked most, as far as their bytes go.

    Values are made a few at a time, in tasks that nobody waits for.

    Args:
        most: bytes; 0: nothing is kept.
        clock: seconds, of any origin.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        # A synchronous caller brings a thread and an event loop of its own.
        self._lock = RLock()
        self._entries: dict[Key, _CacheEntry] = {}
        self._heat: dict[Key, _Heat] = {}
        self._not_before: dict[Key, float] = {}
        self._making: set[asyncio.Task[None]] = set()
        self._timer: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None

    def ask(self, kind: type[V], scope: Scope, make: Make[V]) -> V | None:
        """Return what is kept; if nothing is and it has been asked often, `make` is set to work.

        Args:
            kind: what is wanted.
            scope: whose.
            make: gives the value, or None where it cannot be kept; it is told how to find out whether
                there is room, so that it need not make what has none.
        """
        if not self._most:
            return None
        key = (kind, scope)
        moment = self._clock()
        with self._lock:
            heat = self._warmed(key, moment)
            entry = self._entries.get(key)
            if entry is not None:
                entry.used = moment
                return cast(V, entry.value)
            before = self._not_before.get(key, -math.inf)
            if heat >= _HOT and not self._busy and before <= moment:
                self._not_before[key] = moment + _REST
                making = asyncio.get_running_loop().create_task(self._fill(key, make, before))
                self._making.add(making)
        return None

    def drop(self, scope: Scope, value: Sized) -> None:
        """Let a value go that is no longer so; making it again waits for its share of the time."""
        key = (type(value), scope)
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.value is value:
                del self._entries[key]
                self._not_before[key] = entry.rest

    async def settled(self) -> None:
        """Wait until nothing is being made."""
        if self._making:
            await asyncio.wait(self._making)

    async def close(self) -> None:
        """Stop making, and let everything go."""
        here = asyncio.get_running_loop()  # a synchronous caller's loop ends what is its own
        with self._lock:
            tasks = [task for task in self._making if task.get_loop() is here]
        await stop(*tasks)
        with self._lock:
            if self._timer is not None and self._timer[0] is here:
                self._timer[1].cancel()
                self._timer = None
            self._entries.clear()

    def release_idle(self) -> None:
        """Let go of what nobody has asked for during the idle time."""
        since = self._clock() - _IDLE
        with self._lock:
            for key in [key for key, entry in self._entries.items() if entry.used <= since]:
                del self._entries[key]

    @property
    def memory(self) -> dict[Key, int]:
        """Return bytes of each value."""
        with self._lock:
            return {key: entry.value.nbytes for key, entry in self._entries.items()}

    @property
    def _busy(self) -> bool:
        self._making = {
            task for task in self._making if not (task.done() or task.get_loop().is_closed())
        }
        return len(self._making) >= _AT_ONCE

    def _warmed(self, key: Key, moment: float) -> float:
        before = self._heat.pop(key, None)
        heat = 1.0 + (before.now(moment) if before else 0.0)
        self._heat[key] = _Heat(heat, moment)
        if len(self._heat) > _REMEMBERED:
            forgotten = next(iter(self._heat))
            del self._heat[forgotten]
            self._not_before.pop(forgotten, None)
        return heat

    async def _fill(self, key: Key, make: Make[Sized], rested: float) -> None:
        started = self._clock()
        try:
            value = await make(partial(self._has_room, key))
        except SextantError as error:
            logger.info("not kept in memory: %s", error)
            return
        except Exception:  # nobody waits for it: the question goes on without
            logger.exception("not kept in memory")
            return
        with self._lock:
            if value is None or not self._has_room(key, value.nbytes, clear=True):
                return
            moment = self._clock()
            ahead = max(rested, moment - _AT_A_STRETCH / _SHARE)
            self._entries[key] = _CacheEntry(value, moment, ahead + (moment - started) / _SHARE)
        self._watch()

    def _has_room(self, key: Key, size: int, *, clear: bool = False) -> bool:
        """Return whether a value of this size fits beside those that are asked as much.

        Args:
            key: whose value.
            size: its bytes.
            clear: let go of what is in its way, the least asked first.
        """
        with self._lock:
            moment = self._clock()
            sizes = {other: bytes_ for other, bytes_ in self.memory.items() if other != key}
            heats = {other: self._heat_of(other, moment) for other in sizes}
            least_first = sorted(sizes, key=lambda other: heats[other])
            over = sum(sizes.values()) + size - self._most
            going: list[Key] = []
            for other in least_first:
                if over <= 0 or heats[other] * _CLEARLY > self._heat_of(key, moment):
                    break
                over -= sizes[other]
                going.append(other)
            if over > 0:
                return False
            for other in going if clear else ():
                del self._entries[other]
            return True

    def _heat_of(self, key: Key, moment: float) -> float:
        heat = self._heat.get(key)
        return heat.now(moment) if heat else 0.0

    def _watch(self) -> None:
        """Look for idle values as long as there are any, by a timer of one loop."""
        loop = asyncio.get_running_loop()
        with self._lock:
            self.release_idle()
            if self._timer is not None:
                watched_loop, timer = self._timer
                if watched_loop is not loop and not watched_loop.is_closed():
                    return
                timer.cancel()
            self._timer = (loop, loop.call_later(_IDLE, self._watch)) if self._entries else None
