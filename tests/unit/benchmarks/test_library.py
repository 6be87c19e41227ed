"""The library that the chunk search benchmark asks: its order."""

from __future__ import annotations

import numpy as np

from benchmarks.hybrid.corpus import Library


def test_chunks_are_stored_ten_of_a_tenant_at_a_time_tenants_taking_turns() -> None:
    tenants = np.repeat(np.arange(3), [95, 40, 7])
    library = Library([""] * 142, np.zeros((142, 2), np.float32), tenants, [])
    parts = library.arrivals()
    assert sorted(row for part in parts for row in part) == list(range(142))
    assert all(len(set(tenants[part.start : part.stop].tolist())) == 1 for part in parts)
    assert max(map(len, parts)) == 10
    turns = [int(tenants[part[0]]) for part in parts]
    assert turns != sorted(turns)
