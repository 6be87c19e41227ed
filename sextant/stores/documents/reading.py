"""Documents as they are read: what there is of one, and the one error for what there is not."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow, dict_row

from sextant.domain.documents import Document, DocumentStatus, HeadingSource, Section
from sextant.domain.errors import DocumentNotFound
from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import key_of, of_scope

# A heading of more characters is a sentence, and below which there are fewer, there is nothing to tell.
_LONG = 60
_SHORT = 60

_SQL = {name: of_scope(query) for name, query in load_queries("documents").items()}


@dataclass(frozen=True, slots=True)
class Given:
    """The bytes of a version, and what the user says of it."""

    content: bytes
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Original:
    """The file of a version, of `size_bytes` bytes that begin with `head`."""

    filename: str
    version: int
    size_bytes: int
    head: bytes


@dataclass(frozen=True, slots=True)
class DocumentHeading:
    """A heading of a document, below which it is spoken of; None where the document has none such."""

    document_id: UUID
    filename: str
    document_title: str
    language: str
    heading: str | None


class DocumentReader:
    """The documents of a database, for whoever changes none; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, scope: Scope, document_id: UUID) -> Document:
        """Return one document.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        anywhere = {"after": None, "after_id": None, "most": None}
        return _document(await self._one("describe", scope, document_id, anywhere))

    async def list(
        self, scope: Scope, after: tuple[datetime, UUID] | None = None, most: int | None = None
    ) -> builtins.list[Document]:
        """Return the documents of a scope, oldest first; `most` of those `after` a time and an id."""
        time, last = after or (None, None)
        place = {"document_id": None, "after": time, "after_id": last, "most": most}
        rows = await self._rows("describe", scope.user_id, key_of(scope) | place)
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
        """Return headings of the newest `documents` that serve, so many of `each`, in reading order."""
        bounds = {"documents": documents, "each": each, "longest": _LONG, "least": _SHORT}
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

    async def original(self, scope: Scope, document_id: UUID, *, head: int) -> Original:
        """Return the file that a document was made from, with its first `head` bytes.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        return Original(**await self._one("original", scope, document_id, {"head": head}))

    async def original_part(
        self, scope: Scope, document_id: UUID, version: int, start: int, length: int
    ) -> bytes:
        """So many bytes of a version's file.

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

    async def given(self, scope: Scope, document_id: UUID) -> Given:
        """Return what there is to ingest: the pending version, else the live one.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        return Given(**await self._one("given", scope, document_id, {}))

    async def is_live(self, scope: Scope, document_id: UUID, version: int) -> bool:
        """Return whether this version has been published, and is not replaced or deleted since."""
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
        async with self._database.transaction(user_id) as connection:
            cursor = connection.cursor(row_factory=dict_row, binary=True)
            await cursor.execute(_SQL[query], values)
            return await cursor.fetchall()


def _document(row: DictRow) -> Document:
    copies = tuple(row["copies"])
    return Document(**{**row, "status": DocumentStatus(row["status"]), "copies": copies})


def _section(row: DictRow) -> Section:
    told = {name: tuple(row[name]) for name in ("path", "tags", "keywords")}
    return Section(**row | told | {"heading_source": HeadingSource(row["heading_source"])})


def document_id_of(given: UUID | str) -> UUID:
    """Return the id as such.

    Raises:
        DocumentNotFound: no document has an id like this.
    """
    try:
        return UUID(str(given))
    except ValueError:
        raise not_found(given) from None


def not_found(document_id: UUID | str) -> DocumentNotFound:
    """Return one error for a document that does not exist and for one of another user, so that neither can be told."""
    return DocumentNotFound(
        f"No document {document_id} in this knowledge base.",
        next_step="List the documents; it may have been deleted.",
        field="document_id",
    )
