"""Files of the caller's machine as parts of a question: the facade and the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from sextant.domain.errors import OptionInvalid, SextantError
from sextant.domain.settings import MultimodalSettings, Settings
from sextant.facade import Sextant
from sextant.models.embedding.cache import CachedEmbedder
from sextant.nodes.multimodal.parts import read_attachments
from sextant.retrievers.graph_retriever import GraphRetriever
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply
from tests.pictures import picture


def eyes(request: ApiRequest) -> Reply | str:
    return "A red field." if request.images else "no"


async def test_a_python_caller_may_ask_about_files_of_their_own(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    path = tmp_path / "xray.png"
    path.write_bytes(picture())
    part = {"type": "image", "img_path": str(path)}
    table = {"type": "table", "table_data": "name,size\na,3\nb,5", "table_caption": "Sizes"}
    async with (
        ScriptedOpenAI(eyes) as endpoint,
        Sextant.open(
            settings.model_copy(
                update={"vision_model": "eyes", "openai_base_url": endpoint.base_url}
            ),
            embedder=CachedEmbedder(HashEmbedder(384), 0),
        ) as rag,
    ):
        answer = await rag.aquery_with_multimodal(
            "Which name has the largest size?", multimodal_content=[part, table], mode="bypass"
        )
        assert "the largest size is 5 (b)[T1:r2c2]" in answer.answer
        assert len(endpoint.chat_requests[0].images) == 1
        with pytest.raises(OptionInvalid) as caught:
            await rag.query("Which?", mode="bypass", multimodal_content=[part])
        assert caught.value.field == "multimodal_content[0].img_path"


async def test_the_retriever_answers_about_an_image_and_a_table_together_with_the_documents(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    path = tmp_path / "xray.png"
    path.write_bytes(picture())
    (tmp_path / "signs.md").write_text("# Signs\n\nA red field means that the valve is shut.\n")
    content = [
        {"type": "image", "img_path": str(path)},
        {"type": "table", "table_data": "valve,pressure\nV1,3\nV2,5"},
    ]
    async with (
        ScriptedOpenAI(eyes) as endpoint,
        Sextant.open(
            settings.model_copy(
                update={"vision_model": "eyes", "openai_base_url": endpoint.base_url}
            ),
            embedder=CachedEmbedder(HashEmbedder(384), 0),
        ) as rag,
    ):
        graph = f"signs {uuid4()}"
        await rag.ingest([tmp_path / "signs.md"], graph)
        retriever = (await rag.dependencies()).retriever
        about_the_image = await retriever.aquery_with_multimodal(
            query="What does this image mean?",
            multimodal_content=content,
            mode="hybrid",
            graph_id=graph,
        )
        assert "signs.md" in {source.filename for source in about_the_image.sources}
        bound = retriever.bind(graph_id=graph, rerank=False)
        about_the_table = await bound.aquery_with_multimodal(
            "Which valve has the largest pressure?", content, mode="hybrid"
        )
        assert "the largest pressure is 5 (V2)[T1:r2c2]" in about_the_table.answer
        with pytest.raises(SextantError) as caught:
            await bound.aquery_with_multimodal(
                "Which?", [{"type": "image", "img_path": "gone.png"}]
            )
        assert caught.value.field == "multimodal_content[0].img_path"


async def test_a_retriever_of_ones_own_says_that_it_only_searches(database: Database) -> None:
    retriever = GraphRetriever(chunks=ChunkStore(database), embedder=HashEmbedder(384))
    with pytest.raises(OptionInvalid, match="answers nothing"):
        await retriever.aquery_with_multimodal("Which?", [])


async def test_a_file_that_is_no_image_is_named_as_the_caller_named_it(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "a.png").write_text("no image")
    part = {"type": "image", "img_path": str(tmp_path / "a.png")}
    async with Sextant.open(settings, embedder=CachedEmbedder(HashEmbedder(384), 0)) as rag:
        with pytest.raises(SextantError) as caught:
            await rag.aquery_with_multimodal("Was?", [part], mode="bypass")
    assert caught.value.field == "multimodal_content[0].img_path"


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (["a table"], "multimodal_content[0]"),
        ({"type": "table", "table_data": "a"}, "multimodal_content"),
        ("a table", "multimodal_content"),
    ],
)
async def test_what_is_no_list_of_parts_is_named(
    database: Database, settings: Settings, content: Any, field: str
) -> None:
    async with Sextant.open(settings, embedder=CachedEmbedder(HashEmbedder(384), 0)) as rag:
        for asked in (rag.aquery_with_multimodal, rag.query):
            with pytest.raises(OptionInvalid) as caught:
                await asked("Was?", multimodal_content=content, mode="bypass")
            assert caught.value.field == field


async def test_with_a_folder_for_images_paths_count_within_it(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "a.png").write_bytes(picture())
    (tmp_path / "outside.png").write_bytes(picture())
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    confined = settings.model_copy(update={"multimodal": MultimodalSettings(image_dir=folder)})
    async with Sextant.open(confined, embedder=CachedEmbedder(HashEmbedder(384), 0)) as rag:
        for path in ("a.png", str(folder / "a.png")):
            part = {"type": "image", "img_path": path}
            answer = await rag.aquery_with_multimodal("Was?", [part], mode="bypass")
            assert any("SEXTANT_VISION_MODEL" in warning for warning in answer.warnings)
        for path in ("link.png", "../outside.png", str(tmp_path / "outside.png")):
            part = {"type": "image", "img_path": path}
            with pytest.raises(SextantError, match="no such image") as caught:
                await rag.aquery_with_multimodal("Was?", [part], mode="bypass")
            assert caught.value.field == "multimodal_content[0].img_path"


def test_files_of_the_command_line_become_parts(tmp_path: Path) -> None:
    table = tmp_path / "销量.csv"
    table.write_bytes("产品,销量\n苹果,3\n".encode("gb18030"))
    picture = tmp_path / "a.png"
    picture.write_bytes(b"bytes")
    image, sales = read_attachments([picture], [table], Settings(_env_file=None))
    assert image["data"] == "data:application/octet-stream;base64,Ynl0ZXM="
    assert sales == {"type": "table", "table_data": "产品,销量\n苹果,3\n", "table_caption": "销量"}
    with pytest.raises(OptionInvalid, match="cannot be read"):
        read_attachments([tmp_path / "missing.png"], [], Settings(_env_file=None))


async def test_a_vision_model_that_is_given_describes_images_of_documents(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "sign.png").write_bytes(picture())
    seeing = FakeListChatModel(responses=["A red field with a valve."])
    async with Sextant.open(
        settings,
        embedder=CachedEmbedder(HashEmbedder(384), 0),
        chat={"vision": seeing},
    ) as rag:
        graph = f"signs {uuid4()}"
        await rag.ingest([tmp_path / "sign.png"], graph)
        answer = await rag.query("What is on the red field?", graph_id=graph)
    assert "A red field with a valve." in answer.answer
