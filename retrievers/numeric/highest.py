"""The rows of the highest scores, without sorting all of them.

Also here: bringing scores of different scales to 0..1, and vectors to length 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sextant.retrievers.numeric.sparse import Floats, Places, true_at

Scores = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]

_Real = TypeVar("_Real", np.float32, np.float64)

# Shorter vectors have no direction to speak of.
LEAST_LENGTH = 1e-12


def min_max(scores: Sequence[float] | npt.NDArray[np.floating]) -> Scores:
    """Map scores to 0..1: the lowest to 0, the highest to 1; all equal: all 1.

    Args:
        scores: finite numbers, in any order; none gives none.
    """
    given = np.asarray(scores, dtype=np.float64)
    if not given.size:
        return given
    low, high = float(given.min()), float(given.max())
    if low == high:
        return np.ones_like(given)
    if not np.isfinite(high - low):  # two huge numbers of unlike sign
        return min_max(given / 2)
    share: Scores = (given - low) / (high - low)
    return share


def scale_scores(scores: npt.NDArray[np.float32], floor: float = 0.0) -> npt.NDArray[np.float32]:
    """Map scores to 0..1: `floor` and less to 0, the best to 1; all 0 when none exceeds the floor."""
    best = float(scores.max(initial=floor))
    if best <= floor:
        return np.zeros_like(scores)
    if not floor:  # one rounded division, which is the same in either width
        share_of_best: npt.NDArray[np.float32] = scores / np.float32(best)
        if scores.min() < 0:  # seldom, and looked for in a sixth of the time
            np.maximum(share_of_best, 0, out=share_of_best)
        return share_of_best
    # In float32 the quotient can exceed 1, and a tiny range can vanish.
    share = (scores.astype(np.float64) - floor) / (best - floor)
    above: npt.NDArray[np.float32] = np.maximum(share, 0.0, out=share).astype(np.float32)
    return above


def unit(vectors: npt.NDArray[_Real]) -> npt.NDArray[_Real]:
    """Return vectors of length 1 in the same directions, along the last axis; those of length 0 stay so."""
    # What `np.linalg.norm` reckons, in a third of the time for one vector.
    length = np.sqrt(np.add.reduce(vectors * vectors, axis=-1, keepdims=True))
    directions: npt.NDArray[_Real] = (vectors / np.maximum(length, LEAST_LENGTH)).astype(
        vectors.dtype, copy=False
    )
    return directions


_GROUP = 128
# So many are sorted faster than their best are found.
_FEW = 200
# Of more the best are looked for among groups first.
_MANY = 8192
# The best of so many groups are sorted as Python's numbers.
_HANDFUL = 64
# A score that more than one in so many have is common.
_OFTEN = 16


def highest(scores: Floats, count: int) -> npt.NDArray[np.intp]:
    """Return rows of the `count` highest of scores of shape (n,), best first, ties by row; shape (min(count, n),)."""
    number = min(count, len(scores))
    if len(scores) <= _FEW:
        return _downwards(scores)[:number]
    rows = leading(scores, number)
    if len(rows) > _FEW + 2 * number:
        rows = _narrow_rows(scores, rows, number)
    best: npt.NDArray[np.intp] = rows[_downwards(scores[rows])[:number]]
    return best


def _downwards(scores: Floats) -> npt.NDArray[np.intp]:
    """Return places of the scores, best first, ties by place.

    Of many it takes a quarter of the time to sort without regard to ties, of which there seldom are any.
    """
    if len(scores) > _FEW:
        order = (-scores).argsort()
        ordered = scores[order]
        if (ordered[1:] < ordered[:-1]).all():
            return order
    return (-scores).argsort(kind="stable")


def among_highest(scores: Floats, count: int) -> npt.NDArray[np.intp]:
    """Return the rows that `highest` returns, in rising order."""
    number = min(count, len(scores))
    if number in {0, len(scores)}:
        return np.arange(number)
    if len(scores) > _MANY:
        return _narrow_rows(scores, leading(scores, number), number)
    least = _last_of(scores, number)
    return _trim_rows(scores, true_at(scores >= least), number, least)


def near_highest(scores: Floats, count: int, margin: float) -> Places:
    """Return rows, rising, of the `count` highest scores, and of all that are at most `margin` below the lowest of these.

    `scores` has shape (n,); of tied rows none is left out, so there may be more than `count`.
    """
    number = min(count, len(scores))
    if not number:
        return np.empty(0, np.intp)
    return true_at(scores >= _floor(scores, number) - np.float32(margin))


def _narrow_rows(scores: Floats, rows: npt.NDArray[np.intp], number: int) -> npt.NDArray[np.intp]:
    """Of rows that hold the `number` highest, those."""
    candidates = scores[rows]
    least = _last_of(candidates, number)
    return _trim_rows(scores, rows[candidates >= least], number, least)


def _trim_rows(
    scores: Floats, rows: npt.NDArray[np.intp], number: int, least: np.float32
) -> npt.NDArray[np.intp]:
    """Of rows that score at least so much, `number`: of those that score the least of all the first."""
    if len(rows) > number:
        rows = np.delete(rows, true_at(scores[rows] == least)[number - len(rows) :])
    return rows


def leading(scores: npt.NDArray[_Real], number: int) -> npt.NDArray[np.intp]:
    """Return rows, rising, that hold the `number` highest scores and few others: all from a threshold on, found in one pass.

    `scores` has shape (n,); fewer than 4 × `number` of them are returned whole.
    """
    if len(scores) < 4 * number or not number:
        return np.arange(len(scores) if number else 0)
    return true_at(scores >= _floor(scores, number))


def _floor(scores: npt.NDArray[_Real], number: int) -> _Real:
    """Return a score that at least `number` have or exceed: of the best of so many groups the least.

    Finding it takes one pass over the scores, a tenth of the time that partitioning them takes.
    """
    group = max(min(_GROUP, len(scores) // (2 * number)), 1)
    groups = len(scores) // group
    best: npt.NDArray[_Real] = scores[: groups * group].reshape(group, groups).max(axis=0)
    if groups > _HANDFUL:
        return _last_of(best, number)
    # Of so few numpy's selection is not sooner done, but for once it has been read from memory.
    least: _Real = best.dtype.type(sorted(best.tolist())[-number])
    return least


def _last_of(scores: npt.NDArray[_Real], number: int) -> _Real:
    """Return the last of the `number` highest scores, of which there are so many.

    Where many have the least, often 0, they are left out first: numpy's selection takes ten times as long among
    so many that are equal.
    """
    least: _Real = scores.min()
    if np.count_nonzero(scores == least) * _OFTEN > len(scores):
        scores = scores[scores > least]
    lower = len(scores) - number
    return np.partition(scores, lower)[lower] if lower >= 0 else least
