"""Rescorers get scores up to 1, whatever scale the lanes have."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, LaneScore, RetrievedItem
from sextant.retrievers.ranking.rescorers import RescoringQuery, SentenceMatch, scale_to_best

QUERY = RescoringQuery("When was the bridge of Arta rebuilt?", lambda _: 1.0)


def passage(name: str, score: float, text: str = "A river.") -> RetrievedItem:
    lanes = {"vector": LaneScore(1, score, 1.0, score)}
    return RetrievedItem(ItemKind.CHUNK, name, text, score, lanes=lanes)


def test_scores_become_shares_of_the_best_and_contributions_with_them() -> None:
    found = scale_to_best([passage("a", 0.02), passage("b", 0.01)])
    assert [one.score for one in found] == pytest.approx([1, 0.5])
    for one in found:
        assert one.lanes["vector"].contribution == pytest.approx(one.score)
    assert scale_to_best([]) == []


@pytest.mark.parametrize("best", [1.0, 0.016, 30.0])
def test_a_sentence_counts_as_much_whatever_scale_the_lanes_have(best: float) -> None:
    """Scores of reciprocal ranks are a sixtieth of shares, and BM25's are many times larger."""
    found = [
        passage("river", best),
        passage("mill", 0.9 * best, "A mill."),
        passage("bridge", 0.1 * best, "The bridge of Arta was rebuilt in 1606."),
    ]
    ranked = SentenceMatch(weight=0.5).rescore(QUERY, scale_to_best(found))
    assert [one.id for one in ranked] == ["river", "mill", "bridge"]
    assert ranked[2].score == pytest.approx(0.1 + 0.5 * 5 / 6)
