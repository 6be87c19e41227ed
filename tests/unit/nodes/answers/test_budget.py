"""Sharing out a prompt's tokens: by need, to the last one, and nothing cut that would have fitted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sextant.nodes.answers.passages import shares

COSTS = st.lists(st.lists(st.integers(1, 400), max_size=12), min_size=3, max_size=3)
WEIGHTS = st.lists(st.floats(0.1, 10), min_size=3, max_size=3)
TOTAL = st.integers(0, 3000)


@given(COSTS, WEIGHTS, TOTAL)
def test_no_more_is_given_than_there_is_or_than_is_needed(
    costs: list[list[int]], weights: list[float], total: int
) -> None:
    needs = [sum(group) for group in costs]
    given_out = shares(needs, weights, total)
    assert sum(given_out) <= total
    assert all(portion <= need for portion, need in zip(given_out, needs, strict=True))


@given(WEIGHTS, st.integers(30, 3000))
def test_groups_in_equal_need_divide_by_weight(weights: list[float], total: int) -> None:
    given_out = shares([total] * 3, weights, total)
    whole = sum(weights)
    for portion, weight in zip(given_out, weights, strict=True):
        assert abs(portion - total * weight / whole) <= 1


def test_what_a_modest_group_leaves_goes_to_the_others() -> None:
    assert shares([10, 500, 500], [1, 1, 1], 310) == [10, 150, 150]
