"""Sparse float32 matrices by rows, as much of them as retrieval needs.

numpy alone: scipy would add a quarter to the installed size and a third of a second to every start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.intp]

# What an entry costs when it is looked up from its column's side, against one in a sweep over all of
# them in order (measured: 10 and 2 ns).
_LOOKUP_COST = 5
# Up to this length rows are summed side by side.
_SHORT = 16


def dot(matrix: Floats, vector: Floats) -> Floats:
    """The product of a dense matrix with a vector, in this thread alone.

    OpenBLAS wakes a thread for each core even for a few thousand rows, and on a busy machine waits for
    them: 18 ms instead of 2 for 20,000 vectors.
    """
    product: Floats = np.einsum("ij,j->i", matrix, vector)
    return product


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the entries of a matrix lie: entry `j` of row `i` at `first[i] + j * stride[i]`.

    Short rows of equal length lie across each other, so that they are summed side by side; the sums
    of short segments one by one took longer than looking up what they are made of. Long rows follow,
    one after the other.

    Attributes:
        first, stride, size: of every row.
        filled: rows that hold anything, in the order in which they lie.
        blocks: (length, rows) of the short rows.
        tails: where the long rows begin.
    """

    first: Places
    stride: Places
    size: Places
    filled: Places
    blocks: tuple[tuple[int, int], ...]
    tails: Places

    @classmethod
    def of(cls, rows: npt.NDArray[np.integer], count: int, order: Places) -> tuple[Layout, Places]:
        """Lay out entries; also returns which entry lies at each place.

        Args:
            rows: the row of every entry.
            count: how many rows there are.
            order: sorts the entries by row, and within a row as they shall follow each other.
        """
        size = np.bincount(rows, minlength=count)
        start = np.cumsum(size) - size
        first, stride = np.zeros(count, np.intp), np.ones(count, np.intp)
        blocks, filled, places, at = [], [], [np.empty(0, np.intp)], 0
        for length in range(1, _SHORT + 1):
            alike = np.flatnonzero(size == length)
            if len(alike):
                first[alike], stride[alike] = at + np.arange(len(alike)), len(alike)
                places.append((start[alike] + np.arange(length)[:, None]).ravel())
                blocks.append((length, len(alike)))
                filled.append(alike)
                at += length * len(alike)
        long = np.flatnonzero(size > _SHORT)
        first[long] = tails = at + np.cumsum(size[long]) - size[long]
        places.append((start[long] - tails).repeat(size[long]) + np.arange(at, len(rows)))
        layout = cls(first, stride, size, np.concatenate([*filled, long]), tuple(blocks), tails)
        return layout, order[np.concatenate(places)]

    def places(self, rows: Places, most: int | None = None) -> tuple[Places, Places]:
        """Where the entries of some rows lie, and which of `rows` each belongs to.

        Args:
            rows: rows, in any order.
            most: only the first so many entries of each row.
        """
        size = self.size[rows] if most is None else np.minimum(self.size[rows], most)
        owner = np.repeat(np.arange(len(rows)), size)
        stride = self.stride[rows]
        places = np.arange(len(owner))
        places *= stride[owner]
        places += (self.first[rows] - (np.cumsum(size) - size) * stride)[owner]
        return places, owner

    def sums(self, terms: Floats) -> Floats:
        """The sum of every row's entries, given in the order in which they lie."""
        sums, at = [np.empty(0, np.float32)], 0
        for length, rows in self.blocks:
            sums.append(terms[at : at + length * rows].reshape(length, rows).sum(axis=0))
            at += length * rows
        if len(self.tails):
            sums.append(np.add.reduceat(terms, self.tails))
        whole = np.zeros(len(self.size), np.float32)
        whole[self.filled] = np.concatenate(sums)
        return whole


@dataclass(frozen=True, slots=True)
class SparseRows:
    """A matrix whose entries have these columns and values; None: every entry is 1.

    Columns are as wide as a pointer: numpy would convert narrower ones at every product, which takes
    longer than the product.
    """

    layout: Layout
    columns: Places
    values: Floats | None = None

    @classmethod
    def of(
        cls,
        rows: npt.NDArray[np.integer],
        columns: npt.NDArray[np.integer],
        count: int,
        values: npt.NDArray[np.floating] | None = None,
    ) -> SparseRows:
        """A matrix of `count` rows from its entries, in any order; entries are not summed."""
        layout, entry = Layout.of(rows, count, np.lexsort((columns, rows)))
        laid = None if values is None else values[entry].astype(np.float32)
        return cls(layout, columns[entry].astype(np.intp), laid)

    def row(self, index: int) -> Places:
        """Columns of one row."""
        return self.columns[self.layout.places(np.array([index]))[0]]

    def rows(self, wanted: Places) -> tuple[Places, Places]:
        """Of some rows: which of `wanted` every entry belongs to, and its column."""
        places, owner = self.layout.places(wanted)
        return owner, self.columns[places]

    def times(self, vector: Floats) -> Floats:
        """The product with a dense vector: one value for each row."""
        terms = np.take(vector, self.columns, mode="clip")
        if self.values is not None:
            terms *= self.values
        return self.layout.sums(terms)

    def spread(self, rows: Places, weights: npt.NDArray[np.floating], width: int) -> Floats:
        """Σ `weights[i]` × row `rows[i]`, as a dense vector of `width` columns."""
        places, owner = self.layout.places(rows)
        amounts = weights[owner] if self.values is None else weights[owner] * self.values[places]
        spread: Floats = np.bincount(self.columns[places], amounts, width).astype(np.float32)
        return spread


def product(matrix: SparseRows, transposed: SparseRows, vector: Floats) -> Floats:
    """`matrix` × `vector`, through few rows of the transposed matrix where the vector is mostly 0."""
    mask = vector != 0
    if np.count_nonzero(mask) * _LOOKUP_COST < len(vector):
        active = np.flatnonzero(mask)
        wanted = int(transposed.layout.size[active].sum())
        if wanted * _LOOKUP_COST < len(matrix.columns):
            return transposed.spread(active, vector[active], len(matrix.layout.size))
    return matrix.times(vector)


@dataclass(frozen=True, slots=True)
class Links:
    """Pairs of a left and a right, found from either side; every pair weighs 1."""

    rights: SparseRows
    lefts: SparseRows

    @classmethod
    def of(cls, pairs: npt.NDArray[np.integer], lefts: int, rights: int) -> Links:
        """Links from distinct (left, right) pairs."""
        left, right = pairs.T
        return cls(SparseRows.of(left, right, lefts), SparseRows.of(right, left, rights))

    def to_right(self, vector: Floats) -> Floats:
        """For every right, the sum of its lefts."""
        return product(self.lefts, self.rights, vector)

    def to_left(self, vector: Floats) -> Floats:
        """For every left, the sum of its rights."""
        return product(self.rights, self.lefts, vector)


def starts_of(rows: npt.NDArray[np.integer], count: int) -> Places:
    """Where each of `count` rows, and the end, begins once entries are sorted by row."""
    starts = np.zeros(count + 1, np.intp)
    np.cumsum(np.bincount(rows, minlength=count), out=starts[1:])
    return starts
