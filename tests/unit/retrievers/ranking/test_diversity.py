"""Maximal marginal relevance and twins, with numbers computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sextant.retrievers.ranking.diversity import TextLikeness, VectorLikeness, marginal

# Passages 0 and 1 say nearly the same (cosine 0.96), 2 something else, 3 half of each.
VECTORS = np.asarray([[1, 0], [0.96, 0.28], [0, 1], [0.8, 0.6]], np.float32)
RELEVANCE = np.asarray([1.0, 0.9, 0.5, 0.4])


def test_marginal_relevance_weighs_relevance_against_likeness_to_what_was_chosen() -> None:
    """λ = 0.5; values are λ·r + (1 - λ)·(1 - likeness to the nearest chosen).

    First 0 with 0.5 + 0.5 = 1; then 1: 0.45 + 0.02 = 0.47, 2: 0.25 + 0.5 = 0.75, 3: 0.2 + 0.1 = 0.3;
    then (the nearest chosen is 0) 1: 0.47, 3: 0.3; then (now 1, 0.936) 3: 0.2 + 0.032 = 0.232.
    """
    chosen = marginal(RELEVANCE, [VectorLikeness(VECTORS)], count=4, balance=0.5)
    assert [place for place, _ in chosen] == [0, 2, 1, 3]
    assert [value for _, value in chosen] == pytest.approx([1.0, 0.75, 0.47, 0.232])


def test_balance_1_is_the_order_of_relevance() -> None:
    chosen = marginal(RELEVANCE, [VectorLikeness(VECTORS)], count=4, balance=1.0)
    assert chosen == [(place, float(RELEVANCE[place])) for place in range(4)]


def test_a_twin_of_a_chosen_passage_is_left_out() -> None:
    chosen = marginal(RELEVANCE, [VectorLikeness(VECTORS, twins_from=0.95)], count=4, balance=1.0)
    assert [place for place, _ in chosen] == [0, 2, 3]


def test_vectors_that_point_apart_are_unlike_and_no_more() -> None:
    apart = VectorLikeness(np.asarray([[1, 0], [-1, 0], [0, 0]], np.float32))
    assert apart.to(0).tolist() == [1.0, 0.0, 0.0]


def test_texts_are_alike_by_the_share_of_their_grams() -> None:
    """The grams: abcd has abc bcd, abce abc bce: one of three is shared; 糖尿病 has 糖尿 尿病."""
    likeness = TextLikeness(["abcd", "ABCE", "糖尿病", "糖尿", "…"])
    assert likeness.to(0).tolist() == pytest.approx([1.0, 1 / 3, 0.0, 0.0, 0.0])
    assert likeness.to(2).tolist() == pytest.approx([0.0, 0.0, 1.0, 0.5, 0.0])
    assert likeness.to(4).tolist() == [0.0] * 5


def test_nothing_is_chosen_of_nothing() -> None:
    assert marginal(np.empty(0), [TextLikeness([])], count=3) == []
