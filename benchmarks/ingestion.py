"""Measure how fast files become searchable, without embedding, and the memory that takes.

    python -m benchmarks.ingestion

Limits: 300-page PDF searchable ≤ 30 s, its first chunk ≤ 5 s; peak memory of the ingesting
process ≤ 1.5 GB for a 1,000-page PDF, and flat in the number of documents.
Runs in a database of its own in a temporary folder. The embedder is the time-free `Instant`.
"""

from __future__ import annotations

import asyncio
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.figures import record
from sextant.domain.documents import JobStage
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.ingestion.parsing.hosts import parse_file
from sextant.ingestion.pipeline import Ingestor
from sextant.ingestion.progress import Progress
from sextant.models.protocols import Vectors
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.registration import Upload
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from tests.pdf_writer import Drawn, OutlineItem, PdfText, write_pdf

WORDS = "糖尿病是一组由胰岛素分泌缺陷和胰岛素作用障碍引起的代谢性疾病长期高血糖可造成多个器官的损害"
SAMPLES = Path(__file__).parents[1] / "samples" / "documents"
MANY = 40


class Instant:
    """Random vectors, made once: what is measured is everything but the model."""

    name = "benchmark:instant"
    dimension = 384

    def __init__(self) -> None:
        vectors = np.random.default_rng(1).normal(size=(512, self.dimension))
        self._vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(
            np.float32
        )

    async def warm_up(self) -> None:
        """Nothing to load."""

    async def embed_query(self, text: str) -> Vectors:
        """Return any vector."""
        return np.asarray(self._vectors[len(text) % 512], np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the first so many vectors."""
        return np.asarray(self._vectors[: len(texts)], np.float32)


def book(pages: int) -> bytes:
    """Return a PDF of text with running heads, an outline entry on every page, 34 lines a page."""
    dice = random.Random(pages)  # noqa: S311 - reproducible text
    drawn: list[list[Drawn]] = []
    for number in range(pages):
        lines = ["".join(dice.choices(WORDS, k=40)) for _ in range(34)]
        body = [PdfText(70, 745 - 20 * row, line) for row, line in enumerate(lines)]
        head = [PdfText(70, 815, "Handbook", 8), PdfText(280, 30, str(number + 1), 8)]
        drawn.append(
            [*head, PdfText(70, 780, f"{number + 1} Section of page {number + 1}", 16), *body]
        )
    outline = [
        OutlineItem(f"{number + 1} Section of page {number + 1}", number) for number in range(pages)
    ]
    return write_pdf(drawn, outline=outline)


def peak_mb(who: int = resource.RUSAGE_SELF) -> float:
    """Return highest resident memory so far, in MB."""
    return resource.getrusage(who).ru_maxrss / 1024


def resident_mb() -> float:
    """Return resident memory now, in MB."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096 / 1e6


async def measure_parsing(settings: Settings) -> None:
    """Measure samples of every format: the fresh process, its imports and the parsing."""
    from uuid import uuid4

    for file in sorted(SAMPLES.iterdir()):
        content = file.read_bytes()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        parsed = await parse_file(content, file.name, document_id=uuid4(), settings=settings)
        wall = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        record(f"parse {file.name} ({len(parsed.chunks)} chunks)", cpu, f"CPU-s, {wall:.2f} s")


async def measure_book(ingestor: Ingestor, pages: int) -> None:
    """One PDF, to its first chunk and to its last."""
    content = book(pages)
    started = time.perf_counter()
    first: list[float] = []

    def watch(progress: Progress) -> None:
        if progress.stage is JobStage.EMBED and progress.done and not first:
            first.append(time.perf_counter() - started)

    upload = Upload("book.pdf", "book.pdf", "application/pdf", content)
    result = await ingestor.ingest_upload(Scope("bench", f"book-{pages}"), upload, watch)
    total = time.perf_counter() - started
    limits = (5, 30) if pages == 300 else (None, None)
    print(f"a PDF of {pages} pages has {result.chunks} chunks")
    record(f"PDF of {pages} pages: first chunk searchable", first[0], "s", most=limits[0])
    record(f"PDF of {pages} pages: all searchable", total, "s", most=limits[1])


async def measure_many(ingestor: Ingestor, folder: Path) -> None:
    """Memory after few and after many documents."""
    content = book(20)
    resident = []
    for number in range(MANY):
        file = folder / f"book-{number}.pdf"
        file.write_bytes(content + b"\n%" + str(number).encode())
        await ingestor.ingest(Scope("bench", "many"), [file])
        resident.append(resident_mb())
    record(f"resident after {MANY // 4} documents", resident[MANY // 4 - 1], "MB")
    record(f"resident after {MANY} documents", resident[-1], "MB")


async def main() -> None:
    """Run everything."""
    folder = Path(tempfile.mkdtemp(prefix="sxt-bench-"))
    settings = Settings(_env_file=None, data_dir=folder / "data", database_url=None)
    try:
        await measure_parsing(settings)
        async with await Database.open(settings) as database:
            ingestor = Ingestor(DocumentStore(database), JobStore(database), Instant(), settings)
            for pages in (300, 1000):
                await measure_book(ingestor, pages)
                record(f"peak memory after {pages} pages", peak_mb(), "MB", most=1500)
                record(
                    f"peak memory of the parser after {pages} pages",
                    peak_mb(resource.RUSAGE_CHILDREN),
                    "MB",
                    most=1000,
                )
            await measure_many(ingestor, folder)
            stored = await ChunkStore(database).count(Scope("bench", "many"))
            record("chunks stored of the many", stored, "")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    asyncio.run(main())
