"""Images in documents, described by a vision model on the loopback and found by what it says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path

import docx
import pytest
from PIL import Image

from sextant.domain.documents import Modality
from sextant.domain.errors import FileEmpty
from sextant.domain.scope import Scope
from sextant.ingestion.parsing.draft import DocumentDraft
from sextant.ingestion.parsing.hosts import ParserHosts
from sextant.ingestion.parsing.images import FoundImage
from sextant.ingestion.pictures import Captioner
from sextant.ingestion.pipeline import Ingestor
from sextant.models.chat.roles import ChatModels
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_reader import CaptionStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import ApiRequest, Script, ScriptedOpenAI
from sextant.testing.replies import Reply, failing
from tests.integration.chunk_hits import keyword_hits
from tests.pictures import picture

SEEN = "柱状图：华北 40，华南 60。"


@asynccontextmanager
async def seeing(
    database: Database, script: Script
) -> AsyncIterator[tuple[Ingestor, Captioner, ScriptedOpenAI]]:
    """Provide an ingestor whose vision model answers from a script."""
    async with ScriptedOpenAI(script) as endpoint:
        settings = database.settings.model_copy(
            update={
                "vision_model": "eyes",
                "openai_base_url": endpoint.base_url,
                "model_retries": 0,
                "model_concurrency": 1,
            }
        )
        models = ChatModels(settings)
        vision = await models.vision()
        assert vision is not None
        captioner = Captioner(vision, CaptionStore(database), settings)
        documents, jobs, hosts = DocumentStore(database), JobStore(database), ParserHosts()
        embedder = HashEmbedder(384)
        yield (
            Ingestor(documents, jobs, embedder, settings, hosts=hosts, captioner=captioner),
            captioner,
            endpoint,
        )
        hosts.close()
        await models.close()


def report(path: Path, *colors: str) -> Path:
    document = docx.Document()
    document.add_heading("销售报告", 1)
    document.add_paragraph("本章给出各地区的销售情况。")
    for color in colors:
        document.add_picture(BytesIO(picture(color)))
    document.save(str(path))
    return path


def by_color(request: ApiRequest) -> Reply | str:
    [jpeg] = request.images
    red, _, blue = Image.open(BytesIO(jpeg)).convert("RGB").getpixel((5, 5))  # type: ignore[misc]
    return SEEN if red > 200 else "蓝色的地图。" if blue > 200 else failing(500)


async def test_images_are_found_by_their_captions_whose_offsets_hold(
    database: Database, scope: Scope, tmp_path: Path
) -> None:
    file = report(tmp_path / "报告.docx", "red", "blue")
    async with seeing(database, by_color) as (ingestor, _, endpoint):
        [result] = await ingestor.ingest(scope, [file])
    assert result.error is None
    assert len(endpoint.chat_requests) == 2
    assert "销售报告" in endpoint.chat_requests[0].prompt
    [hit, *_] = await keyword_hits(ChunkStore(database), scope, ["柱状图"], 5)
    chunk = hit.chunk
    assert (chunk.text, chunk.modality) == (SEEN, Modality.IMAGE)
    assert chunk.section_path == ("销售报告",)
    documents = DocumentStore(database)
    assert await documents.text(scope, chunk.document_id, chunk.start, chunk.end) == SEEN


async def test_an_image_is_shown_to_the_model_once_in_a_knowledge_base(
    database: Database, scope: Scope, tmp_path: Path
) -> None:
    async with seeing(database, by_color) as (ingestor, _, endpoint):
        await ingestor.ingest(scope, [report(tmp_path / "a.docx", "red")])
        await ingestor.ingest(scope, [report(tmp_path / "b.docx", "red", "blue")])
        assert len(endpoint.chat_requests) == 2
        other = Scope(f"{scope.user_id}-other", scope.graph_id)
        await ingestor.ingest(other, [tmp_path / "a.docx"])
        assert len(endpoint.chat_requests) == 3, "what one user's image shows is none of another's"


async def test_an_image_that_cannot_be_described_costs_a_warning_and_no_document(
    database: Database, scope: Scope, tmp_path: Path
) -> None:
    async with seeing(database, by_color) as (ingestor, _, _):
        [result] = await ingestor.ingest(scope, [report(tmp_path / "a.docx", "black", "red")])
    assert result.error is None
    assert any("1 of 2 images were not described" in str(warning) for warning in result.warnings)
    assert await keyword_hits(ChunkStore(database), scope, ["柱状图"], 5)


async def test_an_image_file_that_nobody_can_describe_is_refused_with_the_reason(
    database: Database, scope: Scope, tmp_path: Path
) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(picture("black"))
    async with seeing(database, by_color) as (ingestor, _, _):
        [result] = await ingestor.ingest(scope, [path])
        assert isinstance(result.error, FileEmpty)
        path.write_bytes(picture("red"))
        [result] = await ingestor.ingest(scope, [path])
        assert (result.error, result.chunks) == (None, 1)


@pytest.mark.parametrize("again", [False, True])
async def test_a_job_that_is_taken_up_again_keeps_to_what_was_said_before(
    database: Database, scope: Scope, again: bool
) -> None:
    images = (FoundImage("a" * 64, picture("red"), ""), FoundImage("b" * 64, b"x", ""))
    made = DocumentDraft("t", "", "en", (), (), images=images)
    documents = DocumentStore(database)
    await documents.register(
        scope, source="s", filename="s", media_type="text/plain", content=b"makes the graph"
    )
    async with seeing(database, ["Red.", failing(500), "Seen later."]) as (_, captioner, endpoint):
        first = await captioner.describe(scope, made)
        assert dict(first.texts) == {"a" * 64: "Red."}
        second = await captioner.describe(scope, made, again=again)
        assert (second.texts.get("b" * 64), len(endpoint.requests)) == (
            (None, 2) if again else ("Seen later.", 3)
        )
