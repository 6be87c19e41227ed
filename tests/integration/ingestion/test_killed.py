"""A worker killed with SIGKILL at every stage: what is left, and what the next one makes of it."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from sextant.domain.documents import DocumentStatus
from sextant.domain.scope import Scope
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.chunk_hits import vector_hits
from tests.integration.killing import kill_when_reached
from tests.integration.stored_state import JobStore

WORKER = Path(__file__).with_name("killed_worker.py")
TEXT = "# Report\n\n" + "\n\n".join(
    f"## Part {n}\n\nPart {n} is about topic {n}." for n in range(7)
)


async def contents(database: Database, scope: Scope) -> list[tuple[object, ...]]:
    """Return what search can see of the one document, without ids."""
    probe = await HashEmbedder(384).embed_query("part")
    found = await vector_hits(ChunkStore(database), scope, probe, 50)
    chunks: list[StoredChunk] = [hit.chunk for hit in found]
    return sorted((c.ordinal, c.text, c.section_path, c.start, c.end) for c in chunks)


@pytest.mark.parametrize(
    ("stage", "done", "kept"),
    [
        ("parse", 0, {0}),
        ("embed", 0, {0}),
        ("embed", 4, {4, 6}),
        ("publish", 7, {7}),
    ],
)
async def test_an_ingestion_killed_in_the_middle_is_finished_by_the_next_worker(  # noqa: PLR0917 - fixtures
    stage: str,
    done: int,
    kept: set[int],
    impatient: Database,
    data_dir: Path,
    tmp_path: Path,
) -> None:
    """What was told as done is there, whatever the moment.

    Batches of two are stored two side by side (`JobRunner._embed`): when four chunks are told as done,
    the next two are on their way in a transaction of their own. Killed then, the worker leaves them
    whole or not at all, as its COMMIT had been sent or not. Nothing is on its way at the other stages.
    """
    scope, untouched = Scope(f"user-{uuid4()}"), Scope(f"user-{uuid4()}")
    (tmp_path / "report.md").write_text(TEXT)
    documents, jobs = DocumentStore(impatient), JobStore(impatient)
    next_worker = Ingestor(documents, jobs, HashEmbedder(384), impatient.settings)
    await next_worker.ingest(untouched, [tmp_path])

    await kill_when_reached(WORKER, data_dir, scope.user_id, tmp_path, stage, done)
    stored = await ChunkStore(impatient).count(scope)
    [result] = await next_worker.ingest(scope, [tmp_path])

    assert stored in kept
    assert result.error is None
    assert await contents(impatient, scope) == await contents(impatient, untouched)
    [document] = await documents.list(scope)
    assert (document.status, document.chunk_count) == (DocumentStatus.READY, 7)
    [job] = await jobs.list(scope)
    assert job.attempts == 2


async def test_a_killed_replacement_leaves_the_old_version_searchable(
    impatient: Database, data_dir: Path, tmp_path: Path
) -> None:
    scope = Scope(f"user-{uuid4()}")
    file = tmp_path / "report.md"
    documents, jobs = DocumentStore(impatient), JobStore(impatient)
    next_worker = Ingestor(documents, jobs, HashEmbedder(384), impatient.settings)
    file.write_text(TEXT)
    await next_worker.ingest(scope, [tmp_path])
    before = await contents(impatient, scope)

    file.write_text(TEXT.replace("topic", "subject"))
    await kill_when_reached(WORKER, data_dir, scope.user_id, tmp_path, "embed", 4)
    meanwhile = await contents(impatient, scope)
    [resumed] = await next_worker.ingest(scope, [tmp_path])

    assert meanwhile == before
    assert resumed.error is None
    assert all("subject" in str(row[1]) for row in await contents(impatient, scope))
