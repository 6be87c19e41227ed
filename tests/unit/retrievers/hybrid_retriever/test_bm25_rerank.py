"""The BM25 rerank of the hybrid retriever."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.retrievers import HybridRetriever
from sextant.retrievers.hybrid_retriever.bm25 import BM25Indexes
from tests.unit.retrievers.hybrid_retriever.scripted_store import (
    ScriptedRows,
    ScriptedStore,
    names,
    retriever,
)

TEXTS = {"a": "insulin lowers sugar", "b": "sugar sugar and insulin", "c": "weather in london"}


def reranking(**options: Any) -> HybridRetriever:
    store = ScriptedStore(
        [("c", 0.9), ("a", 0.8), ("b", 0.5)], ScriptedRows([("a", 1.5)], texts_by_id=TEXTS)
    )
    return retriever(store, {"bm25_rerank": True, **options}, bm25=BM25Indexes())


async def test_the_rerank_adds_bm25_to_similarity_seven_to_three() -> None:
    search = await reranking().search("sugar insulin?")
    # min-max of the similarities: c 1, a 0.75, b 0. BM25 by hand: 3 texts of 3, 3, 2 terms ("and"
    # and "in" are stop words), mean 8/3; both words are in 2 of 3: idf = ln(1 + 1.5/2.5) = 0.470004.
    # a: 2 · 0.470004 · 2.2/(1 + 1.3125); b: 0.470004 · (4.4/(2 + 1.3125) + 2.2/(1 + 1.3125)); c: 0.
    by_name = {one.id: one.metadata for one in search.documents}
    bm25 = {name: one["lanes"]["bm25"]["score"] for name, one in by_name.items()}
    assert bm25 == {
        "a": pytest.approx(0.8942781, abs=1e-6),
        "b": pytest.approx(1.0714453, abs=1e-6),
        "c": 0,
    }
    assert names(search.documents) == ["a", "c", "b"]
    assert by_name["a"]["score"] == pytest.approx(0.7 * 0.75 + 0.3 * 0.8942781 / 1.0714453)
    assert by_name["c"]["score"] == pytest.approx(0.7)
    assert by_name["b"]["score"] == pytest.approx(0.3)
    assert set(search.timings) == {"vector", "keyword", "fusion", "bm25", "total"}


async def test_the_rerank_may_be_a_second_rrf() -> None:
    search = await reranking(bm25_fusion="rrf").search("sugar insulin?")
    # RRF: a (0.7/62 + 0.3/61), c, b; by BM25: b, a.
    scores = {one.id: one.metadata["score"] for one in search.documents}
    assert scores == {
        "a": pytest.approx(0.7 / 61 + 0.3 / 62),
        "b": pytest.approx(0.7 / 63 + 0.3 / 61),
        "c": pytest.approx(0.7 / 62),
    }
    assert list(scores) == ["a", "b", "c"]


async def test_one_switch_gives_back_the_order_of_rrf_exactly() -> None:
    plain = await reranking(bm25_rerank=False).search("sugar insulin?")
    assert [(one.id, one.metadata["score"]) for one in plain.documents] == [
        ("a", 0.7 / 62 + 0.3 / 61),
        ("c", 0.7 / 61),
        ("b", 0.7 / 63),
    ]
    assert all("bm25" not in one.metadata["lanes"] for one in plain.documents)


@pytest.mark.parametrize("options", [{}, {"bm25_fusion": "rrf"}, {"bm25_rerank": False}])
async def test_what_the_lanes_contributed_sums_up_to_the_score(options: dict[str, Any]) -> None:
    search = await reranking(**options).search("sugar insulin?")
    for one in search.documents:
        parts = [lane["contribution"] for lane in one.metadata["lanes"].values()]
        assert sum(parts) == pytest.approx(one.metadata["score"])


async def test_k1_and_b_are_options() -> None:
    search = await reranking(bm25_k1=0, bm25_b=0).search("sugar insulin?")
    scores = {one.id: one.metadata["lanes"]["bm25"]["score"] for one in search.documents}
    assert scores["a"] == scores["b"] == pytest.approx(2 * 0.4700036)


async def test_an_index_that_is_not_ready_in_time_leaves_the_order_and_says_so() -> None:
    hybrid = reranking(bm25_patience=0.001)
    store = hybrid.vector_store
    assert isinstance(store, ScriptedStore)
    store.rows.blocked = asyncio.Event()
    search = await hybrid.search("sugar insulin?")
    assert names(search.documents) == ["a", "c", "b"]
    assert search.documents[0].metadata["score"] == 0.7 / 62 + 0.3 / 61
    assert CodedWarning(WarningCode.BM25_BUILDING) in search.coded_warnings
