"""A worker killed with SIGKILL at every stage: the next one leaves what an undisturbed one leaves."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from sextant.domain.documents import DocumentStatus, Job, JobStage
from sextant.domain.scope import Scope
from sextant.domain.settings import IngestionSettings, Settings, WorkerSettings
from sextant.facade import Sextant
from sextant.facade.worker import working
from sextant.models.embedding.cache import CachedEmbedder
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.registration import Upload
from sextant.stores.graph.community_store import CommunityStore
from sextant.stores.graph.postgres import PostgresGraph
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.killing import ROOT, kill_when_reached
from tests.integration.own_database import settings_over, short_folder
from tests.integration.stored_state import JobStore

WORKER = Path(__file__).with_name("dying_worker.py")
SAMPLES = ROOT / "samples" / "documents"
NAMES = ("rust-ownership.md", "release-notes.md")
PATIENCE = 120.0
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest_asyncio.fixture(scope="module")
async def rag() -> AsyncIterator[Sextant]:
    """Yield over a store of its own, since a worker takes whatever is queued; the dead are found out soon."""
    with short_folder() as folder:
        impatient = {
            "worker": WorkerSettings(sweep=0.3),
            "ingestion": IngestionSettings(job_heartbeat=0.5, job_stale=5, embed_batch=2),
        }
        settings = settings_over(folder).model_copy(update=impatient)
        async with Sextant.open(settings, embedder=CachedEmbedder(HashEmbedder(384), 8)) as opened:
            yield opened


@pytest_asyncio.fixture(scope="module")
async def undisturbed(rag: Sextant) -> list[str]:
    """Return what is left of the documents when nobody is killed."""
    scope = await uploaded(rag)
    async with working(rag.worker(1)):
        await settled(rag, scope)
    return await contents(rag, scope)


async def uploaded(rag: Sextant) -> Scope:
    """Return the sample documents, waiting for a worker, in a knowledge base of somebody new."""
    scope = Scope(f"user-{uuid4()}")
    uploads = [Upload(name, name, "text/plain", (SAMPLES / name).read_bytes()) for name in NAMES]
    await rag.as_user(scope.user_id).library().add(uploads, scope.graph_id)
    return scope


async def settled(rag: Sextant, scope: Scope) -> list[Job]:
    """Return the jobs, as soon as they are over and what follows from the graph is up to date."""
    communities = CommunityStore(rag.database)
    async with asyncio.timeout(PATIENCE):
        while True:
            jobs = await JobStore(rag.database).list(scope)
            over = all(job.stage in {JobStage.DONE, JobStage.FAILED} for job in jobs)
            if over and await PostgresGraph(rag.database).communities(scope):
                left = await communities.dirty(scope), await communities.to_embed(scope)
                if left == ([], []):
                    return jobs
            await asyncio.sleep(0.1)


async def contents(rag: Sextant, scope: Scope) -> list[str]:
    """Return documents, chunks, entities, relations and communities, without what no two runs share: ids."""
    lines: list[dict[str, Any]] = []
    async for line in rag.as_user(scope.user_id).export_graph(scope.graph_id):
        lines.append(line)  # noqa: PERF401 - it is typed so
    known = {str(line["id"]): _named(line) for line in lines if "id" in line}

    def told(line: dict[str, Any]) -> str:
        written = json.dumps(line, default=str, sort_keys=True, ensure_ascii=False)
        return _ID.sub(lambda found: known.get(found[0], "?"), written)

    graph = PostgresGraph(rag.database)
    found = await graph.communities(scope)
    members = {one for community in found for one in community.entity_ids}
    named = {one.id: one.name for one in await graph.get_entities(scope, list(members))}
    # Of a report's words, those of names told equally often come in the order of their ids.
    communities = [
        f"community {one.level} {sorted(named[member] for member in one.entity_ids)} "
        f"{len(one.findings)} {bool(one.title and one.summary)}"
        for one in found
    ]
    return sorted(map(told, lines)) + sorted(communities)


def _named(line: dict[str, Any]) -> str:
    if line["type"] == "chunk":
        return f"{line['documentId']}@{line['start']}"
    return str(line.get("name") or line["id"])


@pytest.mark.parametrize(
    ("stage", "far"),
    [
        ("parse", 0),
        ("embed", 0),
        ("embed", 4),
        ("publish", 1),
        ("graph", 1),
        ("entities", 1),
        ("communities", 0),
        ("reports", 1),
    ],
)
async def test_another_worker_takes_over_and_leaves_what_an_undisturbed_one_leaves(
    stage: str, far: int, rag: Sextant, undisturbed: list[str]
) -> None:
    scope = await uploaded(rag)
    await kill_when_reached(WORKER, rag.settings.data_dir, stage, far)
    async with working(rag.worker(1)):
        jobs = await settled(rag, scope)

    assert {job.stage for job in jobs} == {JobStage.DONE}
    assert sum(job.attempts - 1 for job in jobs) <= len(jobs)
    documents = await DocumentStore(rag.database).list(scope)
    assert [one.status for one in documents] == [DocumentStatus.READY] * len(NAMES)
    count = sum(one.chunk_count for one in documents)
    assert await ChunkStore(rag.database).count(scope) == count
    assert await contents(rag, scope) == undisturbed


def test_by_default_what_a_dead_worker_has_is_taken_over_within_half_a_minute() -> None:
    """Found dead after `job_stale`, offered at the next sweep, seen by a poll each second."""
    settings = Settings(_env_file=None)
    assert settings.ingestion.job_stale + settings.worker.sweep + 1 <= 30
