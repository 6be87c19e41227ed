"""Run as a process by test_killed.py: ingest a folder, say when a stage is reached, stop there.

Arguments: data folder, user, folder, stage, chunks done.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from sextant.domain.scope import Scope
from sextant.domain.settings import IngestionSettings
from sextant.ingestion.pipeline import Ingestor
from sextant.ingestion.progress import Progress
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.killing import wait_to_be_killed
from tests.integration.own_database import settings_over


async def main(data_dir: str, user: str, folder: str, stage: str, done: str) -> None:
    chosen = {"ingestion": IngestionSettings(embed_batch=2)}
    settings = settings_over(Path(data_dir)).model_copy(update=chosen)

    def stop(progress: Progress) -> None:
        if progress.stage == stage and progress.done >= int(done):
            wait_to_be_killed()

    async with await Database.open(settings) as database:
        ingestor = Ingestor(
            DocumentStore(database), JobStore(database), HashEmbedder(384), settings
        )
        await ingestor.ingest(Scope(user), [folder], stop)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
