"""Run as a process by test_killed_import.py: import a file, say when a stage is reached, stop there.

Arguments: data folder, user, file, stage, how far.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from domain.scope import Scope
from domain.settings import IngestionSettings, Settings
from ingestion.graph.index import GraphIndexer
from ingestion.pipeline import Ingestor
from ingestion.transfer.importing import Importer
from stores.documents.document_store import DocumentStore
from stores.graph.record import GraphRecord
from stores.postgresql.database import Database
from stores.work.jobs import JobStore
from testing.hash_embedder import HashEmbedder


async def main(data_dir: str, user: str, file: str, stage: str, far: str) -> None:
    settings = Settings(
        _env_file=None,
        data_dir=Path(data_dir),
        database_url=None,
        ingestion=IngestionSettings(embed_batch=2),
    )

    def stop(now: str, done: int, total: int) -> None:
        if now == stage and done >= int(far):
            sys.stdout.write("reached\n")
            sys.stdout.flush()
            signal.pause()

    async with await Database.open(settings) as database:
        documents, jobs = DocumentStore(database), JobStore(database)
        indexer = GraphIndexer(database)
        ingestor = Ingestor(documents, jobs, HashEmbedder(384), settings, indexer)
        importer = Importer(ingestor, GraphRecord(database))
        await importer.import_graph(Scope(user), Path(file), on_progress=stop)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
