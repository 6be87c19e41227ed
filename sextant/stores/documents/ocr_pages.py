"""Keep what OCR read of a document's pages, so that a job that is resumed reads no page twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("ocr_pages")


@dataclass(frozen=True, slots=True)
class StoredOcrPage:
    """What was read of a page (counted from 1) of the content with that sha256, or why nothing could be read."""

    sha256: str
    page: int
    lines: Mapping[str, Any] | None
    confidence: float | None = None
    error: str | None = None


class OcrPageStore:
    """Read and write what one engine read of documents; every call sees one user."""

    def __init__(self, database: Database, engine: str) -> None:
        self._database = database
        self._engine = engine

    async def known(
        self, scope: Scope, document_id: UUID, files: Iterable[str]
    ) -> list[StoredOcrPage]:
        """Return what is stored of contents by their sha256; what is stored of others is deleted."""
        values = {**self._values(scope, document_id), "files": list(files)}
        async with self._database.transaction(scope.user_id) as connection:
            await connection.execute(_SQL["forget"], values)
            cursor = await connection.execute(_SQL["known"], values)
            return [
                StoredOcrPage(sha256, page, lines, error=error)
                async for sha256, page, lines, error in cursor
            ]

    async def keep(self, scope: Scope, document_id: UUID, page: StoredOcrPage) -> None:
        """Store what was read of a page."""
        values = self._values(scope, document_id) | {
            "sha256": page.sha256,
            "page": page.page,
            "confidence": page.confidence,
            "lines": None if page.lines is None else Jsonb(page.lines),
            "error": page.error,
        }
        async with self._database.transaction(scope.user_id) as connection:
            await connection.execute(_SQL["keep"], values)

    def _values(self, scope: Scope, document_id: UUID) -> dict[str, Any]:
        return {"document_id": document_id, "user_id": scope.user_id, "engine": self._engine}
