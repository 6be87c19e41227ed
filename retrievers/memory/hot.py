"""The knowledge bases that are searched often, in memory; PostgreSQL stays the truth.

A search goes by what is in memory and asks for the scope's stamp together with the texts of what it
found, so being sure costs no trip of its own; had something changed, it is done again in PostgreSQL,
which answers until the scope has been packed anew.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from domain.errors import SextantError
from domain.scope import Scope
from models.protocols import Vectors
from retrievers.memory.packed import PackedScope, Packing
from retrievers.memory.trimming import give_back
from stores.binary import Nearest
from stores.chunks import ChunkStore
from stores.database import Database
from stores.packing import Unpacked, stamp_of_chunks, unpacked

logger = logging.getLogger(__name__)

# A scope is worth packing from the third search within a minute or so.
_HALF_LIFE, _HOT, _REMEMBERED = 60.0, 2.5, 10_000
# One that asks as often as those that would have to go for it does not push them out.
_CLEARLY = 2.0
_IDLE = 600.0
# Seconds until a scope that could not be kept is looked at again, and the share of the time that
# packing one which keeps changing may take.
_REST, _SHARE = 60.0, 0.05
# Compared in a thread from so many vectors on: 1.7 ms. The way to a thread and back takes 0.1 to 0.3.
_MANY = 20_000
# Bytes a chunk and times its text: row, text, and two bytes for each gram (docs/performance.md).
_EACH, _TIMES = 150, 2


@dataclass(slots=True)
class _Heat:
    """How many searches there were, those of a half-life ago counting half."""

    searches: float
    at: float

    def now(self, moment: float) -> float:
        return self.searches * math.exp2((self.at - moment) / _HALF_LIFE)


@dataclass(slots=True)
class _Entry:
    packed: PackedScope
    used: float
    seconds: float


class HotScopes:
    """The scopes searched most, as far as `retrieval.hot_memory` goes.

    Packing happens in slices in a thread, one scope at a time, and nobody waits for it.

    Args:
        database: where they are.
        clock: seconds, of any origin.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._chunks = ChunkStore(database)
        self._most = database.settings.retrieval.hot_memory
        self._clock = clock
        self._entries: dict[Scope, _Entry] = {}
        self._heat: dict[Scope, _Heat] = {}
        self._not_before: dict[Scope, float] = {}
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def of(self, scope: Scope) -> HotScope | None:
        """The scope in memory as it was packed, to be asked if it `is_current`; counts as a search."""
        if not self._most:
            return None
        moment = self._clock()
        heat = self._warmed(scope, moment)
        entry = self._entries.get(scope)
        if entry is not None:
            entry.used = moment
            return HotScope(scope, entry.packed, self, self._chunks)
        if heat >= _HOT and not self._busy and self._not_before.get(scope, -math.inf) <= moment:
            self._task = asyncio.get_running_loop().create_task(self._pack(scope))
        return None

    async def is_current(self, scope: Scope, packed: PackedScope) -> bool:
        """Whether nothing has changed since it was packed; what has is let go."""
        if await stamp_of_chunks(self._database, scope) == packed.stamp:
            return True
        entry = self._entries.get(scope)
        if entry is not None and entry.packed is packed:
            del self._entries[scope]
            self._not_before[scope] = self._clock() + entry.seconds / _SHARE
        return False

    async def settled(self) -> None:
        """Wait until nothing is being packed."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        """Stop packing, and let everything go."""
        here = asyncio.get_running_loop()  # a synchronous caller's loop ends what is its own
        if self._task is not None and self._task.get_loop() is here:
            self._task.cancel()
            await asyncio.wait({self._task})
        if self._timer is not None:
            self._timer.cancel()
        self._entries.clear()

    def release_idle(self) -> None:
        """Let go of what nobody has asked for during the idle time."""
        since = self._clock() - _IDLE
        for scope in [scope for scope, entry in self._entries.items() if entry.used <= since]:
            del self._entries[scope]

    @property
    def memory(self) -> dict[Scope, int]:
        """Bytes of each scope in memory."""
        return {scope: entry.packed.nbytes for scope, entry in self._entries.items()}

    @property
    def _busy(self) -> bool:
        return self._task is not None and not (
            self._task.done() or self._task.get_loop().is_closed()
        )

    def _warmed(self, scope: Scope, moment: float) -> float:
        before = self._heat.pop(scope, None)
        heat = 1.0 + (before.now(moment) if before else 0.0)
        self._heat[scope] = _Heat(heat, moment)
        if len(self._heat) > _REMEMBERED:
            forgotten = next(iter(self._heat))
            del self._heat[forgotten]
            self._not_before.pop(forgotten, None)
        return heat

    async def _pack(self, scope: Scope) -> None:
        started = self._clock()
        self._not_before[scope] = started + _REST
        try:
            packed = await self._read(scope)
        except SextantError as error:
            logger.info("not kept in memory: %s", error)
            return
        if packed is None or not self._has_room(scope, packed.nbytes, clear=True):
            return
        moment = self._clock()
        self._entries[scope] = _Entry(packed, moment, moment - started)
        self._watch()

    async def _read(self, scope: Scope) -> PackedScope | None:
        async with unpacked(self._database, scope) as found:
            if found is None or not found.complete or not found.chunks:
                return None
            if not self._has_room(scope, _estimate(found)):
                return None
            packing = Packing(found.stamp, found.chunks)
            async for block in found.blocks():
                await asyncio.to_thread(packing.add, block)
        packed = await asyncio.to_thread(packing.packed)
        del packing, block
        await asyncio.to_thread(give_back)
        return packed

    def _has_room(self, scope: Scope, size: int, *, clear: bool = False) -> bool:
        """Whether a scope of this size fits beside those that are searched as much.

        Args:
            scope: which.
            size: its bytes.
            clear: let go of what is in its way, the least searched first.
        """
        moment = self._clock()
        sizes = {other: bytes_ for other, bytes_ in self.memory.items() if other != scope}
        heats = {other: self._heat_of(other, moment) for other in sizes}
        going = sorted(sizes, key=lambda other: heats[other])
        going = [one for one in going if heats[one] * _CLEARLY <= self._heat_of(scope, moment)]
        over = sum(sizes.values()) + size - self._most
        for other in going:
            if over <= 0:
                break
            over -= sizes[other]
            if clear:
                del self._entries[other]
        return over <= 0

    def _heat_of(self, scope: Scope, moment: float) -> float:
        heat = self._heat.get(scope)
        return heat.now(moment) if heat else 0.0

    def _watch(self) -> None:
        """Look for idle scopes as long as there are any."""
        self.release_idle()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._entries:
            self._timer = asyncio.get_running_loop().call_later(_IDLE, self._watch)


@dataclass(frozen=True, slots=True)
class HotScope:
    """A scope in memory, searched as a `ChunkStore` is.

    Whoever searches it must see to it that it `is_current` afterwards, and else search the store.
    """

    scope: Scope
    packed: PackedScope
    scopes: HotScopes
    chunks: ChunkStore

    async def nearest(self, scope: Scope, vector: Vectors, k: int) -> Nearest:
        """As `ChunkStore.nearest`, exact in scopes of every size."""
        if scope != self.scope or not self.packed.fits(vector):
            return await self.chunks.nearest(scope, vector, k)
        if len(self.packed.ids) < _MANY:
            return self.packed.nearest(vector, k)
        return await asyncio.to_thread(self.packed.nearest, vector, k)

    async def holding(self, scope: Scope, keywords: Sequence[str], k: int) -> Nearest:
        """As `ChunkStore.holding`."""
        if scope != self.scope:
            return await self.chunks.holding(scope, keywords, k)
        return self.packed.holding(keywords, k)

    async def is_current(self) -> bool:
        """Whether nothing of the scope has changed since it was packed; one round trip."""
        return await self.scopes.is_current(self.scope, self.packed)


def _estimate(found: Unpacked) -> int:
    return found.chunks * (found.vector_octets + _EACH) + found.octets * _TIMES
