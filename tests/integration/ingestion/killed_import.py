"""Run as a process by test_killed_import.py: import a file, say when a stage is reached, stop there.

Arguments: data folder, user, file, stage, how far.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from sextant.domain.scope import Scope
from sextant.domain.settings import IngestionSettings
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.importer import Importer
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.record import GraphRecord
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.killing import wait_to_be_killed
from tests.integration.own_database import settings_over


async def main(data_dir: str, user: str, file: str, stage: str, far: str) -> None:
    chosen = {"ingestion": IngestionSettings(embed_batch=2)}
    settings = settings_over(Path(data_dir)).model_copy(update=chosen)

    def stop(now: str, done: int, total: int) -> None:
        if now == stage and done >= int(far):
            wait_to_be_killed()

    async with await Database.open(settings) as database:
        documents, jobs = DocumentStore(database), JobStore(database)
        indexer = GraphIndexer(database)
        ingestor = Ingestor(documents, jobs, HashEmbedder(384), settings, indexer)
        importer = Importer(ingestor, GraphRecord(database))
        await importer.import_graph(Scope(user), Path(file), on_progress=stop)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
