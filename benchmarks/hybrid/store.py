"""Store the library in our tables: the chunks of a tenant are one document of its knowledge base."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID, uuid4

import numpy as np

from benchmarks.hybrid.corpus import DIMENSION, Library, Question
from sextant.domain.documents import Chunk, ParsedDocument, Section
from sextant.domain.scope import Scope
from sextant.domain.settings import RetrievalSettings, Settings
from sextant.models.protocols import Vectors
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder


class GivenVectors(HashEmbedder):
    """Knows the vectors of the questions already: embedding is not what is measured."""

    def __init__(self, questions: list[Question]) -> None:
        super().__init__(DIMENSION)
        self._given = {question.text: question.vector for question in questions}

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector that came with the question."""
        return self._given[text]


def settings_of(data_dir: Path, chunks: int) -> Settings:
    """Return those under which a library of so many chunks is stored and asked: its largest tenants have an index."""
    own_index = min(RetrievalSettings().exact_below, chunks // 20)
    return Settings(
        _env_file=None,
        data_dir=data_dir,
        database_url=None,
        database_pool=4,
        retrieval=RetrievalSettings(exact_below=own_index),
    )


def scope_of(tenant: int) -> Scope:
    """Return a tenant's only knowledge base."""
    return Scope(f"tenant-{tenant}", "library")


async def fill(database: Database, library: Library) -> list[UUID]:
    """Store every tenant's chunks as one document, tenants taking turns; returns their ids by row."""
    documents, ids = DocumentStore(database), [uuid4() for _ in library.texts]
    opened = {tenant: await _begun(documents, tenant) for tenant in _tenants(library)}
    for batch in library.arrivals():
        tenant = int(library.tenants[batch[0]])
        document, section = opened[tenant]
        chunks = [
            Chunk(ids[row], section, row, 0, len(library.texts[row]), library.texts[row])
            for row in batch
        ]
        vectors = library.vectors[batch.start : batch.stop]
        await documents.add_chunks(scope_of(tenant), document, chunks, vectors)
    for tenant, (document, _) in opened.items():
        await documents.publish(scope_of(tenant), document)
    return ids


def _tenants(library: Library) -> list[int]:
    return [int(tenant) for tenant in np.unique(library.tenants)]


async def _begun(documents: DocumentStore, tenant: int) -> tuple[UUID, UUID]:
    """Return a document of a tenant's, and its only section."""
    scope, section = scope_of(tenant), Section(uuid4(), None, "", 0, 0, 0, 1)
    opened = await documents.register(
        scope, source="b", filename="b", media_type="text/plain", content=uuid4().bytes
    )
    await documents.begin(scope, opened.document_id, ParsedDocument("", "x", "zh", (section,), ()))
    return opened.document_id, section.id
