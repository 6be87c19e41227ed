"""Searching chunks: by vector, by keyword, by id."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
import numpy.typing as npt
from psycopg.errors import DataException
from psycopg.rows import dict_row, scalar_row

from sextant.domain.errors import EmbeddingModelChanged
from sextant.domain.filters import ChunkFilters
from sextant.domain.scope import Scope
from sextant.stores.chunks.filtering import (
    custom_plans,
    filter_condition,
    filter_ids,
    filter_values,
)
from sextant.stores.chunks.grams import fold_words, salt_grams
from sextant.stores.chunks.holding import most_common_terms, word_values
from sextant.stores.chunks.stored import ChunkHit, IndexPassage, StoredChunk, read_stored_chunk
from sextant.stores.postgresql.binary import (
    Embedded,
    Nearest,
    Scored,
    halves,
    nearest_of,
    read_embedded,
    read_few_scored,
    rows_from_json,
)
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.pools import Connection
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import ScopeRow, find_scope, id_array, key_of, of_scope, rows_of
from sextant.stores.stamps.stamp import Stamp, stamp_of
from sextant.stores.stamps.stamp_lines import StampAnswer, request_stamp, stamp_lines

T = TypeVar("T")
Vectors = npt.NDArray[np.float32]

_SQL = load_queries("chunks")
# Texts that may be looked into for each chunk wanted: of 150 questions 149 were sure of their best 20 by
# 160. Only those are read that it takes, so this bounds what is put in order.
_LOOKED = 8
_GET, _DOCUMENTS = (of_scope(_SQL[name]) for name in ("get", "documents"))


class ChunkStore:
    """The chunks of live versions; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._settings = database.settings.retrieval

    async def vector_search(
        self, scope: Scope, vector: Vectors, k: int, filters: ChunkFilters | None = None
    ) -> list[ChunkHit]:
        """Return the `k` nearest chunks; score = cosine similarity, best first.

        Returns exactly min(k, chunks of the scope that the filters let through) hits: a scope in the
        shared partition, and whatever passes filters, is scanned exactly, and an HNSW search that
        comes back short, or that a sample proves wrong, is repeated exactly.

        Args:
            scope: whose chunks.
            vector: shape (dimension,).
            k: how many.
            filters: which of them.

        Raises:
            DatabaseUnavailable: no answer within the lane's time.
            EmbeddingModelChanged: the stored vectors have another length.
        """
        if k < 1:
            return []
        if filters is None:
            near = await self.nearest(scope, vector, k)
            return await self._whole(scope, near.ids, near.cosines.tolist())
        async with self._filtered(scope) as (connection, found):
            if found is None:
                return []
            values = {
                "scope_id": found.scope_id,
                "partition_key": found.partition_key,
                "vector": np.ascontiguousarray(vector, dtype=np.float32),
                "k": k,
            }
            with _fitting():
                return await _hits(connection, "vector_search", filters, values)

    async def nearest(self, scope: Scope, vector: Vectors, k: int) -> Nearest:
        """Return the `k` nearest chunks as `vector_search` finds them, best first, by id and cosine only.

        Raises:
            DatabaseUnavailable: no answer within the lane's time.
            EmbeddingModelChanged: the stored vectors have another length.
        """
        return nearest_of(await self._near(scope, "nearest", vector, k))

    async def nearest_with_contents(
        self, scope: Scope, vector: Vectors, k: int
    ) -> tuple[Scored, list[dict[str, Any]]]:
        """As `nearest`, with the rows of `contents` for each, all in one trip."""
        return _near_with_contents(await self._near(scope, "nearest_with_contents", vector, k))

    def asked_nearest(
        self, scope: Scope, vector: Vectors, k: int, read: Callable[[Scored], T | None]
    ) -> asyncio.Future[T | None] | None:
        """As `nearest`, asked for before this returns, and read as soon as it comes (`Reading.lane_asked`)."""
        values = self._near_values(vector, k)
        return self._lane_asked(scope, "nearest", values, lambda near: read(read_few_scored(near)))

    def asked_nearest_with_contents(
        self,
        scope: Scope,
        vector: Vectors,
        k: int,
        read: Callable[[Scored, list[dict[str, Any]]], T | None],
    ) -> asyncio.Future[T | None] | None:
        """As `nearest_with_contents`, in the same way."""
        values = self._near_values(vector, k)
        return self._lane_asked(
            scope, "nearest_with_contents", values, lambda near: read(*_near_with_contents(near))
        )

    def asked_held(
        self, scope: Scope, keywords: Sequence[str], k: int, read: Callable[[Scored], T | None]
    ) -> asyncio.Future[T | None] | None:
        """As `held`, in the same way."""
        words = fold_words(keywords)
        if not words:
            return None
        return self._lane_asked(
            scope,
            "held",
            (*word_values(words), _LOOKED * k, k),
            lambda held: read(Scored.of(most_common_terms(held or b"", k))),
        )

    async def _near(self, scope: Scope, function: str, vector: Vectors, k: int) -> bytes | None:
        if k < 1:
            return None
        with _fitting():
            return await self._lane(scope, function, *self._near_values(vector, k))

    def _near_values(self, vector: Vectors, k: int) -> tuple[object, ...]:
        width = min(1000, max(self._settings.hnsw_ef_search, k))
        return np.ascontiguousarray(vector, dtype=np.float32), k, width

    async def holding(self, scope: Scope, keywords: Sequence[str], k: int) -> Nearest:
        """Return the best `k` chunks as `keyword_search` finds them, by id and score only.

        Raises:
            DatabaseUnavailable: no answer within the lane's time.
        """
        best = await self._most_held(scope, keywords, k)
        scores = np.array([score for _, score in best], np.float32)
        return Nearest(halves(b"".join(one for one, _ in best)), scores)

    async def held(self, scope: Scope, keywords: Sequence[str], k: int) -> Scored:
        """Return the same with ids as text."""
        return Scored.of(await self._most_held(scope, keywords, k))

    async def _most_held(
        self, scope: Scope, keywords: Sequence[str], k: int
    ) -> list[tuple[bytes, float]]:
        words = fold_words(keywords)
        if k < 1 or not words:
            return []
        held = await self._lane(scope, "held", *word_values(words), _LOOKED * k, k)
        return most_common_terms(held or b"", k)

    def keyword_statement(self, scope: Scope, keywords: Sequence[str], k: int) -> str:
        """Return what `holding` asks the server at first, for a log."""
        values = (*word_values(fold_words(keywords)), _LOOKED * k, k)
        _, function = _SQL["held"].splitlines()
        return f"select {function} -- {(scope.user_id, scope.graph_id, *values)}"

    def _lane(self, scope: Scope, function: str, *values: object) -> Awaitable[bytes | None]:
        return self._database.lane(scope, _SQL[function], *values)

    @property
    def database(self) -> Database:
        """Return where the chunks are."""
        return self._database

    def _lane_asked(
        self,
        scope: Scope,
        function: str,
        values: Sequence[object],
        read: Callable[[bytes | None], T | None],
    ) -> asyncio.Future[T | None] | None:
        return self._database.lane_asked(scope, _SQL[function], values, read)

    async def keyword_search(
        self,
        scope: Scope,
        keywords: Sequence[str],
        k: int,
        filters: ChunkFilters | None = None,
    ) -> list[ChunkHit]:
        """Return chunks that contain keywords, in the sense of ILIKE, most distinct keywords first.

        Ties are ordered by density (bytes of the keywords found ÷ bytes of the text searched), then by
        id. score = number of keywords + density ÷ (1 + density).

        Raises:
            DatabaseUnavailable: no answer within the lane's time.
        """
        if filters is None:
            held = await self.holding(scope, keywords, k)
            return await self._whole(scope, held.ids, held.cosines.tolist())
        words = fold_words(keywords)
        if k < 1 or not words:
            return []
        async with self._filtered(scope) as (connection, found):
            if found is None:
                return []
            values = _keyword_values(found, words, k)
            return await _hits(connection, "keyword_search", filters, values)

    async def matching(self, scope: Scope, filters: ChunkFilters) -> npt.NDArray[np.uint64]:
        """Return the chunks that the filters let through, as halves of shape (n, 2), in the order of ids."""
        async with self._filtered(scope) as (connection, found):
            if found is None:
                return halves(None)
            cursor = connection.cursor(binary=True)
            values = {"scope_id": found.scope_id, **filter_values(filters)}
            row = await (await cursor.execute(filter_condition("ids"), values)).fetchone()
            return halves(row[0] if row else None)

    async def unknown(self, scope: Scope, filters: ChunkFilters) -> list[str]:
        """Return the documents and sections that the filters name and the scope does not have, as they name them."""
        if not (filters.document_ids or filters.section_id):
            return []
        async with self._database.transaction(scope.user_id) as connection:
            if (found := await find_scope(connection, scope)) is None:
                return []
            values = {"scope_id": found.scope_id, **filter_ids(filters)}
            cursor = await connection.execute(filter_condition("unknown"), values)
            return [name for (name,) in await cursor.fetchall()]

    async def unknown_types(
        self, scope: Scope, types: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """Return those types of entities, in lower case, that the scope does not have; and where some are, its own.

        Its own come as they are written, those of most entities first.
        """
        async with self._database.transaction(scope.user_id) as connection:
            if not types or (found := await find_scope(connection, scope)) is None:
                return [], []
            values = {"scope_id": found.scope_id, "types": [one.lower() for one in types]}
            cursor = connection.cursor(row_factory=scalar_row)
            await cursor.execute(filter_condition("unknown_types"), values)
            if unknown := await cursor.fetchall():
                await cursor.execute(filter_condition("types"), values)
            return unknown, await cursor.fetchall()

    async def get(self, scope: Scope, ids: Sequence[UUID]) -> list[StoredChunk]:
        """Return the chunks of these ids, in this order; ids that the scope does not have are left out."""
        values = key_of(scope) | {"ids": id_array(ids)}
        rows = await self._database.read(scope.user_id, _GET, values)
        return [read_stored_chunk(row) for row in rows]

    async def contents(self, scope: Scope, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return what results show of the chunks of these ids, in this order, as rows: half the cost of `get`."""
        octets = bytes.fromhex("".join(ids).replace("-", ""))
        return rows_from_json(await self._database.call(scope, _SQL["contents"], octets))

    async def count(self, scope: Scope) -> int:
        """Return how many chunks of the scope can be found."""
        return sum(await rows_of(self._database, scope, scalar_row, _SQL["count"]))

    async def documents(self, scope: Scope) -> dict[UUID, str]:
        """Return the documents, each with a text that changes whenever its searchable chunks do."""
        rows = await self._database.read(scope.user_id, _DOCUMENTS, key_of(scope))
        return {row["id"]: row["state"] for row in rows}

    async def passages(
        self, scope: Scope, documents: Sequence[UUID] | None = None
    ) -> list[IndexPassage]:
        """Return every chunk in the order of ids: where it stands, a table's header, its text.

        Args:
            scope: whose chunks.
            documents: of these documents only.
        """
        wanted = list(await self.documents(scope)) if documents is None else list(documents)
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return []
            values = {"scope_id": found.scope_id, "documents": wanted}
            cursor = await connection.execute(_SQL["passages"], values, binary=True)
            return [IndexPassage(*row) async for row in cursor]

    async def vectors(self, scope: Scope, documents: Sequence[UUID]) -> Embedded:
        """Return the vectors of the chunks of some documents, in no order."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return read_embedded(())
            values = {
                "scope_id": found.scope_id,
                "partition_key": found.partition_key,
                "documents": list(documents),
            }
            cursor = await connection.execute(_SQL["vectors"], values, binary=True)
            return read_embedded([row[0] async for row in cursor])

    async def stamp(self, scope: Scope) -> Stamp:
        """Return what changes whenever the scope's passages, graph or reports do."""
        return await stamp_of(self._database, scope)

    def stamp_asked(self, scope: Scope) -> AbstractContextManager[StampAnswer]:
        """Ask for the stamp from a thread that works until the answer comes (`sextant.stores.stamps.stamp_lines`)."""
        return request_stamp(stamp_lines(self._database), scope)

    @asynccontextmanager
    async def _filtered(self, scope: Scope) -> AsyncIterator[tuple[Connection, ScopeRow | None]]:
        """Provide a snapshot that is set up for a search inside filters, and the scope's row."""
        timeout = {"timeout": f"{self._settings.lane_timeout * 1000:.0f}"}
        async with self._database.transaction(scope.user_id, snapshot=True) as connection:
            found = await find_scope(connection, scope)
            await connection.execute(custom_plans(), timeout)
            yield connection, found

    async def _whole(
        self, scope: Scope, ids: npt.NDArray[np.uint64], scores: Sequence[float]
    ) -> list[ChunkHit]:
        """Return the chunks of ids with their scores; without those that are gone by now."""
        wanted = [UUID(int=high << 64 | low) for high, low in ids.tolist()]
        score = dict(zip(wanted, scores, strict=True))
        return [ChunkHit(chunk, score[chunk.id]) for chunk in await self.get(scope, wanted)]


def _near_with_contents(answer: bytes | None) -> tuple[Scored, list[dict[str, Any]]]:
    sent = answer or bytes(4)
    end = 4 + int.from_bytes(sent[:4], "big")
    return read_few_scored(sent[4:end]), rows_from_json(sent[end:])


@contextmanager
def _fitting() -> Iterator[None]:
    """Say what it means that the question's vector has another length than those stored."""
    try:
        yield
    except DataException as error:  # pgvector: "different halfvec dimensions 384 and 8"
        said, *_ = str(error).splitlines()  # the rest is our SQL
        raise EmbeddingModelChanged(
            f"The question's vector does not fit those that are stored: {said}.",
            next_step="Search with the embedding model that the documents were ingested "
            "with, or run `sextant reembed`.",
            field="embedding",
        ) from error


def _keyword_values(scope: ScopeRow, words: list[str], k: int) -> dict[str, object]:
    grams = salt_grams(words, scope.scope_id)
    return {
        "scope_id": scope.scope_id,
        "words": words,
        "gram_words": id_array(place for place, own in enumerate(grams, start=1) for _ in own),
        "grams": id_array(np.concatenate(grams).tolist()),
        "k": k,
    }


async def _hits(
    connection: Connection, search: str, filters: ChunkFilters, values: dict[str, object]
) -> list[ChunkHit]:
    cursor = connection.cursor(row_factory=dict_row, binary=True)
    await cursor.execute(filter_condition(search), filter_values(filters) | values)
    return [ChunkHit(read_stored_chunk(row), float(row["score"])) async for row in cursor]
