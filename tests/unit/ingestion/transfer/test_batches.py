"""Batches that are bounded by number and by size."""

from __future__ import annotations

from sextant.ingestion.transfer.spool import next_of


async def test_a_batch_ends_with_its_number_or_once_it_is_as_large_as_it_may_be() -> None:
    items = iter(["aa", "b", "cccccc", "d", "e", "f"])
    batches = []
    while batch := await next_of(items, 3, len, 5):
        batches.append(batch)
    assert batches == [["aa", "b", "cccccc"], ["d", "e", "f"]]
    large = iter(["a" * 9, "b" * 9, "c"])
    assert await next_of(large, 3, len, 5) == ["a" * 9]
