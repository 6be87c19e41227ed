"""The scenarios of hybrid retrieval over a vector store whose lanes answer from a script."""

from __future__ import annotations

import asyncio
import logging

import pytest
from langchain_core.retrievers import BaseRetriever

from sextant.domain.errors import EmbeddingModelChanged
from sextant.domain.retrieval import RetrievalError
from sextant.domain.warnings import WarningCode
from sextant.retrievers import HybridRetriever, HybridRetrieverOptions
from sextant.retrievers.hybrid_retriever.retriever import SLOW
from sextant.retrievers.ranking.fusion import rrf
from sextant.text.characters import language_of
from tests.sentences import sentence
from tests.unit.retrievers.hybrid_retriever.scripted_store import (
    ScriptedRows,
    ScriptedStore,
    names,
    retriever,
)


def test_it_is_a_langchain_retriever_of_the_named_namespace() -> None:
    """Scenario: 类定义和继承."""
    assert issubclass(HybridRetriever, BaseRetriever)
    assert HybridRetriever.get_lc_namespace() == ["mirror", "retrievers"]
    assert HybridRetriever.lc_namespace == ["mirror", "retrievers"]


async def test_the_vector_lane_asks_for_twice_the_limit_and_drops_the_dissimilar() -> None:
    """Scenarios: 向量检索基本流程; 测试向量检索."""
    store = ScriptedStore([("near", 0.9), ("just", 0.3), ("far", 0.29)])
    search = await retriever(store, {"limit": 4}).search("糖尿病")
    assert store.asked[0]["k"] == 8
    assert names(search.documents) == ["near", "just"]
    vector = search.documents[0].metadata["lanes"]["vector"]
    assert (vector["rank"], vector["weight"]) == (1, 0.7)
    assert vector["score"] == pytest.approx(0.9)


async def test_the_vector_lane_is_never_asked_without_the_users_filter() -> None:
    """Scenario: 用户数据隔离 (向量检索)."""
    store = ScriptedStore()
    await retriever(store).search("糖尿病")
    assert store.asked[0]["filter"] == {"user_id": {"$eq": "7"}}
    await retriever(store, user_field="userId").search("糖尿病")
    assert store.asked[1]["filter"] == {"userId": {"$eq": "7"}}


async def test_without_the_vector_lane_keywords_answer_and_it_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Scenarios: 处理向量检索失败; 部分检索失败; 仅关键词检索结果."""
    store = ScriptedStore(
        rows=ScriptedRows([("a", 2.1), ("b", 1.2)]), error=ConnectionError("refused")
    )
    search = await retriever(store, {"limit": 1}).search("糖尿病 insulin")
    assert names(search.documents) == ["a"]
    assert search.documents[0].metadata["score"] == pytest.approx(0.3 / 61)
    assert search.warnings == ("向量检索失败，使用关键词检索降级",)
    levels = {record.getMessage(): record.levelno for record in caplog.records}
    assert levels["向量检索失败，使用关键词检索降级"] == logging.WARNING
    assert levels["lane vector failed: refused"] == logging.ERROR


async def test_keywords_are_chinese_grams_and_english_words_without_stop_words() -> None:
    """Scenario: 关键词提取."""
    rows = ScriptedRows()
    search = await retriever(ScriptedStore(rows=rows)).search("什么是机器学习 and the GPU drivers?")
    [(keywords, _)] = rows.asked
    assert list(search.keywords) == keywords
    assert {"机器", "学习", "gpu", "drivers"} <= set(keywords)
    assert not {"什么", "是", "and", "the"} & set(keywords)
    assert all(2 <= len(word) <= 4 for word in keywords if not word.isascii())
    assert len(keywords) <= 10


async def test_the_keyword_lane_returns_twice_the_limit() -> None:
    """Scenarios: 关键词匹配; 限制检索数量; 测试关键词检索."""
    rows = ScriptedRows([("two", 2.4), ("one", 1.9)])
    search = await retriever(ScriptedStore(rows=rows), {"limit": 3}).search("糖尿病 insulin")
    assert rows.asked[0][1] == 6
    assert names(search.documents) == ["two", "one"]


@pytest.mark.parametrize("query", ["什么是的？", "what is the", "？！…", "🙂🙃", "的"])
async def test_without_keywords_the_vectors_answer_alone(
    query: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Scenarios: 关键词提取失败; 仅向量检索结果; 测试边界情况 (全部关键词为停用词)."""
    store = ScriptedStore([("a", 0.9), ("b", 0.5), ("c", 0.4)], ScriptedRows([("x", 3.0)]))
    search = await retriever(store, {"limit": 2}).search(query)
    assert names(search.documents) == ["a", "b"]
    assert store.rows.asked == []
    assert search.warnings == (sentence(WarningCode.KEYWORDS_MISSING, language_of(query)),)
    assert sentence(WarningCode.KEYWORDS_MISSING, "zh") in caplog.messages


