"""Batches that are bounded by number and by size."""

from __future__ import annotations

from ingestion.transfer.batches import next_of, runs_of


async def test_a_batch_ends_with_its_number_or_once_it_is_as_large_as_it_may_be() -> None:
    items = iter(["aa", "b", "cccccc", "d", "e", "f"])
    batches = []
    while batch := await next_of(items, 3, len, 5):
        batches.append(batch)
    assert batches == [["aa", "b", "cccccc"], ["d", "e", "f"]]
    large = iter(["a" * 9, "b" * 9, "c"])
    assert await next_of(large, 3, len, 5) == ["a" * 9]


def test_runs_are_no_larger_than_the_room_but_for_one_that_is_larger_by_itself() -> None:
    items = ["aa", "b", "cccccc", "d", "e"]
    assert [*runs_of(items, len, 3)] == [["aa", "b"], ["cccccc"], ["d", "e"]]
    assert [*runs_of([], len, 3)] == []
