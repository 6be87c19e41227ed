"""How often a caller may ask."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sextant.domain.errors import Limited
from sextant.server.auth import authenticator as module
from sextant.server.auth.authenticator import Rates
from tests.clock import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(1000.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=clock))
    return clock


def test_a_burst_may_come_at_once_and_the_next_request_is_told_when(clock: Clock) -> None:
    rates = Rates(0.1, 3, "Too many")
    for _ in range(3):
        rates.count("key")
    with pytest.raises(Limited, match="Too many: more than 3 at once") as caught:
        rates.count("key")
    assert caught.value.retry_after == 10
    clock.now += 10
    rates.count("key")


def test_in_the_long_run_the_rate_decides_whatever_the_burst(clock: Clock) -> None:
    """Fixed windows would let two bursts come in a row."""
    rates, taken = Rates(2.0, 10, "Too many"), 0
    for _ in range(1000):
        clock.now += 0.1
        try:
            rates.count("key")
        except Limited:
            continue
        taken += 1
    assert taken == pytest.approx(2.0 * 100 + 10, abs=1)


def test_each_caller_has_requests_of_its_own(clock: Clock) -> None:
    rates = Rates(0.001, 3, "Too many")
    for _ in range(3):
        rates.count("key")
    rates.count("another")


def test_a_refused_request_costs_nothing_and_one_may_be_given_back(clock: Clock) -> None:
    rates = Rates(1.0, 1, "Too many")
    rates.count("key")
    for _ in range(5):
        with pytest.raises(Limited):
            rates.count("key")
    rates.give_back("key")
    rates.count("key")
    clock.now += 1
    rates.count("key")


def test_callers_are_forgotten_when_they_have_their_whole_burst_again(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST", 100)
    rates = Rates(1.0, 5, "Too many")
    for number in range(1000):
        rates.count(f"key {number}")
    assert len(rates) <= 100
    clock.now += 60
    for _ in range(200):
        rates.count("the only one")
        clock.now += 1
    assert len(rates) == 1
