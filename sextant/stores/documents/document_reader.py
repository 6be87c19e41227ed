"""Read documents and their versions; one error for documents that cannot be found.

Also here: store the captions that a vision model wrote for images in documents.
"""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow, dict_row

from sextant.domain.documents import Coverage, Document, DocumentStatus, HeadingSource, Section
from sextant.domain.errors import DocumentNotFound
from sextant.domain.page_boxes import PageBox, find_boxes
from sextant.domain.scope import Scope, key_of
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import of_scope
from sextant.text.characters import clean_text

_SQL = load_queries("captions")


class CaptionStore:
    """Read and write captions by image; every call sees one scope, one model and one language."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def known(
        self, scope: Scope, model: str, language: str, images: Iterable[str]
    ) -> dict[str, str]:
        """Return the stored captions by image sha256; "" if an image could not be described."""
        values = {"model": model, "language": language, "images": list(images)}
        async with self._database.transaction(scope.user_id) as connection:
            cursor = await connection.execute(_SQL["known"], key_of(scope) | values)
            return {sha256: caption async for sha256, caption in cursor}

    async def keep(
        self, scope: Scope, model: str, language: str, sha256: str, caption: str
    ) -> None:
        """Store a caption, or "" for an image that could not be described."""
        values = {"model": model, "language": language, "sha256": sha256}
        values["caption"] = clean_text(caption)
        async with self._database.transaction(scope.user_id) as connection:
            await connection.execute(_SQL["keep"], key_of(scope) | values)


_READING_SQL = load_queries("documents")


@dataclass(frozen=True, slots=True)
class SourceContent:
    """The bytes of a version, and the metadata that the user gave."""

    content: bytes
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Original:
    """The original file of a version; `head` holds its first bytes."""

    filename: str
    version: int
    sha256: str
    size_bytes: int
    head: bytes


@dataclass(frozen=True, slots=True)
class DocumentHeading:
    """A document with one of its headings; None if no heading fits."""

    document_id: UUID
    filename: str
    document_title: str
    language: str
    heading: str | None


class DocumentReader:
    """Read documents without changing them; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, scope: Scope, document_id: UUID) -> Document:
        """Return one document.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        any_page = {"after": None, "after_id": None, "most": None, "name": ""}
        return _document(await self._one("describe", scope, document_id, any_page))

    async def list(
        self,
        scope: Scope,
        after: tuple[datetime, UUID] | None = None,
        limit: int | None = None,
        name: str = "",
    ) -> builtins.list[Document]:
        """Return the documents of a scope, oldest first, at most `limit` after a time and an id.

        With `name` only those whose file name has it, in any case.
        """
        created_at, last_id = after or (None, None)
        page = {
            "document_id": None,
            "after": created_at,
            "after_id": last_id,
            "most": limit,
            "name": name,
        }
        rows = await self._rows("describe", scope.user_id, key_of(scope) | page)
        return [_document(row) for row in rows]

    async def structure(self, scope: Scope, document_id: UUID) -> tuple[Section, ...]:
        """Return the section tree in reading order, parents before children.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        key = key_of(scope) | {"document_id": document_id}
        rows = await self._rows("structure", scope.user_id, key)
        if not rows:
            await self.get(scope, document_id)
        return tuple(_section(row) for row in rows)

    async def headings(
        self, scope: Scope, *, documents: int, each: int
    ) -> builtins.list[DocumentHeading]:
        """Return headings of the newest `documents`, at most `each` of every one, in reading order."""
        bounds = {
            "documents": documents,
            "each": each,
            # A longer heading is a sentence; a section with less text has nothing to ask about.
            "longest": 60,
            "least": 60,
        }
        rows = await self._rows("headings", scope.user_id, key_of(scope) | bounds)
        return [DocumentHeading(**row) for row in rows]

    async def text(self, scope: Scope, document_id: UUID, start: int, end: int) -> str:
        """Return characters `start` to `end` of the live version's text.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        begin = max(0, start)
        part = {"start": begin, "length": max(0, end - begin)}
        return str((await self._one("text", scope, document_id, part))["text"])

    async def boxes(
        self, scope: Scope, document_id: UUID, start: int, end: int
    ) -> builtins.list[PageBox]:
        """Return where characters `start` to `end` of the live version's text stand on the pages of its file.

        Nothing where it has no pages, or was read before boxes were stored.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        packed = (await self._one("boxes", scope, document_id, {}))["boxes"]
        return await asyncio.to_thread(find_boxes, bytes(packed or b""), start, end)

    async def original(self, scope: Scope, document_id: UUID, *, head: int) -> Original:
        """Return the file that a document was made from, with its first `head` bytes.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        return Original(**await self._one("original", scope, document_id, {"head": head}))

    async def original_part(
        self, scope: Scope, document_id: UUID, version: int, start: int, length: int
    ) -> bytes:
        """Return `length` bytes of a version's file from `start`.

        Raises:
            DocumentNotFound: the version was replaced or deleted meanwhile.
        """
        part = {"version": version, "start": start, "length": length}
        return bytes((await self._one("original_part", scope, document_id, part))["part"])

    async def graph_of(self, user_id: str, document_id: UUID) -> str:
        """Return the knowledge base that a document of this user is in.

        Raises:
            DocumentNotFound: the user has no such document.
        """
        key = {"user_id": user_id, "document_id": document_id}
        for row in await self._rows("graph_of", user_id, key):
            return str(row["graph_id"])
        raise not_found(document_id)

    async def read_source(self, scope: Scope, document_id: UUID) -> SourceContent:
        """Return the bytes to ingest: the pending version's, else the live one's.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        return SourceContent(**await self._one("given", scope, document_id, {}))

    async def is_live(self, scope: Scope, document_id: UUID, version: int) -> bool:
        """Return whether this version is the live one."""
        key = key_of(scope) | {"document_id": document_id, "version": version}
        return bool(await self._rows("is_live", scope.user_id, key))

    async def _one(
        self, query: str, scope: Scope, document_id: UUID, values: dict[str, Any]
    ) -> DictRow:
        key = key_of(scope) | {"document_id": document_id}
        for row in await self._rows(query, scope.user_id, key | values):
            return row
        raise not_found(document_id)

    async def _rows(
        self, query: str, user_id: str, values: dict[str, Any]
    ) -> builtins.list[DictRow]:
        statement = of_scope(_READING_SQL[query])
        return await self._database.fetch(user_id, dict_row, statement, values, binary=True)


def _document(row: DictRow) -> Document:
    converted = {
        "status": DocumentStatus(row["status"]),
        "copies": tuple(row["copies"]),
        "coverage": None if row["coverage"] is None else Coverage(**row["coverage"]),
    }
    return Document(**{**row, **converted})


def _section(row: DictRow) -> Section:
    lists = {name: tuple(row[name]) for name in ("path", "tags", "keywords")}
    return Section(**row | lists | {"heading_source": HeadingSource(row["heading_source"])})


def document_id_of(text: UUID | str) -> UUID:
    """Parse the id of a document.

    Raises:
        DocumentNotFound: the text is no document id.
    """
    try:
        return UUID(str(text))
    except ValueError:
        raise not_found(text) from None


def not_found(document_id: UUID | str) -> DocumentNotFound:
    """Return the error for an unknown document; it is the same for one of another user."""
    return DocumentNotFound(
        f"No document {document_id} in this knowledge base.",
        next_step="List the documents; it may have been deleted.",
        field="document_id",
    )
