"""What age leaves of a score."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sextant.retrievers.ranking.result_ranker import age_in_days, time_decay


def test_a_score_halves_with_every_half_life() -> None:
    assert time_decay(0, 30) == 1.0
    assert time_decay(30, 30) == 0.5
    assert time_decay(90, 30) == 0.125
    assert time_decay(15, 30) == pytest.approx(0.7071067811865476)
    assert time_decay(-5, 30) == 1.0


def test_age_knows_time_zones() -> None:
    noon = datetime(2026, 3, 2, 12, tzinfo=UTC)
    assert age_in_days(noon - timedelta(days=2), noon) == 2.0
    assert age_in_days(datetime(2026, 3, 1, 12), noon) == 1.0  # noqa: DTZ001 - a time without zone
    in_shanghai = datetime(2026, 3, 2, 8, tzinfo=timezone(timedelta(hours=8)))
    assert age_in_days(in_shanghai, noon) == 0.5
