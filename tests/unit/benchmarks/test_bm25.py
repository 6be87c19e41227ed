"""The BM25 rerank's benchmark: which candidates, what its gate sees, and what a change leaves."""

from __future__ import annotations

import numpy as np

from benchmarks.hybrid.bm25 import CANDIDATES, Asked, asked_of, changed, gate
from benchmarks.hybrid.corpus import Library, Question
from sextant.retrievers.hybrid_retriever.bm25 import BM25Index
from sextant.stores.rows import StoredText

WORDS = ["valve", "pump", "motor", "gasket", "bearing", "rotor"]
TEXTS = [
    StoredText(row, str(row), " ".join(WORDS[: 1 + row % 6] * (1 + row % 3))) for row in range(60)
]
ASKED = [
    Asked("which rotor has a gasket", tuple(range(40))),
    Asked("motor", tuple(range(20, 60))),
]


def test_candidates_are_the_forty_of_the_questions_tenant_that_lie_nearest() -> None:
    angles = np.linspace(0, 1, 120)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    question = Question(1, "L", off=False, keywords=("pump", "motor"), vector=vectors[119])
    library = Library([""] * 120, vectors, np.repeat([0, 1, 2], [20, 90, 10]), [question] * 3)
    first, *others = asked_of(library, 2)
    assert first.question == "pump motor"
    assert first.candidates == tuple(range(109, 109 - CANDIDATES, -1))
    assert len(others) == 1


def test_the_gate_holds_for_an_index_of_all_texts_and_fails_for_one_of_some() -> None:
    whole, some = BM25Index().updated([], TEXTS), BM25Index().updated([], TEXTS[:40])
    assert gate(whole, TEXTS, ASKED, "as built").held
    failed = gate(some, TEXTS, ASKED, "as built")
    assert not failed.held
    assert "60 texts" in failed.told


def test_a_gate_where_nothing_scores_proves_nothing() -> None:
    whole = BM25Index().updated([], TEXTS)
    assert not gate(whole, TEXTS, [Asked("nobody", (1, 2, 3))], "as built").held


def test_changes_put_other_texts_in_the_places_of_those_drawn() -> None:
    rows = [3, 57, 11, 30]
    index, texts = changed(BM25Index().updated([], TEXTS), TEXTS, rows)
    assert [
        row for row, (old, new) in enumerate(zip(TEXTS, texts, strict=True)) if old != new
    ] == sorted(rows)
    assert len(index.rows) == len(texts)
    assert all(one.id in index.rows for one in texts)
    assert gate(index, texts, ASKED, "changed").held
