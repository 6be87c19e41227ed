"""Indexes in memory: built when asked for, once for all who wait, let go when idle or too many."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from threading import RLock
from typing import Generic, TypeVar

from sextant.domain.tasks import stop

K = TypeVar("K", bound=Hashable)
S = TypeVar("S", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True)
class _CachedValue(Generic[S, V]):
    stamp: S
    value: V
    used: float


@dataclass(slots=True)
class _Build(Generic[S, V]):
    stamp: S
    make: Callable[[tuple[S, V] | None], Awaitable[V]]
    value: asyncio.Future[V]


class VersionedCache(Generic[K, S, V]):
    """Values by key, each with the stamp of what it was built from.

    Args:
        most: how much is kept over all keys, as `size` counts it; the values asked longest ago go
            first, the last one asked never.
        size: what a value counts.
        idle: seconds after which a value that nobody asks for goes.
        clock: seconds, of any origin.
    """

    def __init__(
        self,
        most: float,
        size: Callable[[V], float],
        *,
        idle: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._size = size
        self._idle = idle
        self._clock = clock
        # A synchronous caller brings a thread and an event loop of its own.
        self._entries: OrderedDict[K, _CachedValue[S, V]] = OrderedDict()
        self._lock = RLock()
        # Of each key the build that runs and the one after it. A task belongs to its event loop.
        self._builds: dict[tuple[asyncio.AbstractEventLoop, K], list[_Build[S, V]]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._timer: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None

    async def get(
        self,
        key: K,
        stamp: S,
        make: Callable[[tuple[S, V] | None], Awaitable[V]],
        patience: float = math.inf,
    ) -> tuple[V, bool]:
        """Return the value of `key` at `stamp` or later, and whether it is that and not an older one.

        An older one is returned when building takes longer than `patience` seconds. A caller that
        stops waiting does not stop the build. Of one key one build runs at a time: while a knowledge
        base is being written, every question brings another stamp, and builds beside each other
        would make all of them late. Those who come meanwhile share the next one, which is built
        from the first and at the newest stamp.

        Args:
            key: whose value.
            stamp: what the value must be built from.
            make: builds it, from the older one where there is one.
            patience: how long to wait while there is an older one.
        """
        self._watch()
        known = self.peek(key)
        if known is not None and known[0] == stamp:
            return known[1], True
        work = asyncio.shield(self._wanted(key, stamp, make))
        if known is None or math.isinf(patience):
            return await work, True
        try:
            return await asyncio.wait_for(work, patience), True
        except TimeoutError:
            return known[1], False

    def peek(self, key: K) -> tuple[S, V] | None:
        """Return what is there of `key`, of now or not, and its stamp; counts as asking for it."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            entry.used = self._clock()
            self._entries.move_to_end(key)
            return entry.stamp, entry.value

    def _wanted(
        self, key: K, stamp: S, make: Callable[[tuple[S, V] | None], Awaitable[V]]
    ) -> asyncio.Future[V]:
        loop = asyncio.get_running_loop()
        builds = self._builds.setdefault((loop, key), [])
        for build in builds:
            if build.stamp == stamp:
                return build.value
        if len(builds) > 1:
            builds[1].stamp, builds[1].make = stamp, make
        else:
            builds.append(_Build(stamp, make, loop.create_future()))
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
                    self._keep(key, build.stamp, value)
                    build.value.set_result(value)
                del builds[0]
        finally:
            for build in builds:  # only when the loop ends
                build.value.cancel()
            del self._builds[asyncio.get_running_loop(), key]

    async def end(self, seconds: float) -> None:
        """Wait so long for what this loop builds; what takes longer is given up."""
        here = asyncio.get_running_loop()
        running = [task for task in list(self._running) if task.get_loop() is here]
        if running:
            _, late = await asyncio.wait(running, timeout=seconds)
            await stop(*late)

    def _keep(self, key: K, stamp: S, value: V) -> None:
        with self._lock:
            self._entries[key] = _CachedValue(stamp, value, self._clock())
            self._entries.move_to_end(key)
            self._shrink()

    def _shrink(self) -> None:
        sizes = {key: self._size(entry.value) for key, entry in self._entries.items()}
        total = sum(sizes.values())
        for key, size in list(sizes.items())[:-1]:
            if total <= self._most:
                return
            total -= size
            del self._entries[key]

    def release_idle(self) -> None:
        """Let go of what nobody has asked for during the idle time."""
        since = self._clock() - self._idle
        with self._lock:
            for key in [key for key, entry in self._entries.items() if entry.used <= since]:
                del self._entries[key]

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
            oldest = min((entry.used for entry in self._entries.values()), default=None)
        if oldest is not None:
            wait = max(0.0, oldest + self._idle - self._clock())
            self._timer = loop, loop.call_later(wait, self._look, loop)

    @property
    def keys(self) -> list[K]:
        """Return whose values are there, those asked longest ago first."""
        with self._lock:
            return list(self._entries)
