"""Embed every stored chunk again after the embedding model was changed."""

from __future__ import annotations

from sextant.ingestion.job_runner import embedding_text
from sextant.ingestion.progress import OnCount
from sextant.models.protocols import Embedder
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.embedding_space import (
    chunks_without_vectors,
    finish_reembedding,
    lock_reembedding,
    start_reembedding,
    store_vectors,
)
from sextant.stores.postgresql.database import Database


async def reembed(
    database: Database, embedder: Embedder, on_progress: OnCount | None = None
) -> int:
    """Give every chunk of every user a vector of `embedder`, batch by batch.

    Each batch is committed, so an interrupted call can be continued, by another call or a worker
    (`sextant.facade.worker`). Meanwhile keyword search works, and vector search finds the chunks embedded so far.

    Args:
        database: the database of the chunks.
        embedder: the new model; its dimension must be known.
        on_progress: called after each batch with the chunks done and all chunks.

    Returns:
        The number of chunks embedded.

    Raises:
        DatabaseUnavailable, ModelUnavailable: what was stored stays.
    """
    async with lock_reembedding(database):
        scopes = await start_reembedding(database, embedder)
        chunks = ChunkStore(database)
        total = sum([await chunks.count(scope) for scope in scopes])
        done = 0
        for scope in scopes:
            last, size = None, database.settings.ingestion.embed_batch
            while batch := await chunks_without_vectors(database, scope, after=last, limit=size):
                last = batch[-1].id
                texts = [embedding_text(chunk.document_title, chunk) for chunk in batch]
                vectors = await embedder.embed_passages(texts)
                await store_vectors(database, scope, [chunk.id for chunk in batch], vectors)
                done += len(batch)
                if on_progress is not None:
                    on_progress(done, total)
        await finish_reembedding(database)
        return done
