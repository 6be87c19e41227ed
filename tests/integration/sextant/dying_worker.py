"""Run as a process by test_killed_worker.py: a worker that says when a stage is reached, and stops there.

Arguments: data folder, stage of a document or of the refresh of a graph, how far that is.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from sextant.domain.documents import Job
from sextant.domain.scope import Scope
from sextant.domain.settings import IngestionSettings
from sextant.facade.worker import Worker
from sextant.ingestion import job_runner, workers
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.graph.upkeep import GraphUpkeep
from sextant.ingestion.pipeline import Ingestor
from sextant.ingestion.progress import Progress
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.killing import wait_to_be_killed
from tests.integration.own_database import settings_over


async def main(data_dir: str, stage: str, far: str) -> None:
    def stop(reached: str, done: int, _: int) -> None:
        if reached == stage and done >= int(far):
            wait_to_be_killed()

    class Stopping(workers.Heartbeats):
        def note(self, job: Job, progress: Progress) -> None:
            super().note(job, progress)
            stop(progress.stage.value, progress.done, progress.total)

    setattr(job_runner, "Heartbeats", Stopping)  # noqa: B010 - of the runner that is opened below

    chosen = {"ingestion": IngestionSettings(embed_batch=2)}
    settings = settings_over(Path(data_dir)).model_copy(update=chosen)
    async with await Database.open(settings) as database:
        embedder = HashEmbedder(384)

        async def opened() -> Ingestor:
            indexer = GraphIndexer(database)
            documents, jobs = DocumentStore(database), JobStore(database)
            return Ingestor(documents, jobs, embedder, settings, indexer)

        async def refresh(scope: Scope) -> None:
            await GraphUpkeep(database, embedder).refresh(scope, stop)

        await Worker(database, opened, refresh, concurrency=1).run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
