"""The library that the chunk search benchmark asks: its order, its questions, its ids, the harness's."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from benchmarks.hybrid.corpus import Library, Question, worded
from benchmarks.hybrid.harness import read_library
from benchmarks.hybrid.store import read_ids


def test_chunks_are_stored_ten_of_a_tenant_at_a_time_tenants_taking_turns() -> None:
    tenants = np.repeat(np.arange(3), [95, 40, 7])
    library = Library([""] * 142, np.zeros((142, 2), np.float32), tenants, [])
    parts = library.arrivals()
    assert sorted(row for part in parts for row in part) == list(range(142))
    assert all(len(set(tenants[part.start : part.stop].tolist())) == 1 for part in parts)
    assert max(map(len, parts)) == 10
    turns = [int(tenants[part[0]]) for part in parts]
    assert turns != sorted(turns)


def test_the_harnesss_library_is_read_tenant_after_tenant_with_vectors_and_questions(
    tmp_path: Path,
) -> None:
    rows = [{"id": n, "tenant": tenant, "text": f"text {n}"} for n, tenant in enumerate([2, 1, 2])]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "rows.jsonl").write_text(lines, encoding="utf-8")
    asked = {"text": "?", "home": 1, "tenant": 2, "kind": "off", "bucket": "S", "kw": ["机器", "a"]}
    (tmp_path / "queries.json").write_text(json.dumps([asked]), encoding="utf-8")
    np.save(tmp_path / "emb.npy", np.eye(3, dtype=np.float32))
    np.save(tmp_path / "qemb.npy", np.ones((1, 3), np.float32))
    library = read_library(tmp_path)
    assert library.texts == ["text 1", "text 0", "text 2"]
    assert library.tenants.tolist() == [0, 1, 1]
    assert library.vectors.argmax(axis=1).tolist() == [1, 0, 2]
    [question] = library.questions
    assert (question.tenant, question.bucket, question.off) == (1, "S", True)
    assert question.keywords == ("机器", "a")
    assert question.vector.tolist() == [1, 1, 1]


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


def test_ids_of_a_store_are_read_by_row_and_those_of_another_library_refused(
    tmp_path: Path,
) -> None:
    ids, file = [uuid4() for _ in range(3)], tmp_path / "ids.txt"
    file.write_text("\n".join(map(str, ids)), encoding="utf-8")
    assert read_ids(file, 3) == ids
    with pytest.raises(ValueError, match="names 3 chunks and the library has 4"):
        read_ids(file, 4)
