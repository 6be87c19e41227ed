"""Searching chunks with their metadata over a real PostgreSQL."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from sextant.domain.errors import (
    EmbeddingModelChanged,
    GraphNotFound,
    OptionInvalid,
    QuestionInvalid,
)
from sextant.domain.scope import Scope
from sextant.domain.settings import ChunkSearchSettings, Settings
from sextant.domain.warnings import WarningCode
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.pipeline import Ingestor
from sextant.retrievers.chunk_search.search import ChunkSearch, ChunkSearchResponse, SearchRequest
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from sextant.text.characters import language_of
from tests.embedders import BrokenEmbedder
from tests.integration.ingestion.uploading import ingest_bytes
from tests.sentences import sentence

CONTRACT = """# 合同

## 第1章 总则

本合同由甲方北京云图科技有限公司与乙方上海远航物流有限公司签订，自签字之日起生效。

## 第3章 付款

付款节点分为预付款、到货款和验收款三个节点，甲方在每个节点完成后三十日内付款。

预付款为合同总额的百分之三十，由上海远航物流有限公司开具发票后支付。

## 第4章 违约责任

逾期付款的，甲方按日支付万分之五的违约金。
"""
HANDBOOK = """# Handbook

## Leave

Every employee of Yuntu has fifteen days of paid leave a year.

## Prices

| item | price |
| --- | --- |
| Standard freight of Yuanhang | 300 |
| Express freight of Yuanhang | 900 |
"""


class Backwards:
    """A reranker that prefers what speaks of breach."""

    name = "backwards"

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float("违约金" in text) for text in texts]


@pytest_asyncio.fixture(scope="module")
async def filled(database: Database, settings: Settings) -> Scope:
    scope = Scope(f"user-{uuid4()}", "contracts")
    ingestor = Ingestor(
        DocumentStore(database),
        JobStore(database),
        HashEmbedder(384),
        settings,
        graph=GraphIndexer(database),
    )
    await ingest_bytes(
        ingestor, scope, CONTRACT.encode(), "contract.md", metadata={"tags": ["legal"]}
    )
    await ingest_bytes(ingestor, scope, HANDBOOK.encode(), "handbook.md")
    return scope


@pytest.fixture
def search(database: Database) -> ChunkSearch:
    return ChunkSearch(database, HashEmbedder(384))


async def ask(search: ChunkSearch, scope: Scope, query: str, **options: Any) -> ChunkSearchResponse:
    return await search.search(scope, SearchRequest(query=query, **options))


async def test_the_seeds_call_finds_the_section_on_payment_with_its_neighbours(
    search: ChunkSearch, filled: Scope
) -> None:
    request = SearchRequest.model_validate(
        {
            "query": "付款节点",
            "limit": 5,
            "includeNeighbors": True,
            "filters": {"topicLabels": ["付款"], "parentSectionPath": ["合同", "第3章"]},
        }
    )
    found = await search.search(filled, request)
    assert {hit.parent_section_path[-1] for hit in found.results} == {"第3章 付款"}
    first = found.results[0]
    assert "付款节点" in first.text
    assert first.neighbors is not None


async def test_hits_carry_their_semantic_metadata_in_camel_case(
    search: ChunkSearch, filled: Scope
) -> None:
    found = await ask(search, filled, "付款节点")
    told = found.model_dump(by_alias=True)["results"][0]
    assert told["semanticTitle"] == "第3章 付款"
    assert told["parentSectionPath"] == ("合同", "第3章 付款") or told["parentSectionPath"] == (
        "第3章 付款",
    )
    assert told["summary"]
    assert told["keywords"]
    assert any("付款" in label for label in told["topicLabels"])
    assert {one["type"] for one in told["entities"]} <= {"TERM", "ORGANIZATION", "LOCATION"}
    assert told["scores"]["final"] == told["score"] == pytest.approx(told["scores"]["hybrid"])
    assert told["neighbors"] is None


async def test_every_share_lies_in_0_to_1_and_contributions_sum_to_the_hybrid_score(
    search: ChunkSearch, filled: Scope
) -> None:
    found = await ask(search, filled, "付款节点 Yuanhang freight table", debug=True)
    assert found.results
    for hit in found.results:
        assert hit.signals is not None
        assert all(0 <= signal.share <= 1 for signal in hit.signals.values())
        total = sum(signal.contribution for signal in hit.signals.values())
        assert total == pytest.approx(hit.scores["hybrid"])
    scores = [hit.score for hit in found.results]
    assert scores == sorted(scores, reverse=True)
    assert found.debug is not None
    assert found.debug["weights"]["vector"] > 0
    # 最终得分 = 0.6 * hybrid + 0.4 * rerank.
    assert found.debug["constants"].items() >= {"hybridShare": 0.6, "rerankShare": 0.4}.items()


async def test_neighbours_stand_in_the_section_or_share_entities(
    search: ChunkSearch, filled: Scope
) -> None:
    found = await ask(search, filled, "上海远航物流有限公司 签订", include_neighbors=True)
    related = {one.relation for hit in found.results for one in hit.neighbors or ()}
    assert "linked" in related
    for hit in found.results:
        assert hit.chunk_id not in {one.chunk_id for one in hit.neighbors or ()}
        for one in hit.neighbors or ():
            if one.relation == "section":
                assert one.parent_section_path == hit.parent_section_path


async def test_a_table_is_found_where_a_table_is_asked_for(
    search: ChunkSearch, filled: Scope
) -> None:
    found = await ask(search, filled, "price table of freight")
    assert found.results[0].modality == "table"
    assert found.results[0].scores["modality"] == 1
    assert {hit.scores["modality"] for hit in found.results[1:]} == {0}


async def test_the_reranker_has_four_tenths_of_the_final_score(
    database: Database, filled: Scope
) -> None:
    search = ChunkSearch(database, HashEmbedder(384), Backwards())
    found = await ask(search, filled, "付款节点")
    for hit in found.results:
        expected = 0.6 * hit.scores["hybrid"] + 0.4 * hit.scores["rerank"]
        assert hit.score == pytest.approx(expected)
    plain = await ask(search, filled, "付款节点", rerank=False)
    assert "rerank" not in plain.results[0].scores


async def test_weights_shares_and_half_life_are_settings_and_told(
    database: Database, filled: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every weight and constant is a setting, and is reported in `debug`."""
    given = ChunkSearchSettings(rerank_share=0.9, half_life=30, vector_weight=1, topic_weight=0)
    settings = database.settings.model_copy(update={"chunk_search": given})
    monkeypatch.setattr(database, "settings", settings)
    search = ChunkSearch(database, HashEmbedder(384), Backwards())
    in_a_month = datetime.now(UTC) + timedelta(days=30)
    request = SearchRequest(query="付款节点", debug=True)
    found = await search.search(filled, request, now=in_a_month)
    for hit in found.results:
        expected = 0.1 * hit.scores["hybrid"] + 0.9 * hit.scores["rerank"]
        assert hit.score == pytest.approx(expected)
        assert hit.scores["recency"] == pytest.approx(0.5, abs=0.01)
    assert found.debug is not None
    constants = {"hybridShare": 0.1, "rerankShare": 0.9, "halfLifeDays": 30, "maxKeywords": 10}
    constants |= {"hnswM": 8, "hnswEfConstruction": 128, "hnswEfSearch": 200}
    assert found.debug["constants"] == pytest.approx(constants)
    assert (found.debug["weights"]["vector"], found.debug["weights"]["topic"]) == (1, 0)


