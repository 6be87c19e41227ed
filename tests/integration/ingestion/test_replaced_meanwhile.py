"""A document that somebody else replaces while an import stores it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.importer import Importer, ImportReport
from sextant.ingestion.pipeline import Ingestor
from sextant.models.protocols import Vectors
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.record import GraphRecord
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.ingestion.transferred import Line, rows, stream


def lines(age: str) -> list[Line]:
    return [
        {"type": "chunk", "id": "a", "text": f"The {age} leaf.", "entities": ["leaf"]},
        {"type": "chunk", "id": f"beside the {age}", "text": f"Beside the {age} leaf."},
    ]


async def test_the_import_goes_on_and_tells_the_line_that_was_overtaken(
    database: Database, settings: Settings, scope: Scope
) -> None:
    begun = list[asyncio.Task[ImportReport]]()

    class Overtaken(HashEmbedder):
        """While a passage of the old import is embedded, the new one does all it has to."""

        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            if not begun:
                new = importer(HashEmbedder(384)).import_graph(scope, stream(lines("new")))
                begun.append(asyncio.create_task(new))
                # The heartbeat may stop the overtaken job before the new import is done.
                await asyncio.shield(begun[0])
            return await super().embed_passages(texts)

    def importer(embedder: HashEmbedder) -> Importer:
        stores = DocumentStore(database), JobStore(database)
        ingestor = Ingestor(*stores, embedder, settings, GraphIndexer(database))
        return Importer(ingestor, GraphRecord(database))

    report = await importer(Overtaken(384)).import_graph(scope, stream(lines("old")))
    assert not (await begun[0]).problems

    [problem] = report.problems
    assert (problem.line, problem.kept) == (1, False)
    assert "somebody else replaced or deleted it" in problem.reason
    assert "import it again" in problem.reason
    assert await rows(database, scope, "chunks", "t.text") == [
        ("Beside the new leaf.",),
        ("Beside the old leaf.",),
        ("The new leaf.",),
    ]
