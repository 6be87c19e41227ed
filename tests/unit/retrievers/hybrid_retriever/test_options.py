"""What the hybrid retriever can be told, by which names, and how it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.vectorstores import InMemoryVectorStore

from sextant.domain.errors import OptionInvalid, QuestionInvalid
from sextant.retrievers import HybridRetriever, HybridRetrieverOptions
from sextant.retrievers.hybrid_retriever.options import UNEVEN
from tests.embedders import LangChainHash
from tests.unit.retrievers.hybrid_retriever.scripted_store import ScriptedStore, retriever


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


@pytest.mark.parametrize("query", ["", "  \n", "x" * 2001, "\ud800"])
async def test_an_empty_or_overlong_question_is_refused(query: str) -> None:
    """Scenario: 测试边界情况 (空查询)."""
    with pytest.raises(QuestionInvalid) as caught:
        await retriever(ScriptedStore()).ainvoke(query)
    assert caught.value.field == "query"


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
