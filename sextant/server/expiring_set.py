"""A set that forgets: what was so a moment ago, and need not be found out again."""

from __future__ import annotations

import time
from collections.abc import Hashable

_SECONDS = 60.0  # for which it counts as so


class ExpiringSet:
    """Things noted not long ago; of more than `most`, those noted longest ago are forgotten."""

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._until: dict[Hashable, float] = {}

    def __contains__(self, thing: Hashable) -> bool:
        return self._until.get(thing, 0.0) > time.monotonic()

    def add(self, thing: Hashable) -> None:
        """Note a thing."""
        self._until.pop(thing, None)
        self._until[thing] = time.monotonic() + _SECONDS
        if len(self._until) > self._most:
            del self._until[next(iter(self._until))]
