"""The highest of scores, as sorting all of them would tell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sextant.retrievers.arrays import among_highest, highest

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
