"""Runs of things up to a size."""

from __future__ import annotations

from sextant.ingestion.progress import runs_of


def test_runs_are_no_larger_than_the_room_but_for_one_that_is_larger_by_itself() -> None:
    items = ["aa", "b", "cccccc", "d", "e"]
    assert [*runs_of(items, len, 3)] == [["aa", "b"], ["cccccc"], ["d", "e"]]
    assert [*runs_of([], len, 3)] == []
