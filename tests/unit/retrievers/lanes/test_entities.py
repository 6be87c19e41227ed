"""The entities of a question, and how much they matter."""

from __future__ import annotations

import numpy as np

from sextant.retrievers.lanes.entities import importance


def test_an_entity_matters_by_relevance_and_by_what_is_related_to_it() -> None:
    relevance = np.array([1.0, 1.0, 0.5, 1.0, 0.0], np.float32)
    centrality = np.array([1.0, 0.5, 0.5, 0.0, 1.0], np.float32)
    found = importance(relevance, centrality)
    assert found[0] == 1.0
    assert found[0] > found[1] > found[2] > found[4] == 0.0
    assert found[3] > 0, "one that nothing is related to is not lost"