async def test_scores_are_weighted_reciprocal_ranks() -> None:
    """Scenarios: RRF 基本算法; 使用默认权重; RRF 分数计算正确性."""
    store = ScriptedStore(
        [("a", 0.9), ("b", 0.8), ("c", 0.7)], ScriptedRows([("c", 3.0), ("d", 2.0), ("b", 1.0)])
    )
    search = await retriever(store, {"limit": 3}).search("糖尿病")
    # c: 0.7/63 + 0.3/61 = 0.0160291, b: 0.7/62 + 0.3/63 = 0.0160522, a: 0.7/61, d: 0.3/62
    scores = {one.id: one.metadata["score"] for one in search.documents}
    assert list(scores) == ["b", "c", "a"]
    assert scores == {
        "b": pytest.approx(0.0160522, abs=1e-7),
        "c": pytest.approx(0.0160291, abs=1e-7),
        "a": pytest.approx(0.0114754, abs=1e-7),
    }


async def test_the_fusion_is_a_function_of_its_own_that_the_retriever_calls() -> None:
    """Scenarios: 提取 RRF 逻辑为独立方法; 单元测试覆盖; 测试 RRF 融合."""
    near, words = ["a", "b", "c", "d"], ["d", "x", "b"]
    by_itself = rrf({"vector": near, "keyword": words}, {"vector": 0.7, "keyword": 0.3}, 60)
    store = ScriptedStore([(one, 0.9) for one in near], ScriptedRows([(one, 1.5) for one in words]))
    search = await retriever(store, {"limit": 9}).search("糖尿病")
    assert [(one.id, one.metadata["score"]) for one in search.documents] == by_itself
    assert rrf({}, {}) == []
    assert rrf({"vector": ["a"]}, {"vector": 0.7}, 60) == [("a", 0.7 / 61)]


async def test_a_document_that_both_lanes_found_appears_once_with_both_shares() -> None:
    """Scenarios: 文档去重; 文档去重正确性."""
    store = ScriptedStore([("a", 0.9)], ScriptedRows([("a", 1.5)]))
    search = await retriever(store).search("糖尿病")
    assert names(search.documents) == ["a"]
    assert search.documents[0].metadata["score"] == pytest.approx(0.7 / 61 + 0.3 / 61)
    assert set(search.documents[0].metadata["lanes"]) == {"vector", "keyword"}


async def test_weights_of_ones_own_count() -> None:
    """Scenarios: 自定义权重; 权重分配正确性."""
    store = ScriptedStore([("v", 0.9)], ScriptedRows([("k", 1.5)]))
    heavy = await retriever(store, {"vectorWeight": 0.8, "keywordWeight": 0.2}).search("糖尿病")
    assert [one.metadata["score"] for one in heavy.documents] == [
        pytest.approx(0.8 / 61),
        pytest.approx(0.2 / 61),
    ]
    light = await retriever(store, {"vectorWeight": 0.2, "keywordWeight": 0.8}).search("糖尿病")
    assert names(light.documents) == ["k", "v"]


