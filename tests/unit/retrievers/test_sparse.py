from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retrievers.sparse import SparseRows

Entries = list[tuple[int, int, float]]

entries = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(1, 9).map(float)),
    unique_by=lambda entry: entry[:2],
)


def both(found: Entries) -> tuple[SparseRows, np.ndarray]:
    dense = np.zeros((6, 5), np.float32)
    for row, column, value in found:
        dense[row, column] = value
    rows, columns, values = (np.array([entry[at] for entry in found]) for at in range(3))
    return SparseRows.of(rows.astype(int), columns.astype(int), values.astype(float), 6), dense


@given(entries, st.lists(st.integers(-9, 9), min_size=5, max_size=5))
def test_a_product_equals_that_of_the_dense_matrix(found: Entries, vector: list[int]) -> None:
    sparse, dense = both(found)
    factor = np.array(vector, np.float32)
    assert sparse.times(factor).tolist() == (dense @ factor).tolist()


@given(entries)
def test_a_row_holds_its_entries_in_the_order_of_columns(found: Entries) -> None:
    sparse, dense = both(found)
    for index in range(sparse.count):
        columns, values = sparse.row(index)
        assert columns.tolist() == np.flatnonzero(dense[index]).tolist()
        assert values.tolist() == dense[index][dense[index] != 0].tolist()


@given(entries)
def test_weights_of_rows_are_spread_over_their_columns(found: Entries) -> None:
    sparse, dense = both(found)
    onto = np.zeros(5, np.float32)
    sparse.spread(np.array([1, 3]), np.array([2.0, 5.0], np.float32), onto)
    held = (dense != 0).astype(np.float32)
    assert onto.tolist() == (2 * held[1] + 5 * held[3]).tolist()
