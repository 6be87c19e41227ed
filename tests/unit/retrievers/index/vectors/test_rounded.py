"""Vectors by steps: the nearest of many are found as by comparing all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from sextant.models.protocols import Vectors
from sextant.retrievers.index.vectors.rounded import Rounded, Signs
from sextant.retrievers.numeric.arrays import Places, unit

MANY = 10_000
NUMBERS = st.floats(-1, 1, width=32)


def around_topics(vectors: int, seed: int, width: int = 96) -> Vectors:
    rng = np.random.default_rng(seed)
    topics = np.random.default_rng(0).standard_normal((40, width)) + 0.5
    near = topics[rng.integers(0, 40, vectors)] + rng.standard_normal((vectors, width))
    return unit(near.astype(np.float32))


def nearest(rounded: Rounded, question: Vectors, count: int) -> tuple[Places, Vectors]:
    rows, products = rounded.nearest(question, count)
    return np.array(rows, np.intp), np.array(products, np.float32)


@pytest.fixture(scope="module")
def many() -> Rounded:
    return Rounded.of(around_topics(MANY, 1))


@pytest.fixture(scope="module")
def sifted() -> Rounded:
    """Return very many, to be sifted by their signs: finding the directions takes most of the time."""
    return Rounded.of(around_topics(40_000, 1, 384), sifted=True)


@pytest.mark.parametrize("count", [1, 10, 100, 400])
def test_the_nearest_of_many_come_in_order_with_their_products(many: Rounded, count: int) -> None:
    for question in around_topics(20, 2):
        products = many.vectors @ question
        rows, found = nearest(many, question, count)
        np.testing.assert_array_equal(rows, np.argsort(-products)[:count])
        np.testing.assert_allclose(found, products[rows], rtol=1e-5)


def test_of_very_many_nearly_all_of_the_nearest_are_found_with_their_products(
    sifted: Rounded,
) -> None:
    """Those whose signs are unlike the question's are not looked at."""
    held = []
    for question in around_topics(20, 3, 384):
        products = sifted.vectors @ question
        rows, found = nearest(sifted, question, 400)
        assert len(set(rows.tolist())) == 400
        assert (np.diff(found) <= 0).all()
        np.testing.assert_allclose(found[:45], products[rows[:45]], rtol=1e-5)
        np.testing.assert_allclose(found, products[rows], atol=2e-3)
        held.append(np.isin(np.argsort(-products)[:10], rows).mean())
    assert np.mean(held) > 0.99


@pytest.mark.parametrize(
    "width", [20, 100, 400], ids=["part of a word", "words and a part", "more"]
)
def test_what_is_asked_about_is_among_those_alike_whatever_the_width(width: int) -> None:
    vectors = around_topics(2_000, 1, width)
    signs = Signs.of(vectors, vectors.mean(axis=0))
    for row in range(0, 2_000, 100):
        alike = signs.alike(vectors[row])
        assert row in alike
        assert len(alike) < 1_000


def test_what_lies_opposite_is_not_taken_for_what_is_near() -> None:
    """Of two kinds of texts each lies opposite the other, seen from the middle: all signs that count are others."""
    rng = np.random.default_rng(4)
    kinds = np.repeat([[1.0], [-1.0]], 1_000, axis=0) * unit(rng.standard_normal(400))
    vectors = unit((kinds + 0.02 * rng.standard_normal((2_000, 400))).astype(np.float32))
    signs = Signs.of(vectors, vectors.mean(axis=0))
    for row in (0, 1_999):
        alike = signs.alike(vectors[row])
        assert ((alike < 1_000) == (row < 1_000)).all()


def test_of_very_many_all_are_compared_unless_a_few_may_be_missed() -> None:
    many = Rounded.of(around_topics(40_000, 1))
    for question in around_topics(5, 3):
        best = np.argsort(-(many.vectors @ question))[:100]
        np.testing.assert_array_equal(nearest(many, question, 100)[0], best)


def test_of_very_many_that_are_equal_as_many_come_as_are_wanted() -> None:
    same = Rounded.of(np.repeat(around_topics(1, 1), 40_000, axis=0), sifted=True)
    rows, found = nearest(same, same.vectors[0], 400)
    assert len(set(rows.tolist())) == 400
    np.testing.assert_allclose(found, 1, rtol=1e-5)


def some_replaced(before: Vectors, share: float, seed: int) -> tuple[Vectors, NDArray[np.intp]]:
    """So many gone and as many others come, of another topic; the row that each had, -1 of those."""
    rng = np.random.default_rng(seed)
    come = int(share * len(before) / 2)
    fresh = unit(around_topics(come, seed, before.shape[1]) - np.float32(0.1))
    stay = rng.permutation(len(before))[come:]
    order = rng.permutation(len(before))
    was = np.concatenate([stay, np.full(come, -1)])[order]
    return np.concatenate([before[stay], fresh])[order], was


