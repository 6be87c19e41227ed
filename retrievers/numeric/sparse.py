"""Sparse matrices by rows, as much of them as retrieval needs.

numpy alone: scipy would add a quarter to the installed size and a third of a second to every start.

Also here: BM25.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Real = TypeVar("_Real", np.float32, np.float64)


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
