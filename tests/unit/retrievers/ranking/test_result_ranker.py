"""Ordering results by relevance, diversity, freshness, and a model."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import Document

from sextant.domain.errors import ModelUnavailable, OptionInvalid
from sextant.domain.retrieval import ItemKind, LaneScore, RetrievedItem
from sextant.retrievers import RankOptions, RerankLimits, ResultRanker, rank_results
from sextant.retrievers.ranking.reranking import rerank

NOW = datetime(2026, 5, 1, tzinfo=UTC)
APART = "乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥"


def item(name: str, score: float, text: str = "", age: float | None = None) -> RetrievedItem:
    dated = {} if age is None else {"created_at": NOW - timedelta(days=age)}
    return RetrievedItem(
        ItemKind.CHUNK, name, text or f"{name * 4} {name * 3}", score, metadata=dated
    )


def names(results: Sequence[RetrievedItem]) -> list[str]:
    return [result.id for result in results]


ITEMS = st.lists(
    st.builds(
        item,
        st.sampled_from([f"{first}{second}" for first in "abcdef" for second in "uvw"]),
        st.floats(1e-6, 1.0),
        st.sampled_from(["", "糖尿病的主要症状是多饮多尿", "糖尿病的主要症状是多饮多尿。", APART]),
        st.one_of(st.none(), st.floats(0, 1000)),
    ),
    max_size=12,
)


@given(ITEMS, st.randoms(), st.floats(0, 1))
def test_the_order_of_the_results_given_does_not_matter(
    items: list[RetrievedItem], random: object, balance: float
) -> None:
    options = RankOptions(balance=balance)
    once = {
        found.id: found for found in items
    }  # of two results of one id, which text counts is open
    distinct = list(once.values())
    shuffled = sorted(distinct, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert rank_results(distinct, options=options, now=NOW) == rank_results(
        shuffled, options=options, now=NOW
    )


@given(ITEMS, st.floats(0, 1), st.integers(1, 15))
def test_scores_descend_above_0_and_nothing_comes_twice(
    items: list[RetrievedItem], balance: float, top_k: int
) -> None:
    ranked = rank_results(items, top_k=top_k, options=RankOptions(balance=balance), now=NOW)
    scores = [result.score for result in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores) or balance == 0
    assert len(set(names(ranked))) == len(ranked) <= top_k
    assert bool(ranked) == bool(items)


@given(ITEMS)
def test_balance_1_without_twins_and_age_is_the_order_of_scores_exactly(
    items: list[RetrievedItem],
) -> None:
    options = RankOptions(balance=1, twin_texts=math.inf, freshness=0)
    best: dict[str, float] = {}
    for found in items:
        best[found.id] = max(found.score, best.get(found.id, 0.0))
    ranked = rank_results(items, options=options)
    expected = sorted(best.items(), key=lambda entry: (-entry[1], entry[0]))
    assert [(result.id, result.score) for result in ranked] == expected


def test_results_are_ordered_by_relevance_diversity_and_freshness() -> None:
    """场景：基于相关性的排序. λ = 0.7, half of a tenth goes with every half-life.

    Aged: a 1.0 (no date), b 0.9·0.95 = 0.855, c 0.88. None is like another, so each keeps its score:
    best·(0.7·r + 0.3) with r = score ÷ best.
    """
    found = [item("aaa", 1.0), item("bbb", 0.9, age=365), item("ccc", 0.88, age=0)]
    ranked = rank_results(found, now=NOW)
    assert names(ranked) == ["aaa", "ccc", "bbb"]
    assert [one.score for one in ranked] == pytest.approx([1.0, 0.916, 0.8985])


def test_of_texts_that_say_the_same_the_better_one_is_kept() -> None:
    twins = [item("a", 0.8, "糖尿病的症状：多饮。"), item("b", 0.9, "糖尿病的症状: 多饮")]
    assert names(rank_results([*twins, item("c", 0.1, APART)])) == ["b", "c"]


def test_likeness_goes_by_embeddings_where_they_are_given() -> None:
    """λ = 0.7: b 0.63 + 0.3·0.04 = 0.642, c 0.35 + 0.3 = 0.65, so c is second."""
    found = [item("a", 1.0), item("b", 0.9), item("c", 0.5)]
    vectors = {"a": [1.0, 0.0], "b": [0.96, 0.28], "c": [0.0, 1.0]}
    ranked = rank_results(found, embeddings=vectors)
    assert names(ranked) == ["a", "c", "b"]
    assert [one.score for one in ranked] == pytest.approx([1.0, 0.65, 0.642])


def test_documents_are_ordered_as_well_and_keep_their_metadata() -> None:
    given_documents = [
        Document("first", id="1", metadata={"filename": "x", "score": -3.0}),
        Document("second", id="2", metadata={"score": 2.0, "created_at": "not a date"}),
    ]
    ranked = rank_results(given_documents)
    assert [one.id for one in ranked] == ["2", "1"]
    assert ranked[1].metadata["filename"] == "x"
    assert rank_results([Document("no score"), Document("nor here")])[0].page_content == "no score"


@pytest.mark.parametrize(
    "bad",
    [
        *({"balance": math.nan}, {"balance": 1.1}, {"half_life": 0}, {"freshness": -0.1}),
        *({"balance": "0.5"}, {"half_life": None}, {"freshness": True}),
    ],
)
def test_weights_without_a_meaning_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(OptionInvalid) as caught:
        RankOptions(**bad)
    assert caught.value.field in bad


@pytest.mark.parametrize(
    "vector",
    [[math.nan, 0.0], [math.inf, 0.0], [1e200, 0.0], [1.0], [1.0, 0.0, 0.0], 1.0, ["x", "y"]],
)
def test_a_vector_that_is_none_or_of_another_length_is_refused_and_hides_no_result(
    vector: Any,
) -> None:
    given = {"a": [1.0, 0.0], "b": vector, "c": [0.0, 1.0]}
    with pytest.raises(OptionInvalid, match="one length") as refused:
        rank_results([item("a", 0.9), item("b", 0.8), item("c", 0.7)], embeddings=given)
    assert refused.value.field == "embeddings"


@pytest.mark.parametrize("score", ["high", [1], 10**400])
def test_a_document_whose_score_is_no_number_is_named(score: object) -> None:
    given = [Document("x", id="b", metadata={"score": score})]
    with pytest.raises(OptionInvalid, match="'b'"):
        rank_results(given)


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_refused_and_takes_no_other_along(score: float) -> None:
    with pytest.raises(OptionInvalid, match="'b'") as refused:
        rank_results([item("a", 0.5), item("b", score)])
    assert refused.value.field == "score"


def test_a_result_without_its_embedding_is_named() -> None:
    with pytest.raises(OptionInvalid, match="'b'") as refused:
        rank_results([item("a", 0.5), item("b", 0.4)], embeddings={"a": [1.0, 0.0]})
    assert refused.value.field == "embeddings"


@pytest.mark.parametrize("top_k", [0, -1, 1.5, "3", True])
def test_top_k_that_is_no_whole_number_from_1_on_is_refused(top_k: Any) -> None:
    with pytest.raises(OptionInvalid):
        rank_results([item("a", 1.0)], top_k=top_k)
    with pytest.raises(OptionInvalid):
        ResultRanker().rerank("?", [item("a", 1.0)], 0)


class Judge:
    """A reranker with a score for each text."""

    name = "judge"

    def __init__(self, scores: dict[str, float]) -> None:
        self.scores = scores
        self.read: list[str] = []

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.read += texts
        return [self.scores[text] for text in texts]


class Late(Judge):
    """A reranker that does not answer until it is cancelled."""

    def __init__(self) -> None:
        super().__init__({})
        self.cancelled = asyncio.Event()

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()
        return []


class Broken(Judge):
    """A reranker that fails, gives too few scores, or gives no numbers."""

    def __init__(self, scores: Any) -> None:
        super().__init__({})
        self.given = scores

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        if isinstance(self.given, Exception):
            raise self.given
        scores: list[float] = self.given
        return scores


FOUND = [item("a", 0.9, "A"), item("b", 0.8, "B"), item("c", 0.7, "C")]


def test_a_model_scores_the_results_anew() -> None:
    """场景：使用重排序模型; by hand: 5 → 1, 1 → 0.5, 2 → 0.5 + 0.5·¼."""
    ranker = ResultRanker(Judge({"A": 1.0, "B": 5.0, "C": 2.0}))
    reranked = ranker.rerank(query="糖尿病治疗", results=FOUND, top_k=2)
    assert [(one.id, one.score) for one in reranked] == [("b", 1.0), ("c", 0.625)]
    assert [one.score for one in ranker.rerank("?", FOUND)] == [1.0, 0.625, 0.5]


async def test_only_the_best_are_read_and_of_them_the_beginning() -> None:
    judge = Judge({"A": 1.0, "BB": 2.0})
    ranker = ResultRanker(judge, RerankLimits(pairs=2, chars=2))
    found = [item("a", 0.9, "A"), item("b", 0.8, "BBBB"), item("c", 0.7, "C")]
    reranked = await ranker.arerank("?", found)
    assert judge.read == ["A", "BB"]
    assert names(reranked) == ["b", "a", "c"]
    assert [one.score for one in reranked] == [1.0, 0.5, 0.25]


@pytest.mark.parametrize(
    ("limit", "value"),
    [("seconds", 0), ("seconds", math.nan), ("seconds", "5"), ("pairs", 0), ("chars", -1)],
)
def test_limits_within_which_no_model_could_read_anything_are_refused(
    limit: str, value: Any
) -> None:
    """They were taken: every reranking was late, or read nothing, and the order stayed without a word."""
    with pytest.raises(OptionInvalid, match=limit) as refused:
        RerankLimits(**{limit: value})
    assert refused.value.field == limit


@pytest.mark.parametrize("results", [[{"id": "a", "score": 1.0}], None, "abc", FOUND[0]])
async def test_results_of_another_kind_are_refused(results: Any) -> None:
    """A dict was an AttributeError, None a TypeError."""
    for ordered in (rank_results, ResultRanker().rank_results):
        with pytest.raises(OptionInvalid, match=r"results (are|hold)") as caught:
            ordered(results)
        assert caught.value.field == "results"
    with pytest.raises(OptionInvalid, match=r"results (are|hold)"):
        await ResultRanker(Judge({})).arerank("?", results)


async def test_a_late_model_is_cancelled_and_the_order_stays(
    caplog: pytest.LogCaptureFixture,
) -> None:
    late = Late()
    assert await ResultRanker(late, RerankLimits(seconds=0.01)).arerank("?", FOUND, 2) == FOUND[:2]
    await asyncio.wait_for(late.cancelled.wait(), 5)
    assert "no scores after 0.01 s" in caplog.text


@pytest.mark.parametrize(
    "scores",
    [
        ModelUnavailable("gone"),
        RuntimeError("anyone's bug"),
        [1.0],
        [1.0, math.nan, 2.0],
        [1.0, None, 2.0],
        [1.0, "good", 2.0],
        [[1.0], [2.0], [3.0]],
        None,
    ],
)
async def test_a_model_that_fails_leaves_the_order(
    scores: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert await ResultRanker(Broken(scores)).arerank("?", FOUND) == FOUND
    assert caplog.records


async def test_a_reranked_item_says_that_its_score_is_the_models() -> None:
    lanes = {"vector": LaneScore(1, 0.9, contribution=0.9)}
    found = [replace(one, lanes=lanes) for one in FOUND]
    limits = RerankLimits(pairs=2)
    reranked = await rerank(Judge({"A": 1.0, "B": 5.0}), "?", found, limits)
    assert [one.id for one in reranked.items] == ["b", "a", "c"]
    first, second, rest = reranked.items
    assert first.lanes["rerank"] == LaneScore(1, 5.0, contribution=1.0)
    assert first.lanes["vector"].contribution == 0.0
    assert second.lanes["rerank"].rank == 2
    assert "rerank" not in rest.lanes
    assert rest.lanes["vector"].contribution == pytest.approx(0.9 * rest.score / 0.7)


async def test_documents_are_reranked_as_well_and_without_a_model_nothing_changes() -> None:
    documents = [Document("A", id="1"), Document("B", id="2", metadata={"filename": "x"})]
    assert ResultRanker().rerank("?", documents, 1) == documents[:1]
    reranked = await ResultRanker(Judge({"A": 0.1, "B": 0.2})).arerank("?", documents)
    assert [one.metadata for one in reranked] == [{"filename": "x", "score": 1.0}, {"score": 0.5}]
    assert await ResultRanker(Judge({})).arerank("?", []) == []


class SentenceTransformersEncoder:
    """A `CrossEncoder` of sentence-transformers, as far as it is called."""

    def predict(self, sentences: list[tuple[str, str]]) -> list[float]:
        return [float(len(passage)) for _, passage in sentences]


class LangChainEncoder(BaseCrossEncoder):
    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        return [float(len(passage)) for _, passage in text_pairs]


@pytest.mark.parametrize("encoder", [SentenceTransformersEncoder(), LangChainEncoder()])
def test_a_cross_encoder_that_the_caller_has_loaded_reranks(encoder: BaseCrossEncoder) -> None:
    results = [
        item("a", 0.9, "short"),
        item("b", 0.5, "the longest of them"),
        item("c", 0.4, "mid"),
    ]
    reranked = ResultRanker(encoder).rerank(query="糖尿病治疗", results=results, top_k=2)
    assert names(reranked) == ["b", "a"]
    assert reranked[0].score >= reranked[1].score


def test_what_scores_nothing_is_refused_at_once() -> None:
    with pytest.raises(OptionInvalid, match="not a reranking model"):
        ResultRanker("BAAI/bge-reranker-v2-m3")  # type: ignore[arg-type]