async def test_document_tags_given_at_upload_are_a_filter(
    search: ChunkSearch, filled: Scope
) -> None:
    found = await ask(search, filled, "Yuntu 付款", filters={"tags": ["LEGAL"]}, limit=50)
    assert {hit.filename for hit in found.results} == {"contract.md"}


@pytest.mark.parametrize(
    ("types", "said"),
    [
        (["trem"], ["“trem”. Did you mean “TERM”?"]),
        (["vessel"], ["“vessel”. Its types: “TERM”, “ORGANIZATION”, “LOCATION”."]),
        (["term", "Vessel"], ["“vessel”. Its types: “TERM”, “ORGANIZATION”, “LOCATION”."]),
        (["Term"], []),
    ],
)
async def test_a_type_that_no_entity_has_is_told_with_the_one_that_was_probably_meant(
    search: ChunkSearch, filled: Scope, types: list[str], said: list[str]
) -> None:
    """It let nothing through, without a word."""
    found = await ask(search, filled, "payment terms", filters={"entityTypes": types})
    assert bool(found.results) == ("term" in map(str.lower, types))
    unknown = "No entity of this knowledge base has the type that the filters name: "
    assert list(found.warnings) == [unknown + one for one in said]


async def test_without_its_model_the_search_goes_on_by_keywords(
    database: Database, filled: Scope
) -> None:
    found = await ask(ChunkSearch(database, BrokenEmbedder(384)), filled, "付款节点")
    assert found.results
    assert found.warnings == (
        "向量检索失败，使用关键词检索降级",
        "The embedding model does not answer.",
    )