def test_where_a_few_come_and_go_the_nearest_are_still_those_of_all(many: Rounded) -> None:
    now = many
    for turn in range(3):
        vectors, was = some_replaced(now.vectors, 0.015, turn)
        now = now.updated(vectors[was < 0], was)
        assert now.moved
    for question in [*around_topics(20, 2), *now.vectors[was < 0][:20]]:
        products = now.vectors @ question
        rows, found = nearest(now, question, 100)
        np.testing.assert_array_equal(rows, np.argsort(-products)[:100])
        np.testing.assert_allclose(found, products[rows], rtol=1e-5)


def test_where_a_few_of_very_many_come_and_go_nearly_all_of_the_nearest_are_found(
    sifted: Rounded,
) -> None:
    vectors, was = some_replaced(sifted.vectors, 0.04, 5)
    now = sifted.updated(vectors[was < 0], was)
    assert now.moved
    held = [
        np.isin(np.argsort(-(vectors @ question))[:10], nearest(now, question, 400)[0]).mean()
        for question in [*around_topics(20, 3, 384), *vectors[was < 0][:20]]
    ]
    assert np.mean(held) >= 0.985


@pytest.mark.parametrize(
    ("before", "after"),
    [(MANY, MANY * 12 // 10), (MANY, MANY * 9 // 10), (32_700, 32_800), (10, 12)],
    ids=["many came", "many went", "now to be sifted", "few"],
)
def test_steps_are_made_anew_where_the_old_ones_would_not_do(before: int, after: int) -> None:
    vectors = around_topics(max(before, after), 1)
    was = np.arange(after)
    was[before:] = -1
    now = Rounded.of(vectors[:before], sifted=True).updated(vectors[before:after], was)
    assert not now.moved
    np.testing.assert_allclose(now.centre, vectors[:after].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(now.vectors, vectors[:after], atol=1e-6)


def test_changes_that_are_few_each_but_many_together_end_in_steps_made_anew(many: Rounded) -> None:
    now, turns = many, 0
    while now.moved or not turns:
        vectors, was = some_replaced(now.vectors, 0.02, turns)
        now = now.updated(vectors[was < 0], was)
        turns += 1
    assert turns == 3
    np.testing.assert_allclose(now.vectors, vectors, atol=1e-6)


@pytest.mark.parametrize("share", [0.6, 0.9, 0.99])
def test_a_great_coordinate_that_all_have_hides_none_of_the_others(share: float) -> None:
    """As in the vectors of many models."""

    def anisotropic(vectors: int, seed: int) -> Vectors:
        near = around_topics(vectors, seed) * np.float32(np.sqrt(1 - share**2))
        return unit(np.concatenate([near, np.full((vectors, 1), share, np.float32)], axis=1))

    many = Rounded.of(anisotropic(MANY, 1))
    for question in anisotropic(10, 2):
        products = many.vectors @ question
        best = np.argsort(-products)[:1000]
        np.testing.assert_array_equal(nearest(many, question, 10)[0], best[:10])
        assert np.isin(best, nearest(many, question, 1000)[0]).mean() > 0.97


@given(st.data(), st.integers(0, 12), st.integers(1, 70), st.integers(0, 15))
def test_of_few_all_are_compared(data: st.DataObject, size: int, width: int, count: int) -> None:
    vectors = data.draw(arrays(np.float32, (size, width), elements=NUMBERS))
    question = data.draw(arrays(np.float32, width, elements=NUMBERS))
    rows, found = nearest(Rounded.of(vectors), question, count)
    products = np.vecdot(vectors, question)
    assert len(set(rows.tolist())) == min(size, count)
    assert (np.diff(found) <= 0).all()
    np.testing.assert_allclose(found, np.sort(products)[::-1][:count], atol=1e-5)
    np.testing.assert_allclose(found, products[rows], atol=1e-5)


def test_equal_vectors_come_in_the_order_of_their_rows() -> None:
    vectors = around_topics(MANY, 1)
    vectors[1::2] = vectors[::2]
    rows, found = nearest(Rounded.of(vectors), vectors[400], 100)
    twins = found[::2] == found[1::2]
    assert twins.all()
    assert (rows[1::2] == rows[::2] + 1).all()


@given(st.data(), st.integers(1, 40), st.integers(1, 70))
def test_vectors_are_those_that_were_given(data: st.DataObject, size: int, width: int) -> None:
    """Within what numbers of four bytes leave out of unit vectors."""
    vectors = unit(data.draw(arrays(np.float32, (size, width), elements=NUMBERS)))
    np.testing.assert_allclose(Rounded.of(vectors).vectors, vectors, atol=3e-7)


def test_vectors_without_a_direction_are_not_near(many: Rounded) -> None:
    vectors = many.vectors.copy()
    vectors[::2] = 0
    rows, found = nearest(Rounded.of(vectors), many.vectors[1], 50)
    assert rows[0] == 1
    assert (rows % 2 == 1).all()
    assert (found > 0).all()
    assert not nearest(Rounded.of(vectors), np.zeros(96, np.float32), 50)[1].any()
