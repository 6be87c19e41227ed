"""Read names and chunks for extraction, and record which passages a chat model has read."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from psycopg.rows import class_row

from sextant.domain.answers import Usage
from sextant.domain.errors import SextantError
from sextant.domain.scope import Scope
from sextant.stores.chunks.grams import salt_grams
from sextant.stores.graph.arrays import NIL
from sextant.stores.graph.graph_writer import GraphWriter
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import hold_scope, rows_of
from sextant.text.characters import lowercase

_SQL = load_queries("graph_names")


async def read_names(writer: GraphWriter) -> list[tuple[UUID, str]]:
    """Return every entity that can be found by name, with each of its spellings."""
    cursor = await writer.connection.execute(_SQL["names"], {"scope_id": writer.scope_id})
    return await cursor.fetchall()


async def has_chunks(writer: GraphWriter) -> bool:
    """Return whether the scope has chunks."""
    cursor = await writer.connection.execute(_SQL["has_chunks"], {"scope_id": writer.scope_id})
    return (await cursor.fetchone()) == (True,)


async def chunks_containing(
    writer: GraphWriter, names: Sequence[str], *, outside: Sequence[UUID]
) -> list[tuple[UUID, str]]:
    """Return id and text of the chunks that contain one of `names` as ILIKE finds them.

    The search uses the index of the keyword lane and includes a chunk's context. Chunks of the
    documents `outside` are left out.
    """
    words = sorted({folded for name in names if (folded := lowercase(name))})
    if not words:
        return []
    grams = salt_grams(words, writer.scope_id)
    cursor = await writer.connection.execute(
        _SQL["containing"],
        {
            "scope_id": writer.scope_id,
            "document_ids": list(outside),
            "words": words,
            "gram_words": [index for index, group in enumerate(grams, start=1) for _ in group],
            "grams": np.concatenate(grams).tolist(),
        },
    )
    return await cursor.fetchall()


async def live(writer: GraphWriter, versions: Mapping[UUID, int]) -> set[UUID]:
    """Return the documents whose live version is the given one."""
    key = {
        "scope_id": writer.scope_id,
        "document_ids": list(versions),
        "versions": list(versions.values()),
    }
    cursor = await writer.connection.execute(_SQL["live"], key)
    return {document_id async for (document_id,) in cursor}


_EXTRACTION_SQL = load_queries("graph_extraction")


@dataclass(frozen=True, slots=True)
class PendingChunk:
    """A chunk to be read, with its position; `attempts` counts the failed ones."""

    id: UUID
    document_id: UUID
    ordinal: int
    document_title: str
    section_path: tuple[str, ...]
    text: str
    attempts: int


@dataclass(frozen=True, slots=True)
class ExtractionCounts:
    """Numbers of passages by state, and the tokens used for them."""

    done: int = 0
    failed: int = 0
    waiting: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Failures:
    """Passages that failed with the same code; `error` is one of their messages."""

    error_code: str
    error: str
    times: int


class ExtractionStore:
    """Read the state of extraction; every call sees one scope, or one document of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def waiting(
        self, scope: Scope, *, document_id: UUID | None = None, attempts: int
    ) -> AsyncGenerator[PendingChunk]:
        """Yield unread passages and those that failed less than `attempts` times, by document."""
        query, factory = _EXTRACTION_SQL["waiting"], class_row(PendingChunk)
        key = {"document_id": document_id, "attempts": attempts, "limit": 200}
        last: dict[str, object] = {"last_document": NIL, "last_ordinal": -1}
        while page := await rows_of(self._database, scope, factory, query, **key, **last):
            for passage in page:
                yield passage
            last = {"last_document": page[-1].document_id, "last_ordinal": page[-1].ordinal}

    async def counts(self, scope: Scope, document_id: UUID | None = None) -> ExtractionCounts:
        """Count the passages by state."""
        query = _EXTRACTION_SQL["counts"]
        key = {"document_id": document_id}
        rows = await rows_of(self._database, scope, class_row(ExtractionCounts), query, **key)
        return rows[0] if rows else ExtractionCounts()

    async def failures(self, scope: Scope, document_id: UUID | None = None) -> list[Failures]:
        """Return the failures, most frequent first."""
        query = _EXTRACTION_SQL["failures"]
        return await rows_of(
            self._database, scope, class_row(Failures), query, document_id=document_id
        )

    async def retry(self, scope: Scope) -> None:
        """Reset the passages that failed too often, so that they are read again."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await hold_scope(connection, scope)
            if found is not None:
                await connection.execute(_EXTRACTION_SQL["retry"], {"scope_id": found.scope_id})


async def note_read(
    writer: GraphWriter,
    chunk_id: UUID,
    usage: Usage,
    version: int,
    error: SextantError | None = None,
) -> None:
    """Record that a passage has been read, or why it could not be; `version` is the prompt's."""
    values: dict[str, object] = {
        "chunk_id": chunk_id,
        "input_tokens": usage.prompt_tokens,
        "output_tokens": usage.completion_tokens,
        "prompt_version": version,
    }
    if error is not None:
        values |= {"error_code": error.code, "error": str(error)}
    await writer.execute(_EXTRACTION_SQL["failed" if error else "done"], **values)
