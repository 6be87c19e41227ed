"""A batch of chunks on its way in: binary COPY into the connection's own temporary table."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np

from domain.documents import Chunk
from stores.chunks import Vectors
from stores.grams import fold, salted_grams
from stores.pools import Connection
from stores.queries import load_queries

_SQL = load_queries("chunks")
_TYPES = [
    *("uuid", "uuid", "int4", "int4", "int4", "text", "int4", "text[]", "text", "text", "int4"),
    *("text", "text", "text[]", "text[]", "text[]", "text[]", "text[]", "uuid[]", "text"),
    *("timestamptz", "vector", "text", "int8[]"),
]


async def copy_incoming(
    connection: Connection, scope_id: int, chunks: Sequence[Chunk], vectors: Vectors
) -> None:
    """Copy chunks, their vectors (one row each), folded texts and grams to the table `incoming`.

    What is searched by keyword is the chunk's context and text, a line apart.
    """
    if vectors.shape[0] != len(chunks):
        raise ValueError(f"{len(chunks)} chunks with {vectors.shape[0]} vectors")
    rows = await asyncio.to_thread(
        lambda: [
            _row(chunk, vector, scope_id)
            for chunk, vector in zip(chunks, np.asarray(vectors, np.float32), strict=True)
        ]
    )
    await connection.execute(_SQL["incoming"])
    async with connection.cursor() as cursor, cursor.copy(_SQL["copy_incoming"]) as copy:
        copy.set_types(_TYPES)
        for row in rows:
            await copy.write_row(row)


def searched_text(chunk: Chunk) -> str:
    """What the keyword lane looks in."""
    return f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text


def _row(chunk: Chunk, vector: Vectors, scope_id: int) -> tuple[Any, ...]:
    folded = fold(searched_text(chunk))
    return (
        chunk.id,
        chunk.section_id,
        chunk.ordinal,
        chunk.start,
        chunk.end,
        chunk.text,
        chunk.page,
        list(chunk.section_path),
        chunk.modality.value,
        chunk.context,
        chunk.token_count,
        chunk.title,
        chunk.summary,
        list(chunk.tags),
        list(chunk.topics),
        list(chunk.keywords),
        list(chunk.entities),
        list(chunk.topic_labels),
        list(chunk.neighbours),
        chunk.external_id,
        chunk.created_at,
        vector,
        folded,
        salted_grams(folded, scope_id),
    )
