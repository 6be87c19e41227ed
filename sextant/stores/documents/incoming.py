"""A batch of chunks on its way in: binary COPY into the connection's own temporary table."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from struct import pack
from typing import Any
from uuid import UUID

import numpy as np
from psycopg.adapt import Dumper
from psycopg.postgres import types
from psycopg.pq import Format

from sextant.domain.documents import Chunk
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.chunks.grams import Grams, fold, salt_grams
from sextant.stores.postgresql.pools import Connection
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("chunks")
_TYPES = [
    *(
        "uuid",
        "uuid",
        "uuid",
        "int4",
        "int4",
        "int4",
        "text",
        "int4",
        "text[]",
        "text",
        "text",
        "int4",
    ),
    *("text", "text", "text[]", "text[]", "text[]", "text[]", "text[]", "uuid[]", "text"),
    *("timestamptz", "vector", "text", "int4[]"),
]


async def copy_incoming(
    connection: Connection, scope_id: int, chunks: Mapping[UUID, Sequence[Chunk]], vectors: Vectors
) -> None:
    """Copy chunks, by their documents, with vectors, folded texts and grams to the table `incoming`.

    The vectors are one row a chunk, in that order.

    What is searched by keyword is the chunk's context and text, a line apart.

    Raises:
        ValueError: there are more or fewer vectors than chunks.
    """
    number = sum(map(len, chunks.values()))
    if vectors.shape[0] != number:
        raise ValueError(f"{number} chunks with {vectors.shape[0]} vectors")
    rows = await asyncio.to_thread(_rows, scope_id, chunks, vectors)
    await connection.execute(_SQL["incoming"])
    async with connection.cursor() as cursor, cursor.copy(_SQL["copy_incoming"]) as copy:
        cursor.adapters.register_dumper(np.ndarray, _GramsDumper)
        copy.set_types(_TYPES)
        for row in rows:
            await copy.write_row(row)


def search_text(chunk: Chunk) -> str:
    """Return what the keyword lane looks in."""
    return f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text


class _GramsDumper(Dumper):
    """A one-dimensional int32 array as PostgreSQL's binary int4[], without a Python int for each."""

    oid = types["int4"].array_oid
    format = Format.BINARY

    def dump(self, obj: Grams) -> bytes:
        """Return dimensions, no nulls, element type; then length and lower bound; then size and value each."""
        if not len(obj):
            return pack("!iiI", 0, 0, types["int4"].oid)
        elements = np.empty(len(obj), [("size", ">i4"), ("value", ">i4")])
        elements["size"], elements["value"] = 4, obj
        return pack("!iiIii", 1, 0, types["int4"].oid, len(obj), 1) + elements.tobytes()


def _rows(
    scope_id: int, chunks: Mapping[UUID, Sequence[Chunk]], vectors: Vectors
) -> list[tuple[Any, ...]]:
    owned = [(own, chunk) for own, part in chunks.items() for chunk in part]
    folded = [fold(search_text(chunk)) for _, chunk in owned]
    return [
        (document_id, *_columns(chunk), vector, text, grams)
        for (document_id, chunk), vector, text, grams in zip(
            owned,
            np.asarray(vectors, ">f4"),  # as pgvector sends it
            folded,
            salt_grams(folded, scope_id),
            strict=True,
        )
    ]


def _columns(chunk: Chunk) -> tuple[Any, ...]:
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
    )
