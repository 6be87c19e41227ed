"""Sparse float32 matrices by rows, as much of them as retrieval needs.

numpy alone: scipy would add a quarter to the installed size and a third of a second to every start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class SparseRows:
    """Row `i` holds `values[starts[i]:starts[i + 1]]` at `columns[starts[i]:starts[i + 1]]`.

    `filled` lists the rows that hold anything.
    """

    starts: npt.NDArray[np.int64]
    columns: Places
    values: Floats
    filled: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls,
        rows: npt.NDArray[np.integer],
        columns: npt.NDArray[np.integer],
        values: npt.NDArray[np.floating],
        count: int,
    ) -> SparseRows:
        """A matrix of `count` rows from its entries, in any order; entries are not summed."""
        order = np.lexsort((columns, rows))
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
        return cls.sorted(
            starts.astype(np.int64),
            columns[order].astype(np.int32),
            values[order].astype(np.float32),
        )

    @classmethod
    def sorted(cls, starts: npt.NDArray[np.int64], columns: Places, values: Floats) -> SparseRows:
        """A matrix whose entries lie in the order of rows already."""
        return cls(starts, columns, values, np.flatnonzero(np.diff(starts)))

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.starts) - 1

    def row(self, index: int) -> tuple[Places, Floats]:
        """Columns and values of one row."""
        span = slice(self.starts[index], self.starts[index + 1])
        return self.columns[span], self.values[span]

    def spread(self, rows: npt.NDArray[np.integer], weights: Floats, onto: Floats) -> None:
        """Add `weights[i]` to `onto` at every column of `rows[i]`."""
        for index, weight in zip(rows.tolist(), weights, strict=True):
            np.add.at(onto, self.row(index)[0], weight)

    def times(self, vector: npt.NDArray[np.floating]) -> Floats:
        """The product with a dense vector: one value for each row."""
        product = np.zeros(self.count, np.float32)
        if len(self.filled):
            terms = self.values * vector.astype(np.float32, copy=False)[self.columns]
            product[self.filled] = np.add.reduceat(terms, self.starts[self.filled])
        return product
