"""The library that the chunk search benchmark asks: its order, its questions."""

from __future__ import annotations

import numpy as np

from benchmarks.hybrid.corpus import Library, Question, worded


def test_chunks_are_stored_ten_of_a_tenant_at_a_time_tenants_taking_turns() -> None:
    tenants = np.repeat(np.arange(3), [95, 40, 7])
    library = Library([""] * 142, np.zeros((142, 2), np.float32), tenants, [])
    parts = library.arrivals()
    assert sorted(row for part in parts for row in part) == list(range(142))
    assert all(len(set(tenants[part.start : part.stop].tolist())) == 1 for part in parts)
    assert max(map(len, parts)) == 10
    turns = [int(tenants[part[0]]) for part in parts]
    assert turns != sorted(turns)


def test_questions_of_other_keywords_follow_those_that_are_asked() -> None:
    texts = [
        f"tenant {row // 50} speaks of subject number {chr(97 + row % 26) * 5}"
        for row in range(100)
    ]
    asked = [
        Question(tenant, "L", off=True, keywords=("asked",), vector=np.ones(2, np.float32))
        for tenant in (1, 0)
    ]
    library = Library(texts, np.ones((100, 2), np.float32), np.repeat([0, 1], 50), asked)
    every = worded(library, 41)
    assert len(every) == 41
    assert every[:2] == asked
    assert [one.tenant for one in every[:6]] == [1, 0, 1, 0, 1, 0]
    assert {one.bucket for one in every} == {"L"}
    for one in every[2:]:
        own = " ".join(texts[row] for row in library.rows_of(one.tenant))
        assert all(word in own for word in one.keywords)
    assert len({one.keywords for one in every}) > 20
    assert worded(library, 1) == asked  # there are enough already
