"""Weighted reciprocal rank fusion: the formula by hand, and what must hold for any lists."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.retrieval import ItemKind, LaneScore, RetrievedItem
from sextant.retrievers.mode_runner import rank_one_lane
from sextant.retrievers.ranking.fusion import fuse, fuse_by_score, interleave, rrf

rankings = st.dictionaries(
    st.sampled_from(["vector", "keyword", "graph"]),
    st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8),
    max_size=3,
)
weights = st.fixed_dictionaries(
    {lane: st.floats(0.01, 10) for lane in ("vector", "keyword", "graph")}
)


own_scores = st.lists(st.floats(0.001, 1), min_size=1, max_size=8)


def item(name: str, score: float) -> RetrievedItem:
    return RetrievedItem(ItemKind.CHUNK, name, f"text of {name}", score)


def ids(ranking: list[tuple[str, float]]) -> list[str]:
    return [item_id for item_id, _ in ranking]


def test_scores_are_the_weighted_reciprocal_ranks_counted_from_one() -> None:
    found = {"vector": ["a", "b"], "keyword": ["b", "c"]}
    ranking = rrf(found, {"vector": 0.7, "keyword": 0.3}, 60)
    assert ids(ranking) == ["b", "a", "c"]
    assert dict(ranking) == {
        "b": pytest.approx(0.7 / 62 + 0.3 / 61),
        "a": pytest.approx(0.7 / 61),
        "c": pytest.approx(0.3 / 62),
    }


def test_an_item_found_twice_appears_once_and_keeps_both_places() -> None:
    fused = fuse(
        {"vector": [item("a", 0.9), item("b", 0.8)], "keyword": [item("b", 3.5)]},
        {"vector": 0.7, "keyword": 0.3},
    )
    assert [found.id for found in fused] == ["b", "a"]
    assert fused[0].lanes == {
        "vector": LaneScore(2, 0.8, 0.7, 0.7 / 62),
        "keyword": LaneScore(1, 3.5, 0.3, 0.3 / 61),
    }
    assert fused[0].score == pytest.approx(0.7 / 62 + 0.3 / 61)
    assert fused[1].lanes == {"vector": LaneScore(1, 0.9, 0.7, 0.7 / 61)}


def test_a_lane_of_weight_zero_neither_ranks_nor_adds_items() -> None:
    found = {"vector": [item("a", 0.9)], "keyword": [item("b", 3.0), item("a", 2.0)]}
    fused = fuse(found, {"vector": 1.0, "keyword": 0.0})
    assert [(hit.id, hit.score) for hit in fused] == [("a", 1 / 61)]


def test_a_lane_that_nobody_weighed_weighs_one() -> None:
    assert dict(rrf({"vector": ["a"]}, {}, 60)) == {"a": pytest.approx(1 / 61)}
    assert fuse({"vector": [item("a", 0.9)]}, {})[0].lanes["vector"].weight == 1


@pytest.mark.parametrize("knowing", ["keyword", "vector"])
def test_a_hit_that_one_lane_knows_by_id_alone_has_the_text_of_the_other(knowing: str) -> None:
    bare = replace(item("a", 0.9), text="")
    found = {"keyword": [bare], "vector": [bare]} | {knowing: [item("a", 0.5)]}
    assert [one.text for one in fuse(found, {})] == ["text of a"]


def test_by_shares_no_more_come_than_are_wanted() -> None:
    found = {"local": [item("a", 0.9), item("b", 0.5)], "global": [item("c", 0.4)]}
    assert [one.id for one in fuse_by_score(found, 0.02, 2)] == ["a", "b"]
    assert [one.id for one in fuse_by_score(found, 0.9, 2)] == ["c", "a"]


def test_nothing_fused_is_nothing() -> None:
    assert fuse({}, {}) == []
    assert fuse({"vector": [], "keyword": []}, {}) == []


def test_equal_scores_are_ordered_by_id_whatever_the_order_of_lanes() -> None:
    assert ids(rrf({"vector": ["b"], "keyword": ["a"]}, {})) == ["a", "b"]
    assert ids(rrf({"keyword": ["a"], "vector": ["b"]}, {})) == ["a", "b"]


@given(rankings, weights)
def test_what_the_lanes_add_sums_up_to_the_score(
    found: dict[str, list[str]], weigh: dict[str, float]
) -> None:
    hits = {
        lane: [item(name, 1 / n) for n, name in enumerate(names, 1)]
        for lane, names in found.items()
    }
    for hit in fuse(hits, weigh):
        assert sum(lane.contribution or 0 for lane in hit.lanes.values()) == pytest.approx(
            hit.score
        )


def test_by_shares_an_item_scores_what_both_lanes_give_it() -> None:
    first = replace(item("a", 0.5), lanes={"walk": LaneScore(1, 3.0)})
    [both] = fuse_by_score({"local": [first], "global": [item("a", 0.8)]}, 0.25)
    assert both.score == pytest.approx(0.575)
    assert both.lanes["local"].contribution == pytest.approx(0.375)
    assert both.lanes["global"].contribution == pytest.approx(0.2)
    assert [both.lanes[lane].weight for lane in ("local", "global")] == [0.75, 0.25]
    assert both.lanes["walk"].contribution is None


@given(rankings, weights)
def test_the_order_of_lanes_does_not_matter(
    found: dict[str, list[str]], weigh: dict[str, float]
) -> None:
    backwards = dict(reversed(found.items()))
    assert rrf(found, weigh) == rrf(backwards, weigh)


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.floats(0.01, 10), st.floats(1, 100))
def test_a_single_list_keeps_its_order(names: list[str], weight: float, k: float) -> None:
    assert ids(rrf({"vector": names}, {"vector": weight}, k)) == names


@given(rankings, weights)
def test_every_id_appears_once_with_a_positive_score_in_descending_order(
    found: dict[str, list[str]], weigh: dict[str, float]
) -> None:
    ranking = rrf(found, weigh)
    assert set(ids(ranking)) == {name for names in found.values() for name in names}
    assert len(ids(ranking)) == len(set(ids(ranking)))
    scores = [score for _, score in ranking]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


@given(rankings, weights, st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_scaling_all_weights_alike_keeps_the_order(
    found: dict[str, list[str]], weigh: dict[str, float], factor: float
) -> None:
    scaled = {lane: weight * factor for lane, weight in weigh.items()}
    assert ids(rrf(found, weigh)) == ids(rrf(found, scaled))


@given(rankings, weights, st.permutations("abcdefgh"), st.integers(1, 7))
def test_moving_up_in_one_lane_raises_an_items_score(
    found: dict[str, list[str]], weigh: dict[str, float], names: list[str], place: int
) -> None:
    moved = names[place]
    better = [*names[: place - 1], moved, names[place - 1], *names[place + 1 :]]
    before = dict(rrf({**found, "vector": names}, weigh))[moved]
    assert dict(rrf({**found, "vector": better}, weigh))[moved] > before


@given(own_scores, own_scores)
def test_a_small_share_leaves_the_order_where_it_is_clear(
    lead: list[float], other: list[float]
) -> None:
    first = [item(f"a{place}", score) for place, score in enumerate(sorted(lead, reverse=True))]
    second = [item(f"a{place}", score) for place, score in enumerate(other)]
    merged = {
        hit.id: place
        for place, hit in enumerate(fuse_by_score({"local": first, "global": second}, 0.02))
    }
    for above, below in pairwise(first):
        if above.score - below.score > 0.021:
            assert merged[above.id] < merged[below.id]


@given(own_scores, own_scores)
def test_by_shares_nothing_is_lost_and_scores_fall(lead: list[float], other: list[float]) -> None:
    first = [item(f"a{place}", score) for place, score in enumerate(sorted(lead, reverse=True))]
    second = [item(f"b{place}", score) for place, score in enumerate(sorted(other, reverse=True))]
    merged = fuse_by_score({"local": first, "global": [*second, *first[:1]]}, 0.4)
    assert {hit.id for hit in merged} == {hit.id for hit in [*first, *second]}
    scores = [hit.score for hit in merged]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


def test_what_one_lane_leaves_undecided_a_small_share_settles() -> None:
    lead = [item("first", 1.0), item("a", 0.5), item("b", 0.5)]
    found = {"local": lead, "global": [item("b", 1.0)]}
    assert [hit.id for hit in fuse_by_score(found, 0.02)] == ["first", "b", "a"]
    assert fuse_by_score(found, 0.02, 2) == fuse_by_score(found, 0.02)[:2]


def test_an_item_of_both_keeps_what_both_said() -> None:
    first = replace(item("x", 1.0), lanes={"walk": LaneScore(2, 1.0)})
    second = replace(item("x", 0.4), lanes={"walk": LaneScore(9, 0.1), "words": LaneScore(3, 0.4)})
    [merged] = fuse_by_score({"local": [first], "global": [second]}, 0.4)
    assert set(merged.lanes) == {"local", "global", "walk", "words"}
    assert merged.lanes["walk"].rank == 2


def test_a_lane_alone_keeps_its_order() -> None:
    found = [item("b", 0.5), item("a", 0.5)]
    assert [hit.id for hit in rank_one_lane("local", found)] == ["b", "a"]


IDS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(first=IDS, second=IDS, kept=st.integers(0, 9))
def test_rankings_by_turns_hold_everything_once_and_keep_the_first_places(
    first: list[str], second: list[str], kept: int
) -> None:
    merged = interleave(first, second, kept)
    assert sorted(merged) == sorted({*first, *second})
    assert merged[: min(kept, len(first))] == first[:kept]


def test_behind_the_first_places_the_other_ranking_begins() -> None:
    merged = interleave(["a", "b", "c", "d"], ["c", "x", "a", "y"], 1)
    assert merged == ["a", "c", "b", "x", "y", "d"]
