"""分数融合算法: normalisation, weights and the bonus, with numbers computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.retrievers.entity_search.options import Blended, blend

WEIGHTS = {"vector": 0.5, "fts": 0.3, "graph": 0.2}

Hits = list[tuple[str, float]]


def blended(vector: Hits = [], fts: Hits = [], graph: Hits = []) -> dict[str, Blended[str]]:  # noqa: B006
    found = blend({"vector": vector, "fts": fts, "graph": graph}, WEIGHTS, 0.02)
    return {one.key: one for one in found}


def test_the_final_score_is_the_weighted_sum() -> None:
    found = blended(vector=[("a", 0.9), ("b", 0.7), ("c", 0.5)])
    assert found["a"].score == pytest.approx(0.5)
    assert found["b"].score == pytest.approx(0.25)
    assert found["c"].score == 0.0


def test_two_signals_add_002_and_three_add_004() -> None:
    """多信号奖励：≥2个信号同时命中, 0.02 × (signals - 1)."""
    found = blended(
        vector=[("a", 0.9), ("b", 0.7), ("x", 0.5)],
        fts=[("b", 3.0), ("a", 2.0), ("x", 1.0)],
        graph=[("a", 7.0), ("x", 1.0)],
    )
    # a: 0.5·1 + 0.3·0.5 + 0.2·1 + 0.04; b: 0.5·0.5 + 0.3·1 + 0.02
    assert found["a"].score == pytest.approx(0.89)
    assert found["a"].bonus == pytest.approx(0.04)
    assert found["b"].score == pytest.approx(0.57)
    assert found["b"].bonus == pytest.approx(0.02)


def test_the_last_of_a_lane_is_no_signal_as_in_the_seeds_code() -> None:
    """`vector_score > 0`: a share of 0 earns no bonus."""
    found = blended(vector=[("a", 0.9), ("b", 0.7)], fts=[("b", 3.0), ("a", 2.0)])
    assert found["a"].bonus == found["b"].bonus == 0.0
    assert (found["a"].score, found["b"].score) == (0.5, 0.3)


def test_equal_scores_are_ordered_by_key_whatever_the_lanes_order() -> None:
    found = blend({"vector": [("b", 1.0), ("a", 1.0)]}, WEIGHTS, 0.02)
    assert [one.key for one in found] == ["a", "b"]


def test_an_explanation_adds_up() -> None:
    (one,) = blend({"vector": [("a", 0.8)], "fts": [("a", 4.0)]}, WEIGHTS, 0.02)
    vector = one.signals["vector"]
    assert (vector.rank, vector.raw, vector.share, vector.weight) == (1, 0.8, 1.0, 0.5)
    parts = sum(signal.contribution for signal in one.signals.values())
    assert one.score == pytest.approx(parts + one.bonus) == pytest.approx(0.82)


LANE = st.dictionaries(
    st.sampled_from("abcdefgh"), st.floats(-1e6, 1e6, allow_nan=False), max_size=8
).map(lambda hits: sorted(hits.items(), key=lambda hit: (-hit[1], hit[0])))
WEIGHT = st.floats(0, 10)


@given(LANE, LANE, LANE, st.tuples(WEIGHT, WEIGHT, WEIGHT))
def test_scores_fall_and_stay_within_weights_and_bonus(
    vector: Hits, fts: Hits, graph: Hits, given_weights: tuple[float, float, float]
) -> None:
    weights = dict(zip(WEIGHTS, given_weights, strict=True))
    found = blend({"vector": vector, "fts": fts, "graph": graph}, weights, 0.02)
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert {one.key for one in found} == {key for lane in (vector, fts, graph) for key, _ in lane}
    for one in found:
        assert -1e-9 <= one.score <= sum(given_weights) + 0.04 + 1e-9
        assert all(0 <= signal.share <= 1 for signal in one.signals.values())
        assert one.score == pytest.approx(
            sum(signal.contribution for signal in one.signals.values()) + one.bonus
        )


@given(LANE, LANE, st.floats(0.5, 4), st.floats(-3, 3))
def test_a_lanes_scale_does_not_matter(
    vector: Hits, fts: Hits, factor: float, shift: float
) -> None:
    moved = [(key, score * factor + shift) for key, score in vector]
    if len({score for _, score in moved}) != len({score for _, score in vector}):
        return  # rounding made two scores equal
    before = blend({"vector": vector, "fts": fts}, WEIGHTS, 0.0)
    after = {one.key: one.score for one in blend({"vector": moved, "fts": fts}, WEIGHTS, 0.0)}
    for one in before:
        assert after[one.key] == pytest.approx(one.score, abs=1e-3)
