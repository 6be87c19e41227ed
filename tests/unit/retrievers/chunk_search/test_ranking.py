"""The seven signals of metadata ranking, by hand; and what holds for any input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import ChunkSearchSettings
from sextant.retrievers.chunk_search.ranking import (
    ChunkQuestion,
    LaneScores,
    MetadataRanking,
    RankedChunk,
    hierarchy_share,
    rank_by_metadata,
    topic_share,
    with_rerank,
)
from sextant.retrievers.chunk_search.weights import PRESETS, MetadataWeights
from sextant.stores.chunks.stored import ChunkMetadata
from sextant.text.analysis import terms

NOW = datetime(2026, 7, 1, tzinfo=UTC)
ONLY_VECTOR = dict.fromkeys(
    ("keyword", "hierarchy", "recency", "topic", "modality", "neighbour"), 0.0
)


@dataclass(frozen=True)
class Chunk:
    """A chunk, and what the lanes gave it."""

    traits: ChunkMetadata
    lanes: dict[str, float] = field(default_factory=dict[str, float])


def chunk(
    name: str,
    *,
    titles: Sequence[str] = (),
    said: Sequence[str] = (),
    modality: str = "text",
    created_at: str = "2026-07-01T00:00:00+00:00",
    neighbours: Sequence[str] = (),
    **lanes: float | None,
) -> Chunk:
    traits = ChunkMetadata(
        name, titles, "\n".join(said), modality, datetime.fromisoformat(created_at), neighbours
    )
    return Chunk(traits, {lane: score for lane, score in lanes.items() if score is not None})


def rank(
    asked: ChunkQuestion, found: Sequence[Chunk], weights: MetadataWeights | None = None
) -> MetadataRanking:
    lanes: dict[str, LaneScores] = {
        lane: {one.traits.id: one.lanes[lane] for one in found if lane in one.lanes}
        for lane in ("vector", "keyword")
    }
    traits = [one.traits for one in found]
    return rank_by_metadata(asked, traits, lanes, weights or MetadataWeights())


def all_of(ranking: MetadataRanking) -> list[RankedChunk]:
    return ranking.chunks(0, len(ranking))


def question(text: str = "付款节点") -> ChunkQuestion:
    return ChunkQuestion(text, NOW, half_life=365.0)


A = chunk(
    "a",
    vector=0.9,
    keyword=3.0,
    titles=("合同", "付款节点", "期限"),
    said=("付款",),
    neighbours=("b",),
    created_at="2025-07-01T00:00:00+00:00",
)
B = chunk("b", vector=0.8)
C = chunk("c", keyword=1.5, modality="table")
D = chunk("d", vector=0.7)


def ranked(weights: MetadataWeights | None = None) -> dict[str, RankedChunk]:
    return {one.id: one for one in all_of(rank(question(), [A, B, C, D], weights))}


def test_seven_signals_are_weighted_and_summed() -> None:
    """Compare with what comes out by hand.

    Terms of the question are 付款, 款节, 节点. Of a: vector (0.9 − 0.7) / 0.2 = 1; keyword
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
    before = rank(question(), [A, B, C, D])
    after = {one.id: one for one in all_of(with_rerank(before, [2.0, 8.0, 5.0], share=0.4))}
    shares = dict(zip(before.ids, (0.0, 1.0, 0.5, 0.0), strict=True))
    for one in all_of(before):
        expected = max(0.6 * one.hybrid + 0.4 * shares[one.id], 1e-9)
        assert after[one.id].score == pytest.approx(expected)
        assert after[one.id].rerank == shares[one.id]
        assert one.rerank is None
    assert next(iter(after)) == before.ids[1]


def test_a_sections_own_title_counts_more_than_those_above() -> None:
    own, above, document = ("总则", "付款节点"), ("付款节点", "总则"), ("付款节点", "总则", "其他")
    shares = [hierarchy_share(question(), titles) for titles in (own, above, document, ())]
    assert shares == pytest.approx([1.0, 0.7, 0.49, 0.0])


def test_topics_keywords_and_entities_cover_the_question() -> None:
    one = chunk("x", said=("付款", "节点", "Yuntu")).traits
    assert topic_share(question("付款节点"), one) == pytest.approx(2 / 3)
    assert topic_share(question("Yuntu"), one) == 1.0
    assert topic_share(question("的"), chunk("n").traits) == 0.0


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
    [one] = all_of(rank(question(asked), [chunk("x", modality=kind, vector=0.5)]))
    assert one.signals["modality"].share == share


