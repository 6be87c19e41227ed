"""Search chunks by vector or by keyword, and read them by id."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, LiteralString
from uuid import UUID

import numpy as np
import numpy.typing as npt
from psycopg.errors import DataException
from psycopg.rows import args_row, scalar_row

from sextant.domain.errors import EmbeddingModelChanged
from sextant.domain.questions import ChunkFilters
from sextant.domain.scope import Scope
from sextant.stores.chunks.grams import lowercase_words, rank_keyword_rows, salt_grams, word_values
from sextant.stores.chunks.stored import IndexPassage, StoredChunk, read_stored_chunk
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import (
    Embedded,
    Scored,
    halves,
    load_queries,
    read_embedded,
)
from sextant.stores.postgresql.watched import Connection
from sextant.stores.scopes import (
    ScopeRow,
    Stamp,
    find_scope,
    id_array,
    read_rows,
    rows_of,
    stamp_of,
)

_SQL = load_queries("filters")

# The numbering that may precede the words of a title.
_NUMBER = (
    r"(?:(?:第\s*[0-9一二三四五六七八九十百零〇]+\s*[章节節篇部分条條]|[0-9]+(?:[.．][0-9]+)*[.．、)）]?"
    r"|(?:chapter|section|part)\s+[0-9ivxlc]+[:.]?)\s*)?"
)


def filter_condition(name: str) -> LiteralString:
    """Return a query of `filters.sql`; its parameters include those of `filter_values`."""
    return _SQL[name].replace("%(matching)s", _SQL["matching"])


def custom_plans() -> LiteralString:
    """Return the statement that makes a transaction plan for its values; takes a `timeout` in ms."""
    return _SQL["options"]


def filter_values(filters: ChunkFilters) -> dict[str, Any]:
    """Return the parameters of the filters; None for a filter that is not set."""
    return {
        "document_ids": [found for found in map(_id, filters.document_ids) if found is not None],
        "sources": list(filters.document_ids) or None,
        "section_id": list(filters.section_id) or None,
        "created_after": filters.created_after,
        "created_before": filters.created_before,
        "topic_labels": _lower(filters.topic_labels),
        "tags": _lower(filters.tags),
        "entity_types": _lower(filters.entity_types),
        "section_patterns": [title_pattern(title) for title in filters.parent_section_path] or None,
        "document_patterns": document_patterns(filters.parent_section_path) or None,
    }


def filter_ids(filters: ChunkFilters) -> dict[str, Any]:
    """Return the documents and sections that the filters name; `ids[i]` is `names[i]` read as an id, or None."""
    return {
        "names": list(filters.document_ids),
        "ids": [_id(name) for name in filters.document_ids],
        "sections": list(filters.section_id),
    }


def title_pattern(title: str) -> str:
    """Return a regular expression for titles that begin with `title`, valid in Python and PostgreSQL.

    Numbers and Latin words match whole: `3` and `3.1` do not find `3.10`.
    """
    return f"^{_NUMBER}{_whole(title)}"


def document_patterns(titles: Sequence[str]) -> list[str]:
    """Return patterns for a path that starts at the document, one for each title.

    The first may occur anywhere in the document's title: in `["合同", "第3章"]` the word 合同 (contract)
    is seldom the beginning of a contract's title.
    """
    if not titles:
        return []
    first, *others = titles
    beginning = "(?<![A-Za-z])" if first[0].isascii() and first[0].isalpha() else ""
    return [f"{beginning}{_whole(first)}", *map(title_pattern, others)]


def _whole(title: str) -> str:
    words = re.sub(r"(\W)", r"\\\1", title)
    if title[-1].isascii() and title[-1].isdigit():
        ending = r"(?![.．]?[0-9])"
    else:
        ending = "(?![A-Za-z])" if title[-1].isascii() and title[-1].isalpha() else ""
    return f"{words}{ending}"


def _id(name: str) -> UUID | None:
    with suppress(ValueError):
        return UUID(name)
    return None


def _lower(words: tuple[str, ...]) -> list[str] | None:
    return [word.lower() for word in words] or None


Vectors = npt.NDArray[np.float32]

_CHUNK_STORE_SQL = load_queries("chunks")
# The keyword search examines at most this many texts for each hit wanted; it usually stops earlier.
_TEXTS_PER_HIT = 8


class ChunkStore:
    """Search and read the chunks of live document versions; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._settings = database.settings.retrieval

    async def nearest(
        self, scope: Scope, vector: Vectors, k: int, filters: ChunkFilters | None = None
    ) -> Scored:
        """Return the ids and cosine similarities of the `k` nearest chunks, best first.

        Returns exactly min(k, number of matching chunks). Filtered searches, and scopes in the shared partition, are
        scanned exactly. An HNSW search that returns too few, or that a sample proves wrong, is repeated exactly.

        Args:
            scope: the knowledge base to search.
            vector: the question's embedding, shape (dimension,).
            k: the number of chunks.
            filters: restrict the chunks that may be returned.

        Raises:
            DatabaseUnavailable: the server does not answer within `retrieval.lane_timeout`.
            EmbeddingModelChanged: the stored vectors have another length.
        """
        if k < 1:
            return Scored([], [])
        question = np.ascontiguousarray(vector, dtype=np.float32)
        with _check_dimension():
            if filters is not None:
                values = {"vector": question, "k": k}
                return await self._search_filtered(scope, "vector_search", filters, values)
            width = min(1000, max(self._settings.hnsw_ef_search, k))
            query = _CHUNK_STORE_SQL["nearest"]
            return Scored.decode(await self.database.call(scope, query, question, k, width))

    async def keyword_matches(
        self, scope: Scope, keywords: Sequence[str], k: int, filters: ChunkFilters | None = None
    ) -> Scored:
        """Return the chunks that contain keywords as ILIKE finds them, most distinct keywords first.

        Ties are ordered by density (bytes of the keywords found ÷ bytes of the text searched), then by
        id. score = number of keywords + density ÷ (1 + density).

        Raises:
            DatabaseUnavailable: the server does not answer within `retrieval.lane_timeout`.
        """
        words = lowercase_words(keywords)
        if k < 1 or not words:
            return Scored([], [])
        if filters is not None:
            values = {"words": words, "k": k}
            return await self._search_filtered(scope, "keyword_search", filters, values)
        values_of_words = (*word_values(words), _TEXTS_PER_HIT * k, k)
        answer = await self.database.call(scope, _CHUNK_STORE_SQL["held"], *values_of_words)
        return Scored.of(rank_keyword_rows(answer or b"", k))

    def keyword_statement(self, scope: Scope, keywords: Sequence[str], k: int) -> str:
        """Return the statement that `keyword_matches` sends, for a log."""
        values = (*word_values(lowercase_words(keywords)), _TEXTS_PER_HIT * k, k)
        _, function = _CHUNK_STORE_SQL["held"].splitlines()
        return f"select {function} -- {(scope.user_id, scope.graph_id, *values)}"

    async def matching_ids(self, scope: Scope, filters: ChunkFilters) -> npt.NDArray[np.uint64]:
        """Return the ids of the chunks that match the filters, ascending, as halves of shape (n, 2)."""
        async with self._open_filtered(scope) as (connection, found):
            if found is None:
                return halves(None)
            cursor = connection.cursor(binary=True)
            values = {"scope_id": found.scope_id, **filter_values(filters)}
            row = await (await cursor.execute(filter_condition("ids"), values)).fetchone()
            return halves(row[0] if row else None)

    async def find_unknown_ids(self, scope: Scope, filters: ChunkFilters) -> list[str]:
        """Return the document and section ids of the filters that the scope does not have, as written."""
        if not (filters.document_ids or filters.section_id):
            return []
        query, values = filter_condition("unknown"), filter_ids(filters)
        return await rows_of(self.database, scope, scalar_row, query, **values)

    async def find_unknown_types(
        self, scope: Scope, types: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """Return the unknown ones among entity types, and the types that the scope has.

        The unknown types are in lower case. The scope's types are returned only if there are unknown
        ones, as they are written, most frequent first.
        """
        unknown = await self._types(scope, "unknown_types", types) if types else []
        return unknown, await self._types(scope, "types", ()) if unknown else []

    async def _types(self, scope: Scope, query: str, types: Sequence[str]) -> list[str]:
        values = {"types": [type_.lower() for type_ in types]}
        return await rows_of(self.database, scope, scalar_row, filter_condition(query), **values)

    async def get(self, scope: Scope, ids: Sequence[UUID]) -> list[StoredChunk]:
        """Return the chunks with these ids, in this order; ids that the scope does not have are skipped."""
        rows = await read_rows(self.database, scope, _CHUNK_STORE_SQL["get"], ids=id_array(ids))
        return [read_stored_chunk(row) for row in rows]

    async def contents(self, scope: Scope, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return the fields that results show of these chunks, in this order, as rows."""
        query = _CHUNK_STORE_SQL["contents"]
        return await read_rows(self.database, scope, query, ids=id_array(ids))

    async def count(self, scope: Scope) -> int:
        """Count the searchable chunks of the scope."""
        return sum(await rows_of(self.database, scope, scalar_row, _CHUNK_STORE_SQL["count"]))

    async def documents(self, scope: Scope) -> dict[UUID, str]:
        """Return the state of each document by id: a text that changes whenever its searchable chunks do."""
        rows = await read_rows(self.database, scope, _CHUNK_STORE_SQL["documents"])
        return {row["id"]: row["state"] for row in rows}

    async def passages(
        self, scope: Scope, documents: Sequence[UUID] | None = None
    ) -> list[IndexPassage]:
        """Return every chunk as an index needs it, in the order of ids.

        Args:
            scope: the knowledge base to read.
            documents: restrict the chunks to those of these documents.
        """
        wanted = list(await self.documents(scope)) if documents is None else list(documents)
        query, factory = _CHUNK_STORE_SQL["passages"], args_row(IndexPassage)
        return await rows_of(self.database, scope, factory, query, documents=wanted)

    async def vectors(self, scope: Scope, documents: Sequence[UUID]) -> Embedded:
        """Return the vectors of the chunks of some documents, in no particular order."""
        query, wanted = _CHUNK_STORE_SQL["vectors"], list(documents)
        return read_embedded(
            await rows_of(self.database, scope, scalar_row, query, documents=wanted)
        )

    async def stamp(self, scope: Scope) -> Stamp:
        """Return the scope's stamp, which changes whenever its passages, graph or reports do."""
        return await stamp_of(self.database, scope)

    @asynccontextmanager
    async def _open_filtered(
        self, scope: Scope
    ) -> AsyncIterator[tuple[Connection, ScopeRow | None]]:
        """Open a snapshot that is set up for a filtered search; yield it with the scope's row."""
        timeout = {"timeout": f"{self._settings.lane_timeout * 1000:.0f}"}
        async with self.database.transaction(scope.user_id, snapshot=True) as connection:
            found = await find_scope(connection, scope)
            await connection.execute(custom_plans(), timeout)
            yield connection, found

    async def _search_filtered(
        self, scope: Scope, search: str, filters: ChunkFilters, values: dict[str, Any]
    ) -> Scored:
        """Return what a search finds among the chunks that match the filters."""
        async with self._open_filtered(scope) as (connection, found):
            if found is None:
                return Scored([], [])
            key = {"scope_id": found.scope_id, "partition_key": found.partition_key}
            grams = _salted_grams(values.get("words", ()), found.scope_id)
            cursor = connection.cursor(binary=True)
            await cursor.execute(
                filter_condition(search), filter_values(filters) | key | values | grams
            )
            rows = await cursor.fetchall()
        return Scored([str(id_) for id_, _ in rows], [float(score) for _, score in rows])


@contextmanager
def _check_dimension() -> Iterator[None]:
    """Raise `EmbeddingModelChanged` when the question's vector and the stored ones differ in length."""
    try:
        yield
    except DataException as error:  # pgvector: "different halfvec dimensions 384 and 8"
        message, *_ = str(error).splitlines()  # the rest quotes the statement
        raise EmbeddingModelChanged(
            f"The question's vector does not fit the stored vectors: {message}.",
            next_step="Search with the embedding model that the documents were ingested "
            "with, or run `sextant reembed`.",
            field="embedding",
        ) from error


def _salted_grams(words: Sequence[str], scope_id: int) -> dict[str, object]:
    """Return the grams of words, each with the number of its word from 1, as values of a query."""
    if not words:
        return {}
    grams = salt_grams(words, scope_id)
    return {
        "gram_words": id_array(index for index, group in enumerate(grams, start=1) for _ in group),
        "grams": id_array(np.concatenate(grams).tolist()),
    }
