"""The highest of scores, as sorting all of them would tell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sextant.retrievers.numeric.arrays import among_highest, highest, leading, near_highest

_SCORES = arrays(np.float32, st.integers(0, 12), elements=st.floats(-5, 5, width=32))


def _best_first(scores: np.ndarray, count: int) -> list[int]:
    rows: list[int] = np.argsort(-scores, kind="stable")[:count].tolist()
    return rows


@given(_SCORES, st.integers(0, 14))
def test_of_equal_scores_the_first_rows_are_the_highest(scores: np.ndarray, count: int) -> None:
    assert highest(scores, count).tolist() == _best_first(scores, count)
    assert among_highest(scores, count).tolist() == sorted(_best_first(scores, count))


@pytest.mark.parametrize("values", [20_000, 3], ids=["all different", "nearly all equal"])
@pytest.mark.parametrize("count", [1, 40, 900])
def test_of_many_scores_the_same_are_found_without_sorting_all(values: int, count: int) -> None:
    scores = np.random.default_rng(3).integers(0, values, 20_000).astype(np.float32)
    assert highest(scores, count).tolist() == _best_first(scores, count)
    assert among_highest(scores, count).tolist() == sorted(_best_first(scores, count))
    assert set(_best_first(scores, count)) <= set(leading(scores, count).tolist())


@given(_SCORES, st.integers(0, 14), st.floats(0, 3))
def test_what_is_near_the_highest_holds_them_and_all_that_is_so_near(
    scores: np.ndarray, count: int, margin: float
) -> None:
    rows = near_highest(scores, count, margin)
    best = highest(scores, count)
    least = scores[best].min(initial=np.inf) - np.float32(margin)
    assert set(np.flatnonzero(scores >= least)) <= set(rows)
    assert (np.diff(rows) > 0).all()
