"""Signs of vectors: what is found is as like the question as is claimed, and holds the nearest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from models.protocols import Vectors
from retrievers.index.passages import PassageIndex
from retrievers.index.signs import Signs
from retrievers.ranking.normalising import unit

NUMBERS = st.floats(-1, 1, width=32)


def differing(vectors: Vectors, question: Vectors) -> npt.NDArray[np.intp]:
    """How many of the coordinates that count lie on the other side, one by one."""
    mean = vectors.mean(axis=0, dtype=np.float32)
    own = question - mean * np.float32(question @ mean / (float(mean @ mean) or 1.0))
    other = (vectors > mean) != (own > 0)
    size = np.abs(own)
    counted = [other & (size >= least) for least in np.quantile(size, (0.2, 0.6))]
    found: npt.NDArray[np.intp] = np.array(counted).sum(axis=(0, 2))
    return found


@given(st.data(), st.integers(1, 12), st.integers(1, 70), st.integers(0, 15))
def test_nothing_that_is_left_out_is_more_alike(
    data: st.DataObject, size: int, width: int, count: int
) -> None:
    vectors = data.draw(arrays(np.float32, (size, width), elements=NUMBERS))
    question = data.draw(arrays(np.float32, width, elements=NUMBERS))
    rows = Signs.of(vectors).alike(question, count)
    unlike = differing(vectors, question)
    assert len(rows) >= min(count, size)
    assert (np.diff(rows) > 0).all()
    left = np.setdiff1d(np.arange(size), rows)
    assert not len(left) or unlike[left].min() > unlike[rows].max(initial=-1)


def around_topics(vectors: int, seed: int) -> Vectors:
    rng = np.random.default_rng(seed)
    topics = np.random.default_rng(0).standard_normal((40, 96)) + 0.5
    near = topics[rng.integers(0, 40, vectors)] + rng.standard_normal((vectors, 96))
    return unit(near.astype(np.float32))


def test_of_many_passages_nearly_all_of_the_nearest_are_found_with_their_cosines() -> None:
    every = replace(PassageIndex.empty(), vectors=around_topics(4000, 1))
    assert every.vectors is not None
    many = replace(every, signs=Signs.of(every.vectors))
    shares = []
    for question in around_topics(50, 2):
        exact, near = every.nearest(question, 40), many.nearest(question, 40)
        assert (np.diff(near.cosines) <= 0).all()
        np.testing.assert_allclose(near.cosines, every.vectors[near.rows] @ question, rtol=1e-4)
        shares.append(np.isin(exact.rows, near.rows).mean())
    assert np.mean(shares) > 0.95


def test_where_all_are_looked_at_the_nearest_are_exact() -> None:
    every = replace(PassageIndex.empty(), vectors=around_topics(60, 3))
    assert every.vectors is not None
    many = replace(every, signs=Signs.of(every.vectors))
    for question in around_topics(10, 4):
        exact, near = every.nearest(question, 20), many.nearest(question, 20)
        np.testing.assert_array_equal(exact.rows, near.rows)
