"""Documents and their versions: registered, filled batch by batch, published, deleted.

A document is a name (`source`) within a scope. Its live version is what search sees; a new upload
opens a pending version. The chunks of a first version are searchable as they come; those of a
replacement are staged and take the old ones' place in one transaction.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from domain.documents import (
    Chunk,
    Document,
    DocumentStatus,
    HeadingSource,
    JobStage,
    ParsedDocument,
    Section,
)
from domain.scope import Scope
from stores.array_files import forget_words
from stores.chunks.chunk_store import Vectors
from stores.chunks.partitions import settle
from stores.documents.registering import Given, Registered, Upload, register
from stores.documents.versions import (
    Ready,
    bring_chunks,
    delete_document,
    end_job,
    fetch_one,
    make_live,
    not_found,
    open_version,
    require_scope,
    take_back,
    write_brought,
    write_first_versions,
    write_parsed,
)
from stores.postgresql.database import Database
from stores.postgresql.queries import load_queries
from stores.scopes import find_scope, key_of, share_scope

_SQL = load_queries("documents")


class DocumentStore:
    """The documents of a database; every call sees one scope.

    Methods that write a version take `version` from the worker's job: they raise `ConflictError` when
    a newer upload has replaced that version. Without it they write to the pending one.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def register(
        self,
        scope: Scope,
        *,
        source: str,
        filename: str,
        media_type: str,
        content: bytes,
        external_id: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Registered:
        """Take a file in: store its bytes and queue its ingestion, unless the scope has them already.

        The same bytes anywhere in the scope are the same document. Another content under a known
        `source` opens a new version of that document. Makes the graph when it is new.
        """
        upload = Upload(source, filename, media_type, content, external_id, metadata)
        [registered] = await self.register_all(scope, [upload])
        return registered

    async def register_all(
        self, scope: Scope, uploads: Sequence[Upload]
    ) -> builtins.list[Registered]:
        """The same for several files, all or none, in order."""
        async with self._database.transaction(scope.user_id) as connection:
            return await register(connection, scope, uploads)

    async def given(self, scope: Scope, document_id: UUID) -> Given:
        """What there is to ingest: the pending version, else the live one.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        async with self._database.transaction(scope.user_id) as connection:
            row = require_scope(await find_scope(connection, scope), document_id)
            key = {"scope_id": row.scope_id, "document_id": document_id}
            found = await fetch_one(connection, "given", key)
            if found is None:
                raise not_found(document_id)
            return Given(bytes(found["content"]), found["metadata"])

    async def begin(
        self,
        scope: Scope,
        document_id: UUID,
        parsed: ParsedDocument,
        *,
        version: int | None = None,
    ) -> set[UUID]:
        """Write the pending version's text and sections; say which of its chunks are stored already.

        Chunks that an earlier try stored and `parsed` does not have are removed, so a changed parser
        may resume an older one's work.

        Raises:
            DocumentNotFound: deleted meanwhile. ConflictError: replaced meanwhile.
        """
        async with self._database.transaction(scope.user_id) as connection:
            opened = await open_version(connection, scope, document_id, version)
            return await write_parsed(connection, opened, parsed)

    async def add_chunks(
        self,
        scope: Scope,
        document_id: UUID,
        chunks: Sequence[Chunk],
        vectors: Vectors,
        *,
        version: int | None = None,
    ) -> None:
        """Store a batch: searchable at once in a first version, staged in a replacement.

        Several batches of a document may be stored at the same time, each on a connection of its own.

        Args:
            scope: whose document.
            document_id: which document.
            chunks: the batch; chunks that are stored already are passed over.
            vectors: shape (len(chunks), dimension), L2-normalised.
            version: the job's version.

        Raises:
            DocumentNotFound: deleted meanwhile. ConflictError: replaced meanwhile.
        """
        async with self._database.transaction(scope.user_id) as connection:
            row = require_scope(await find_scope(connection, scope), document_id)
            await bring_chunks(connection, row.scope_id, {document_id: chunks}, vectors)
            opened = await open_version(
                connection, scope, document_id, version, lock="share_document"
            )
            await write_brought(connection, opened)

    async def store(self, scope: Scope, ready: Ready) -> None:
        """Begin, add all chunks and publish in one step, for a small document; its job stays open.

        Raises:
            DocumentNotFound: deleted meanwhile. ConflictError: replaced meanwhile.
        """
        async with self._database.transaction(scope.user_id) as connection:
            opened = await open_version(connection, scope, ready.document_id, ready.version)
            await write_parsed(connection, opened, ready.parsed)
            chunks = {ready.document_id: ready.parsed.chunks}
            await bring_chunks(connection, opened.scope.scope_id, chunks, ready.vectors)
            await write_brought(connection, opened)
            await make_live(connection, opened)
        await settle(self._database, scope)

    async def store_all(self, scope: Scope, ready: Sequence[Ready]) -> builtins.list[None]:
        """The same for several, all or none.

        Raises:
            ConflictError: one of them is not waiting for its first version, or has stored some of it.
        """
        if len(ready) == 1:
            await self.store(scope, ready[0])
        else:
            async with self._database.transaction(scope.user_id) as connection:
                await write_first_versions(connection, scope, ready)
            await settle(self._database, scope)
        return [None] * len(ready)

    async def publish(
        self,
        scope: Scope,
        document_id: UUID,
        *,
        version: int | None = None,
        close_job: bool = True,
    ) -> None:
        """Make the pending version the live one, in one step; its predecessor is gone.

        Closes the job with it unless stages follow that need no pending version.

        Afterwards a scope that has grown past `settings.retrieval.exact_below` gets an HNSW index.

        Raises:
            DocumentNotFound: deleted meanwhile. ConflictError: replaced meanwhile.
        """
        async with self._database.transaction(scope.user_id) as connection:
            opened = await open_version(connection, scope, document_id, version)
            if opened.version is None:
                return
            await make_live(connection, opened)
            if close_job:
                await end_job(connection, opened, JobStage.DONE)
        await settle(self._database, scope)

    async def is_live(self, scope: Scope, document_id: UUID, version: int) -> bool:
        """Whether this version has been published, and is not replaced or deleted since."""
        async with self._database.transaction(scope.user_id) as connection:
            key = {"user_id": scope.user_id, "graph_id": scope.graph_id, "version": version}
            return (
                await fetch_one(connection, "is_live", key | {"document_id": document_id})
                is not None
            )

    async def fail(
        self,
        scope: Scope,
        document_id: UUID,
        *,
        version: int | None = None,
        error: BaseException | None = None,
    ) -> None:
        """Withdraw the pending version: a live one stays searchable, a first one loses its chunks.

        Its job ends with `error`. A first version stays listed as failed and keeps its bytes;
        registering them again retries.
        """
        async with self._database.transaction(scope.user_id) as connection:
            opened = await open_version(connection, scope, document_id, version)
            if opened.version is None:
                return
            await take_back(connection, opened)
            await end_job(connection, opened, JobStage.FAILED, error)

    async def delete(self, scope: Scope, document_id: UUID) -> None:
        """Remove a document with everything that came from it.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        async with self._database.transaction(scope.user_id) as connection:
            row = require_scope(await share_scope(connection, scope), document_id)
            if not await delete_document(connection, row, document_id):
                raise not_found(document_id)
        await forget_words(self._database.settings, scope)

    async def get(self, scope: Scope, document_id: UUID) -> Document:
        """One document.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        found = await self._describe(scope, document_id)
        if not found:
            raise not_found(document_id)
        return found[0]

    async def list(
        self, scope: Scope, after: tuple[datetime, UUID] | None = None, most: int | None = None
    ) -> builtins.list[Document]:
        """The documents of a scope, oldest first; `most` of those `after` a time and an id."""
        return await self._describe(scope, None, after, most)

    async def structure(self, scope: Scope, document_id: UUID) -> tuple[Section, ...]:
        """The section tree in reading order, parents before children.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        await self.get(scope, document_id)
        async with self._database.transaction(scope.user_id) as connection:
            row = require_scope(await find_scope(connection, scope), document_id)
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(
                _SQL["structure"], {"scope_id": row.scope_id, "document_id": document_id}
            )
            return tuple([_section(values) async for values in cursor])

    async def text(self, scope: Scope, document_id: UUID, start: int, end: int) -> str:
        """Characters `start` to `end` of the live version's text.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        async with self._database.transaction(scope.user_id) as connection:
            row = require_scope(await find_scope(connection, scope), document_id)
            begin = max(0, start)
            key = {"scope_id": row.scope_id, "document_id": document_id}
            part = {"start": begin, "length": max(0, end - begin)}
            cursor = await connection.execute(_SQL["text"], key | part)
            found = await cursor.fetchone()
            if found is None:
                raise not_found(document_id)
            return str(found[0])

    async def graph_of(self, user_id: str, document_id: UUID) -> str:
        """The knowledge base that a document of this user is in.

        Raises:
            DocumentNotFound: the user has no such document.
        """
        async with self._database.transaction(user_id) as connection:
            key = {"user_id": user_id, "document_id": document_id}
            found = await fetch_one(connection, "graph_of", key)
        if found is None:
            raise not_found(document_id)
        return str(found["graph_id"])

    async def _describe(
        self,
        scope: Scope,
        document_id: UUID | None,
        after: tuple[datetime, UUID] | None = None,
        most: int | None = None,
    ) -> builtins.list[Document]:
        place = {"after": after and after[0], "after_id": after and after[1], "most": most}
        async with self._database.transaction(scope.user_id) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(
                _SQL["describe"],
                {**key_of(scope), "document_id": document_id, **place},
            )
            return [
                Document(**{**row, "status": DocumentStatus(row["status"])}) async for row in cursor
            ]


def _section(row: dict[str, Any]) -> Section:
    return Section(
        id=row["id"],
        parent_id=row["parent_id"],
        title=row["title"],
        level=row["level"],
        ordinal=row["ordinal"],
        start=row["start_offset"],
        end=row["end_offset"],
        path=tuple(row["path"]),
        heading_source=HeadingSource(row["heading_source"]),
        page=row["page"],
        summary=row["summary"],
        tags=tuple(row["tags"]),
        keywords=tuple(row["keywords"]),
    )
