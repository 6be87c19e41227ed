"""From question to cited answer over a real store, with and without a chat model."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from uuid import UUID

import pytest

from sextant.domain.errors import EmbeddingModelChanged, GraphNotFound, ModelUnavailable, TimedOut
from sextant.domain.scope import Scope
from sextant.domain.settings import LimitSettings, Settings
from sextant.evals.sets import load_corpus
from sextant.graph import create_query_workflow
from sextant.graph.dependencies import close_shared_dependencies, get_shared_dependencies
from sextant.ingestion.graph.upkeep import GraphUpkeep
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.embedding_space import check_space
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import ApiRequest
from sextant.testing.replies import Reply, as_json, failing, fence_json, invalid_json, refusal
from tests.integration.graph.conftest import PASSAGES, RunningWith
from tests.integration.own_database import settings_over, short_folder

ANALYSIS = {
    "question": "糖尿病患者的主要症状是什么？",
    "keywords": ["症状"],
}
ENOUGH = {"relevant": [1], "sufficient": True, "missing": ""}
ANSWER = "主要症状是多饮、多尿、多食和体重下降[1]。"
QUESTION = "糖尿病患者的主要症状是什么？"
BROAD = "资料讲了哪些内容，比如胰岛素和糖尿病患者的主要症状？"


def cooperative(request: ApiRequest) -> Reply | str:
    """Return a model that judges and answers as it should, and finds the passage that tells the symptoms."""
    if not request.wants_json:
        number = request.prompt.partition("多饮、多尿")[0].rpartition('<passage number="')[2][:1]
        return f"主要症状是多饮、多尿、多食和体重下降[{number}]。"
    if '"relevant"' in request.prompt:
        return fence_json(ENOUGH)
    return as_json(ANALYSIS)


async def test_small_talk_without_a_model_tells_what_can_be_asked(
    running_with: RunningWith,
) -> None:
    async with running_with() as running:
        greeted = await running.workflow.ainvoke(running.asking("你好"))
        empty = await running.workflow.ainvoke(running.asking("hello") | {"graph_id": "empty"})
    assert "corpus.txt" in greeted["answer"]
    assert "SEXTANT_CHAT_MODEL" in greeted["answer"]
    assert "sextant ingest" in empty["answer"]
    assert (greeted["mode"], greeted["model"], greeted["sources"]) == ("bypass", "none", [])


async def test_offline_the_best_sentence_is_quoted_with_document_offsets(
    running_with: RunningWith,
) -> None:
    async with running_with() as running:
        result = await running.workflow.ainvoke(running.asking(QUESTION))
    assert result["model"] == "extractive"
    assert len(result["sources"]) > 0
    first = result["citations"][0]
    assert first["quote"] == "糖尿病患者的主要症状是多饮、多尿、多食和体重下降。"
    assert (result["trust"], result["grounded"]) == ("quoted", False)


async def test_a_citation_is_the_stored_documents_text(
    running_with: RunningWith, database: Database
) -> None:
    async with running_with(cooperative) as running:
        result = await running.workflow.ainvoke(running.asking(QUESTION))
    assert result["answer"] == ANSWER
    [citation], [source] = result["citations"], result["sources"]
    stored = await DocumentStore(database).text(
        running.scope, UUID(source["document_id"]), citation["start"], citation["end"]
    )
    assert stored == citation["quote"]
    assert citation["support"] > 0.9
    assert (result["trust"], result["grounded"]) == ("supported", True)


async def test_an_unknown_graph_and_another_tenants_graph_are_not_found(
    running_with: RunningWith,
) -> None:
    async with running_with() as running:
        with pytest.raises(GraphNotFound):
            await running.workflow.ainvoke(running.asking(QUESTION, graph_id="nowhere"))
        with pytest.raises(GraphNotFound):
            await running.workflow.ainvoke(running.asking(QUESTION, user_id="stranger"))


@pytest.mark.parametrize(
    "useless",
    [invalid_json(), refusal(), failing(500), failing(401)],
    ids=["no-json", "refusal", "500", "401"],
)
async def test_a_model_that_cannot_judge_is_replaced_by_rules_and_said_so(
    running_with: RunningWith, useless: Reply
) -> None:
    def judges_badly(request: ApiRequest) -> Reply | str:
        return useless if request.wants_json else cooperative(request)

    async with running_with(judges_badly) as running:
        result = await running.workflow.ainvoke(running.asking(QUESTION))
    assert result["answer"] == ANSWER
    assert any("按规则判断" in warning for warning in result["warnings"])


async def test_a_model_that_is_down_leaves_quoted_answers(running_with: RunningWith) -> None:
    async with running_with(lambda _: failing(503)) as running:
        result = await running.workflow.ainvoke(running.asking(QUESTION))
        assert result["model"] == "extractive"
        assert result["citations"]
        with pytest.raises(ModelUnavailable):
            await running.workflow.ainvoke(running.asking(QUESTION, mode="bypass"))


async def test_instructions_in_a_passage_do_not_leave_its_delimiters(
    running_with: RunningWith,
) -> None:
    async with running_with(cooperative) as running:
        await running.workflow.ainvoke(running.asking(QUESTION))
        prompts = [r.prompt for r in running.endpoint.chat_requests if "<passage " in r.prompt]
    assert prompts
    for prompt in prompts:
        assert prompt.count("<passage number=") == prompt.count("</passage>")


@pytest.fixture
def own_settings() -> Iterator[Settings]:
    """Yield settings over a database of the test's own; the short path is for its socket."""
    with short_folder() as folder:
        yield settings_over(folder)


