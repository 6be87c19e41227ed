"""Which model the stored vectors come from; vectors of another model mean nothing beside them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol
from uuid import UUID
from weakref import WeakKeyDictionary

import numpy as np
from psycopg.rows import dict_row

from sextant.domain.errors import EmbeddingModelChanged
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.chunks.stored import StoredChunk, read_stored_chunk
from sextant.stores.postgresql.alone import alone
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.pools import Connection
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import find_scope, share_scope

_SQL = load_queries("embedding_space")
_LOCK = 0x5E47A28  # of ours alone among PostgreSQL's advisory locks
_ALONE = 0x5E47A2E
# Databases whose passages lack vectors, and until when that is believed; what is whole once stays so for this
# process, which would have to be started anew with another model.
_lacking: WeakKeyDictionary[Database, float] = WeakKeyDictionary()
_BELIEVED = 5.0  # seconds


class VectorSpace(Protocol):
    """The part of an embedder that matters here."""

    @property
    def name(self) -> str:
        """Return the space's name; equal names mean comparable vectors."""
        ...

    @property
    def dimension(self) -> int:
        """Return length of one vector."""
        ...


async def check_space(database: Database, embedder: VectorSpace) -> None:
    """Return if the stored vectors are of this embedder; the first embedder is recorded.

    A database without any chunk takes on whatever embedder it meets.

    Raises:
        EmbeddingModelChanged: there are vectors of another model, or of another length.
    """
    async with database.transaction(database.settings.user_id) as connection:
        if await _read_recorded(connection) == (embedder.name, embedder.dimension):
            if not await _is_whole(connection):
                _lacking.setdefault(database, 0.0)
            return
    async with database.owner() as owner:
        await owner.execute(_SQL["lock"], {"key": _LOCK})
        recorded = await _read_recorded(owner)
        if recorded == (embedder.name, embedder.dimension):
            return
        if recorded is not None and await _has_chunks(owner):
            raise EmbeddingModelChanged(
                f"The stored vectors come from {recorded[0]} ({recorded[1]} dimensions), "
                f"but the configured model is {embedder.name} ({embedder.dimension} dimensions).",
                next_step="Run `sextant reembed` to embed all documents with the new model, "
                "or set SEXTANT_EMBEDDING back.",
                field="embedding",
            )
        await _reset(owner, embedder)


async def start_reembedding(database: Database, embedder: VectorSpace) -> list[Scope]:
    """Drop all vectors, record the new model, and return every scope, whose chunks now need vectors.

    Keyword search goes on meanwhile. When this model is recorded already nothing is dropped, so a
    re-embedding that was stopped goes on where it was.
    """
    async with database.owner() as owner:
        await owner.execute(_SQL["lock"], {"key": _LOCK})
        if await _read_recorded(owner) != (embedder.name, embedder.dimension):
            await _reset(owner, embedder)
    return await list_scopes(database)


async def list_scopes(database: Database) -> list[Scope]:
    """Return the knowledge bases of all users."""
    async with database.owner() as owner:
        rows = await owner.execute(_SQL["all_scopes"])
        return [Scope(user_id, graph_id) async for user_id, graph_id in rows]


async def lack_vectors(database: Database) -> bool:
    """Return whether passages had no vector a moment ago; asked only where they had none at the start.

    Raises:
        DatabaseUnavailable: nobody knows.
    """
    if database not in _lacking:
        return False
    if time.monotonic() >= _lacking[database]:
        if await has_all_vectors(database):
            _lacking.pop(database, None)
            return False
        _lacking[database] = time.monotonic() + _BELIEVED
    return True


async def has_all_vectors(database: Database) -> bool:
    """Return whether every passage has its vector: not while, or after, re-embedding was broken off.

    Raises:
        DatabaseUnavailable: nobody knows.
    """
    rows = await database.read(database.settings.user_id, _SQL["is_whole"], {})
    return all(row["is_whole"] for row in rows)


async def finish_reembedding(database: Database) -> None:
    """Note that every passage has its vector, if it has."""
    async with database.owner() as owner:
        await owner.execute(_SQL["finish"])


def reembedding_alone(database: Database) -> AbstractAsyncContextManager[None]:
    """Hold what one process at a time may do: embed everything anew; others wait."""
    return alone(database, _SQL["lock_session"], {"key": _ALONE})


async def chunks_without_vectors(
    database: Database, scope: Scope, *, after: UUID | None = None, limit: int = 256
) -> list[StoredChunk]:
    """Return the next chunks of a scope that have no vector, by id; `after` is the last id seen."""
    async with database.transaction(scope.user_id) as connection:
        found = await find_scope(connection, scope)
        if found is None:
            return []
        cursor = connection.cursor(row_factory=dict_row, binary=True)
        values = {
            "scope_id": found.scope_id,
            "partition_key": found.partition_key,
            "after": after,
            "limit": limit,
        }
        await cursor.execute(_SQL["without_vectors"], values)
        return [read_stored_chunk(row) async for row in cursor]


async def store_vectors(
    database: Database, scope: Scope, ids: Sequence[UUID], vectors: Vectors
) -> None:
    """Give chunks their vectors, of shape (len(ids), dimension), L2-normalised."""
    async with database.transaction(scope.user_id) as connection:
        found = await share_scope(connection, scope)
        if found is None:
            return
        key = {"scope_id": found.scope_id, "partition_key": found.partition_key}
        rows = [
            {**key, "chunk_id": chunk_id, "vector": vector}
            for chunk_id, vector in zip(ids, np.asarray(vectors, np.float32), strict=True)
        ]
        async with connection.cursor() as cursor:
            await cursor.executemany(_SQL["add_vector"], rows)


async def _read_recorded(connection: Connection) -> tuple[str, int] | None:
    row = await (await connection.execute(_SQL["recorded"])).fetchone()
    return None if row is None else (row[0], row[1])


async def _is_whole(connection: Connection) -> bool:
    row = await (await connection.execute(_SQL["is_whole"])).fetchone()
    return row is None or bool(row[0])


async def _has_chunks(owner: Connection) -> bool:
    row = await (await owner.execute(_SQL["has_chunks"])).fetchone()
    return bool(row and row[0])


async def _reset(owner: Connection, embedder: VectorSpace) -> None:
    await owner.execute(_SQL["reset"], {"name": embedder.name, "dimension": embedder.dimension})
