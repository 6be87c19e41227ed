"""Scans through ingestion, read by the models of the extra `ocr`, and what is stored of them."""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from sextant.domain.documents import JobStage, Modality
from sextant.domain.errors import FileEmpty
from sextant.domain.scope import Scope
from sextant.ingestion.parsing import hosts as parser_hosts
from sextant.ingestion.parsing.draft import DocumentDraft
from sextant.ingestion.parsing.host import HostRequest
from sextant.ingestion.parsing.hosts import ParserHosts
from sextant.ingestion.parsing.ocr_engine import load
from sextant.ingestion.parsing.recognised import OcrPage
from sextant.ingestion.pictures import OcrReader, open_reader
from sextant.ingestion.pipeline import Ingestor
from sextant.ingestion.progress import Progress, silent
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore, OcrPageStore
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.chunk_hits import keyword_hits
from tests.integration.ingestion.uploading import ingest_bytes
from tests.pdf_writer import PdfPicture, PdfText, write_pdf
from tests.scanned import as_pdf, as_tiff, sheet

pytest.importorskip("rapidocr", reason="the extra `ocr` is not installed")

ENGINE = f"rapidocr {metadata.version('rapidocr')}"
HOURS = [
    "The gate of the yard opens at six in the morning and",
    "closes at ten in the evening, when the last van has",
    "left for the north.",
]
VISITORS = ["Visitors sign the book at the desk before they enter."]


class NoHosts(ParserHosts):
    """Reads nothing."""

    async def ask(self, content: bytes, request: HostRequest) -> bytes:
        raise AssertionError("The page was read before.")


@pytest.fixture
async def ingestor(database: Database) -> AsyncIterator[Ingestor]:
    hosts = ParserHosts()
    reader = open_reader(database)
    assert reader is not None
    yield ingestor_of(database, reader, hosts)
    hosts.close()


def ingestor_of(database: Database, reader: OcrReader, hosts: ParserHosts) -> Ingestor:
    documents, jobs, settings = DocumentStore(database), JobStore(database), database.settings
    return Ingestor(documents, jobs, HashEmbedder(384), settings, hosts=hosts, reader=reader)


async def texts_of(database: Database, scope: Scope, *words: str) -> list[str]:
    """Return the passages with these words, each as it was read by OCR."""
    hits = await keyword_hits(ChunkStore(database), scope, list(words), 5)
    assert {hit.chunk.modality for hit in hits} <= {Modality.SCAN}
    return [hit.chunk.text for hit in hits]


async def test_a_scan_that_lies_askew_is_read_page_by_page(
    database: Database, scope: Scope, ingestor: Ingestor
) -> None:
    scan = as_pdf([sheet(HOURS, turn=1.5), sheet(VISITORS, turn=180)])
    progress = list[Progress]()
    found = await ingest_bytes(ingestor, scope, scan, "scan.pdf", on_progress=progress.append)
    assert not found.warnings
    told = [(one.done, one.total) for one in progress if one.stage is JobStage.OCR]
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert found.document_id is not None
    assert await texts_of(database, scope, "gate", "badge", "visitors") == [
        f"{' '.join(HOURS)}\n\n{VISITORS[0]}"
    ]
    stored = await DocumentStore(database).get(scope, found.document_id)
    assert stored.metadata["ocr"]["pages"] == 2
    assert stored.metadata["ocr"]["confidence"] > 0.9


async def test_a_fax_is_read(database: Database, scope: Scope, ingestor: Ingestor) -> None:
    await ingest_bytes(ingestor, scope, as_tiff([sheet(VISITORS)]), "fax.tif")
    assert await texts_of(database, scope, "visitors") == VISITORS


