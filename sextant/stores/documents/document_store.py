"""Register, write, publish and delete documents and their versions.

A document is identified by its name (`source`) within a scope. Searches see its live version; a new
upload opens a pending version. The chunks of a first version are searchable as soon as they are
stored. Those of a replacement are staged, and replace the old ones in one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from psycopg.types.json import Jsonb

from sextant.domain.documents import Chunk, JobStage, ParsedDocument
from sextant.domain.errors import DocumentNotFound
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.documents.chunk_copy import copy_chunks, maintain_indexes
from sextant.stores.documents.document_reader import DocumentReader, not_found
from sextant.stores.documents.registration import (
    Registered,
    Upload,
    register,
    register_attachments,
    remove_name,
)
from sextant.stores.documents.versions import (
    ReadyVersion,
    end_job,
    keep_stored,
    make_live,
    open_version,
    require_scope,
    withdraw_version,
    write_copied_chunks,
    write_parsed,
)
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import find_scope, reserve_scope, share_scope

_SQL = load_queries("ocr_pages")


@dataclass(frozen=True, slots=True)
class StoredOcrPage:
    """The text of a page (from 1) of the content with that sha256, or the error."""

    sha256: str
    page: int
    lines: Mapping[str, Any] | None
    confidence: float | None = None
    error: str | None = None


class OcrPageStore:
    """Read and write the results of one OCR engine; every call sees one user."""

    def __init__(self, database: Database, engine: str) -> None:
        self._database = database
        self._engine = engine

    async def known(
        self, scope: Scope, document_id: UUID, files: Iterable[str]
    ) -> list[StoredOcrPage]:
        """Return the stored pages of the contents with these sha256, and delete those of others."""
        values = {**self._values(scope, document_id), "files": list(files)}
        async with self._database.transaction(scope.user_id) as connection:
            await connection.execute(_SQL["forget"], values)
            cursor = await connection.execute(_SQL["known"], values)
            return [
                StoredOcrPage(sha256, page, lines, error=error)
                async for sha256, page, lines, error in cursor
            ]

    async def keep(self, scope: Scope, document_id: UUID, page: StoredOcrPage) -> None:
        """Store the result of a page."""
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


class DocumentStore(DocumentReader):
    """Read and change documents; every call sees one scope.

    Methods that write take the `version` of the worker's job, and raise `ConflictError` if a newer
    upload has replaced it. Without `version` they write to the pending one.
    """

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
        """Store a file and queue its ingestion, unless the scope has the same bytes already.

        Equal bytes are one document in a scope; a further name is recorded as a copy. New content or
        metadata under a known `source` opens a new version of that document. The knowledge base is
        created if it does not exist.
        """
        upload = Upload(source, filename, media_type, content, external_id, metadata)
        [registered] = await self.register_all(scope, [upload])
        return registered

    async def register_all(self, scope: Scope, uploads: Sequence[Upload]) -> list[Registered]:
        """Register several files in order, all or none."""
        async with self._database.transaction(scope.user_id) as connection:
            return await register(connection, scope, uploads)

    async def register_attachments(
        self, scope: Scope, document_id: UUID, uploads: Sequence[Upload], *, deepest: int
    ) -> list[Registered] | None:
        """Register the attachments of a document, and remove those that it no longer has.

        Returns:
            The outcomes; None where the document lies in `deepest` others already, one inside the other, or
            was deleted.
        """
        async with self._database.transaction(scope.user_id) as connection:
            return await register_attachments(connection, scope, document_id, uploads, deepest)

    async def begin(
        self,
        scope: Scope,
        document_id: UUID,
        parsed: ParsedDocument,
        *,
        version: int | None = None,
    ) -> set[UUID]:
        """Write the pending version's text and sections; return which of its chunks are stored already.

        Chunks of an earlier attempt that `parsed` does not contain are removed, so that a changed
        parser may resume an older one's work.

        Raises:
            DocumentNotFound: the document was deleted.
            ConflictError: a newer version has replaced this one.
        """
        async with self._database.transaction(scope.user_id) as connection:
            opened = await open_version(connection, scope, document_id, version)
            await write_parsed(connection, opened, parsed)
            return await keep_stored(connection, opened, {chunk.id for chunk in parsed.chunks})

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

        Several batches of a document may be stored concurrently, each on its own connection.

        Args:
            scope: the document's knowledge base.
            document_id: the document.
            chunks: the batch; chunks that are stored already are skipped.
            vectors: shape (len(chunks), dimension), L2-normalised.
            version: the version of the job.

        Raises:
            DocumentNotFound: the document was deleted.
            ConflictError: a newer version has replaced this one.
        """
        async with self._database.transaction(scope.user_id) as connection:
            row = require_scope(await find_scope(connection, scope), document_id)
            await copy_chunks(connection, row.scope_id, {document_id: chunks}, vectors)
            opened = await open_version(
                connection, scope, document_id, version, lock="share_document"
            )
            await write_copied_chunks(connection, opened)

    async def store(self, scope: Scope, versions: Sequence[ReadyVersion]) -> list[None]:
        """Write and publish small documents in one transaction, all or none; their jobs stay open.

        Several versions must be their documents' first ones.

        Raises:
            DocumentNotFound: a document was deleted.
            ConflictError: a newer version has replaced one of these.
        """
        async with self._database.transaction(scope.user_id) as connection:
            row = await share_scope(connection, scope)
            opened = [
                await open_version(connection, scope, one.document_id, one.version, row=row)
                for one in versions
            ]
            for document, one in zip(opened, versions, strict=True):
                await write_parsed(connection, document, one.parsed)
            chunks = {one.document_id: one.parsed.chunks for one in versions}
            vectors = np.concatenate([one.vectors for one in versions])
            await copy_chunks(connection, opened[0].scope.scope_id, chunks, vectors)
            await write_copied_chunks(connection, opened[0])
            for document in opened:
                await make_live(connection, document)
        await maintain_indexes(self._database, scope)
        return [None] * len(versions)

    async def publish(
        self,
        scope: Scope,
        document_id: UUID,
        *,
        version: int | None = None,
        close_job: bool = True,
    ) -> None:
        """Replace the live version by the pending one in one transaction, then maintain the indexes.

        `close_job` is false if further stages of the job follow.

        Raises:
            DocumentNotFound: the document was deleted.
            ConflictError: a newer version has replaced this one.
        """
        async with self._database.transaction(scope.user_id) as connection:
            opened = await open_version(connection, scope, document_id, version)
            if opened.version is None:
                return
            await make_live(connection, opened)
            if close_job:
                await end_job(connection, opened, JobStage.DONE)
        await maintain_indexes(self._database, scope)

    async def fail(
        self,
        scope: Scope,
        document_id: UUID,
        *,
        version: int | None = None,
        error: BaseException | None = None,
    ) -> None:
        """Withdraw the pending version and end its job with `error`.

        A live version stays searchable. A first version loses its chunks, but stays listed as failed
        and keeps its bytes; registering these again retries.
        """
        async with self._database.transaction(scope.user_id) as connection:
            opened = await open_version(connection, scope, document_id, version)
            if opened.version is None:
                return
            await withdraw_version(connection, opened)
            await end_job(connection, opened, JobStage.FAILED, error)

    async def delete(self, scope: Scope, document_id: UUID, name: str | None = None) -> str | None:
        """Delete a document with everything derived from it.

        Args:
            scope: where it is.
            document_id: the document.
            name: which of its names goes, where copies of its file have others; by default its own.

        Returns:
            The name under which the document stays, that of its oldest copy; None if it has no other.

        Raises:
            DocumentNotFound: no such document in this scope, or none of that name.
        """
        if not await self._remove(scope, document_id, name, give_back=False):
            raise not_found(document_id)
        with suppress(DocumentNotFound):
            return (await self.get(scope, document_id)).source
        return None

    async def withdraw(self, scope: Scope, document_id: UUID) -> None:
        """Delete a document, but keep the facts that it states in the user's stead."""
        await self._remove(scope, document_id, give_back=True)

    async def _remove(
        self, scope: Scope, document_id: UUID, name: str | None = None, *, give_back: bool
    ) -> bool:
        async with self._database.transaction(scope.user_id) as connection:
            # Attachments are deleted one by one, and may be in a group that is being stored.
            row = require_scope(await reserve_scope(connection, scope), document_id)
            return await remove_name(connection, row, document_id, name, give_back=give_back)
