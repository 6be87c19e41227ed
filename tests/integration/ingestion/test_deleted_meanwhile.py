"""A knowledge base that is deleted while something is imported into it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sextant.domain.errors import GraphNotFound
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.importer import Importer
from sextant.ingestion.pipeline import Ingestor
from sextant.models.protocols import Vectors
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.record import GraphRecord
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.ingestion.transferred import Line, stream

LINES: list[Line] = [
    {"type": "chunk", "id": f"c{number}", "text": f"Leaf {number}."} for number in range(45)
] + [
    {"type": "entity", "name": "Insulin", "description": "A hormone."},
    {"type": "entity", "name": "Diabetes"},
    {"type": "relation", "source": "insulin", "target": "diabetes", "relationType": "TREATS"},
]


@pytest.mark.parametrize("passage", ["Leaf 0.", "Leaf 19.", "Leaf 33.", "Leaf 44.", "Insulin"])
@pytest.mark.parametrize("again", [False, True])
async def test_the_import_says_so_and_does_not_make_it_again(
    database: Database, settings: Settings, scope: Scope, passage: str, again: bool
) -> None:
    class Deleting(HashEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            if any(passage in text for text in texts):
                await KnowledgeBases(database).delete(scope)
            return await super().embed_passages(texts)

    def importer(embedder: HashEmbedder) -> Importer:
        stores = DocumentStore(database), JobStore(database)
        ingestor = Ingestor(*stores, embedder, settings, GraphIndexer(database))
        return Importer(ingestor, GraphRecord(database))

    if again:  # it was there before
        await importer(HashEmbedder(384)).import_graph(
            scope, stream([{"type": "chunk", "id": "x", "text": "X."}])
        )

    with pytest.raises(GraphNotFound, match="'default' was deleted while the import ran"):
        await importer(Deleting(384)).import_graph(scope, stream(LINES), facts_as_passages=True)

    assert await KnowledgeBases(database).list(scope.user_id) == []
