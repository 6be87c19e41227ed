"""Which files go through the stages together."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sextant.ingestion.pipeline import batches
from sextant.stores.work.jobs import Batch

FEW = Batch(files=3, each=10, bytes=20)


def places(*sizes: int) -> list[list[int]]:
    return [list(group) for group in batches(sizes, FEW)]


def test_small_files_go_together_until_they_are_many() -> None:
    assert places(1, 1, 1, 1) == [[0, 1, 2], [3]]


def test_small_files_go_together_until_they_are_large_in_sum() -> None:
    assert places(10, 10, 1) == [[0, 1], [2]]


def test_a_large_file_goes_by_itself() -> None:
    assert places(1, 11, 1, 1) == [[0], [1], [2, 3]]


def test_no_files_make_no_batch() -> None:
    assert places() == []


@given(st.lists(st.integers(0, 15)))
def test_every_file_is_in_one_batch_in_order_and_none_is_cut_short(sizes: list[int]) -> None:
    groups = places(*sizes)
    assert [place for group in groups for place in group] == list(range(len(sizes)))
    for group in groups:
        own = [sizes[place] for place in group]
        assert len(own) == 1 or (
            len(own) <= FEW.files and sum(own) <= FEW.bytes and max(own) <= FEW.each
        )
    for group, following in pairwise(groups):
        more = [sizes[place] for place in (*group, following[0])]
        assert len(more) > FEW.files or sum(more) > FEW.bytes or max(more) > FEW.each