async def test_a_resumed_job_reads_no_page_twice(
    database: Database, scope: Scope, ingestor: Ingestor
) -> None:
    scan = as_pdf([sheet(VISITORS)])
    found = await ingest_bytes(ingestor, scope, scan, "scan.pdf")
    assert found.document_id is not None
    pages = OcrPageStore(database, ENGINE)
    reader = OcrReader(pages, database.settings, NoHosts())
    made = DocumentDraft("", "", "en", (), (), unread_pages=(1,))
    again = await reader.read(scope, found.document_id, scan, made, silent, again=True)
    assert not again.warnings
    assert OcrPage.from_json(again.pages["1"]).lines[0].text == VISITORS[0]
    stranger = Scope(f"{scope.user_id}-other", scope.graph_id)
    [sha256] = {hashlib.sha256(scan).hexdigest()}
    assert not await pages.known(stranger, found.document_id, [sha256])
    # A changed file leaves nothing behind of the old one.
    assert not await pages.known(scope, found.document_id, ["0" * 64])
    assert not await pages.known(scope, found.document_id, [sha256])


@pytest.fixture
def damaged_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put a package in front of the installed one, whose models are no models."""
    package = tmp_path / "rapidocr"
    installed = Path(importlib.import_module("rapidocr").__path__[0])
    shutil.copytree(installed, package, ignore=shutil.ignore_patterns("*.onnx", "__pycache__"))
    for model in (installed / "models").glob("*.onnx"):
        (package / "models" / model.name).write_bytes(b"no model")
    environment = parser_hosts._ENVIRONMENT
    path = f"{tmp_path}{os.pathsep}{environment['PYTHONPATH']}"
    monkeypatch.setitem(environment, "PYTHONPATH", path)


@pytest.mark.usefixtures("damaged_models")
async def test_damaged_models_refuse_a_scan_and_name_the_extra(
    scope: Scope, ingestor: Ingestor
) -> None:
    with pytest.raises(FileEmpty) as caught:
        await ingest_bytes(ingestor, scope, as_pdf([sheet(VISITORS)]), "scan.pdf")
    assert "extra `ocr`" in caught.value.message
    assert "rapidocr" in caught.value.next_step


@pytest.mark.usefixtures("damaged_models")
async def test_damaged_models_leave_the_pages_with_text(scope: Scope, ingestor: Ingestor) -> None:
    content = write_pdf([[PdfText(60, 700, "The written page.")], [PdfPicture(0, 0, 800)]])
    found = await ingest_bytes(ingestor, scope, content, "mixed.pdf")
    assert found.chunks == 1
    [warning] = found.warnings
    assert "OCR could not read 1 page (2)" in str(warning)
    assert "extra `ocr`" in str(warning)


async def test_a_page_past_its_memory_is_left_out(database: Database, scope: Scope) -> None:
    """The limit is set on what is left of a process that has the models loaded."""
    reader = open_reader(database)
    assert reader is not None
    reader._limits = replace(reader._limits, memory_bytes=20_000_000)
    hosts = ParserHosts()
    content = write_pdf([[PdfText(60, 700, "The written page.")], [PdfPicture(0, 0, 800)]])
    found = await ingest_bytes(ingestor_of(database, reader, hosts), scope, content, "mixed.pdf")
    hosts.close()
    [warning] = found.warnings
    assert "OCR could not read 1 page (2)" in str(warning)


@pytest.mark.parametrize("size", [(1, 1), (3, 400), (400, 3), (60, 2000)])
def test_tiny_and_narrow_pictures_are_no_larger_to_the_models_than_pages(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, seen = load(), list[tuple[int, int]]()
    detect = engine._ocr.text_det

    def watch(pixels: NDArray[np.uint8]) -> object:
        seen.append((pixels.shape[0], pixels.shape[1]))
        return detect(pixels)

    monkeypatch.setattr(engine._ocr, "text_det", watch)
    page = engine.read(Image.new("RGB", size, "white"))

    assert (page.width, page.height, page.lines) == (*size, ())
    [(height, width)] = seen
    assert min(height, width) >= 64
    assert height <= 4 * width


def test_a_narrow_picture_is_read() -> None:
    strip = Image.new("L", (900, 60), 250)
    font = ImageFont.load_default(size=40)
    ImageDraw.Draw(strip).text((10, 5), "Conveyor belt 17", fill=20, font=font)

    page = load().read(strip.rotate(90, expand=True))

    [line] = page.lines
    assert line.text == "Conveyor belt 17"
    assert line.box[2] <= page.width == 60