async def test_each_loop_opens_its_own_dependencies_once(own_settings: Settings) -> None:
    first, second = await asyncio.gather(
        get_shared_dependencies(own_settings), get_shared_dependencies(own_settings)
    )
    assert first is second

    async def elsewhere() -> bool:
        workflow = create_query_workflow(settings=own_settings)
        result = await workflow.ainvoke({"query": "你好"})
        other = await get_shared_dependencies(own_settings)
        await close_shared_dependencies()
        return other is not first and bool(result["answer"])

    assert await asyncio.to_thread(lambda: asyncio.run(elsewhere()))
    await close_shared_dependencies()
    await close_shared_dependencies()


async def test_a_loop_that_ends_without_closing_closes_quietly_and_leaves_nothing(
    own_settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    async def ask() -> bool:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        result = await create_query_workflow(settings=own_settings).ainvoke({"query": "你好"})
        return bool(result["answer"])

    async with await Database.open(own_settings):  # one server for all loops
        for _ in range(5):
            assert await asyncio.to_thread(lambda: asyncio.run(ask()))
    assert "closing of asynchronous generator" not in caplog.text
    gc.collect()
    assert [loop() for loop in loops] == [None] * 5


async def test_vectors_of_another_model_are_refused_before_any_search(
    own_settings: Settings, scope: Scope
) -> None:
    async with await Database.open(own_settings) as database:
        await check_space(database, HashEmbedder(384))
        await load_corpus(database, HashEmbedder(384), scope, PASSAGES)
    workflow = create_query_workflow(settings=own_settings)
    with pytest.raises(EmbeddingModelChanged, match="hash-384"):
        await workflow.ainvoke(
            {"query": QUESTION, "graph_id": scope.graph_id, "user_id": scope.user_id}
        )
    await close_shared_dependencies()


async def test_a_store_that_does_not_open_is_a_typed_error_within_the_time_of_an_answer(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(_: Settings) -> Database:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(Database, "open", never)
    hasty = settings.model_copy(update={"limits": LimitSettings(answer_seconds=1)})
    workflow = create_query_workflow(settings=hasty)
    asked = ({"query": QUESTION, "graph_id": "any"}, {"query": QUESTION, "graph_id": "other"})
    outcomes = await asyncio.gather(*map(workflow.ainvoke, asked), return_exceptions=True)
    for error in outcomes:  # whoever waits for another's opening is bounded, too
        assert isinstance(error, TimedOut)
        assert "sextant doctor" in error.next_step
        assert "未能打开" in error.in_language("zh")


MODES = ["naive", "local", "global", "hybrid", "mix", "bypass", "auto"]


@pytest.mark.parametrize("mode", MODES)
async def test_every_mode_is_dispatched_offline(running_with: RunningWith, mode: str) -> None:
    async with running_with() as running:
        result = await running.workflow.ainvoke(running.asking(QUESTION, mode=mode))
    assert result["answer"]
    assert result["mode"] == ("mix" if mode == "auto" else mode)
    if mode != "bypass":
        assert result["citations"][0]["quote"].startswith("糖尿病患者的主要症状")
        assert len(result["sources"]) > 0


@pytest.mark.parametrize("mode", MODES)
async def test_every_mode_is_dispatched_with_a_chat_model(
    running_with: RunningWith, mode: str
) -> None:
    async with running_with(cooperative) as running:
        result = await running.workflow.ainvoke(running.asking(QUESTION, mode=mode))
    assert "多饮、多尿" in result["answer"]
    if mode != "bypass":
        assert result["grounded"]


def reading(request: ApiRequest) -> Reply | str:
    """Return a model that notes a point from every report, and answers with the passages it is shown."""
    if "<reports>" in request.prompt:
        number = request.prompt.rpartition('<passage number="')[2].partition('"')[0]
        noted = {"text": "要点", "importance": 5, "passages": [int(number or 0)]}
        return as_json({"points": [noted]})
    if request.wants_json and '"relevant"' not in request.prompt:
        return as_json({**ANALYSIS, "question": BROAD})
    return cooperative(request)


async def test_global_reads_reports_with_a_bounded_number_of_calls_then_answers_from_passages(
    running_with: RunningWith, database: Database, filled: Scope
) -> None:
    await GraphUpkeep(database, HashEmbedder(384)).refresh(filled)
    limits = LimitSettings(report_calls=2)
    async with running_with(reading, limits=limits) as running:
        result = await running.workflow.ainvoke(running.asking(BROAD, mode="global"))
        read = [request for request in running.endpoint.requests if "<reports>" in request.prompt]
        written = [request for request in running.endpoint.requests if not request.wants_json]
    assert 1 <= len(read) <= 2
    assert len(written) == 1
    assert "- 要点 [" in written[0].prompt
    assert result["mode"] == "global"
    chunk_ids = {source["chunk_id"] for source in result["sources"]}
    stored = await ChunkStore(database).get(filled, [UUID(one) for one in chunk_ids])
    assert len(stored) == len(chunk_ids) > 0
    assert result["citations"][0]["quote"] in stored[0].text


async def test_reports_that_are_never_read_leave_the_answer_its_time(
    running_with: RunningWith, database: Database, filled: Scope
) -> None:
    await GraphUpkeep(database, HashEmbedder(384)).refresh(filled)

    def stuck(request: ApiRequest) -> Reply | str:
        return Reply("{}", pause_after=0) if "<reports>" in request.prompt else reading(request)

    async with running_with(stuck, limits=LimitSettings(answer_seconds=6)) as running:
        async with asyncio.timeout(30):
            result = await running.workflow.ainvoke(running.asking(BROAD, mode="global"))
    assert result["model"] != "extractive"
    assert result["sources"]
    assert any("未能读取" in warning for warning in result["warnings"])


async def test_global_offline_tells_findings_of_reports_cited_to_their_chunks(
    running_with: RunningWith, database: Database, filled: Scope
) -> None:
    await GraphUpkeep(database, HashEmbedder(384)).refresh(filled)
    async with running_with() as running:
        result = await running.workflow.ainvoke(running.asking("讲了哪些内容？", mode="global"))
    assert result["answer"].startswith("根据知识库各主题的报告：")
    assert result["trust"] == "quoted"
    assert result["graph_context"]["entities"]
    for citation in result["citations"]:
        [source] = [one for one in result["sources"] if one["marker"] == citation["marker"]]
        assert citation["quote"] in source["text"]
