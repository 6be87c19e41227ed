"""The retriever over a real PostgreSQL: what it finds, and what it says when something is wrong."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest
import pytest_asyncio
from langchain_core.retrievers import BaseRetriever

from sextant.domain.errors import (
    DatabaseUnavailable,
    EmbeddingModelChanged,
    GraphNotFound,
    ModelUnavailable,
    ModeNotAvailable,
    OptionInvalid,
    QuestionInvalid,
)
from sextant.domain.retrieval import (
    LaneScore,
    Mode,
    PassageContent,
    Retrieval,
    RetrievalError,
    of_passage,
)
from sextant.domain.scope import Scope
from sextant.domain.settings import RetrievalSettings, Settings
from sextant.domain.warnings import WarningCode
from sextant.evals.dataset import CorpusPassage
from sextant.evals.sets import load_corpus
from sextant.models.protocols import Embedder
from sextant.retrievers import GraphRetriever
from sextant.retrievers.graph_retriever import RetrieveOptions
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from sextant.testing.hash_embedder import HashEmbedder
from sextant.text.analysis import extract_keywords
from sextant.text.characters import language_of
from tests.embedders import BrokenEmbedder
from tests.sentences import sentence

PASSAGES = [
    CorpusPassage("symptoms", "糖尿病", "糖尿病患者的主要症状是多饮、多尿、多食和体重下降。"),
    CorpusPassage("insulin", "胰岛素", "胰岛素由胰腺的β细胞分泌，降低血糖。"),
    CorpusPassage("payment", "Contract", "Payment is due within 30 days of each milestone."),
    CorpusPassage(
        "ownership", "Rust", "Ownership is how Rust manages memory without a garbage collector."
    ),
    CorpusPassage("weather", "", "The weather in London was mild that week."),
]


@pytest_asyncio.fixture
async def filled(database: Database, embedder: Embedder, scope: Scope) -> Scope:
    await load_corpus(database, embedder, scope, PASSAGES)
    return scope


@pytest.fixture
def retriever(database: Database, embedder: Embedder, settings: Settings) -> GraphRetriever:
    return over(database, embedder, settings)


def over(database: Database, embedder: Embedder, settings: Settings) -> GraphRetriever:
    return GraphRetriever(
        chunks=ChunkStore(database),
        embedder=embedder,
        settings=settings,
        knowledge_bases=KnowledgeBases(database),
    )


def names(results: Sequence[object]) -> list[str]:
    return [str(getattr(item, "external_id", None)) for item in results]


async def test_naive_returns_the_nearest_chunks_with_cosine_descending(
    retriever: GraphRetriever, filled: Scope
) -> None:
    found = await retriever.search(filled, "糖尿病患者的主要症状是什么？", top_k=3)
    assert found.mode is Mode.NAIVE
    assert names(found.results)[0] == "symptoms"
    assert len(found.results) == 3
    scores = [item.score for item in found.results]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    first = found.results[0]
    assert first.lanes == {"vector": LaneScore(1, first.score, contribution=first.score)}
    assert first.metadata["section_path"] == ("糖尿病",)
    assert first.metadata["start"] == 0
    assert first.metadata["end"] == len(PASSAGES[0].unit)
    assert first.text == PASSAGES[0].unit
    assert set(found.timings) == {"vector", "fusion", "texts", "total"}
    assert found.warnings == ()


@pytest.mark.parametrize("top_k", [1, 60])
async def test_texts_that_the_vector_lane_does_not_bring_are_read_by_id(
    database: Database, embedder: Embedder, settings: Settings, filled: Scope, top_k: int
) -> None:
    """They are only found by keywords, or too many are wanted."""
    weights = {"vector_weight": 0.01, "keyword_weight": 0.99}
    retrieval = settings.retrieval.model_copy(update=weights)
    retriever = over(database, embedder, settings.model_copy(update={"retrieval": retrieval}))
    for passage in PASSAGES:
        words = f"{passage.text} weather"
        found = await retriever.search(filled, words, top_k=top_k, lanes=("vector", "keyword"))
        assert found.results
        assert shown(found) == await told(database, filled, found)


def shown(found: Retrieval) -> list[PassageContent]:
    return [
        PassageContent(one.text, one.document_id, one.external_id, dict(one.metadata))
        for one in found.results
    ]


async def told(database: Database, scope: Scope, found: Retrieval) -> list[PassageContent]:
    rows = await ChunkStore(database).contents(scope, [one.id for one in found.results])
    return [of_passage(row) for row in rows]


async def test_asking_for_more_than_there_is_returns_all_there_is(
    retriever: GraphRetriever, filled: Scope
) -> None:
    found = await retriever.search(filled, "anything", top_k=50)
    assert sorted(names(found.results)) == sorted(passage.id for passage in PASSAGES)


async def test_a_widened_search_fuses_vector_and_keyword_ranks(
    retriever: GraphRetriever, filled: Scope
) -> None:
    found = await retriever.search(
        filled, "How does Rust manage memory?", top_k=4, lanes=("vector", "keyword")
    )
    first = found.results[0]
    assert first.external_id == "ownership"
    assert set(first.lanes) == {"vector", "keyword"}
    assert first.lanes["keyword"].rank == 1
    expected = sum(place.weight / (60 + place.rank) for place in first.lanes.values())
    assert first.score == pytest.approx(expected)
    assert {place.weight for place in first.lanes.values()} == {0.7, 0.3}
    assert set(found.timings) == {"vector", "keyword", "fusion", "texts", "total"}


async def test_the_keyword_lane_stands_in_when_the_model_is_gone(
    database: Database, settings: Settings, filled: Scope, caplog: pytest.LogCaptureFixture
) -> None:
    retriever = over(database, BrokenEmbedder(384), settings)
    with caplog.at_level(logging.WARNING, "sextant.retrievers"):
        found = await retriever.search(filled, "糖尿病的症状")
    assert names(found.results)[0] == "symptoms"
    assert set(found.results[0].lanes) == {"keyword"}
    assert found.warnings == (
        "向量检索失败，使用关键词检索降级",
        "The embedding model does not answer.",
    )
    assert [one.code for one in found.coded_warnings] == ["vector_lane_failed", "cause"]
    assert "向量检索失败，使用关键词检索降级" in caplog.messages
    failure = next(record for record in caplog.records if record.levelno == logging.ERROR)
    assert failure.exc_info is not None
    assert isinstance(failure.exc_info[1], ModelUnavailable)


async def test_lanes_that_fail_for_one_reason_log_one_traceback(
    settings: Settings, embedder: Embedder, filled: Scope, caplog: pytest.LogCaptureFixture
) -> None:
    gone = await Database.open(settings)
    await gone.close()
    with pytest.raises(RetrievalError), caplog.at_level(logging.ERROR, "sextant.retrievers"):
        await over(gone, embedder, settings).search(filled, "糖尿病", mode="naive")
    records = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert len(records) == 2
    assert [one.exc_info is not None for one in records] == [True, False]


async def test_all_lanes_failing_is_one_error_with_every_cause(
    settings: Settings, embedder: Embedder, filled: Scope
) -> None:
    gone = await Database.open(settings)
    await gone.close()
    retriever = over(gone, BrokenEmbedder(384), settings)
    with pytest.raises(RetrievalError, match="知识库检索失败") as failed:
        await retriever.search(filled, "糖尿病的症状")
    assert set(failed.value.causes) == {"vector", "keyword"}
    assert isinstance(failed.value.causes["vector"], ModelUnavailable)
    assert isinstance(failed.value.causes["keyword"], DatabaseUnavailable)


async def test_a_slow_retrieval_is_logged_as_a_warning(
    database: Database,
    embedder: Embedder,
    settings: Settings,
    filled: Scope,
    caplog: pytest.LogCaptureFixture,
) -> None:
    impatient = settings.model_copy(update={"retrieval": RetrievalSettings(slow_ms=1e-6)})
    with caplog.at_level(logging.WARNING, "sextant.retrievers"):
        await over(database, embedder, impatient).search(filled, "糖尿病")
    assert any("retrieval took" in message for message in caplog.messages)


async def test_what_was_searched_and_found_is_logged(
    retriever: GraphRetriever, filled: Scope, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "sextant.retrievers"):
        await retriever.search(filled, "糖尿病的症状", lanes=("vector", "keyword"))
    [message] = [message for message in caplog.messages if message.startswith("retrieved")]
    for part in (
        "糖尿病的症状",
        "keywords=['糖尿病', '症状'",
        "'vector': 5",
        "corpus.txt",
        "'total'",
    ):
        assert part in message


async def test_another_users_knowledge_base_of_the_same_name_is_not_searched(
    retriever: GraphRetriever, filled: Scope
) -> None:
    stranger = Scope("somebody-else", filled.graph_id)
    with pytest.raises(GraphNotFound):
        await retriever.search(stranger, "糖尿病", lanes=("vector", "keyword"))


async def test_an_unknown_graph_is_named(retriever: GraphRetriever, filled: Scope) -> None:
    with pytest.raises(GraphNotFound, match="'nowhere'"):
        await retriever.search(Scope(filled.user_id, "nowhere"), "糖尿病")


async def test_bypass_retrieves_nothing(retriever: GraphRetriever, scope: Scope) -> None:
    found = await retriever.search(scope, "hello", mode="bypass")
    assert found.results == ()
    assert found.mode is Mode.BYPASS


@pytest.mark.parametrize("top_k", [0, -1, 1001, 10**6])
async def test_a_top_k_out_of_range_is_refused_by_name(
    retriever: GraphRetriever, filled: Scope, top_k: int
) -> None:
    with pytest.raises(OptionInvalid, match=str(top_k)) as refused:
        await retriever.search(filled, "糖尿病", top_k=top_k)
    assert refused.value.field == "top_k"


@pytest.mark.parametrize("query", ["", "  \n", "\x00", "问" * 2001])
async def test_an_empty_or_too_long_question_is_refused(
    retriever: GraphRetriever, filled: Scope, query: str
) -> None:
    with pytest.raises(QuestionInvalid):
        await retriever.search(filled, query)


async def test_an_unknown_filter_is_refused_rather_than_ignored(
    retriever: GraphRetriever, filled: Scope
) -> None:
    with pytest.raises(OptionInvalid, match="Did you mean `tags`"):
        await retriever.search(filled, "糖尿病", filters={"tag": ["a"]})


async def test_filters_that_let_nothing_through_find_nothing(
    retriever: GraphRetriever, filled: Scope
) -> None:
    found = await retriever.search(filled, "糖尿病", filters={"tags": ["a"]})
    assert found.results == ()
    assert found.warnings == ()


async def test_a_vector_of_another_length_is_an_error_and_not_a_poorer_search(
    filled: Scope, database: Database, settings: Settings
) -> None:
    with pytest.raises(EmbeddingModelChanged, match="384 and 64"):
        await over(database, HashEmbedder(64), settings).search(filled, "糖尿病")


async def test_a_graph_mode_is_refused_by_a_retriever_without_a_graph(
    retriever: GraphRetriever, filled: Scope
) -> None:
    with pytest.raises(ModeNotAvailable):
        await retriever.search(filled, "糖尿病", mode="hybrid")


@pytest.mark.parametrize("query", ["的了吗", "！？…", "😀😀", "' OR 1=1 --", "%_\\", "问" * 2000])
async def test_an_odd_question_is_searched_all_the_same(
    retriever: GraphRetriever, filled: Scope, query: str
) -> None:
    found = await retriever.search(filled, query, top_k=2, lanes=("vector", "keyword"))
    assert len(found.results) == 2
    said = (
        ()
        if extract_keywords(query)
        else (sentence(WarningCode.KEYWORDS_MISSING, language_of(query)),)
    )
    assert found.warnings == said


async def test_an_empty_user_is_refused_and_not_taken_for_the_settings(
    retriever: GraphRetriever,
) -> None:
    with pytest.raises(OptionInvalid) as refused:
        await retriever.aretrieve("糖尿病", user_id="")
    assert refused.value.field == "user_id"


async def test_it_is_a_langchain_retriever(retriever: GraphRetriever, filled: Scope) -> None:
    assert isinstance(retriever, BaseRetriever)
    bound = retriever.bind(user_id=filled.user_id, graph_id=filled.graph_id, top_k=2)
    documents = await bound.ainvoke("Rust ownership memory")
    assert len(documents) == 2
    assert documents[0].page_content == PASSAGES[3].unit
    assert documents[0].metadata["filename"] == "corpus.txt"
    assert documents[0].metadata.keys() >= {"document_id", "external_id", "score"}


async def test_the_synchronous_twin_works_inside_a_running_loop(
    retriever: GraphRetriever, filled: Scope
) -> None:
    mine = RetrieveOptions(user_id=filled.user_id, graph_id=filled.graph_id, top_k=2)
    expected = await retriever.aretrieve("Rust ownership", **mine)
    assert retriever.retrieve("Rust ownership", **mine) == expected
