"""A document made of given texts and vectors, stored the way ingestion stores it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID, uuid4, uuid5

import pytest

from sextant.domain.documents import Chunk, ParsedDocument, Section
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database

Ingest = Callable[[Scope, Sequence[str], Vectors], Awaitable[UUID]]


@pytest.fixture
def ingest(database: Database) -> Ingest:
    """Store and publish one new document with a chunk per text."""

    async def run(scope: Scope, texts: Sequence[str], vectors: Vectors) -> UUID:
        documents = DocumentStore(database)
        source, content = str(uuid4()), "\n".join(texts)
        opened = await documents.register(
            scope,
            source=source,
            filename=f"{source}.txt",
            media_type="text/plain",
            content=f"{source}\n{content}".encode(),
        )
        root = uuid5(opened.document_id, "root")
        chunks, at = [], 0
        for ordinal, text in enumerate(texts):
            end = at + len(text)
            chunks.append(Chunk(uuid5(root, str(ordinal)), root, ordinal, at, end, text))
            at = end + 1
        section = Section(root, None, "", 0, 0, 0, len(content))
        parsed = ParsedDocument("A title", content, "en", (section,), tuple(chunks))
        await documents.begin(scope, opened.document_id, parsed)
        for first in range(0, len(chunks), 500):
            batch = slice(first, first + 500)
            await documents.add_chunks(scope, opened.document_id, chunks[batch], vectors[batch])
        await documents.publish(scope, opened.document_id)
        return opened.document_id

    return run
