"""Writing documents chunk by chunk."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import uuid4, uuid5

import pytest

from sextant.domain.documents import Chunk, ParsedDocument, Section
from sextant.domain.scope import Scope
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder

DIMENSION = 384
Write = Callable[[Scope, str, list[str]], Awaitable[None]]


@pytest.fixture
def write(database: Database) -> Write:
    """Store a document under a name, or a new version of it."""

    async def run(scope: Scope, source: str, texts: list[str]) -> None:
        documents, content = DocumentStore(database), "\n".join(texts)
        opened = await documents.register(
            scope,
            source=source,
            filename=source,
            media_type="text/plain",
            content=f"{uuid4()}{content}".encode(),
        )
        root, at = uuid4(), 0
        chunks = []
        for ordinal, text in enumerate(texts):
            chunks.append(Chunk(uuid5(root, str(ordinal)), root, ordinal, at, at + len(text), text))
            at += len(text) + 1
        section = Section(root, None, "", 0, 0, 0, len(content))
        parsed = ParsedDocument("A title", content, "en", (section,), tuple(chunks))
        await documents.begin(scope, opened.document_id, parsed)
        vectors = await HashEmbedder(DIMENSION).embed_passages(texts)
        await documents.add_chunks(scope, opened.document_id, chunks, vectors)
        await documents.publish(scope, opened.document_id)

    return run
