"""Scores of different scales brought to 0..1, and vectors to length 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sextant.retrievers.arrays import min_max, scale_scores, unit

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def test_min_max_maps_the_lowest_to_0_and_the_highest_to_1() -> None:
    assert min_max([3.0, 1.0, 2.0]).tolist() == [1.0, 0.0, 0.5]
    assert min_max([0.9, 0.8, 0.6]).tolist() == pytest.approx([1.0, 2 / 3, 0.0])


def test_scores_that_are_all_equal_become_1() -> None:
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


def test_scores_lie_between_the_floor_and_the_best() -> None:
    assert scale_scores(np.array([2, 4, 6], np.float32), 2).tolist() == [0, 0.5, 1]
    assert scale_scores(np.array([1, 1], np.float32), 1).tolist() == [0, 0]


@given(
    arrays(np.float32, st.integers(0, 12), elements=st.floats(-5, 5, width=32)), st.floats(-5, 5)
)
def test_scaling_keeps_the_order_and_the_range(scores: np.ndarray, floor: float) -> None:
    out = scale_scores(scores, floor)
    assert ((out >= 0) & (out <= 1)).all()
    order = np.argsort(scores)
    assert (np.diff(out[order]) >= 0).all()
