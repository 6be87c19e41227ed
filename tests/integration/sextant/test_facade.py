"""The facade over a real PostgreSQL: ingest, ask, search, list, delete, and change the model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio

from sextant import Sextant
from sextant.domain.answers import Done, Token
from sextant.domain.documents import DocumentStatus, JobStage
from sextant.domain.errors import (
    DatabaseUnavailable,
    DocumentNotFound,
    EmbeddingModelChanged,
    GraphNotFound,
    ModelUnavailable,
    OptionInvalid,
    QuestionInvalid,
    SettingsInvalid,
)
from sextant.domain.settings import Settings
from sextant.ingestion.progress import Progress
from sextant.testing.openai_server import ScriptedOpenAI
from tests.integration.own_database import settings_over, short_folder

TEXT = """# Leave

Every employee of Yanxi Robotics has fifteen days of annual leave.

# 付款

合同签订后支付百分之三十。
"""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


@pytest_asyncio.fixture(scope="module")
async def endpoint() -> AsyncIterator[ScriptedOpenAI]:
    async with ScriptedOpenAI() as server:
        yield server


@pytest.fixture(scope="module")
def settings(folder: Path, endpoint: ScriptedOpenAI) -> Settings:
    changes = {
        "embedding": "openai:first",
        "openai_base_url": endpoint.base_url,
        "model_retries": 0,
    }
    return settings_over(folder / "data").model_copy(update=changes)


@pytest_asyncio.fixture(scope="module")
async def rag(settings: Settings) -> AsyncIterator[Sextant]:
    async with Sextant.open(settings) as opened:
        yield opened


@pytest.fixture
def handbook(folder: Path) -> Path:
    file = folder / f"handbook-{uuid4()}.md"
    file.write_text(TEXT, encoding="utf-8")
    return file


async def test_a_document_is_ingested_asked_listed_and_deleted(
    rag: Sextant, handbook: Path
) -> None:
    seen: list[Progress] = []
    [stored] = await rag.ingest([handbook], graph_id="hr", on_progress=seen.append)
    assert stored.error is None
    assert stored.chunks == 2
    assert [seen[0].stage, seen[-1].stage] == [JobStage.PARSE, JobStage.DONE]

    answer = await rag.query("How many days of annual leave?", graph_id="hr", mode="naive")
    assert "fifteen days" in answer.answer
    assert answer.citations[0].quote in TEXT
    assert answer.sources[0].filename == handbook.name

    [document] = await rag.documents("hr")
    assert (document.id, document.status) == (stored.document_id, DocumentStatus.READY)
    assert ("hr", 1, 2) in [(one.graph_id, one.documents, one.chunks) for one in await rag.graphs()]

    await rag.delete_document(document.id, "hr")
    assert await rag.documents("hr") == []
    assert (await rag.search("annual leave", graph_id="hr")).results == ()
    for gone in (document.id, "no-such-id"):
        with pytest.raises(DocumentNotFound):
            await rag.delete_document(gone, "hr")


async def test_a_source_has_the_users_own_id_of_its_chunk(rag: Sextant) -> None:
    rule = "Keys of the depot are returned by Friday noon."
    lines = [
        {"type": "document", "id": "d-7", "title": "Depot"},
        {"type": "chunk", "id": "c-7", "documentId": "d-7", "text": rule},
    ]
    await rag.import_graph(lines, "own-ids")
    answer = await rag.query("When are the keys of the depot returned?", graph_id="own-ids")
    assert [source.external_id for source in answer.sources] == ["c-7"]


async def test_an_import_of_texts_alone_tells_how_large_a_graph_came_of_them(rag: Sextant) -> None:
    lines = [
        {"type": "document", "id": one, "text": f"{one}: Insulin Glargine is given at night."}
        for one in ("d1", "d2")
    ]
    report = await rag.import_graph(lines, "texts-alone")
    assert report.entities == 0
    assert report.graph is not None
    assert report.graph.entities >= 1


@pytest.mark.parametrize("mode", ["naive", "local", "global", "hybrid", "mix", "bypass", "auto"])
async def test_every_mode_answers_whatever_is_asked(
    rag: Sextant, handbook: Path, mode: str
) -> None:
    await rag.ingest([handbook], graph_id="modes")
    result = await rag.query("测试查询", graph_id="modes", mode=mode)
    assert result.answer
    assert result.mode == ("mix" if mode == "auto" else mode)
    asked = await rag.query("How many days of annual leave?", graph_id="modes", mode=mode)
    if mode != "bypass":
        assert "fifteen days" in asked.answer
        assert asked.citations
        assert all(citation.quote in TEXT for citation in asked.citations)


async def test_a_stream_ends_with_the_answer_that_it_spelled(rag: Sextant, handbook: Path) -> None:
    await rag.ingest([handbook], graph_id="streamed")
    events = [event async for event in rag.stream("合同签订后支付多少？", graph_id="streamed")]
    last = events[-1]
    assert isinstance(last, Done)
    assert "".join(event.text for event in events if isinstance(event, Token)) == last.answer.answer
    assert "百分之三十" in last.answer.answer


async def test_a_search_gives_ranked_items_with_times(rag: Sextant, handbook: Path) -> None:
    await rag.ingest([handbook], graph_id="searched")
    found = await rag.search("annual leave", graph_id="searched", limit=1)
    assert [item.metadata["filename"] for item in found.results] == [handbook.name]
    assert found.results[0].score > 0
    assert found.timings["total"] > 0


async def test_a_graph_is_deleted_with_its_documents(rag: Sextant, handbook: Path) -> None:
    await rag.ingest([handbook], graph_id="doomed")
    await rag.delete_graph("doomed")
    assert "doomed" not in [one.graph_id for one in await rag.graphs()]
    with pytest.raises(GraphNotFound):
        await rag.delete_graph("doomed")


async def test_what_is_ingested_is_found_though_it_was_asked_for_before_there_was_anything(
    rag: Sextant, handbook: Path
) -> None:
    """An index in memory that holds nothing, or nothing that fits, is of before as any other."""
    await rag.ingest([handbook], graph_id="again")
    for mode in ("mix", "local"):
        assert (await rag.search("handbook", graph_id="again", mode=mode)).results
    await rag.delete_graph("again")
    for mode in ("mix", "local"):
        with pytest.raises(GraphNotFound):
            await rag.search("handbook", graph_id="again", mode=mode)
    await rag.ingest([handbook], graph_id="again")
    for mode in ("mix", "local"):
        assert (await rag.search("handbook", graph_id="again", mode=mode)).results


async def test_a_search_for_no_results_is_refused_by_the_options_own_name(rag: Sextant) -> None:
    for limit in (0, 1_000_000):
        with pytest.raises(OptionInvalid, match=f"limit is {limit}; .* from 1 to 1000") as refused:
            await rag.search("annual leave", limit=limit)
        assert refused.value.field == "limit"


async def test_errors_of_a_run_are_raised_as_what_they_are(rag: Sextant) -> None:
    with pytest.raises(QuestionInvalid):
        await rag.query("  ")
    with pytest.raises(GraphNotFound, match="nowhere"):
        await rag.query("Where?", graph_id="nowhere")
    with pytest.raises(GraphNotFound, match="nowhere"):
        await rag.documents("nowhere")


async def test_single_settings_may_be_given_by_keyword(settings: Settings, handbook: Path) -> None:
    given = settings.model_dump(include={"data_dir", "embedding", "openai_base_url"})
    async with Sextant.open(**given, user_id="someone else") as rag:
        assert await rag.graphs() == []
    with pytest.raises(SettingsInvalid, match="datadir"):
        async with Sextant.open(datadir="elsewhere"):
            pass


async def test_a_closed_port_is_a_database_that_is_unavailable() -> None:
    with pytest.raises(DatabaseUnavailable):
        async with Sextant.open(database_url="postgresql://nobody@127.0.0.1:1/none"):
            pass


async def test_another_embedding_model_is_refused_until_everything_is_embedded_anew(
    rag: Sextant, settings: Settings, handbook: Path
) -> None:
    await rag.ingest([handbook], graph_id="changing")
    chunks = sum(graph.chunks for graph in await rag.graphs())
    async with Sextant.open(settings.model_copy(update={"embedding": "openai:second"})) as other:
        with pytest.raises(EmbeddingModelChanged, match="model is second") as caught:
            await other.query("How many days?", graph_id="changing")
        assert "sextant reembed" in caught.value.next_step
        with pytest.raises(EmbeddingModelChanged):
            await other.ingest([handbook], graph_id="changing")

        told: list[tuple[int, int]] = []
        assert await other.reembed(lambda done, total: told.append((done, total))) == chunks
        assert told[-1] == (chunks, chunks)
        assert "fifteen" in (await other.query("Annual leave?", graph_id="changing")).answer
    assert await rag.reembed() == chunks


async def test_without_its_embedding_model_a_search_goes_on_by_keywords(
    rag: Sextant, settings: Settings, handbook: Path
) -> None:
    await rag.ingest([handbook], graph_id="degraded")
    gone = settings.model_copy(update={"openai_base_url": "http://127.0.0.1:1/v1"})
    async with Sextant.open(gone) as other:
        found = await other.search("annual leave", graph_id="degraded")
        assert found.results
        assert found.warnings
        with pytest.raises(ModelUnavailable):
            await other.ingest([handbook], graph_id="degraded")


async def test_questions_to_begin_with_are_of_ones_own_documents_and_of_headings_that_are_spoken_of(
    settings: Settings, tmp_path: Path
) -> None:
    text = (
        "# Handbook\n\n## 1 Annual leave\n\nEvery employee has fifteen days of annual leave; leave that "
        "is not taken by March is lost.\n\n## 2 Other\n\nNothing that is spoken of here has to do with "
        "what stands above it in this place.\n\n## 3 Who pays?\n\nThe company pays for trips that the "
        "team lead has approved beforehand.\n"
    )
    (tmp_path / "handbook.md").write_text(text)
    (tmp_path / "prices.csv").write_text("article,price\nmotor,980\nbelt,310\n")
    graph = f"examples-{uuid4()}"
    async with Sextant.open(settings) as rag:
        await rag.ingest([tmp_path], graph)
        found = await rag.examples(graph)
        assert [one.question for one in found] == [
            "Who pays?",
            "What about “Annual leave”?",
            "What are the key points of “Handbook”?",
        ]
        assert {one.filename for one in found} == {"handbook.md"}
        with pytest.raises(GraphNotFound):
            await rag.as_user("somebody else").examples(graph)
        with pytest.raises(OptionInvalid):
            await rag.examples(graph, limit=0)


async def names_of(rag: Sextant, graph_id: str) -> dict[str, list[str]]:
    """Return the last folder and the name of each document's files, by the one that it is known by."""
    return {
        "/".join(Path(one.source).parts[-2:]): ["/".join(Path(c).parts[-2:]) for c in one.copies]
        for one in await rag.documents(graph_id)
    }


