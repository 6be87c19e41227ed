"""Rankings of the last minutes, kept for those who ask the same again or want the next page."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from threading import RLock
from typing import Generic, TypeVar

Ranking = TypeVar("Ranking")


@dataclass(frozen=True, slots=True)
class CachedRanking(Generic[Ranking]):
    """A ranking, the stamp of the graph that it was taken from, and when."""

    ranking: Ranking
    stamp: str
    taken_at: datetime
    until: float


class HotRankings(Generic[Ranking]):
    """Rankings by user and search, for a few minutes and a bounded number.

    Asked for the same search, it gives a ranking only while the graph's stamp is what it was, so a
    write is never missed; asked for the next page, the ranking that the page before came from. No
    user takes more than their share, and the least recently used go first.

    Args:
        seconds: how long a ranking is kept (seed 001: five minutes); 0 keeps none.
        entries: rankings in all.
        per_user: rankings of one user.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        seconds: float,
        entries: int,
        per_user: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds, self._entries, self._per_user = seconds, entries, per_user
        self._clock = clock
        self._lock = RLock()  # a synchronous caller brings a thread of its own
        self._kept: OrderedDict[tuple[str, bytes, datetime], CachedRanking[Ranking]] = OrderedDict()
        self._latest: dict[tuple[str, bytes], datetime] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def latest(self, user_id: str, search: bytes, stamp: str) -> CachedRanking[Ranking] | None:
        """Return the ranking of a search, if nothing was written since."""
        with self._lock:
            taken_at = self._latest.get((user_id, search))
            found = taken_at and self.of(user_id, search, taken_at)
            return found if found and found.stamp == stamp else None

    def of(self, user_id: str, search: bytes, taken_at: datetime) -> CachedRanking[Ranking] | None:
        """Return the ranking of a search that was taken at that moment."""
        key = (user_id, search, taken_at)
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            if found.until <= self._clock():
                self._drop(key)
                return None
            self._kept.move_to_end(key)
            return found

    def keep(
        self, user_id: str, search: bytes, ranking: Ranking, stamp: str, taken_at: datetime
    ) -> None:
        """Keep a ranking that was taken at that moment."""
        if not (self._seconds > 0 and self._entries and self._per_user):
            return
        key = (user_id, search, taken_at)
        with self._lock:
            self._kept[key] = CachedRanking(ranking, stamp, taken_at, self._clock() + self._seconds)
            self._kept.move_to_end(key)
            self._latest[key[:2]] = taken_at
            own = [one for one in self._kept if one[0] == user_id]
            for old in own[: -self._per_user]:
                self._drop(old)
            while len(self._kept) > self._entries:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[str, bytes, datetime]) -> None:
        del self._kept[key]
        if self._latest.get(key[:2]) == key[2]:
            del self._latest[key[:2]]
