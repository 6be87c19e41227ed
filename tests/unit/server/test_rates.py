"""How often a key may ask."""

from __future__ import annotations

import pytest

from domain.errors import Limited
from domain.settings import QuotaSettings
from server.auth.rates import Rates

# A thousandth of a request a second: within the test's own time none comes back.
QUOTA = QuotaSettings(requests_per_second=0.001, burst=3)


async def test_a_burst_may_come_at_once_and_the_next_request_is_told_when() -> None:
    rates = Rates(QUOTA)
    for _ in range(3):
        await rates.count("key")
    with pytest.raises(Limited) as caught:
        await rates.count("key")
    told: int = caught.value.retry_after  # type: ignore[assignment]
    assert 1 <= told <= 3000


async def test_each_key_has_requests_of_its_own() -> None:
    rates = Rates(QUOTA)
    for _ in range(3):
        await rates.count("key")
    await rates.count("another")


async def test_a_refused_request_costs_nothing() -> None:
    rates = Rates(QuotaSettings(requests_per_second=1000, burst=1))
    for _ in range(1000):
        await rates.count("key")
    for _ in range(5):
        with pytest.raises(Limited):
            await rates.count("key")
