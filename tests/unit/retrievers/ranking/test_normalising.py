"""Scores of different scales brought to 0..1, vectors to length 1, and what age leaves of a score."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrievers.ranking.decay import age_in_days, time_decay
from retrievers.ranking.normalising import min_max, unit

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def test_min_max_maps_the_lowest_to_0_and_the_highest_to_1() -> None:
    """Seed 001, 归一化: (score - min) / (max - min)."""
    assert min_max([3.0, 1.0, 2.0]).tolist() == [1.0, 0.0, 0.5]
    assert min_max([0.9, 0.8, 0.6]).tolist() == pytest.approx([1.0, 2 / 3, 0.0])


def test_scores_that_are_all_equal_become_1() -> None:
    """Seed 001, 归一化: `if max_score == min_score`, all are 1.0."""
    assert min_max([0.4, 0.4]).tolist() == [1.0, 1.0]
    assert min_max([-7.0]).tolist() == [1.0]
    assert min_max([]).tolist() == []


@given(st.lists(FINITE, min_size=1))
@example([0.0, 5e-324])
@example([-1.7e308, 1.7e308])
def test_min_max_stays_within_0_and_1_and_keeps_the_order(scores: list[float]) -> None:
    shares = min_max(scores)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert shares.max() == 1.0
    order = np.argsort(scores, kind="stable")
    assert (np.diff(shares[order]) >= 0).all()


def test_vectors_get_length_1_and_none_is_divided_by_0() -> None:
    found = unit(np.asarray([[3, 4], [0, 0]], np.float32))
    assert found.dtype == np.float32
    assert found.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0.0, 0.0]]
    assert unit(np.asarray([0.0, 2.0])).tolist() == [0.0, 1.0]


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
