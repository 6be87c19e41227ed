"""When a failed model call is repeated."""

from __future__ import annotations

import asyncio
import logging
import random
from dataclasses import dataclass
from typing import ClassVar

from sextant.models.failures import Service, as_sextant_error, is_transient, retry_after

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how patiently a failed call is repeated.

    Waits double from `first_wait` seconds up to `longest_wait` with full jitter (Brooker,
    "Exponential Backoff and Jitter", 2015), or last exactly as long as the endpoint's Retry-After
    says. An endpoint that asks for more than `longest_wait` is not waited for.
    """

    # Of the time that one call has, what a wait for the next may take.
    share: ClassVar[float] = 1 / 3

    limit: int = 2
    first_wait: float = 0.5
    longest_wait: float = 20.0

    @classmethod
    def of(cls, limit: int, timeout: float) -> Retries:
        """Return retries of calls that have so many seconds each."""
        return cls(limit, longest_wait=timeout * cls.share)

    async def pause(self, error: Exception, attempt: int, service: Service) -> None:
        """Wait before the next try after failed try number `attempt` (from 0).

        Raises:
            SextantError: the typed form of `error`, when another try is not worth making.
        """
        wait = self.wait(error, attempt)
        if wait is None:
            raise as_sextant_error(error, service) from error
        _log.warning("%s: %s; trying again in %.1f s", service.label, type(error).__name__, wait)
        await asyncio.sleep(wait)

    def wait(self, error: Exception, attempt: int) -> float | None:
        """Return seconds to wait before the next try, or None to give up."""
        if attempt >= self.limit or not is_transient(error):
            return None
        requested = retry_after(error)
        if requested is not None:
            return requested if requested <= self.longest_wait else None
        ceiling = min(self.longest_wait, self.first_wait * 2**attempt)
        return random.uniform(0, ceiling)  # noqa: S311 - jitter, not a secret
