"""Copy a batch of chunks into a temporary table of the connection, by binary COPY.

Also here: maintaining indexes and statistics after a document was published.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from operator import itemgetter
from struct import pack
from typing import Any
from uuid import UUID

import numpy as np
from psycopg.adapt import Dumper
from psycopg.errors import DuplicateTable
from psycopg.postgres import types
from psycopg.pq import Format

from sextant.domain.documents import Chunk
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.chunks.grams import Grams, salt_grams
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import columns_of, load_queries
from sextant.stores.postgresql.watched import Connection
from sextant.text.characters import lowercase

_SQL = load_queries("chunks")
# The columns of `incoming` that a chunk fills, in order.
_CHUNK_COLUMNS = {
    "id": "uuid", "section_id": "uuid", "ordinal": "int4", "start": "int4", "end": "int4", "text": "text",
    "page": "int4", "section_path": "text[]", "modality": "text", "context": "text", "token_count": "int4",
    "title": "text", "summary": "text", "tags": "text[]", "topics": "text[]", "keywords": "text[]",
    "entities": "text[]", "topic_labels": "text[]", "neighbours": "uuid[]", "external_id": "text",
    "created_at": "timestamptz",
}  # fmt: skip
_TYPES = ["uuid", *_CHUNK_COLUMNS.values(), "vector", "text", "int4[]"]


async def copy_chunks(
    connection: Connection, scope_id: int, chunks: Mapping[UUID, Sequence[Chunk]], vectors: Vectors
) -> None:
    """Copy chunks, with vectors, folded texts and grams, to the temporary table `incoming`, without a lock.

    `write_copied_chunks` stores them.

    Args:
        connection: in the transaction that `write_copied_chunks` continues.
        scope_id: the number of the knowledge base.
        chunks: by document.
        vectors: one row for each chunk, in this order.

    Raises:
        ValueError: the numbers of vectors and chunks differ.
    """
    number = sum(map(len, chunks.values()))
    if vectors.shape[0] != number:
        raise ValueError(f"{number} chunks with {vectors.shape[0]} vectors")
    rows = await asyncio.to_thread(_rows, scope_id, chunks, vectors)
    await connection.execute(_SQL["relax"])
    await connection.execute(_SQL["incoming"])
    async with connection.cursor() as cursor, cursor.copy(_SQL["copy_incoming"]) as copy:
        cursor.adapters.register_dumper(np.ndarray, _GramsDumper)
        copy.set_types(_TYPES)
        for row in rows:
            await copy.write_row(row)


class _GramsDumper(Dumper):
    """Dump one-dimensional int32 arrays as PostgreSQL's binary int4[], without a Python int for each."""

    oid = types["int4"].array_oid
    format = Format.BINARY

    def dump(self, obj: Grams) -> bytes:
        """Return the dimensions, null flag, element type, length, lower bound, then each size and value."""
        if not len(obj):
            return pack("!iiI", 0, 0, types["int4"].oid)
        elements = np.empty(len(obj), [("size", ">i4"), ("value", ">i4")])
        elements["size"], elements["value"] = 4, obj
        return pack("!iiIii", 1, 0, types["int4"].oid, len(obj), 1) + elements.tobytes()


def _rows(
    scope_id: int, chunks: Mapping[UUID, Sequence[Chunk]], vectors: Vectors
) -> list[tuple[Any, ...]]:
    pairs = [(document_id, chunk) for document_id, group in chunks.items() for chunk in group]
    folded = [
        lowercase(f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text)
        for _, chunk in pairs
    ]
    in_order = itemgetter(*_CHUNK_COLUMNS)
    return [
        (document_id, *in_order(columns_of(chunk)), vector, text, grams)
        for (document_id, chunk), vector, text, grams in zip(
            pairs,
            np.asarray(vectors, ">f4"),  # big-endian, as pgvector sends it
            folded,
            salt_grams(folded, scope_id),
            strict=True,
        )
    ]


_PARTITION_SQL = load_queries("partitions")


async def maintain_indexes(database: Database, scope: Scope) -> bool:
    """Update indexes and statistics after a document was published.

    New chunks are merged into the gram index, which makes searches faster. A scope with at least
    `retrieval.exact_below` chunks gets its own HNSW index over half-precision vectors; below that an
    exact scan is faster and misses nothing. Searches continue meanwhile; writers of this scope wait.

    Returns:
        Whether an HNSW index was built.
    """
    settings = database.settings.retrieval
    limits = {
        "user_id": scope.user_id,
        "graph_id": scope.graph_id,
        "exact_below": settings.exact_below,
        # pgvector indexes at most this many dimensions of a `halfvec`; longer vectors are searched exactly.
        "longest": 4000,
    }
    async with database.transaction(scope.user_id) as connection:
        row = await (await connection.execute(_PARTITION_SQL["settle"], limits)).fetchone()
    if row is None or not row[1]:
        return False
    graph = {
        "scope_id": row[0],
        "m": settings.hnsw_m,
        "ef_construction": settings.hnsw_ef_construction,
    }
    try:
        async with database.transaction(scope.user_id) as connection:
            done = await (await connection.execute(_PARTITION_SQL["promote"], graph)).fetchone()
    except DuplicateTable:  # another document's transaction has made the index meanwhile
        return False
    return bool(done and done[0])


async def refresh_statistics(database: Database, user_id: str) -> None:
    """Refresh the planner's statistics if the tables have grown; cheap if they have not."""
    async with database.transaction(user_id) as connection:
        await connection.execute(_PARTITION_SQL["look_at_sizes"])
