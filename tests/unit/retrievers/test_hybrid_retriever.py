"""The scenarios of seed 000 over a vector store whose lanes answer from a script."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from domain.errors import EmbeddingModelChanged, OptionInvalid, QuestionInvalid, RetrievalError
from retrievers import HybridRetriever, HybridRetrieverOptions
from retrievers.hybrid_options import UNEVEN
from retrievers.hybrid_retriever import BM25_LATE, SLOW
from retrievers.index.bm25_index import BM25Indexes
from retrievers.lanes.keywords import NO_KEYWORDS
from retrievers.ranking.fusion import rrf
from stores.rows import Text
from testing.embeddings import LangChainHash

Found = Sequence[tuple[str, float]]


@dataclass
class ScriptedRows:
    """A user's texts, of which the keyword lane finds what it is told to."""

    found: Found = ()
    error: Exception | None = None
    texts_by_id: Mapping[str, str] = field(default_factory=dict[str, str])
    key: Hashable = "rows"
    asked: list[tuple[list[str], int]] = field(default_factory=list[tuple[list[str], int]])
    meeting: asyncio.Barrier | None = None
    blocked: asyncio.Event | None = None

    async def keyword_search(
        self, keywords: Sequence[str], k: int
    ) -> Sequence[tuple[Document, float]]:
        self.asked.append((list(keywords), k))
        await met(self.meeting)
        if self.error:
            raise self.error
        return [(document(name), score) for name, score in self.found]

    def statement(self, keywords: Sequence[str], k: int) -> str:
        return f"select … {list(keywords)} limit {k}"

    async def stamp(self) -> str:
        if self.blocked:
            await self.blocked.wait()
        return str(sorted(self.texts_by_id.items()))

    async def states(self) -> Mapping[Hashable, str]:
        return dict[Hashable, str](self.texts_by_id.items())

    async def texts(self, parts: Sequence[Hashable]) -> Sequence[Text]:
        return [Text(part, str(part), self.texts_by_id[str(part)]) for part in parts]


