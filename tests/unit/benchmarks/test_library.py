"""The library that the chunk search benchmark asks: in which order it is stored, and the harness's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.hybrid.corpus import Library
from benchmarks.hybrid.harness import read_library


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
