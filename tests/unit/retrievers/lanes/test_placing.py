"""Which passages contend, and where they rank."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sextant.retrievers.lanes.graph_lanes import better_of_few, better_of_many, contending
from sextant.retrievers.ranking.mix_ranker import GraphRanking


@given(st.lists(st.integers(0, 9), max_size=40), st.lists(st.integers(0, 9), max_size=5))
def test_as_many_are_better_whether_they_are_sorted_or_counted(
    scores: list[int], own: list[int]
) -> None:
    among, asked = np.array(scores, np.float32), np.array(own, np.float32)
    expected = [sum(score > one for score in scores) for one in own]
    assert better_of_few(among, asked) == expected
    assert better_of_many(among, asked) == expected


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=30),
    st.integers(1, 12),
    st.integers(0, 20),
    st.integers(0, 3),
)
def test_the_same_passages_contend_whether_it_is_known_which_of_them_lead_or_not(
    masses: list[int], count: int, rest: int, beside: int
) -> None:
    mass = np.array(masses, np.float32)
    none = np.empty(0, np.float32)
    leading = np.flatnonzero((mass > rest) | (np.arange(len(mass)) % 2 == 0))
    told = GraphRanking(mass, none, none, leading=leading, rest=float(rest))
    rows = contending(told, count, beside, None)
    least = np.sort(mass)[::-1][:count].min() - beside
    assert set(np.flatnonzero(mass >= least)) <= set(rows.tolist())
    assert (np.diff(rows) > 0).all()
