"""Record the embedding model of the stored vectors; vectors of different models are not comparable."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol, runtime_checkable
from uuid import UUID

import numpy as np
from psycopg.rows import dict_row

from sextant.domain.errors import EmbeddingModelChanged
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.chunks.stored import StoredChunk, read_stored_chunk
from sextant.stores.postgresql.database import Database, exclusive_lock
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import Connection
from sextant.stores.scopes import rows_of, share_scope

_SQL = load_queries("embedding_space")
_LOCK = 0x5E47A28  # keys of PostgreSQL's advisory locks
_REEMBEDDING_LOCK = 0x5E47A2E


class VectorSpace(Protocol):
    """The name and dimension of an embedder's vectors."""

    @property
    def name(self) -> str:
        """Return the space's name; equal names mean comparable vectors."""
        ...

    @property
    def dimension(self) -> int:
        """Return the length of one vector."""
        ...


@runtime_checkable
class PrefixedSpace(VectorSpace, Protocol):
    """An embedder that writes a prefix before questions and passages."""

    @property
    def prefixes(self) -> tuple[str, str] | None:
        """Return the prefixes of questions and passages; None if unknown."""
        ...

    def use_prefixes(self, query: str, passage: str) -> None:
        """Use these prefixes from now on."""
        ...


class _RecordedSpace(NamedTuple):
    name: str
    dimension: int
    query_prefix: str | None
    passage_prefix: str | None

    def is_of(self, embedder: VectorSpace) -> bool:
        return (self.name, self.dimension) == (embedder.name, embedder.dimension)


async def check_space(database: Database, embedder: VectorSpace) -> None:
    """Check that the stored vectors come from this embedder; a database without chunks records it.

    The recorded prefixes are used for further texts, too.

    Raises:
        EmbeddingModelChanged: the stored vectors come from another model or have another length.
    """
    async with database.transaction(database.settings.user_id) as connection:
        recorded = await _read_recorded(connection)
        if recorded is not None and recorded.is_of(embedder):
            row = await (await connection.execute(_SQL["is_whole"])).fetchone()
            if row is not None and not row[0]:
                database.next_vector_check = database.next_vector_check or 0.0
            if _use_recorded(recorded, embedder):
                return
    async with database.owner() as owner:
        await owner.execute(_SQL["lock"], {"key": _LOCK})
        recorded = await _read_recorded(owner)
        if recorded is not None and recorded.is_of(embedder):
            if not _use_recorded(recorded, embedder):
                await owner.execute(_SQL["note_prefixes"], _prefixes_of(embedder))
            return
        if recorded is not None:
            stored = await (await owner.execute(_SQL["has_chunks"])).fetchone()
            if stored and stored[0]:
                raise EmbeddingModelChanged(
                    f"The stored vectors come from {recorded.name} ({recorded.dimension} dimensions), "
                    f"but the configured model is {embedder.name} ({embedder.dimension} dimensions).",
                    next_step="Run `sextant reembed` to embed all documents with the new model, "
                    "or set SEXTANT_EMBEDDING back.",
                    field="embedding",
                )
        await _reset(owner, embedder)


async def start_reembedding(database: Database, embedder: VectorSpace) -> list[Scope]:
    """Drop all vectors, record the new model, and return every scope, since all chunks need vectors.

    Keyword search continues meanwhile. If this model is recorded already, nothing is dropped, so that
    an interrupted re-embedding resumes.
    """
    async with database.owner() as owner:
        await owner.execute(_SQL["lock"], {"key": _LOCK})
        recorded = await _read_recorded(owner)
        if recorded is None or not recorded.is_of(embedder):
            await _reset(owner, embedder)
    return await list_scopes(database)


async def list_scopes(database: Database) -> list[Scope]:
    """Return the knowledge bases of all users."""
    async with database.owner() as owner:
        rows = await owner.execute(_SQL["all_scopes"])
        return [Scope(user_id, graph_id) async for user_id, graph_id in rows]


async def lack_vectors(database: Database) -> bool:
    """Return whether some chunks lack vectors, checked every few seconds until none do.

    Raises:
        DatabaseUnavailable: the server does not answer.
    """
    if database.next_vector_check is None:
        return False
    if time.monotonic() >= database.next_vector_check:
        if await has_all_vectors(database):
            database.next_vector_check = None  # another model needs a restart
            return False
        database.next_vector_check = time.monotonic() + 5.0
    return True


async def has_all_vectors(database: Database) -> bool:
    """Return whether every chunk has a vector; false during and after an interrupted re-embedding.

    Raises:
        DatabaseUnavailable: the server does not answer.
    """
    rows = await database.read(database.settings.user_id, _SQL["is_whole"], {})
    return all(row["is_whole"] for row in rows)


async def finish_reembedding(database: Database) -> None:
    """Record that re-embedding is complete, if every chunk has a vector."""
    async with database.owner() as owner:
        await owner.execute(_SQL["finish"])


def lock_reembedding(database: Database) -> AbstractAsyncContextManager[None]:
    """Hold the lock under which one process at a time re-embeds; others wait."""
    return exclusive_lock(database, _SQL["lock_session"], {"key": _REEMBEDDING_LOCK})


async def chunks_without_vectors(
    database: Database, scope: Scope, *, after: UUID | None = None, limit: int = 256
) -> list[StoredChunk]:
    """Return the next chunks of a scope without vectors, by id; `after` is the last id seen."""
    query, page = _SQL["without_vectors"], {"after": after, "limit": limit}
    return list(map(read_stored_chunk, await rows_of(database, scope, dict_row, query, **page)))


async def store_vectors(
    database: Database, scope: Scope, ids: Sequence[UUID], vectors: Vectors
) -> None:
    """Store the vectors of chunks, shape (len(ids), dimension), L2-normalised."""
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


async def _read_recorded(connection: Connection) -> _RecordedSpace | None:
    row = await (await connection.execute(_SQL["recorded"])).fetchone()
    return None if row is None else _RecordedSpace(*row)


def _use_recorded(recorded: _RecordedSpace, embedder: VectorSpace) -> bool:
    """Let the embedder use the recorded prefixes; return False if none are recorded but known."""
    if not isinstance(embedder, PrefixedSpace):
        return True
    if recorded.query_prefix is None or recorded.passage_prefix is None:
        return embedder.prefixes is None
    embedder.use_prefixes(recorded.query_prefix, recorded.passage_prefix)
    return True


def _prefixes_of(embedder: VectorSpace) -> dict[str, str]:
    known = embedder.prefixes if isinstance(embedder, PrefixedSpace) else None
    query, passage = known or ("", "")
    return {"query": query, "passage": passage}


async def _reset(owner: Connection, embedder: VectorSpace) -> None:
    await owner.execute(_SQL["reset"], {"name": embedder.name, "dimension": embedder.dimension})
    await owner.execute(_SQL["note_prefixes"], _prefixes_of(embedder))
