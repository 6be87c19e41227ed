"""Sparse matrices against dense ones, whichever way their rows lie and products are taken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrievers.index.sparse as sparse_module
from retrievers.index.sparse import Layout, Links, SparseRows, product, starts_of

ROWS, COLUMNS = 6, 40
Entries = list[tuple[int, int, float]]

# Rows of up to 40 entries: some lie across each other, longer ones one after the other.
entries = st.lists(
    st.tuples(st.integers(0, ROWS - 1), st.integers(0, COLUMNS - 1), st.integers(1, 9).map(float)),
    unique_by=lambda entry: entry[:2],
    max_size=120,
)
vectors = st.lists(st.integers(-9, 9), min_size=COLUMNS, max_size=COLUMNS)


def both(found: Entries, *, values: bool = True) -> tuple[SparseRows, np.ndarray]:
    dense = np.zeros((ROWS, COLUMNS), np.float32)
    for row, column, value in found:
        dense[row, column] = value if values else 1
    rows, columns, weights = (np.array([entry[at] for entry in found]) for at in range(3))
    own = weights.astype(float) if values else None
    return SparseRows.of(rows.astype(int), columns.astype(int), ROWS, own), dense


def flipped(found: Entries) -> SparseRows:
    rows, columns, values = (np.array([entry[at] for entry in found]) for at in range(3))
    return SparseRows.of(columns.astype(int), rows.astype(int), COLUMNS, values.astype(float))


@given(entries, vectors, st.booleans())
def test_a_product_equals_that_of_the_dense_matrix(
    found: Entries, vector: list[int], values: bool
) -> None:
    sparse, dense = both(found, values=values)
    factor = np.array(vector, np.float32)
    assert sparse.times(factor).tolist() == (dense @ factor).tolist()


@given(entries, st.integers(0, COLUMNS - 1))
def test_a_product_with_few_numbers_goes_through_their_columns_and_is_the_same(
    found: Entries, place: int
) -> None:
    sparse, dense = both(found)
    factor = np.zeros(COLUMNS, np.float32)
    factor[place] = 3
    assert product(sparse, flipped(found), factor).tolist() == (dense @ factor).tolist()


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
    places, owner = sparse.layout.places(np.array([4, 2]), most)
    for asked, row in enumerate((4, 2)):
        first = np.flatnonzero(dense[row])[:most]
        assert sparse.columns[places[owner == asked]].tolist() == first.tolist()


def test_rows_of_one_length_lie_across_each_other_and_long_ones_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sparse_module, "_SHORT", 2)
    rows = np.array([0, 0, 1, 1, 1, 2, 2, 4])
    layout, entry = Layout.of(rows, 5, np.arange(8))
    # The single entry of row 4; rows 0 and 2 alternating; row 1, which is long.
    assert entry.tolist() == [7, 0, 5, 1, 6, 2, 3, 4]
    assert layout.blocks == ((1, 1), (2, 2))
    assert layout.tails.tolist() == [5]
    assert layout.sums(np.arange(8, dtype=np.float32)).tolist() == [1 + 3, 5 + 6 + 7, 2 + 4, 0, 0]


def test_links_are_found_from_both_sides() -> None:
    links = Links.of(np.array([[0, 1], [2, 1], [2, 0]]), lefts=3, rights=2)
    assert links.to_right(np.array([1, 10, 100], np.float32)).tolist() == [100, 101]
    assert links.to_left(np.array([1, 10], np.float32)).tolist() == [10, 0, 11]


def test_rows_begin_where_the_ones_before_them_end() -> None:
    assert starts_of(np.array([2, 0, 2]), 4).tolist() == [0, 1, 1, 3, 3]