async def test_a_model_of_another_dimension_is_an_error(database: Database, filled: Scope) -> None:
    with pytest.raises(EmbeddingModelChanged, match=r"different \w+ dimensions") as caught:
        await ask(ChunkSearch(database, HashEmbedder(64)), filled, "付款节点")
    assert "select" not in caught.value.message


async def test_another_user_finds_nothing(search: ChunkSearch, filled: Scope) -> None:
    with pytest.raises(GraphNotFound):
        await ask(search, Scope(f"user-{uuid4()}", filled.graph_id), "付款节点")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"limit": 0}, OptionInvalid),
        ({"limit": 10**6}, OptionInvalid),
        ({"ranking": "section"}, OptionInvalid),
        ({"ranking": {"vector": -1}}, OptionInvalid),
        ({"ranking": {"vector": True}}, OptionInvalid),
        ({"ranking": {"vector": "0.5"}}, OptionInvalid),
        ({"ranking": {"vector": float("nan")}}, OptionInvalid),
        ({"ranking": {"vector": 1e308, "keyword": 1e308}}, OptionInvalid),
        ({"ranking": {"vector": 10**400}}, OptionInvalid),
        ({"ranking": {"vector": None}}, OptionInvalid),
        ({"ranking": 5}, OptionInvalid),
        ({"limit": True}, OptionInvalid),
        ({"limit": 2.5}, OptionInvalid),
        ({"limit": None}, OptionInvalid),
        ({"filters": ["tags"]}, OptionInvalid),
        ({"filters": {5: 1}}, OptionInvalid),
        ({"query": None}, OptionInvalid),
        ({"filters": {"topics": ["x"]}}, OptionInvalid),
        ({"query": "   "}, QuestionInvalid),
        ({"query": "问" * 2001}, QuestionInvalid),
    ],
)
async def test_bad_input_is_a_clear_error(
    search: ChunkSearch, filled: Scope, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await ask(search, filled, **{"query": "付款", **options})


@pytest.mark.parametrize("query", ["的", "？？？", "👍👍👍", "سؤال عن الدفع", "问" * 2000])
async def test_odd_questions_are_answered_by_what_is_nearest(
    search: ChunkSearch, filled: Scope, query: str
) -> None:
    found = await ask(search, filled, query, limit=3)
    assert len(found.results) == 3


async def test_the_cursor_leads_through_all_that_was_found_each_once(
    search: ChunkSearch, database: Database, filled: Scope
) -> None:
    """`cursor` in, `nextCursor` out; in one process, and over processes (`others`)."""
    others = (search, *(ChunkSearch(database, HashEmbedder(384)) for _ in range(2)))
    for searches in ((search,), others):
        pages: list[ChunkSearchResponse] = []
        cursor: str | None = None
        while not pages or cursor:
            own = searches[len(pages) % len(searches)]
            pages.append(await ask(own, filled, "付款节点 leave", limit=2, cursor=cursor))
            cursor = pages[-1].next_cursor
        ids = [hit.chunk_id for page in pages for hit in page.results]
        scores = [hit.score for page in pages for hit in page.results]
        assert len(ids) == len(set(ids)) == pages[0].total > 4
        assert scores == sorted(scores, reverse=True)
        assert all(hit.text and hit.filename for page in pages for hit in page.results)


async def test_a_page_moves_by_nothing_that_was_added_and_lacks_what_is_gone(
    search: ChunkSearch, ingestor: Ingestor, database: Database
) -> None:
    scope = Scope(f"user-{uuid4()}", "pages")
    documents = [
        await ingest_bytes(ingestor, scope, f"付款节点 {n} {'约定 ' * n}".encode(), f"{n}.txt")
        for n in range(6)
    ]
    whole = [hit.chunk_id for hit in (await ask(search, scope, "付款节点", limit=6)).results]
    owners = {
        hit.chunk_id: hit.document_id for hit in (await ask(search, scope, "付款节点")).results
    }
    first = await ask(search, scope, "付款节点", limit=2)
    await ingest_bytes(ingestor, scope, "付款节点".encode(), "new.txt")
    gone = next(one for one in documents if str(one.document_id) == owners[whole[3]])
    assert gone.document_id is not None
    await DocumentStore(database).delete(scope, gone.document_id)
    second = await ask(search, scope, "付款节点", limit=2, cursor=first.next_cursor)
    assert [hit.chunk_id for hit in first.results] == whole[:2]
    assert [hit.chunk_id for hit in second.results] == [whole[2]]
    third = await ask(search, scope, "付款节点", limit=2, cursor=second.next_cursor)
    assert [hit.chunk_id for hit in third.results] == whole[4:]
    assert third.next_cursor is None


async def test_a_cursor_of_another_search_is_refused(search: ChunkSearch, filled: Scope) -> None:
    cursor = (await ask(search, filled, "付款节点", limit=1)).next_cursor
    other = Scope(filled.user_id, "elsewhere")
    for scope, query, options in (
        (filled, "违约", {}),
        (other, "付款节点", {}),
        (filled, "付款节点", {"filters": {"tags": ["legal"]}}),
        (filled, "付款节点", {"ranking": "entity-first"}),
        (filled, "付款节点", {"rerank": False}),
    ):
        with pytest.raises(OptionInvalid) as caught:
            await ask(search, scope, query, limit=1, cursor=cursor, **options)
        assert caught.value.field == "cursor"


async def test_a_lane_that_found_a_chunk_says_at_which_place(
    search: ChunkSearch, filled: Scope
) -> None:
    found = await ask(search, filled, "付款节点", debug=True)
    assert found.debug is not None
    assert {"vector", "keyword", "ranking", "total"} == set(found.debug["timings"])
    for lane in ("vector", "keyword"):
        ranks = [hit.signals[lane].rank for hit in found.results if hit.signals]
        assert 1 in ranks
    assert found.results[0].signals is not None
    assert found.results[0].signals["recency"].rank is None


@pytest.mark.parametrize("query", ["的是在", "？！…", "🙂🙃"])
async def test_without_keywords_meaning_alone_answers_and_it_is_said(
    search: ChunkSearch, filled: Scope, query: str
) -> None:
    found = await ask(search, filled, query)
    assert found.results
    assert found.warnings == (sentence(WarningCode.KEYWORDS_MISSING, language_of(query)),)


async def test_a_document_that_there_is_not_is_told_on_every_page(
    search: ChunkSearch, filled: Scope
) -> None:
    named = {"documentIds": ["handbook.md", "hand book.md"]}
    first = await ask(search, filled, "Yuntu freight", limit=1, filters=named)
    after = await ask(
        search, filled, "Yuntu freight", limit=1, filters=named, cursor=first.next_cursor
    )
    for page in (first, after):
        [warning] = page.warnings
        assert "“hand book.md”" in warning
        assert "'handbook.md'" not in warning
    assert (
        await ask(search, filled, "Yuntu", filters={"documentIds": "handbook.md"})
    ).warnings == ()


async def test_bm25_has_its_share_unless_it_is_switched_off(
    database: Database, search: ChunkSearch, filled: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await ask(search, filled, "付款节点", debug=True)
    alone = await ask(search, filled, "付款节点", debug=True, bm25_rerank=False)
    assert found.debug is not None
    assert alone.debug is not None
    assert found.debug["weights"]["bm25"] == 0.3
    assert "bm25" not in alone.debug["weights"]
    assert all("bm25" not in hit.scores for hit in alone.results)
    before = {hit.chunk_id: hit.scores["hybrid"] for hit in alone.results}
    for hit in found.results:
        expected = 0.7 * before[hit.chunk_id] + 0.3 * hit.scores["bm25"]
        assert hit.scores["hybrid"] == pytest.approx(expected)
    assert found.results[0].scores["bm25"] == 1
    retrieval = database.settings.retrieval.model_copy(update={"bm25_rerank": False})
    off = database.settings.model_copy(update={"retrieval": retrieval})
    monkeypatch.setattr(database, "settings", off)
    by_setting = await ask(ChunkSearch(database, HashEmbedder(384)), filled, "付款节点")
    scores = [hit.score for hit in alone.results]
    assert [hit.score for hit in by_setting.results] == pytest.approx(scores)


@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING])
async def test_question_keywords_counts_and_the_first_three_are_logged_where_questions_may_be(
    search: ChunkSearch, filled: Scope, caplog: pytest.LogCaptureFixture, level: int
) -> None:
    caplog.set_level(level)
    found = await ask(search, filled, "付款节点")
    lines = [one for one in caplog.messages if one.startswith("chunk search query")]
    assert len(lines) == (level == logging.INFO)
    for line in lines:
        assert "付款节点" in line
        assert "keywords=['付款', '节点'" in line
        assert "'vector'" in line
        assert f"returned={len(found.results)}" in line
        assert str([(one.filename, round(one.score, 4)) for one in found.results[:3]]) in line
