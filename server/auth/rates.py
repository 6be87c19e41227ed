"""How often one key may ask: a moving window, counted in this process."""

from __future__ import annotations

import math
import time

from limits import RateLimitItemPerSecond
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from domain.errors import Limited
from domain.settings import QuotaSettings


class Rates:
    """Requests by caller: `burst` at once, `requests_per_second` in the long run.

    A moving window counts what came within the last seconds, so no clock boundary lets a caller have
    two bursts in a row, as fixed windows do.
    """

    def __init__(self, quota: QuotaSettings) -> None:
        window = max(1, math.ceil(quota.burst / quota.requests_per_second))
        # Where the window is longer than the burst needs, the rate in the long run decides.
        requests = max(1, math.floor(window * quota.requests_per_second))
        self._most = RateLimitItemPerSecond(requests, window)
        self._windows = MovingWindowRateLimiter(MemoryStorage())

    async def count(self, caller: str) -> None:
        """Count one request.

        Raises:
            Limited: the caller has had all it may have for now; carries when to come again.
        """
        if await self._windows.hit(self._most, caller):
            return
        room_at, _ = await self._windows.get_window_stats(self._most, caller)
        seconds = max(1, math.ceil(room_at - time.time()))
        raise Limited(
            f"More than {self._most.amount} requests in {self._most.get_expiry()} s came with this key.",
            next_step="Ask again in a moment; Retry-After says when.",
            retry_after=seconds,
        )