async def test_when_both_lanes_fail_the_error_names_both_causes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Scenario: 两个检索都失败."""
    rows = ScriptedRows(error=ValueError("no table"))
    store = ScriptedStore(rows=rows, error=ConnectionError("refused"))
    with pytest.raises(RetrievalError, match="知识库检索失败") as caught:
        await retriever(store).search("糖尿病")
    assert {lane: str(cause) for lane, cause in caught.value.causes.items()} == {
        "vector": "refused",
        "keyword": "no table",
    }
    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert errors == ["lane vector failed: refused", "lane keyword failed: no table"]


async def test_both_lanes_run_at_the_same_time() -> None:
    """Scenario: 并行执行检索. Each lane waits until the other has begun."""
    meeting = asyncio.Barrier(2)
    store = ScriptedStore([("a", 0.9)], ScriptedRows([("b", 1.5)], meeting=meeting), None, meeting)
    assert names((await retriever(store).search("糖尿病")).documents) == ["a", "b"]


async def test_times_counts_and_the_first_three_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Scenarios: 记录检索耗时; 记录检索详情."""
    caplog.set_level(logging.INFO, "sextant.retrievers.hybrid_retriever.retriever")
    store = ScriptedStore([(one, 0.9) for one in "abcd"], ScriptedRows([("a", 1.5)]))
    search = await retriever(store, {"limit": 4}).search("糖尿病")
    assert set(search.timings) == {"vector", "keyword", "fusion", "total"}
    [line] = caplog.messages
    assert "query='糖尿病' keywords=['糖尿病', '糖尿', '尿病']" in line
    assert "found={'vector': 4, 'keyword': 1} returned=4" in line
    assert "top=[('a.md', 0.0164), ('b.md', 0.0113), ('c.md', 0.0111)]" in line
    assert all(step in line for step in search.timings)


async def test_a_slow_search_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """Scenario: 记录检索耗时 (> 500ms)."""
    assert HybridRetrieverOptions().slow_ms == 500
    store = ScriptedStore([("a", 0.9)])
    await retriever(store, {"slow_ms": 1e-9}).search("糖尿病")
    assert any(message.startswith(SLOW) for message in caplog.messages)
    caplog.clear()
    await retriever(store, {"slow_ms": 1e9}).search("糖尿病")
    assert caplog.messages == []


async def test_debug_logs_every_step_and_the_statement(caplog: pytest.LogCaptureFixture) -> None:
    """Scenario: 记录性能指标."""
    caplog.set_level(logging.INFO, "sextant.retrievers.hybrid_retriever.retriever")
    await retriever(ScriptedStore(), {"debug": True}).search("糖尿病")
    assert {"vector", "keyword", "fusion", "total"} == {
        message.split()[3]
        for message in caplog.messages
        if message.startswith("hybrid search step")
    }
    assert any("select … ['糖尿病', '糖尿', '尿病'] limit 10" in line for line in caplog.messages)


async def test_nothing_found_is_nothing() -> None:
    """Scenario: 测试边界情况 (空结果; 全部结果相似度 < minSimilarity)."""
    assert (await retriever(ScriptedStore()).search("糖尿病")).documents == ()
    assert (await retriever(ScriptedStore([("a", 0.1)])).search("糖尿病")).documents == ()


async def test_a_user_without_documents_is_told_from_a_question_that_nothing_fits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rows = ScriptedRows(texts_by_id={"a": "Rust"})
    assert (await retriever(ScriptedStore(rows=rows)).search("糖尿病")).warnings == ()
    nobody = await retriever(ScriptedStore()).search("糖尿病")
    assert nobody.warnings == (sentence(WarningCode.USER_WITHOUT_DOCUMENTS, "zh"),)
    assert caplog.messages == [sentence(WarningCode.USER_WITHOUT_DOCUMENTS, "zh")]


async def test_a_single_result_is_that_result() -> None:
    """Scenario: 测试边界情况 (单结果)."""
    assert names((await retriever(ScriptedStore([("a", 0.9)])).search("糖尿病")).documents) == ["a"]


async def test_a_question_of_2000_characters_is_answered() -> None:
    store = ScriptedStore([("a", 0.9)])
    assert names(await retriever(store).ainvoke("糖尿病患者" * 400)) == ["a"]


@pytest.mark.parametrize("kind", ["vector", "halfvec"])
async def test_vectors_of_another_length_are_no_reason_to_degrade(kind: str) -> None:
    store = ScriptedStore(error=ValueError(f"different {kind} dimensions 384 and 3"))
    with pytest.raises(EmbeddingModelChanged, match="384 and 3") as caught:
        await retriever(store).search("糖尿病")
    assert caught.value.field == "vector_store"


def test_synchronous_callers_get_the_same() -> None:
    store = ScriptedStore([("a", 0.9)], ScriptedRows([("b", 1.5)]))
    assert names(retriever(store).invoke("糖尿病")) == ["a", "b"]


async def test_and_also_while_a_loop_is_running_in_their_thread() -> None:
    store = ScriptedStore([("a", 0.9)], ScriptedRows([("b", 1.5)]))
    assert names(retriever(store).invoke("糖尿病")) == ["a", "b"]
