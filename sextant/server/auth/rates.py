"""How often one caller may ask, counted in this process."""

from __future__ import annotations

import math
import time
from collections import OrderedDict

from sextant.domain.errors import Limited

# Callers remembered, 0.2 KB each; one is forgotten as soon as it has its whole burst again.
_MOST = 50_000


class Rates:
    """Requests by caller: `burst` at once, `per_second` in the long run.

    The generic cell rate algorithm (ITU-T I.371, ATM Forum TM 4.0): of each caller one moment is kept,
    that at which it has its whole burst again. Each request moves it by `1 / per_second`.

    Args:
        per_second: requests in the long run.
        burst: requests at once.
        what: is told to whoever has had too many.
    """

    def __init__(self, per_second: float, burst: int, what: str) -> None:
        self._gap = 1 / per_second
        self._tolerance = self._gap * (burst - 1)
        self._said = f"{what}: more than {burst} at once, or {per_second:g} a second."
        # The one counted longest ago comes first.
        self._whole_at: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        """Return callers that do not have their whole burst."""
        return len(self._whole_at)

    def count(self, caller: str) -> None:
        """Count one request.

        Raises:
            Limited: the caller has had all it may have for now; carries when to come again.
        """
        now = time.monotonic()
        whole_at = max(self._whole_at.get(caller, now), now)
        wait = whole_at - now - self._tolerance
        if wait > 0:
            raise Limited(
                self._said,
                next_step="Ask again in a moment; Retry-After says when.",
                retry_after=math.ceil(wait),
            )
        self._whole_at[caller] = whole_at + self._gap
        self._whole_at.move_to_end(caller)
        self._forget(now)

    def give_back(self, caller: str) -> None:
        """Take one request of a caller as not counted."""
        if caller in self._whole_at:
            self._whole_at[caller] -= self._gap

    def _forget(self, now: float) -> None:
        """Two are looked at for one that came, so what is over goes soon, and no call takes long."""
        for _ in range(2):
            oldest = next(iter(self._whole_at))
            if self._whole_at[oldest] <= now or len(self._whole_at) > _MOST:
                del self._whole_at[oldest]
            else:
                self._whole_at.move_to_end(oldest)