class ScriptedStore(VectorStore):
    """A vector store that finds what it is told to, as (name, cosine similarity)."""

    def __init__(
        self,
        found: Found = (),
        rows: ScriptedRows | None = None,
        error: Exception | None = None,
        meeting: asyncio.Barrier | None = None,
    ) -> None:
        self.found = found
        self.rows = rows or ScriptedRows()
        self.error = error
        self.meeting = meeting
        self.asked: list[dict[str, Any]] = []

    def rows_of(self, user_id: int | str) -> ScriptedRows:
        return self.rows

    async def asimilarity_search_with_score(
        self, *args: Any, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        question, k = args
        self.asked.append({"question": question, "k": k, **kwargs})
        await met(self.meeting)
        if self.error:
            raise self.error
        return [(document(name), 1 - similarity) for name, similarity in self.found]

    def similarity_search(self, query: str, k: int = 4, **_: Any) -> list[Document]:
        raise NotImplementedError

    @classmethod
    def from_texts(cls, *_: Any, **__: Any) -> ScriptedStore:
        raise NotImplementedError


async def met(meeting: asyncio.Barrier | None) -> None:
    """Wait for the other lane, which must be running at the same time."""
    if meeting:
        async with asyncio.timeout(5):
            await meeting.wait()


def document(name: str) -> Document:
    return Document(id=name, page_content=f"text of {name}", metadata={"filename": f"{name}.md"})


def retriever(
    store: ScriptedStore, options: Mapping[str, Any] | None = None, **more: Any
) -> HybridRetriever:
    """Without the rerank, so that the order is that of RRF; `options` may say otherwise."""
    chosen = {"bm25_rerank": False, **(options or {})}
    return HybridRetriever(
        vector_store=store,
        user_id=7,
        options=HybridRetrieverOptions.model_validate(chosen),
        **more,
    )


def names(documents: Sequence[Document]) -> list[str | None]:
    return [one.id for one in documents]


def test_it_is_a_langchain_retriever_of_the_named_namespace() -> None:
    """Scenario: 类定义和继承."""
    assert issubclass(HybridRetriever, BaseRetriever)
    assert HybridRetriever.get_lc_namespace() == ["mirror", "retrievers"]


def test_it_takes_store_user_and_options_also_by_their_names_in_the_seed() -> None:
    """Scenario: 构造函数参数."""
    store = ScriptedStore()
    plain = HybridRetriever(vector_store=store, user_id=7)
    assert plain.options == HybridRetrieverOptions()
    named = HybridRetriever.model_validate(
        {"vectorStore": store, "userId": 7, "options": {"limit": 3}}
    )
    assert (named.vector_store, named.user_id, named.options.limit) == (store, 7, 3)


def test_options_have_the_defaults_of_the_seed_and_take_its_names() -> None:
    """Scenario: 配置选项."""
    options = HybridRetrieverOptions()
    assert (options.limit, options.min_similarity, options.rrf_k) == (5, 0.3, 60)
    assert (options.vector_weight, options.keyword_weight) == (0.7, 0.3)
    given = {
        "limit": 2,
        "minSimilarity": 0.5,
        "rrfK": 10,
        "vectorWeight": 0.8,
        "keywordWeight": 0.2,
    }
    seeded = HybridRetrieverOptions.model_validate(given)
    assert (seeded.limit, seeded.min_similarity, seeded.rrf_k) == (2, 0.5, 10)
    assert (seeded.vector_weight, seeded.keyword_weight) == (0.8, 0.2)


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
    assert search.warnings == (NO_KEYWORDS,)
    assert NO_KEYWORDS in caplog.messages


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


def test_weights_that_do_not_sum_to_1_are_taken_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Scenario: 权重验证."""
    options = HybridRetrieverOptions(vector_weight=0.6, keyword_weight=0.6)
    assert (options.vector_weight, options.keyword_weight) == (0.6, 0.6)
    assert caplog.messages == [UNEVEN] == ["权重总和不为 1，建议调整"]
    caplog.clear()
    HybridRetrieverOptions(vector_weight=0.9, keyword_weight=0.1)
    assert caplog.messages == []


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
    caplog.set_level(logging.INFO, "retrievers.hybrid_retriever")
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
    await retriever(ScriptedStore(), {"slow_ms": 1e-9}).search("糖尿病")
    assert any(message.startswith(SLOW) for message in caplog.messages)
    caplog.clear()
    await retriever(ScriptedStore(), {"slow_ms": 1e9}).search("糖尿病")
    assert caplog.messages == []


async def test_debug_logs_every_step_and_the_statement(caplog: pytest.LogCaptureFixture) -> None:
    """Scenario: 记录性能指标."""
    caplog.set_level(logging.INFO, "retrievers.hybrid_retriever")
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


async def test_a_single_result_is_that_result() -> None:
    """Scenario: 测试边界情况 (单结果)."""
    assert names((await retriever(ScriptedStore([("a", 0.9)])).search("糖尿病")).documents) == ["a"]


@pytest.mark.parametrize("query", ["", "  \n", "x" * 2001, "\ud800"])
async def test_an_empty_or_overlong_question_is_refused(query: str) -> None:
    """Scenario: 测试边界情况 (空查询)."""
    with pytest.raises(QuestionInvalid) as caught:
        await retriever(ScriptedStore()).ainvoke(query)
    assert caught.value.field == "query"


async def test_a_question_of_2000_characters_is_answered() -> None:
    store = ScriptedStore([("a", 0.9)])
    assert names(await retriever(store).ainvoke("糖尿病患者" * 400)) == ["a"]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"vector_weight": -0.1}, "vector_weight"),
        ({"keyword_weight": float("nan")}, "keyword_weight"),
        ({"keywordWeight": float("inf")}, "keywordWeight"),
        ({"vector_weight": 0, "keyword_weight": 0}, "vector_weight"),
        ({"bm25_vector_weight": 0, "bm25_weight": 0}, "bm25_weight"),
        ({"bm25_b": 1.1}, "bm25_b"),
        ({"bm25_fusion": "sum"}, "bm25_fusion"),
        ({"limit": 0}, "limit"),
        ({"limit": 10**6}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"limit": True}, "limit"),
        ({"vector_weight": 1e308}, "vector_weight"),
        ({"vector_weight": 5e-324, "keyword_weight": 0}, "vector_weight"),
        ({"bm25_weight": 1e308, "bm25_vector_weight": 1e308}, "bm25_vector_weight"),
        ({"rrf_k": 10**400}, "rrf_k"),
        ({"min_similarity": 1.5}, "min_similarity"),
        ({"rrf_k": -1}, "rrf_k"),
    ],
)
def test_an_option_out_of_range_is_named(options: dict[str, Any], field: str) -> None:
    with pytest.raises(OptionInvalid) as caught:
        HybridRetriever(vector_store=ScriptedStore(), user_id=7, options=options)
    assert caught.value.field == field
    assert field in caught.value.message


def test_an_unknown_option_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(OptionInvalid, match="Did you mean `vectorWeight`") as caught:
        HybridRetrieverOptions.model_validate({"vectorWieght": 1})
    assert caught.value.field == "vectorWieght"


def test_an_option_under_both_its_names_is_refused() -> None:
    with pytest.raises(OptionInvalid, match="given twice") as caught:
        HybridRetrieverOptions.model_validate({"rrfK": 1, "rrf_k": 2})
    assert caught.value.field == "rrf_k"


@pytest.mark.parametrize("name", ["", "$and", "user-id", "user_id' or '1'='1"])
def test_a_field_that_no_filter_can_name_is_refused(name: str) -> None:
    with pytest.raises(OptionInvalid) as caught:
        HybridRetriever(vector_store=ScriptedStore(), user_id=7, user_field=name)
    assert caught.value.field == "user_field"


@pytest.mark.parametrize("user", ["", None, True, 1.5])
def test_somebody_must_be_named(user: Any) -> None:
    with pytest.raises(OptionInvalid) as caught:
        HybridRetriever(vector_store=ScriptedStore(), user_id=user)
    assert caught.value.field == "user_id"


def test_another_kind_of_store_is_refused() -> None:
    with pytest.raises(OptionInvalid, match="InMemoryVectorStore") as caught:
        HybridRetriever(vector_store=InMemoryVectorStore(LangChainHash()), user_id=7)
    assert caught.value.field == "vector_store"


async def test_vectors_of_another_length_are_no_reason_to_degrade() -> None:
    store = ScriptedStore(error=ValueError("different vector dimensions 384 and 3"))
    with pytest.raises(EmbeddingModelChanged, match="384 and 3") as caught:
        await retriever(store).search("糖尿病")
    assert caught.value.field == "vector_store"


def test_synchronous_callers_get_the_same() -> None:
    store = ScriptedStore([("a", 0.9)], ScriptedRows([("b", 1.5)]))
    assert names(retriever(store).invoke("糖尿病")) == ["a", "b"]


async def test_and_also_while_a_loop_is_running_in_their_thread() -> None:
    store = ScriptedStore([("a", 0.9)], ScriptedRows([("b", 1.5)]))
    assert names(retriever(store).invoke("糖尿病")) == ["a", "b"]


TEXTS = {"a": "insulin lowers sugar", "b": "sugar sugar and insulin", "c": "weather in london"}


def reranking(**options: Any) -> HybridRetriever:
    store = ScriptedStore(
        [("c", 0.9), ("a", 0.8), ("b", 0.5)], ScriptedRows([("a", 1.5)], texts_by_id=TEXTS)
    )
    return retriever(store, {"bm25_rerank": True, **options}, bm25=BM25Indexes())


async def test_the_rerank_adds_bm25_to_similarity_seven_to_three() -> None:
    """Seed 003, 分数融合策略: 最终得分 = 向量得分 × 0.7 + BM25 得分 × 0.3."""
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
    """Seed 003, 风险: 标准化后再融合，或使用 RRF 二次融合."""
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
    """Seed 003, 回滚策略: 通过配置开关可快速禁用 BM25 重排序，恢复到原有 RRF 排序行为."""
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
    """Seed 003, Context: 支持灵活的参数调整（k1, b）."""
    search = await reranking(bm25_k1=0, bm25_b=0).search("sugar insulin?")
    scores = {one.id: one.metadata["lanes"]["bm25"]["score"] for one in search.documents}
    assert scores["a"] == scores["b"] == pytest.approx(2 * 0.4700036)


async def test_an_index_that_is_not_ready_in_time_leaves_the_order_and_says_so() -> None:
    """Seed 003, 风险: 索引重建耗时."""
    hybrid = reranking(bm25_patience=0.001)
    store = hybrid.vector_store
    assert isinstance(store, ScriptedStore)
    store.rows.blocked = asyncio.Event()
    search = await hybrid.search("sugar insulin?")
    assert names(search.documents) == ["a", "c", "b"]
    assert search.documents[0].metadata["score"] == 0.7 / 62 + 0.3 / 61
    assert BM25_LATE in search.warnings
