"""Arithmetic on arrays that rankings share: the highest of many, sums over sparse entries, BM25's formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class BM25:
    """How much a term's repetition and a passage's length count.

    A passage scores, for every distinct term of the question,
    `idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / mean length))`, summed up.

    Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009,
    §3.2, with its defaults; the idf is Lucene's, which stays positive for terms of most passages.

    Attributes:
        k1: 0: a term counts once; larger: repetitions count for longer.
        b: 0: length does not matter; 1: a passage of twice the length needs twice the repetitions.
    """

    k1: float = 1.2
    b: float = 0.75

    def saturation(self, lengths: npt.NDArray[_Real], mean: float) -> npt.NDArray[_Real]:
        """Return what is added to a frequency under the fraction, for passages of these lengths."""
        relative = lengths / lengths.dtype.type(mean)
        added: npt.NDArray[_Real] = self.k1 * (1 - self.b + self.b * relative)
        return added

    def weights(
        self,
        information: npt.NDArray[_Real] | _Real,
        frequencies: npt.NDArray[_Real],
        saturation: npt.NDArray[_Real],
    ) -> npt.NDArray[_Real]:
        """Return what terms of this idf and frequency give passages of this saturation; shapes broadcast."""
        given: npt.NDArray[_Real] = (
            information * frequencies * self.most / (frequencies + saturation)
        )
        return given

    @property
    def most(self) -> float:
        """Return what a term's weight comes to, in units of its idf, when it is repeated without end."""
        return self.k1 + 1


def idf(
    frequencies: npt.NDArray[np.integer] | int, passages: int
) -> npt.NDArray[np.float64] | np.float64:
    """Return `ln(1 + (N − n + ½) / (n + ½))` for terms that n of N passages hold; always above 0."""
    information: npt.NDArray[np.float64] | np.float64 = np.log1p(
        (passages - frequencies + 0.5) / (frequencies + 0.5)
    )
    return information


Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.intp]


def dot(matrix: Floats, vector: Floats) -> Floats:
    """Return the product of a matrix (n, dimension) with a vector (dimension,), of shape (n,), in this thread alone.

    A product of matrices wakes a thread of OpenBLAS for each core even for a few thousand rows, and on a
    busy machine waits for them: 18 ms instead of 2 for 20,000 vectors. Row by row it does not; 2,000 rows
    of 384 take 0.06 ms so, 0.15 by `einsum`.
    """
    product: Floats = np.vecdot(matrix, vector)
    return product


def true_at(flags: npt.NDArray[np.bool_]) -> Places:
    """Return where flags are true; `np.flatnonzero` takes a microsecond more, of a few hundred twice as long."""
    return flags.nonzero()[0]


def few_true(flags: npt.NDArray[np.bool_]) -> Places:
    """Return where flags are true, of many of which few are: eight at a time first, in two thirds of `flatnonzero`'s time."""
    whole = len(flags) - len(flags) % 8
    groups = flags[:whole].reshape(-1, 8)
    some = true_at(groups.view(np.uint64).ravel() != 0)
    found = true_at(groups.take(some, axis=0).ravel())
    rows = some.take(found >> 3) * 8 + (found & 7)
    return np.concatenate([rows, whole + true_at(flags[whole:])])


@dataclass(frozen=True, slots=True)
class SparseRows:
    """Rows of columns: row i is `columns[starts[i]:starts[i + 1]]`; every entry is 1.

    Columns are as wide as a pointer: numpy would convert narrower ones whenever they are looked up by,
    which takes longer than looking up.
    """

    starts: Places
    columns: Places

    @classmethod
    def of(
        cls, rows: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], count: int
    ) -> SparseRows:
        """`count` rows from entries (`rows[i]`, `columns[i]`) in any order; within a row they lie in the order of columns."""
        order = np.lexsort((columns, rows))
        return cls(starts_of(rows, count), columns[order].astype(np.intp))

    def row(self, index: int) -> Places:
        """Return columns of one row."""
        return self.columns[self.starts[index] : self.starts[index + 1]]

    def rows(self, wanted: npt.NDArray[np.integer]) -> tuple[Places, Places]:
        """Return the entries of some rows, as two arrays of one length: the place in `wanted` of an entry's row, and its column."""
        positions, size = self.places(wanted)
        return np.arange(len(wanted)).repeat(size), self.columns.take(positions, mode="clip")

    def places(
        self, wanted: npt.NDArray[np.integer], most: int | Places | None = None
    ) -> tuple[Places, Places]:
        """Return where the entries of some rows lie, and how many there are of each.

        Args:
            wanted: rows, in any order.
            most: only the first so many entries of each row, or of all rows.
        """
        first = self.starts.take(wanted)
        size = self.starts[1:].take(wanted) - first
        if most is not None:
            size = np.minimum(size, most)
        ends = size.cumsum()
        positions = (first - ends + size).repeat(size)
        positions += np.arange(len(positions))
        return positions, size

    def spread(self, wanted: Places, weights: Floats, width: int) -> Floats:
        """Return Σ `weights[i]` × row `wanted[i]`, as a dense vector of shape (width,)."""
        positions, size = self.places(wanted)
        spread = np.zeros(width, np.float32)
        # `bincount` sums in numbers of twice the width, and looks at all columns once more before.
        np.add.at(spread, self.columns.take(positions, mode="clip"), weights.repeat(size))
        return spread


def firsts(values: npt.NDArray[np.integer]) -> tuple[Places, Places]:
    """Return an order in which values rise, equal ones as they come, and where in it each begins that is there.

    As `np.unique` tells it, in half of its time for a hundred.
    """
    order = values.argsort(kind="stable")
    ordered = values[order]
    new = np.ones(len(values), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return order, true_at(new)


def index_among(rows: Places, wanted: Places) -> Places:
    """Return where each wanted row is among others; -1: it is not.

    Args:
        rows: in any order, each once.
        wanted: rising.
    """
    found = np.full(len(wanted), -1, np.intp)
    if len(wanted):
        spots = wanted.searchsorted(rows)
        there = true_at(wanted.take(spots, mode="clip") == rows)
        found[spots[there]] = there
    return found


def starts_of(rows: npt.NDArray[np.integer], count: int) -> Places:
    """Return where each of `count` rows, and the end, begins once entries are sorted by row."""
    starts = np.zeros(count + 1, np.intp)
    np.cumsum(np.bincount(rows, minlength=count), out=starts[1:])
    return starts


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
