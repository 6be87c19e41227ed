"""The BM25 rerank's benchmark: which candidates, and whether its scores are right."""

from __future__ import annotations

import numpy as np

from benchmarks.hybrid.bm25 import CANDIDATES, EXACT, Asked, asked_of, difference
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


def test_an_index_of_all_texts_has_their_scores_and_one_of_some_has_others() -> None:
    whole, some = BM25Index().updated([], TEXTS), BM25Index().updated([], TEXTS[:40])
    worst, telling = difference(whole, TEXTS, ASKED)
    assert worst < EXACT
    assert telling > 0
    assert difference(some, TEXTS, ASKED)[0] > EXACT
