"""Chunks through the facade: structure, the log of searches, describing older data, warming up."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest
import pytest_asyncio

from sextant.domain.errors import DocumentNotFound, GraphNotFound, OptionInvalid
from sextant.domain.scope import Scope
from sextant.domain.settings import SearchLogSettings
from sextant.facade import Sextant
from sextant.ingestion.progress import Progress
from sextant.models.embedding.cache import CachedEmbedder
from sextant.retrievers.chunk_search.search import SearchRequest
from sextant.stores.postgresql.database import Database
from sextant.stores.search_log import SearchLog
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import failing
from sextant.text.characters import _characters
from tests.embedders import BrokenEmbedder

CONTRACT = """# 合同

## 第1章 总则

本合同由北京云图科技有限公司与上海远航物流有限公司签订。

## 第3章 付款

付款节点分为预付款、到货款和验收款三个节点，甲方在每个节点完成后三十日内付款。

### 3.1 发票

上海远航物流有限公司在每个付款节点前开具增值税专用发票。
"""


@asynccontextmanager
async def opened(database: Database, user: str, **changed: Any) -> AsyncIterator[Sextant]:
    settings = database.settings.model_copy(update={"user_id": user, **changed})
    before, database.settings = database.settings, settings
    try:
        async with AsyncExitStack() as stack:
            yield Sextant(database, CachedEmbedder(HashEmbedder(384), 8), stack)
    finally:
        database.settings = before


@pytest.fixture
def user() -> str:
    return f"user-{uuid4()}"


@pytest_asyncio.fixture
async def rag(database: Database, user: str, tmp_path: Path) -> AsyncIterator[Sextant]:
    """Yield Sextant with one contract in it, which logs its searches."""
    file = tmp_path / "contract.md"
    file.write_text(CONTRACT, encoding="utf-8")
    log = SearchLogSettings(enabled=True)
    async with opened(database, user, search_log=log) as rag:
        await rag.ingest([file])
        yield rag


async def only_document(rag: Sextant) -> UUID:
    [document] = await rag.documents()
    return document.id


async def test_structure_is_the_tree_of_the_seed(rag: Sextant) -> None:
    root, *sections = await (await rag.chunks()).structure(await only_document(rag))
    assert root.parent_id is None
    known = {root.id: root}
    for section in sections:
        assert section.parent_id is not None
        assert section.path == (*known[section.parent_id].path, section.title)
        known[section.id] = section
    assert "3.1 发票" in {section.title for section in sections}
    payment = next(section for section in sections if section.title == "第3章 付款")
    assert "节点" in payment.summary
    assert payment.keywords
    assert payment.tags == ("zh", "markdown")


@pytest.mark.parametrize("document", [uuid4(), "no id"])
async def test_structure_of_a_document_that_is_not_there_is_said(
    rag: Sextant, document: UUID | str
) -> None:
    with pytest.raises(DocumentNotFound):
        await (await rag.chunks()).structure(document)


async def test_searches_are_logged_with_ids_and_scores_and_no_text(rag: Sextant) -> None:
    chunks = await rag.chunks()
    found = await chunks.search(
        SearchRequest(query="付款节点", limit=2, filters={"tags": "markdown"})
    )
    everything = await rag.search("付款节点", mode="naive", limit=1, rerank=False)
    second, first = await chunks.searches()
    assert (first.query, second.request["mode"]) == ("付款节点", "naive")
    assert first.request == {"limit": 2, "filters": {"tags": "markdown"}}
    asked = {"mode": "naive", "limit": 1, "filters": {}, "rerank": False}
    assert second.request == asked
    assert [one["id"] for one in first.results] == [hit.chunk_id for hit in found.results]
    assert [one["score"] for one in first.results] == [hit.score for hit in found.results]
    assert [one["id"] for one in second.results] == [item.id for item in everything.results]
    assert "到货款" not in str(first)


@pytest.mark.parametrize("query", ["付款\x00节点", "付款节点\udfff"])
async def test_a_search_is_logged_without_what_no_store_can_hold(rag: Sextant, query: str) -> None:
    chunks = await rag.chunks()
    filters = {"tags": ["\x00x", "y\ud800"]}
    await chunks.search(SearchRequest(query=query, filters=filters))
    await rag.search(query, mode="naive", filters=filters)
    both = await chunks.searches()
    assert {one.query for one in both} == {"付款节点"}
    assert [one.request["filters"]["tags"] for one in both] == [["x", "y"]] * 2


@pytest.mark.parametrize("limit", [0, -1, True, 2.5, 2**70])
async def test_a_limit_that_no_list_can_have_is_refused(rag: Sextant, limit: Any) -> None:
    with pytest.raises(OptionInvalid) as of_the_log:
        await (await rag.chunks()).searches(limit)
    with pytest.raises(OptionInvalid) as of_a_search:
        await rag.search("付款", limit=limit)
    assert (of_the_log.value.field, of_a_search.value.field) == ("limit", "limit")


async def test_the_log_is_off_by_default(database: Database, rag: Sextant, user: str) -> None:
    async with opened(database, user, search_log=SearchLogSettings()) as quiet:
        await quiet.search("付款节点", mode="naive")
        assert await (await quiet.chunks()).searches() == []


async def test_a_log_is_the_tenants_own_and_goes_with_its_knowledge_base(
    database: Database, rag: Sextant, user: str
) -> None:
    await rag.search("付款节点", mode="naive")
    log, stranger = SearchLog(database), Scope(f"user-{uuid4()}", "default")
    assert await log.list(stranger) == []
    assert await log.clear(stranger) == 0
    async with database.transaction(stranger.user_id) as connection:
        rows = await connection.execute("select count(*) from search_log")
        assert await rows.fetchone() == (0,)
    assert len(await log.list(Scope(user, "default"))) == 1
    await rag.delete_graph("default")
    async with database.transaction(user) as connection:
        rows = await connection.execute("select count(*) from search_log")
        assert await rows.fetchone() == (0,)


async def test_old_searches_are_not_shown_and_go_at_the_next_one(
    database: Database, rag: Sextant, user: str
) -> None:
    chunks = await rag.chunks()
    await rag.search("old", mode="naive")
    async with database.owner() as owner:
        await owner.execute("alter table search_log no force row level security")
        await owner.execute(
            "update search_log set at = now() - interval '31 days' where user_id = %s", [user]
        )
        await owner.execute("alter table search_log force row level security")
    assert await chunks.searches() == []
    await rag.search("new", mode="naive")
    async with database.transaction(user) as connection:
        rows = await connection.execute("select query from search_log")
        assert await rows.fetchall() == [("new",)]
    assert await chunks.forget_searches() == 1


def about(request: ApiRequest) -> str:
    """Return what a chat model says of passages and sections: how many it sees."""
    numbers = re.findall(r"^\[(\d+)\] ", request.prompt, re.MULTILINE)
    told = [{"passage": int(n), "summary": f"the model's word on {n}"} for n in numbers]
    return orjson.dumps({"passages": told}).decode()


async def test_while_the_chat_model_is_gone_ingestion_says_so_and_later_it_describes_what_came_in(
    database: Database, user: str, tmp_path: Path
) -> None:
    (tmp_path / "contract.md").write_text(CONTRACT, encoding="utf-8")
    gone, far = True, list[Progress]()
    async with ScriptedOpenAI(lambda request: failing(503) if gone else about(request)) as server:
        changed = {
            "ingestion": database.settings.ingestion.model_copy(update={"metadata": "llm"}),
            "chat_model": "scripted",
            "openai_base_url": server.base_url,
            "model_retries": 0,
        }
        async with opened(database, user, **changed) as rag:
            report = await rag.ingest([tmp_path], on_progress=far.append)
            (kb,) = await rag.graphs()
            chunks = await rag.chunks()
            root, *_ = await chunks.structure(await only_document(rag))
            assert report.warnings == tuple(kb.warnings)
            assert report.warnings[0].startswith("The chat model did not describe everything. ")
            assert [one.note for one in far if one.filename == "descriptions"] == [
                report.warnings[0]
            ]
            assert root.summary in CONTRACT

            gone = False
            await rag.import_graph(
                [{"type": "chunk", "id": "c1", "text": "It holds for a year."}], "other"
            )
            [imported] = (
                await (await rag.chunks("other")).search(SearchRequest(query="year"))
            ).results
            assert imported.summary == "the model's word on 1"
            estimate = await chunks.estimate_describing()
            done = await chunks.describe()
            root, *_ = await chunks.structure(await only_document(rag))
    assert (done.passages, done.failed) == (estimate.passages, 0)
    assert root.summary.startswith("the model's word")
    assert estimate.sections > 0


class Loading(HashEmbedder):
    """Knows whether it was loaded."""

    loaded = False

    async def warm_up(self) -> None:
        self.loaded = True


async def test_warming_up_loads_the_model_and_a_missing_one_is_a_warning(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with AsyncExitStack() as stack:
        model = Loading(384)
        await Sextant(database, CachedEmbedder(model, 8), stack).warm_up()
        assert (model.loaded, caplog.messages) == (True, [])
        await Sextant(database, CachedEmbedder(BrokenEmbedder(384), 8), stack).warm_up()
    assert [message.partition(":")[0] for message in caplog.messages] == ["not warmed up"]


async def test_warming_up_reads_the_dictionaries_that_the_first_chinese_question_needs(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were read on the event loop, half a second under load, while every other question waited."""
    monkeypatch.delitem(sys.modules, "rjieba", raising=False)
    _characters.cache_clear()
    async with AsyncExitStack() as stack:
        await Sextant(database, CachedEmbedder(HashEmbedder(384), 8), stack).warm_up()
    assert "rjieba" in sys.modules
    assert _characters.cache_info().currsize == 1


async def test_warming_up_loads_a_local_reranker_and_a_missing_one_is_a_warning(
    database: Database, user: str, caplog: pytest.LogCaptureFixture
) -> None:
    reranker = "sentence-transformers:/no/such/model"
    async with opened(database, user, reranker=reranker) as rag:
        await rag.warm_up()
    assert "not warmed up: " in caplog.text
    assert "/no/such/model" in caplog.text


async def test_without_a_name_the_only_knowledge_base_is_asked_and_of_several_none(
    database: Database, user: str, tmp_path: Path
) -> None:
    file = tmp_path / "leave.txt"
    file.write_text("Leave is 25 days.", encoding="utf-8")
    async with opened(database, user) as own:
        assert await own.find_graph() == "default"
        await own.ingest([file], graph_id="demo")
        assert await own.find_graph() == "demo"
        assert await own.find_graph("hr") == "hr"
        await own.ingest([file], graph_id="hr")
        with pytest.raises(GraphNotFound, match="demo, hr"):
            await own.search("How many days of leave?", graph_id=await own.find_graph())
