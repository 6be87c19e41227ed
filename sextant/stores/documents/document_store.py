"""Documents and their versions: registered, filled batch by batch, published, deleted.

A document is a name (`source`) within a scope. Its live version is what search sees; a new upload
opens a pending version. The chunks of a first version are searchable as they come; those of a
replacement are staged and take the old ones' place in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from sextant.domain.documents import Chunk, JobStage, ParsedDocument
from sextant.domain.errors import DocumentNotFound
from sextant.domain.scope import Scope
from sextant.stores.array_files import forget_words
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.chunks.partitions import settle
from sextant.stores.documents.reading import DocumentReader, not_found
from sextant.stores.documents.registering import Registered, Upload, register, release_document
from sextant.stores.documents.versions import (
    ReadyVersion,
    bring_chunks,
    end_job,
    make_live,
    open_version,
    require_scope,
    take_back,
    write_brought,
    write_first_versions,
    write_parsed,
)
from sextant.stores.scopes import find_scope, share_scope


class DocumentStore(DocumentReader):
    """The documents of a database, to be read and changed; every call sees one scope.

    Methods that write a version take `version` from the worker's job: they raise `ConflictError` when
    a newer upload has replaced that version. Without it they write to the pending one.
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
        """Take a file in: store its bytes and queue its ingestion, unless the scope has them already.

        The same bytes anywhere in the scope are the same document, which keeps the other name as a copy's. Another content under a known
        `source`, or other metadata, opens a new version of that document. Makes the graph when it is new.
        """
        upload = Upload(source, filename, media_type, content, external_id, metadata)
        [registered] = await self.register_all(scope, [upload])
        return registered

    async def register_all(self, scope: Scope, uploads: Sequence[Upload]) -> list[Registered]:
        """Return the same for several files, all or none, in order."""
        async with self._database.transaction(scope.user_id) as connection:
            return await register(connection, scope, uploads)

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

    async def store(self, scope: Scope, ready: ReadyVersion) -> None:
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

    async def store_all(self, scope: Scope, ready: Sequence[ReadyVersion]) -> list[None]:
        """Return the same for several, all or none.

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

    async def delete(self, scope: Scope, document_id: UUID) -> str | None:
        """Remove a document with everything that came from it.

        Returns:
            The name under which it stays, that of the oldest other file of the same bytes; None where it is gone.

        Raises:
            DocumentNotFound: no such document in this scope.
        """
        if not await self._remove(scope, document_id, give_back=False):
            raise not_found(document_id)
        with suppress(DocumentNotFound):
            return (await self.get(scope, document_id)).source
        return None

    async def withdraw(self, scope: Scope, document_id: UUID) -> None:
        """Remove a document that tells facts of the graph, but not the facts; nothing if it is gone."""
        await self._remove(scope, document_id, give_back=True)

    async def _remove(self, scope: Scope, document_id: UUID, *, give_back: bool) -> bool:
        async with self._database.transaction(scope.user_id) as connection:
            row = require_scope(await share_scope(connection, scope), document_id)
            there = await release_document(connection, row, document_id, give_back=give_back)
        await forget_words(self._database.settings, scope)
        return there
