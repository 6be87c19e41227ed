"""Measures of a ranking, against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.evals.dataset import all_found, auroc, estimate, ndcg, recall, reciprocal_rank

RANKED = ["a", "b", "c", "d", "e", "f"]


@pytest.mark.parametrize(
    ("gold", "k", "expected"),
    [({"a"}, 1, 1.0), ({"b"}, 1, 0.0), ({"b", "x"}, 2, 0.5), ({"a", "c", "f", "x"}, 5, 0.5)],
)
def test_recall_is_the_share_of_gold_in_the_first_k(
    gold: set[str], k: int, expected: float
) -> None:
    assert recall(RANKED, gold, k) == expected


def test_all_found_wants_every_gold_passage() -> None:
    assert all_found(RANKED, {"a", "e"}, 5) == 1.0
    assert all_found(RANKED, {"a", "f"}, 5) == 0.0


def test_reciprocal_rank_counts_the_first_gold_passage_only() -> None:
    assert reciprocal_rank(RANKED, {"c", "f"}, 10) == pytest.approx(1 / 3)
    assert reciprocal_rank(RANKED, {"f"}, 5) == 0.0
    assert reciprocal_rank([], {"f"}, 5) == 0.0


def test_ndcg_is_what_it_comes_to_by_hand() -> None:
    # Gains 2^3-1 = 7 at rank 2 and 2^1-1 = 1 at rank 3; the best order is 7, 1.
    found = 7 / math.log2(3) + 1 / math.log2(4)
    best = 7 / math.log2(2) + 1 / math.log2(3)
    assert ndcg(RANKED, {"b": 3, "c": 1}, 10) == pytest.approx(found / best)
    assert ndcg(RANKED, {"a": 1, "b": 1}, 10) == pytest.approx(1.0)
    assert ndcg(RANKED, {"f": 1}, 5) == 0.0
    assert ndcg(RANKED, {}, 5) == 0.0


def test_auroc_is_the_share_of_pairs_in_the_right_order() -> None:
    assert auroc([3.0, 2.0], [1.0, 2.0]) == pytest.approx((1 + 1 + 1 + 0.5) / 4)
    assert math.isnan(auroc([], [1.0]))


def test_an_estimate_of_equal_values_has_no_width() -> None:
    found = estimate([1.0] * 7)
    assert (found.mean, found.low, found.high, found.count) == (1.0, 1.0, 1.0, 7)


def test_the_bootstrap_interval_is_that_of_the_binomial_within_its_noise() -> None:
    """50 of 100: the standard error is 0.05, so the 95 % interval is 0.5 ± 0.098."""
    found = estimate([0.0, 1.0] * 50)
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.402, abs=0.02)
    assert found.high == pytest.approx(0.598, abs=0.02)


def test_an_estimate_of_nothing_is_not_a_number() -> None:
    found = estimate([])
    assert math.isnan(found.mean)
    assert found.count == 0


@given(st.permutations(RANKED), st.sets(st.sampled_from(RANKED), min_size=1), st.integers(1, 6))
def test_measures_lie_between_nothing_and_one_and_grow_with_k(
    ranked: list[str], gold: set[str], k: int
) -> None:
    grades = dict.fromkeys(gold, 1)
    assert 0 <= recall(ranked, gold, k) <= recall(ranked, gold, k + 1) <= 1
    assert 0 <= reciprocal_rank(ranked, gold, k) <= reciprocal_rank(ranked, gold, k + 1) <= 1
    assert 0 <= ndcg(ranked, grades, k) <= 1 + 1e-12
    assert all_found(ranked, gold, k) == (recall(ranked, gold, k) == 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_an_interval_lies_within_the_values_and_repeats_exactly(values: list[float]) -> None:
    found = estimate(values, resamples=50)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert found == estimate(values, resamples=50)
