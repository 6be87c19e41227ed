"""A cache of versioned values: each is built once for all who wait, and evicted by size, age and idle time."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass
from threading import RLock
from typing import Generic, TypeVar

from sextant.domain.concurrency import stop

K = TypeVar("K", bound=Hashable)
S = TypeVar("S", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True)
class _CachedValue(Generic[S, V]):
    version: S
    value: V
    size: float
    since: float
    used: float


@dataclass(slots=True)
class _Build(Generic[S, V]):
    version: S
    make: Callable[[tuple[S, V] | None], Awaitable[V]]
    value: asyncio.Future[V]


class VersionedCache(Generic[K, S, V]):
    """Values by key, each at the version of its source.

    `get` builds a missing value once for all callers that wait for it. When the cache is full, the least recently
    used values are evicted. Callers may come from several threads, each with its own event loop.

    Args:
        most: total size of all values; 0: nothing is cached.
        size: returns the size of a value, such as its bytes; by default 1.
        idle: seconds without a request after which a value is evicted.
        lifetime: seconds after which a value is evicted in any case.
        owner: returns the owner of a key, for `most_per_owner`.
        most_per_owner: total size of one owner's values.
        clock: seconds, from any origin.
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
        # By key: the build that runs, and the one that follows it. A task belongs to its event loop.
        self._builds: dict[tuple[asyncio.AbstractEventLoop, K], list[_Build[S, V]]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._total = 0.0
        self._timer: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None

    def peek(self, key: K) -> tuple[S, V] | None:
        """Return the cached version and value of `key`, current or not; counts as a request."""
        moment = self._clock()
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if min(entry.used + self._idle, entry.since + self._lifetime) <= moment:
                self._remove(key)
                return None
            entry.used = moment
            self._entries.move_to_end(key)
            return entry.version, entry.value

    def at(self, key: K, version: S) -> V | None:
        """Return the value of `key` if it is cached at this version; counts as a request."""
        known = self.peek(key)
        return known[1] if known is not None and known[0] == version else None

    def put(self, key: K, version: S, value: V) -> None:
        """Cache a value, and evict the least recently used ones where there is no room."""
        if self._most <= 0 or min(self._idle, self._lifetime) <= 0:
            return
        moment = self._clock()
        with self._lock:
            self._remove(key)
            entry = _CachedValue(version, value, self._size(value), moment, moment)
            self._entries[key] = entry
            self._total += entry.size
            if self._owner is not None:
                owner = self._owner(key)
                keys = [other for other in self._entries if self._owner(other) == owner]
                total = sum(self._entries[other].size for other in keys)
                self._evict(keys[:-1], total - self._most_per_owner)
            if self._total > self._most:
                self._evict(list(self._entries)[:-1], self._total - self._most)

    def drop(self, key: K) -> None:
        """Evict the value of a key."""
        with self._lock:
            self._remove(key)

    async def get(
        self,
        key: K,
        version: S,
        make: Callable[[tuple[S, V] | None], Awaitable[V]],
        patience: float = math.inf,
    ) -> tuple[V, bool]:
        """Return the value of `key`, and whether it is at `version` or later.

        An older value is returned when building takes longer than `patience` seconds. A caller that stops waiting
        does not stop the build. One build of a key runs at a time, because a knowledge base that is being written
        has another version for every question, and parallel builds would delay each other. Callers that come
        meanwhile share the next build, at the newest version.

        Args:
            key: of the value.
            version: of the value's source.
            make: builds the value, from the older one if there is one.
            patience: seconds to wait where an older value is cached.
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

    async def close(self) -> None:
        """Stop the builds of this event loop, and evict all values."""
        here = asyncio.get_running_loop()
        await stop(*(task for task in list(self._running) if task.get_loop() is here))
        with self._lock:
            if self._timer is not None and self._timer[0] is here:
                self._timer[1].cancel()
                self._timer = None
            self._entries.clear()
            self._total = 0.0

    def release_idle(self) -> None:
        """Evict the values without a request during the idle time."""
        since = self._clock() - self._idle
        with self._lock:
            for key in [key for key, one in self._entries.items() if one.used <= since]:
                self._remove(key)

    @property
    def keys(self) -> list[K]:
        """Return the cached keys, the least recently used first."""
        with self._lock:
            return list(self._entries)

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
                except Exception as error:  # noqa: BLE001 - raised to all that wait
                    build.value.set_exception(error)
                    build.value.exception()  # perhaps nobody waits any more
                else:
                    self.put(key, build.version, value)
                    build.value.set_result(value)
                del builds[0]
        finally:
            for build in builds:  # only when the loop ends
                build.value.cancel()
            del self._builds[asyncio.get_running_loop(), key]

    def _evict(self, keys: Iterable[K], over: float) -> None:
        """Evict keys in order until `over` is freed."""
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
        """Start the timer that evicts idle values, on the running loop."""
        loop = asyncio.get_running_loop()
        if math.isinf(self._idle) or (self._timer and not self._timer[0].is_closed()):
            return
        self._timer = loop, loop.call_later(self._idle, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self.release_idle()
        self._timer = None
        with self._lock:
            oldest = min((one.used for one in self._entries.values()), default=None)
        if oldest is not None:
            wait = max(0.0, oldest + self._idle - self._clock())
            self._timer = loop, loop.call_later(wait, self._look, loop)
