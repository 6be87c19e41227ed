"""Record which passages a chat model has read, and which failed.

A passage without a row is waiting. Rows are written by the graph's writer in the transaction that
stores the evidence, so a passage is never recorded as done without its evidence.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from sextant.domain.answers import Usage
from sextant.domain.errors import SextantError
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import NIL
from sextant.stores.graph.graph_writer import GraphWriter
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import hold_scope, rows_of

_SQL = load_queries("graph_extraction")
_PAGE = 200  # passages read at a time


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
        last = (NIL, -1)
        while page := await self._page(scope, document_id, attempts, last):
            for passage in page:
                yield passage
            last = (page[-1].document_id, page[-1].ordinal)

    async def counts(self, scope: Scope, document_id: UUID | None = None) -> ExtractionCounts:
        """Count the passages by state."""
        query = _SQL["counts"]
        key = {"document_id": document_id}
        rows = await rows_of(self._database, scope, class_row(ExtractionCounts), query, **key)
        return rows[0] if rows else ExtractionCounts()

    async def failures(self, scope: Scope, document_id: UUID | None = None) -> list[Failures]:
        """Return the failures, most frequent first."""
        query = _SQL["failures"]
        return await rows_of(
            self._database, scope, class_row(Failures), query, document_id=document_id
        )

    async def retry(self, scope: Scope) -> None:
        """Reset the passages that failed too often, so that they are read again."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await hold_scope(connection, scope)
            if found is not None:
                await connection.execute(_SQL["retry"], {"scope_id": found.scope_id})

    async def _page(
        self, scope: Scope, document_id: UUID | None, attempts: int, last: tuple[UUID, int]
    ) -> list[PendingChunk]:
        return await rows_of(
            self._database,
            scope,
            class_row(PendingChunk),
            _SQL["waiting"],
            document_id=document_id,
            attempts=attempts,
            last_document=last[0],
            last_ordinal=last[1],
            limit=_PAGE,
        )


async def note_done(writer: GraphWriter, chunk_id: UUID, usage: Usage, version: int) -> None:
    """Record that a passage has been read; `version` is the prompt's."""
    await writer.execute(_SQL["done"], **_usage_values(chunk_id, usage, version))


async def note_failed(
    writer: GraphWriter, chunk_id: UUID, usage: Usage, version: int, error: SextantError
) -> None:
    """Record that a passage could not be read, and why."""
    values = _usage_values(chunk_id, usage, version)
    await writer.execute(_SQL["failed"], **values, error_code=error.code, error=str(error))


def _usage_values(chunk_id: UUID, usage: Usage, version: int) -> dict[str, object]:
    return {
        "chunk_id": chunk_id,
        "input_tokens": usage.prompt_tokens,
        "output_tokens": usage.completion_tokens,
        "prompt_version": version,
    }
