"""Rescorers get the scale that they declare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from sextant.domain.retrieval import ItemKind, LaneScore, RetrievedItem
from sextant.retrievers.ranking.rescorers import (
    RescoringQuery,
    ScoreScale,
    SentenceMatch,
    run_rescorer,
)

QUERY = RescoringQuery("When was the bridge of Arta rebuilt?", lambda _: 1.0)


@dataclass
class Recorder:
    """Keeps the scores that it is given."""

    scale: ScoreScale
    name: str = "recorder"
    candidates: int = 5
    scores: list[float] = field(default_factory=list[float])

    def rescore(
        self, query: RescoringQuery, passages: Sequence[RetrievedItem]
    ) -> list[RetrievedItem]:
        assert query is QUERY
        self.scores = [one.score for one in passages]
        return list(passages)


def passage(name: str, score: float, text: str = "A river.") -> RetrievedItem:
    lanes = {"vector": LaneScore(1, score, 1.0, score)}
    return RetrievedItem(ItemKind.CHUNK, name, text, score, lanes=lanes)


@pytest.mark.parametrize(
    ("scale", "scores"),
    [(ScoreScale.SHARE_OF_BEST, [1, 0.5]), (ScoreScale.AS_RANKED, [0.02, 0.01])],
)
def test_a_rescorer_gets_the_scale_that_it_declares(scale: ScoreScale, scores: list[float]) -> None:
    recorder = Recorder(scale)
    found = run_rescorer(recorder, QUERY, [passage("a", 0.02), passage("b", 0.01)])
    assert recorder.scores == pytest.approx(scores)
    for one in found:
        assert one.lanes["vector"].contribution == pytest.approx(one.score)


def test_shares_stay_as_they_are_where_a_filter_keeps_the_best_out() -> None:
    recorder = Recorder(ScoreScale.SHARE_OF_BEST)
    run_rescorer(recorder, QUERY, [passage("b", 0.5)], ScoreScale.SHARE_OF_BEST)
    assert recorder.scores == [0.5]


def test_nothing_found_is_on_every_scale() -> None:
    assert run_rescorer(Recorder(ScoreScale.SHARE_OF_BEST), QUERY, []) == []


@pytest.mark.parametrize("best", [1.0, 0.016, 30.0])
def test_a_sentence_counts_as_much_whatever_scale_the_lanes_have(best: float) -> None:
    """Scores of reciprocal ranks are a sixtieth of shares, and BM25's are many times larger."""
    found = [
        passage("river", best),
        passage("mill", 0.9 * best, "A mill."),
        passage("bridge", 0.1 * best, "The bridge of Arta was rebuilt in 1606."),
    ]
    ranked = run_rescorer(SentenceMatch(weight=0.5), QUERY, found)
    assert [one.id for one in ranked] == ["river", "mill", "bridge"]
    assert ranked[2].score == pytest.approx(0.1 + 0.5 * 5 / 6)
