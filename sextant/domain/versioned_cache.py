"""Values in memory by key, each at a version: built once for all who wait, evicted by size and idle time."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass, field
from threading import RLock
from typing import Generic, TypeVar

from sextant.domain.errors import SextantError
from sextant.domain.tasks import stop

logger = logging.getLogger(__name__)

# A request counts half after so many seconds. What is scheduled is built from the third request within a minute
# or so, and takes the place of others only if it is asked for clearly more often than they are.
_HALF_LIFE, _OFTEN, _CLEARLY = 60.0, 2.5, 2.0
# Keys whose requests are counted although nothing is kept of them.
_COUNTED = 10_000
# Seconds until what could not be built is tried again; the share of the time that building one value which keeps
# changing may take, and how many seconds of it may be taken at once.
_REST, _SHARE, _BURST = 60.0, 0.05, 1.0
# While one build waits for the database, another goes on.
_BUILDS = 2

K = TypeVar("K", bound=Hashable)
S = TypeVar("S", bound=Hashable)
V = TypeVar("V")

Fits = Callable[[float], bool]
"""Returns whether a value of this size would find room."""


@dataclass(slots=True)
class _Requests:
    """How many requests there were, those of a half-life ago counting half, and when the last one was."""

    count: float
    at: float

    def now(self, moment: float) -> float:
        return self.count * math.exp2((self.at - moment) / _HALF_LIFE)

    def add(self, moment: float) -> float:
        self.count, self.at = self.now(moment) + 1, moment
        return self.count


@dataclass(slots=True)
class _CachedValue(Generic[S, V]):
    version: S
    value: V
    size: float
    requests: _Requests
    since: float = 0.0
    rest_until: float | None = (
        None  # what was scheduled is not built again before, once it is out of date
    )


@dataclass(slots=True)
class _Build(Generic[S, V]):
    version: S
    make: Callable[[tuple[S, V] | None], Awaitable[V]]
    value: asyncio.Future[V]


@dataclass(slots=True)
class _Schedule(Generic[K]):
    """What is built in the background: requests for what is not kept, when each may be tried again, running tasks."""

    requests: OrderedDict[K, _Requests] = field(default_factory=OrderedDict[K, _Requests])
    not_before: dict[K, float] = field(default_factory=dict[K, float])
    running: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def count(self, key: K, moment: float) -> float:
        """Count a request for what is not kept; return how many there were lately."""
        requests = self.requests.setdefault(key, _Requests(0.0, moment))
        self.requests.move_to_end(key)
        if len(self.requests) > _COUNTED:
            forgotten, _ = self.requests.popitem(last=False)
            self.not_before.pop(forgotten, None)
        return requests.add(moment)

    @property
    def is_full(self) -> bool:
        self.running = {
            task for task in self.running if not (task.done() or task.get_loop().is_closed())
        }
        return len(self.running) >= _BUILDS


class VersionedCache(Generic[K, S, V]):
    """Values by key, each at the version of what it was built from.

    Whoever needs a value awaits `get`, which builds it once for all who wait; where all is too much, what was
    asked for longest ago goes. Whoever can do without asks `get_or_schedule`, which builds what is asked for
    often in the background; that takes the place of nothing but what is asked for clearly less.

    Callers may come from several threads, each with an event loop of its own.

    Args:
        most: how much is kept over all keys, as `size` counts it; 0: nothing.
        size: what a value counts: its bytes, or 1.
        idle: seconds after which a value that nobody asks for goes.
        lifetime: seconds after which a value goes, however often it is asked for.
        owner: whose share a key belongs to, where nobody may have more than `most_per_owner`.
        clock: seconds, of any origin.
    """

    def __init__(
        self,
        most: float,
        size: Callable[[V], float] = lambda _: 1,
        *,
        idle: float = math.inf,
        lifetime: float = math.inf,
        owner: Callable[[K], Hashable] | None = None,
        most_per_owner: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._size = size
        self._idle = idle
        self._lifetime = lifetime
        self._owner = owner
        self._most_per_owner = most_per_owner
        self._clock = clock
        self._lock = RLock()
        self._entries: OrderedDict[K, _CachedValue[S, V]] = OrderedDict()
        # Of each key the build that runs and the one after it. A task belongs to its event loop.
        self._builds: dict[tuple[asyncio.AbstractEventLoop, K], list[_Build[S, V]]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._schedule = _Schedule[K]()
        self._total = 0.0
        self._timer: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None

    def peek(self, key: K) -> tuple[S, V] | None:
        """Return the version and the value of `key`, of now or not, if it is kept; counts as a request."""
        moment = self._clock()
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if min(entry.requests.at + self._idle, entry.since + self._lifetime) <= moment:
                self._remove(key)
                return None
            entry.requests.add(moment)
            self._entries.move_to_end(key)
            return entry.version, entry.value

    def at(self, key: K, version: S) -> V | None:
        """Return the value of `key` at this version, if it is kept; counts as a request."""
        known = self.peek(key)
        return known[1] if known is not None and known[0] == version else None

    def put(self, key: K, version: S, value: V) -> None:
        """Keep a value; what was asked for longest ago goes, as far as there is no room."""
        if self._most <= 0 or min(self._idle, self._lifetime) <= 0:
            return
        moment = self._clock()
        with self._lock:
            before = self._remove(key)
            requests = before.requests if before else _Requests(0.0, moment)
            requests.add(moment)
            entry = _CachedValue(version, value, self._size(value), requests, moment)
            self._entries[key] = entry
            self._total += entry.size
            if self._owner is not None:
                owner = self._owner(key)
                id_ = [other for other in self._entries if self._owner(other) == owner]
                total = sum(self._entries[other].size for other in id_)
                self._evict(id_[:-1], total - self._most_per_owner)
            if self._total > self._most:
                self._evict(list(self._entries)[:-1], self._total - self._most)

    def drop(self, key: K, value: V | None = None) -> None:
        """Let go of a key's value; of this one only, where it is given."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and (value is None or entry.value is value):
                self._remove(key)
                if entry.rest_until is not None:
                    self._schedule.not_before[key] = entry.rest_until
                    self._schedule.requests[key] = entry.requests

    async def get(
        self,
        key: K,
        version: S,
        make: Callable[[tuple[S, V] | None], Awaitable[V]],
        patience: float = math.inf,
    ) -> tuple[V, bool]:
        """Return the value of `key` at `version` or later, and whether it is that and not an older one.

        An older one is returned when building takes longer than `patience` seconds. A caller that
        stops waiting does not stop the build. Of one key one build runs at a time: while a knowledge
        base is being written, every question brings another version, and builds beside each other
        would make all of them late. Those who come meanwhile share the next one, which is built
        from the first and at the newest version.

        Args:
            key: whose value.
            version: what the value must be built from.
            make: builds it, from the older one where there is one.
            patience: how long to wait while there is an older one.
        """
        known = self.peek(key)
        if known is not None and known[0] == version:
            return known[1], True
        self._watch()
        work = asyncio.shield(self._wanted(key, version, make))
        if known is None or math.isinf(patience):
            return await work, True
        try:
            return await asyncio.wait_for(work, patience), True
        except TimeoutError:
            return known[1], False

    def get_or_schedule(
        self, key: K, make: Callable[[Fits], Awaitable[tuple[S, V] | None]]
    ) -> V | None:
        """Return the value of `key`, of now or not; where there is none and it is asked for often, have it built.

        Args:
            key: whose value.
            make: builds it, with its version, or gives None where it cannot be kept; it is told how to find out
                whether there is room, so that it need not build what has none.
        """
        if self._most <= 0:
            return None
        known = self.peek(key)
        if known is not None:
            return known[1]
        moment, schedule = self._clock(), self._schedule
        with self._lock:
            before = schedule.not_before.get(key, -math.inf)
            is_often = schedule.count(key, moment) >= _OFTEN
            if is_often and before <= moment and not schedule.is_full:
                schedule.not_before[key] = moment + _REST
                task = asyncio.get_running_loop().create_task(self._fill(key, make, before))
                schedule.running.add(task)
        return None

    async def settle(self) -> None:
        """Wait until nothing is being built in the background."""
        if self._schedule.running:
            await asyncio.wait(self._schedule.running)

    async def close(self, seconds: float = 0.0) -> None:
        """Wait so long for what this loop builds for somebody; what takes longer is given up, and all values go."""
        here = asyncio.get_running_loop()
        running = [task for task in list(self._running) if task.get_loop() is here]
        if running:
            _, late = await asyncio.wait(running, timeout=seconds)
            await stop(*late)
        with self._lock:
            id_ = [task for task in self._schedule.running if task.get_loop() is here]
        await stop(*id_)
        with self._lock:
            if self._timer is not None and self._timer[0] is here:
                self._timer[1].cancel()
                self._timer = None
            self._entries.clear()
            self._total = 0.0

    def release_idle(self) -> None:
        """Let go of what nobody has asked for during the idle time."""
        since = self._clock() - self._idle
        with self._lock:
            for key in [key for key, one in self._entries.items() if one.requests.at <= since]:
                self._remove(key)

    @property
    def keys(self) -> list[K]:
        """Return whose values are kept, those asked for longest ago first."""
        with self._lock:
            return list(self._entries)

    @property
    def sizes(self) -> dict[K, float]:
        """Return what each value counts."""
        with self._lock:
            return {key: entry.size for key, entry in self._entries.items()}

    def _wanted(
        self, key: K, version: S, make: Callable[[tuple[S, V] | None], Awaitable[V]]
    ) -> asyncio.Future[V]:
        loop = asyncio.get_running_loop()
        builds = self._builds.setdefault((loop, key), [])
        for build in builds:
            if build.version == version:
                return build.value
        if len(builds) > 1:
            builds[1].version, builds[1].make = version, make
        else:
            builds.append(_Build(version, make, loop.create_future()))
        if len(builds) == 1:
            task = loop.create_task(self._run(key, builds))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return builds[-1].value

    async def _run(self, key: K, builds: list[_Build[S, V]]) -> None:
        try:
            while builds:
                build = builds[0]
                try:
                    value = await build.make(self.peek(key))
                except Exception as error:  # noqa: BLE001 - whoever waits gets it
                    build.value.set_exception(error)
                    build.value.exception()  # nobody may wait any more, which is no error of its own
                else:
                    self.put(key, build.version, value)
                    build.value.set_result(value)
                del builds[0]
        finally:
            for build in builds:  # only when the loop ends
                build.value.cancel()
            del self._builds[asyncio.get_running_loop(), key]

    async def _fill(
        self, key: K, make: Callable[[Fits], Awaitable[tuple[S, V] | None]], rested: float
    ) -> None:
        started = self._clock()
        try:
            made = await make(lambda size: self._has_room(key, size))
        except SextantError as error:
            logger.info("not kept in memory: %s", error)
            return
        except Exception:  # nobody waits for it: the question goes on without
            logger.exception("not kept in memory")
            return
        with self._lock:
            if made is None or not self._has_room(key, self._size(made[1]), clear=True):
                return
            self.put(key, *made)
            moment, entry = self._clock(), self._entries[key]
            entry.requests = self._schedule.requests.pop(key, entry.requests)
            ahead = max(rested, moment - _BURST / _SHARE)
            entry.rest_until = ahead + (moment - started) / _SHARE
        self._watch()

    def _has_room(self, key: K, size: float, *, clear: bool = False) -> bool:
        """Return whether a value of this size fits beside those that are asked for about as often.

        Args:
            key: whose value.
            size: what it counts.
            clear: let go of what is in its way, what is asked for least first.
        """
        with self._lock:
            moment = self._clock()
            id_ = self._schedule.requests.get(key)
            often = id_.now(moment) if id_ else 0.0
            rates = {other: one.requests.now(moment) for other, one in self._entries.items()}
            fewer = [one for one in rates if one != key and rates[one] * _CLEARLY <= often]
            over = self._total + size - self._most
            if sum(self._entries[other].size for other in fewer) < over:
                return False
            if clear:
                self._evict(sorted(fewer, key=rates.__getitem__), over)
            return True

    def _evict(self, keys: Iterable[K], over: float) -> None:
        """Let go of keys in order until so much is gone."""
        for key in keys:
            if over <= 0:
                return
            entry = self._remove(key)
            over -= entry.size if entry is not None else 0

    def _remove(self, key: K) -> _CachedValue[S, V] | None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._total -= entry.size
        return entry

    def _watch(self) -> None:
        """See to it that somebody looks for idle values: a timer of the loop that is running."""
        loop = asyncio.get_running_loop()
        if math.isinf(self._idle) or (self._timer and not self._timer[0].is_closed()):
            return
        self._timer = loop, loop.call_later(self._idle, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self.release_idle()
        self._timer = None
        with self._lock:
            oldest = min((one.requests.at for one in self._entries.values()), default=None)
        if oldest is not None:
            wait = max(0.0, oldest + self._idle - self._clock())
            self._timer = loop, loop.call_later(wait, self._look, loop)
