"""Run as a process by test_killed.py: ingest a folder, say when a stage is reached, stop there.

Arguments: data folder, user, folder, stage, chunks done.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from domain.scope import Scope
from domain.settings import IngestionSettings, Settings
from ingestion.pipeline import Ingestor
from ingestion.progress import Progress
from stores.documents.document_store import DocumentStore
from stores.postgresql.database import Database
from stores.work.jobs import JobStore
from testing.hash_embedder import HashEmbedder


async def main(data_dir: str, user: str, folder: str, stage: str, done: str) -> None:
    settings = Settings(
        _env_file=None,
        data_dir=Path(data_dir),
        database_url=None,
        ingestion=IngestionSettings(embed_batch=2),
    )

    def stop(progress: Progress) -> None:
        if progress.stage == stage and progress.done >= int(done):
            sys.stdout.write("reached\n")
            sys.stdout.flush()
            signal.pause()

    async with await Database.open(settings) as database:
        ingestor = Ingestor(
            DocumentStore(database), JobStore(database), HashEmbedder(384), settings
        )
        await ingestor.ingest(Scope(user), [folder], stop)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
