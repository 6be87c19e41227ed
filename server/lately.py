"""What was so a moment ago, and need not be found out again."""

from __future__ import annotations

import time
from collections.abc import Hashable


class Lately:
    """Things noted not long ago.

    Args:
        seconds: how long a thing counts.
        most: things remembered.
    """

    def __init__(self, seconds: float = 60.0, most: int = 10_000) -> None:
        self._seconds, self._most = seconds, most
        self._until: dict[Hashable, float] = {}

    def __contains__(self, thing: Hashable) -> bool:
        return self._until.get(thing, 0.0) > time.monotonic()

    def add(self, thing: Hashable) -> None:
        """Note a thing; of too many, the one noted longest ago is forgotten."""
        self._until.pop(thing, None)
        self._until[thing] = time.monotonic() + self._seconds
        if len(self._until) > self._most:
            del self._until[next(iter(self._until))]
