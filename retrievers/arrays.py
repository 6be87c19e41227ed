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


def highest(scores: Floats, count: int) -> Places:
    """Return rows of the `count` highest of scores of shape (n,), best first, ties by row; shape (min(count, n),)."""
    rows = among_highest(scores, count)
    order: Places = rows[(-scores[rows]).argsort(kind="stable")]
    return order


def among_highest(scores: Floats, count: int) -> Places:
    """Return the rows that `highest` returns, in rising order."""
    if count >= len(scores) or not count:
        return np.arange(min(count, len(scores)))
    # The many that share the lowest score, often 0, are left out first: among them numpy selects slowly.
    least = scores.min()
    higher = scores[scores > least]
    if len(higher) >= count:
        least = np.partition(higher, -count)[-count]
    above = np.flatnonzero(scores > least)
    tied = np.flatnonzero(scores == least)[: count - len(above)]
    return np.sort(np.concatenate([above, tied]))
