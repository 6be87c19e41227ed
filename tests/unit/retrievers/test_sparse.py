"""Sparse matrices against dense ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sextant.retrievers.arrays import SparseRows, starts_of

ROWS, COLUMNS = 6, 40
Entries = list[tuple[int, int]]

entries = st.lists(
    st.tuples(st.integers(0, ROWS - 1), st.integers(0, COLUMNS - 1)), unique=True, max_size=120
)


def both(found: Entries) -> tuple[SparseRows, np.ndarray]:
    dense = np.zeros((ROWS, COLUMNS), np.float32)
    for entry in found:
        dense[entry] = 1
    rows, columns = np.array(found, np.int64).reshape(-1, 2).T
    return SparseRows.of(rows, columns, ROWS), dense


@given(entries)
def test_a_row_holds_its_entries_in_the_order_of_columns(found: Entries) -> None:
    sparse, dense = both(found)
    for index in range(ROWS):
        assert sparse.row(index).tolist() == np.flatnonzero(dense[index]).tolist()


@given(entries)
def test_weighted_rows_are_summed_over_their_columns(found: Entries) -> None:
    sparse, dense = both(found)
    spread = sparse.spread(np.array([1, 3]), np.array([2.0, 5.0], np.float32), COLUMNS)
    assert spread.tolist() == (2 * dense[1] + 5 * dense[3]).tolist()


@given(entries, st.integers(0, 20))
def test_the_first_entries_of_rows_can_be_had_alone(found: Entries, most: int) -> None:
    sparse, dense = both(found)
    places, size = sparse.positions(np.array([4, 2]), most)
    first = [np.flatnonzero(dense[row])[:most].tolist() for row in (4, 2)]
    assert sparse.columns[places].tolist() == first[0] + first[1]
    assert size.tolist() == list(map(len, first))


def test_rows_begin_where_the_ones_before_them_end() -> None:
    assert starts_of(np.array([2, 0, 2]), 4).tolist() == [0, 1, 1, 3, 3]
