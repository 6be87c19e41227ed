"""The seven signals of metadata ranking, by hand; and what holds for any input."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import OptionInvalid
from domain.retrieval import ItemKind, LaneScore, RetrievedItem
from retrievers.ranking.metadata import (
    PRESETS,
    MetadataWeights,
    Question,
    Ranked,
    hierarchy_share,
    modality_share,
    rank_by_metadata,
    topic_share,
    with_rerank,
)

NOW = datetime(2026, 7, 1, tzinfo=UTC)
ONLY_VECTOR = dict.fromkeys(
    ("keyword", "hierarchy", "recency", "topic", "modality", "neighbour"), 0.0
)


def item(name: str, **metadata: object) -> RetrievedItem:
    lanes = {
        lane: LaneScore(1, score)
        for lane in ("vector", "keyword")
        if isinstance(score := metadata.pop(lane, None), float)
    }
    return RetrievedItem(ItemKind.CHUNK, name, "text", 0.1, lanes=lanes, metadata=metadata)


def question(text: str = "付款节点") -> Question:
    return Question(text, NOW, half_life=365.0)


A = item(
    "a",
    vector=0.9,
    keyword=3.0,
    document_title="合同",
    section_path=("付款节点", "期限"),
    topic_labels=("付款",),
    modality="text",
    neighbours=("b",),
    created_at="2025-07-01T00:00:00+00:00",
)
B = item("b", vector=0.8, modality="text", created_at="2026-07-01T00:00:00+00:00")
C = item("c", keyword=1.5, modality="table")
D = item("d", vector=0.7)


def ranked(weights: MetadataWeights | None = None) -> dict[str, Ranked]:
    found = rank_by_metadata(question(), [A, B, C, D], weights or MetadataWeights())
    return {one.item.id: one for one in found}


def test_seven_signals_are_weighted_and_summed_as_in_the_seed() -> None:
    """Seed 004: "按 α~ζ 加权：向量、关键词、层级、时间衰减、topic、模态匹配与邻居得分".

    Terms of the question are 付款, 款节, 节点. By hand, a: vector (0.9 − 0.7) / 0.2 = 1; keyword
    3 / 3 = 1; the title one level up is the question, 0.7; 365 days leave 0.5; one of three terms is
    a topic; no kind is asked for, 1; its neighbour b has vector 0.5 and no keyword:
    0.5 · 0.5 / 0.75 = 1/3.
    """
    a, b = ranked()["a"], ranked()["b"]
    shares = {name: one.share for name, one in a.signals.items()}
    assert shares == pytest.approx(
        {
            "vector": 1.0,
            "keyword": 1.0,
            "hierarchy": 0.7,
            "recency": 0.5,
            "topic": 1 / 3,
            "modality": 1.0,
            "neighbour": 1 / 3,
        }
    )
    by_hand = 0.5 + 0.25 + 0.05 * 0.7 + 0.02 * 0.5 + 0.08 / 3 + 0.05 + 0.05 / 3
    assert a.hybrid == pytest.approx(by_hand)
    assert b.hybrid == pytest.approx(0.5 * 0.5 + 0.02 * 1 + 0.05)
    assert a.signals["vector"].contribution == pytest.approx(0.5)
    assert a.signals["recency"].raw == pytest.approx(365)


def test_what_a_lane_did_not_find_has_no_share_of_it() -> None:
    found = ranked()
    assert found["c"].signals["vector"].share == 0
    assert found["c"].signals["keyword"].share == pytest.approx(0.5)
    assert found["d"].signals["vector"].share == 0  # the farthest of those found


def test_the_final_score_is_six_tenths_hybrid_and_four_tenths_rerank() -> None:
    """Seed 004: "最终得分 = 0.6 * hybrid + 0.4 * rerank". Scores 2, 8, 5 become 0, 1, 0.5."""
    before = rank_by_metadata(question(), [A, B, C, D], MetadataWeights())
    after = {one.item.id: one for one in with_rerank(before, [2.0, 8.0, 5.0])}
    shares = {one.item.id: share for one, share in zip(before, (0.0, 1.0, 0.5, 0.0), strict=True)}
    for one in before:
        expected = max(0.6 * one.hybrid + 0.4 * shares[one.item.id], 1e-9)
        assert after[one.item.id].item.score == pytest.approx(expected)
        assert after[one.item.id].rerank == shares[one.item.id]
    first, second, _, last = (one.item for one in before)
    assert after[second.id].item.lanes["rerank"].score == 8.0
    assert "rerank" not in after[last.id].item.lanes
    assert next(iter(after)) == second.id != first.id


def test_a_sections_own_title_counts_more_than_those_above() -> None:
    own = item("x", section_path=("总则", "付款节点"))
    above = item("y", section_path=("付款节点", "总则"))
    document = item("z", document_title="付款节点", section_path=("总则", "其他"))
    shares = [hierarchy_share(question(), one) for one in (own, above, document, item("n"))]
    assert shares == pytest.approx([1.0, 0.7, 0.49, 0.0])


def test_topics_keywords_and_entities_cover_the_question() -> None:
    one = item("x", topics=("付款",), keywords=("节点",), entities=("Yuntu",))
    assert topic_share(question("付款节点"), one) == pytest.approx(2 / 3)
    assert topic_share(question("Yuntu"), one) == 1.0
    assert topic_share(question("的"), item("n")) == 0.0


@pytest.mark.parametrize(
    ("asked", "kind", "share"),
    [
        ("费用一览表", "table", 1.0),
        ("费用一览表", "text", 0.0),
        ("show me the table", "table", 1.0),
        ("系统架构图片", "image", 1.0),
        ("系统架构图片", "table", 0.0),
        ("what is stable?", "text", 1.0),
        ("付款节点", "table", 1.0),
    ],
)
def test_a_kind_that_is_asked_for_is_preferred(asked: str, kind: str, share: float) -> None:
    assert modality_share(asked, item("x", modality=kind)) == share


def test_presets_put_sections_or_entities_first() -> None:
    """Seed 004: "可按“章节优先/实体优先”等场景调整"."""
    in_section = item("section", vector=0.80, section_path=("付款节点",))
    on_topic = item("entity", vector=0.80, entities=("付款节点",))
    near = item("near", vector=0.84)
    far = item("far", vector=0.70)
    first = {
        preset: rank_by_metadata(question(), [near, in_section, on_topic, far], weights)[0].item.id
        for preset, weights in PRESETS.items()
    }
    assert first == {"balanced": "near", "section-first": "section", "entity-first": "entity"}


def test_weights_are_read_from_presets_and_single_values() -> None:
    assert MetadataWeights.read(None) == MetadataWeights() == PRESETS["balanced"]
    assert MetadataWeights.read("entity-first").topic == 0.35
    assert MetadataWeights.read({"topic": 1}) == replace(MetadataWeights(), topic=1)


@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf"), "much", None, True])
@pytest.mark.parametrize("signal", list(asdict(MetadataWeights())))
def test_a_weight_that_means_nothing_is_refused_by_name(signal: str, bad: object) -> None:
    """Issue 5, bad input: "Weights negative, NaN or summing to 0"."""
    with pytest.raises(OptionInvalid, match=signal) as caught:
        MetadataWeights.read({signal: bad})  # type: ignore[dict-item]
    assert caught.value.field == f"ranking.{signal}"


def test_weights_that_sum_to_0_are_refused() -> None:
    with pytest.raises(OptionInvalid, match="All weights are 0"):
        MetadataWeights(vector=0, **ONLY_VECTOR)


@pytest.mark.parametrize(
    ("given_", "near"),
    [("section_first", "section-first"), ({"neighbor": 1}, "neighbour"), ({"topics": 1}, "topic")],
)
def test_an_unknown_name_is_answered_by_the_near_one(given_: object, near: str) -> None:
    with pytest.raises(OptionInvalid, match=f"Did you mean `{near}`"):
        MetadataWeights.read(given_)  # type: ignore[arg-type]


_TEXT = st.text(alphabet="付款节点合同 abAB表图", max_size=8)
_ITEMS: st.SearchStrategy[list[dict[str, object]]] = st.lists(
    st.builds(
        dict,
        vector=st.none() | st.floats(-1, 1),
        keyword=st.none() | st.floats(0, 20),
        section_path=st.lists(_TEXT, max_size=3),
        topics=st.lists(_TEXT, max_size=3),
        modality=st.sampled_from(["text", "table", "image"]),
        neighbours=st.lists(st.sampled_from("0123456"), max_size=2),
        created_at=st.sampled_from(["2020-01-01", "2026-06-30T12:00:00+08:00", "2031-01-01"]),
    ),
    max_size=7,
)
_WEIGHTS = st.tuples(*[st.just(0.0) | st.floats(1e-9, 1e9)] * 7).filter(any)


@given(_TEXT, _ITEMS, _WEIGHTS)
def test_shares_and_scores_lie_in_0_to_1_and_order_does_not_matter(
    asked: str, found: list[dict[str, object]], weights: tuple[float, ...]
) -> None:
    items = [item(str(place), **one) for place, one in enumerate(found)]
    own = MetadataWeights(*weights)
    best_first = rank_by_metadata(question(asked), items, own)
    assert len(best_first) == len(items)
    for one in best_first:
        assert all(0 <= signal.share <= 1 for signal in one.signals.values())
        assert 0 <= one.hybrid <= 1 + 1e-9
        assert one.item.score > 0
    again = rank_by_metadata(question(asked), items[::-1], own)
    assert [one.item.id for one in again] == [one.item.id for one in best_first]


@given(_ITEMS)
def test_by_vector_alone_the_order_is_the_vector_lanes(found: list[dict[str, object]]) -> None:
    items = [item(str(place), **one) for place, one in enumerate(found)]
    own = MetadataWeights(vector=1, **ONLY_VECTOR)
    shares = [one.signals["vector"].share for one in rank_by_metadata(question(), items, own)]
    assert shares == sorted(shares, reverse=True)