async def test_a_synchronised_folder_keeps_what_its_files_still_say(
    rag: Sextant, tmp_path: Path
) -> None:
    for name, hour in (("berlin/copy.md", 8), ("paris/rules.md", 9)):
        file = tmp_path / name
        file.parent.mkdir()
        file.write_text(f"The office in {file.parent.name} opens at {hour}.")
    elsewhere = tmp_path.parent / f"{tmp_path.name}-other.md"
    elsewhere.write_text("The canteen opens at noon.")
    await rag.ingest([tmp_path, elsewhere], graph_id="synced")
    (tmp_path / "berlin" / "rules.md").write_bytes((tmp_path / "berlin" / "copy.md").read_bytes())
    await rag.ingest(tmp_path, graph_id="synced")
    other = "/".join(elsewhere.parts[-2:])
    assert await names_of(rag, "synced") == {
        "berlin/copy.md": ["berlin/rules.md"],
        "paris/rules.md": [],
        other: [],
    }

    (tmp_path / "berlin" / "copy.md").rename(tmp_path / "paris" / "moved.md")
    (tmp_path / "paris" / "rules.md").unlink()
    elsewhere.unlink()
    kept = await rag.ingest(tmp_path, graph_id="synced")
    assert kept.removed == ()
    report = await rag.ingest(tmp_path, graph_id="synced", sync=True)

    assert {Path(one).name for one in report.removed} == {"copy.md", "rules.md"}
    assert await names_of(rag, "synced") == {"berlin/rules.md": ["paris/moved.md"], other: []}
    found = await rag.search("When does the office open?", graph_id="synced", mode="naive")
    assert not any("paris" in one.text for one in found.results)

    (tmp_path / "berlin" / "rules.md").unlink()
    (tmp_path / "paris" / "moved.md").unlink()
    emptied = await rag.ingest(tmp_path, graph_id="synced", sync=True)  # or not mounted
    assert emptied.removed == ()


async def test_settings_and_single_ones_are_not_given_together(settings: Settings) -> None:
    with pytest.raises(OptionInvalid) as refused:
        async with Sextant.open(settings, data_dir="elsewhere"):
            pass
    assert refused.value.field == "data_dir"
