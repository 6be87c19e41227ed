"""Batches that are bounded by number and by size."""

from __future__ import annotations

from sextant.ingestion.transfer.spool import read_in_thread


async def test_a_batch_is_bounded_by_number_and_size_and_a_large_item_comes_alone() -> None:
    items = iter(["aa", "b", "cc", "d", "eeeeee", "f", "g", "h", "i"])
    batches = [batch async for batch in read_in_thread(items, 3, len, 5)]
    assert batches == [["aa", "b", "cc"], ["d"], ["eeeeee"], ["f", "g", "h"], ["i"]]


async def test_items_without_a_size_are_bounded_by_number() -> None:
    assert [batch async for batch in read_in_thread(iter("abc"), 2)] == [["a", "b"], ["c"]]