def test_presets_put_sections_or_entities_first() -> None:
    in_section = chunk("section", vector=0.80, titles=("付款节点",))
    on_topic = chunk("entity", vector=0.80, said=("付款节点",))
    near = chunk("near", vector=0.84)
    far = chunk("far", vector=0.70)
    found = [near, in_section, on_topic, far]
    first = {preset: rank(question(), found, weights).ids[0] for preset, weights in PRESETS.items()}
    assert first == {"balanced": "near", "section-first": "section", "entity-first": "entity"}


def test_weights_are_read_from_presets_and_single_values() -> None:
    assert MetadataWeights.read(None) == MetadataWeights() == PRESETS["balanced"]
    assert MetadataWeights.of(ChunkSearchSettings()) == MetadataWeights()
    assert MetadataWeights.read("entity-first").topic == 0.35
    assert MetadataWeights.read({"topic": 1}) == replace(MetadataWeights(), topic=1)


def test_the_settings_say_what_balanced_is() -> None:
    """Every weight is a setting. Single weights of a request go over these."""
    own = MetadataWeights.of(ChunkSearchSettings(vector_weight=0.2, topic_weight=0.6))
    assert (own.vector, own.keyword, own.topic) == (0.2, 0.25, 0.6)
    assert MetadataWeights.read(None, own) == MetadataWeights.read("balanced", own) == own
    assert MetadataWeights.read({"keyword": 0}, own) == replace(own, keyword=0)
    assert MetadataWeights.read("entity-first", own) == PRESETS["entity-first"]


@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf"), "much", None, True])
@pytest.mark.parametrize("signal", list(asdict(MetadataWeights())))
def test_a_weight_that_means_nothing_is_refused_by_name(signal: str, bad: object) -> None:
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


_TEXT = st.text(alphabet="付款节点合同 abABé表图", max_size=8)
_TEXTS = st.lists(_TEXT, max_size=3)


@given(_TEXT, _TEXT)
def test_terms_of_the_question_are_found_as_if_the_text_was_cut(asked: str, text: str) -> None:
    assert question(asked).terms_in(text) == set(terms(asked)) & set(terms(text))


_CHUNKS: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.builds(
        dict,
        vector=st.none() | st.floats(-1, 1),
        keyword=st.none() | st.floats(0, 20),
        titles=_TEXTS,
        said=_TEXTS,
        modality=st.sampled_from(["text", "table", "image"]),
        neighbours=st.lists(st.sampled_from("0123456"), max_size=2),
        created_at=st.sampled_from(["2020-01-01", "2026-06-30T12:00:00+08:00", "2031-01-01"]),
    ),
    max_size=7,
)
_WEIGHTS = st.tuples(*[st.just(0.0) | st.floats(1e-9, 1e9)] * 7).filter(any)


@given(_TEXT, _CHUNKS, _WEIGHTS)
def test_shares_and_scores_lie_in_0_to_1_and_order_does_not_matter(
    asked: str, found: list[dict[str, Any]], weights: tuple[float, ...]
) -> None:
    chunks = [chunk(str(place), **one) for place, one in enumerate(found)]
    own = MetadataWeights(*weights)
    best_first = rank(question(asked), chunks, own)
    assert len(best_first) == len(chunks)
    for one in all_of(best_first):
        assert all(0 <= signal.share <= 1 for signal in one.signals.values())
        assert 0 <= one.hybrid <= 1 + 1e-9
        assert one.score > 0
    assert rank(question(asked), chunks[::-1], own).ids == best_first.ids


@given(_CHUNKS)
def test_by_vector_alone_the_order_is_the_vector_lanes(found: list[dict[str, Any]]) -> None:
    chunks = [chunk(str(place), **one) for place, one in enumerate(found)]
    own = MetadataWeights(vector=1, **ONLY_VECTOR)
    ranked = all_of(rank(question(), chunks, own))
    least = 1e-9  # a score is above 0, and cursors go by scores: below this, order is that of ids
    shares = [max(one.signals["vector"].share, least) for one in ranked]
    assert shares == sorted(shares, reverse=True)
