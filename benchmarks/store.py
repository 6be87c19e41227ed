"""Measure the cost of storing chunks: `python -m benchmarks.store [CHUNKS] [SEED]`.

Limit: insert ≥ 5,000 rows/s without embedding. Texts and vectors are those of one tenant of `benchmarks.hybrid.corpus`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from benchmarks.hybrid.corpus import Library, make_library
from benchmarks.quality.sets import numbers
from sextant.domain.documents import Chunk, ParsedDocument, Section
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database

BATCH = 500


@dataclass
class Meter:
    """CPU seconds of this process and of its one connection's backend (10 ms steps: sum over many)."""

    backend: int

    def read(self) -> tuple[float, float]:
        """Return client and server CPU seconds so far."""
        fields = Path(f"/proc/{self.backend}/stat").read_text().rpartition(")")[2].split()
        return time.process_time(), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def backend_of(database: Database, scope: Scope) -> int:
    """Return the process of the pool's connection."""
    (backend,) = await backends_of(database, scope, 1)
    return backend


async def backends_of(database: Database, scope: Scope, number: int) -> list[int]:
    """Return the processes of that many of the pool's connections."""
    async with contextlib.AsyncExitStack() as stack:
        taken = [
            await stack.enter_async_context(database.transaction(scope.user_id))
            for _ in range(number)
        ]
        return [connection.info.backend_pid for connection in taken]


async def store(
    database: Database, scope: Scope, library: Library, *, batches_at_once: int = 1
) -> None:
    """Store a library as one document; print what it cost until its last chunk was searchable."""
    documents = DocumentStore(database)
    opened = await documents.register(
        scope, source="b", filename="b", media_type="text/plain", content=uuid4().bytes
    )
    section = Section(uuid4(), None, "", 0, 0, 0, 1)
    await documents.begin(scope, opened.document_id, ParsedDocument("", "x", "en", (section,), ()))
    chunks = [
        Chunk(uuid4(), section.id, number, 0, len(text), text)
        for number, text in enumerate(library.texts)
    ]
    meters = [Meter(pid) for pid in await backends_of(database, scope, batches_at_once)]
    batches = iter([slice(first, first + BATCH) for first in range(0, len(chunks), BATCH)])

    async def feed() -> None:
        for batch in batches:
            part, vectors = chunks[batch], library.vectors[batch]
            await documents.add_chunks(scope, opened.document_id, part, vectors)

    started, client = time.perf_counter(), time.process_time()
    server = sum(meter.read()[1] for meter in meters)
    await asyncio.gather(*(feed() for _ in meters))
    seconds, client_then = time.perf_counter() - started, time.process_time()
    server_then = sum(meter.read()[1] for meter in meters)
    print(
        f"insert, {batches_at_once} batches at once: {len(chunks) / seconds:.0f} rows/s (limit 5000), CPU a row: "
        f"{1e6 * (client_then - client) / len(chunks):.0f} us client, "
        f"{1e6 * (server_then - server) / len(chunks):.0f} us server"
    )
    started = time.perf_counter()
    await documents.publish(scope, opened.document_id)
    print(f"published, and indexed if large, in {time.perf_counter() - started:.1f} s")


async def run(count: int, seed: int) -> None:
    """Store one batch at a time, then two as ingestion does, in a database of its own."""
    library = make_library(count, 0, seed, number_of_tenants=1)
    with tempfile.TemporaryDirectory(prefix="sxt-", ignore_cleanup_errors=True) as folder:
        for at_once in (1, 2):
            settings = Settings(
                _env_file=None, data_dir=Path(folder), database_url=None, database_pool=at_once
            )
            async with await Database.open(settings) as database:
                await store(database, Scope(f"by-{at_once}"), library, batches_at_once=at_once)


if __name__ == "__main__":
    asyncio.run(run(*numbers(__doc__, chunks=10_000, seed=2)))
