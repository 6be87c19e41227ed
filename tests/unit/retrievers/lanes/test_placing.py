"""Ranks among many scores and among few are the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retrievers.lanes.placing import better_of_few, better_of_many


@given(st.lists(st.integers(0, 9), max_size=40), st.lists(st.integers(0, 9), max_size=5))
def test_as_many_are_better_whether_they_are_sorted_or_counted(
    scores: list[int], own: list[int]
) -> None:
    among, asked = np.array(scores, np.float32), np.array(own, np.float32)
    expected = [sum(score > one for score in scores) for one in own]
    assert better_of_few(among, asked) == expected
    assert better_of_many(among, asked) == expected
