"""Find stored chunks and sections without descriptions, and write their descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from sextant.domain.documents import Chunk, ParsedDocument
from sextant.domain.scope import Scope
from sextant.stores.chunks.stored import read_stored_chunk
from sextant.stores.documents.reading import DocumentReader
from sextant.stores.documents.versions import describe_chunks
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import find_scope, hold_scope

_SQL = load_queries("descriptions")
_FIELDS = [field.name for field in fields(Chunk)]


class Descriptions:
    """Read and write the descriptions of the chunks of one knowledge base."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self._database = database
        self._scope = scope
        self._documents = DocumentReader(database)

    async def undescribed(self) -> list[UUID]:
        """Return the documents with chunks that have no description."""
        return [row["id"] for row in await self._rows("undescribed", {})]

    async def document(self, document_id: UUID) -> ParsedDocument:
        """Return a stored document as its parser would return it, but without its text.

        Raises:
            DocumentNotFound: the document was deleted.
        """
        sections = await self._documents.structure(self._scope, document_id)
        rows = await self._rows("chunks", {"document_id": document_id})
        chunks = [read_stored_chunk(row) for row in rows]
        first: Mapping[str, Any] = rows[0] if rows else {}
        return ParsedDocument(
            title=chunks[0].document_title if chunks else "",
            text="",
            language=first.get("language", ""),
            sections=sections,
            chunks=tuple(Chunk(**{name: getattr(row, name) for name in _FIELDS}) for row in chunks),
            metadata=dict(first.get("metadata", {})),
        )

    async def write(self, document_id: UUID, described: ParsedDocument) -> None:
        """Store descriptions of chunks and sections that have none."""
        async with self._database.transaction(self._scope.user_id) as connection:
            row = await hold_scope(connection, self._scope)
            if row is None:
                return
            key = {"scope_id": row.scope_id, "document_id": document_id}
            await connection.execute(_SQL["lock"], key)
            async with connection.cursor() as cursor:
                await describe_chunks(cursor, key, described.chunks)
                await cursor.executemany(
                    _SQL["describe_section"],
                    [
                        key | _values(section, ("summary", "tags", "keywords"))
                        for section in described.sections
                    ],
                )

    async def _rows(self, query: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        async with self._database.transaction(self._scope.user_id) as connection:
            row = await find_scope(connection, self._scope)
            if row is None:
                return []
            cursor = connection.cursor(row_factory=dict_row, binary=True)
            await cursor.execute(_SQL[query], {"scope_id": row.scope_id, **values})
            return await cursor.fetchall()


def _values(item: object, names: Sequence[str]) -> dict[str, Any]:
    values = {name: getattr(item, name) for name in ("id", *names)}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}
