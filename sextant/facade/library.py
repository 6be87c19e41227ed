"""The documents of a user in all knowledge bases: add, watch, read, retry, cancel, delete."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from weakref import WeakValueDictionary

from sextant.domain.documents import Document
from sextant.domain.errors import DocumentNotFound, FileUnsafe, PageNotFound
from sextant.domain.page_boxes import PageBox
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.versioned_cache import VersionedCache
from sextant.ingestion.parsing.hosts import ParserHosts, draw_page
from sextant.ingestion.transfer.documents import is_packed
from sextant.stores.documents.document_reader import Original, not_found
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.registration import Registered, Upload
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.stores.queue import Turns, UploadStatus, UploadStore
from sextant.stores.scopes import KnowledgeBases


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page of a document; `draw` returns its picture as WebP, `etag` changes with the file and the size."""

    etag: str
    draw: Callable[[], Awaitable[bytes]]


class PagePictures:
    """Draws pages, one at a time for each user, and caches the pictures.

    Args:
        settings: `limits.page_edge` and those of parsing apply.
        hosts: the processes that draw.
    """

    def __init__(self, settings: Settings, hosts: ParserHosts) -> None:
        self._settings = settings
        self._hosts = hosts
        self._drawn = VersionedCache[tuple[UUID, int], str, bytes](64_000_000, len)
        # Pages that took too long are drawn again after five minutes.
        self._refused = VersionedCache[tuple[UUID, int], str, FileUnsafe](1000, lifetime=300.0)
        self._drawing = asyncio.Semaphore(2)  # each takes a core
        self._turns = WeakValueDictionary[str, asyncio.Lock]()

    def picture(
        self,
        user_id: str,
        document_id: UUID,
        sha256: str,
        number: int,
        *,
        filename: str,
        read: Callable[[], Awaitable[bytes]],
    ) -> PagePicture:
        """Return a page of a document; nothing is read or drawn yet.

        Args:
            user_id: the caller, who may see the document.
            document_id: the document.
            sha256: hash of its file.
            number: number of the page, from 1.
            filename: name of the file.
            read: returns the bytes of the file.

        Raises:
            PageNotFound: the settings switch pages off.
        """
        edge = self._settings.limits.page_edge
        if not edge:
            raise PageNotFound(
                "This installation shows no pages.",
                next_step="Read the document's text, or set SEXTANT_LIMITS__PAGE_EDGE to 1600.",
                field="page",
            )

        key = (document_id, number)

        async def draw(_: tuple[str, bytes] | None = None) -> bytes:
            turn = self._turns.setdefault(user_id, asyncio.Lock())
            async with turn, self._drawing:
                try:
                    return await draw_page(
                        await read(), filename, number, settings=self._settings, hosts=self._hosts
                    )
                except FileUnsafe as error:
                    self._refused.put(key, sha256, error)
                    raise

        async def cached() -> bytes:
            if refusal := self._refused.at(key, sha256):
                raise refusal.with_traceback(None)
            picture, _ = await self._drawn.get(key, sha256, draw)
            return picture

        return PagePicture(f'"{sha256[:24]}-{number}-{edge}"', cached)


_PART = 1 << 20  # bytes of a file in memory at a time


@dataclass(frozen=True, slots=True)
class File:
    """The original file of a document: its name, its size, and its bytes in parts."""

    filename: str
    size_bytes: int
    parts: AsyncIterator[bytes]


class Library:
    """The documents of one user, which workers ingest.

    Methods raise DocumentNotFound if the user has no document of that id.

    Args:
        database: holds the documents.
        user_id: the user.
        pictures: draws their pages; by default a new one.
    """

    def __init__(
        self, database: Database, user_id: str, pictures: PagePictures | None = None
    ) -> None:
        self._user_id = user_id
        self._pictures = pictures or PagePictures(database.settings, ParserHosts())
        self._documents = DocumentStore(database)
        self._knowledge_bases = KnowledgeBases(database)
        self._uploads = UploadStore(database)
        self._jobs = JobStore(database)
        self._turns = Turns(database)

    async def add(self, uploads: Sequence[Upload], graph_id: str) -> list[Registered]:
        """Store files and queue their ingestion; a new knowledge base is created.

        The same bytes in a knowledge base are one document.
        """
        registered = await self._documents.register_all(Scope(self._user_id, graph_id), uploads)
        await self._queue([one.job_id for one in registered if one.job_id])
        return registered

    async def get(self, document_id: UUID) -> tuple[Document, UploadStatus]:
        """Return a document and the status of its ingestion."""
        status = await self.status(document_id)
        document = await self._documents.get(self._scope(status.graph_id), document_id)
        return document, status

    async def page(
        self, graph_id: str, after: tuple[datetime, UUID] | None, most: int, name: str = ""
    ) -> list[Document]:
        """Return documents of a knowledge base whose file name has `name`, oldest first, after a time and an id.

        Raises:
            GraphNotFound: the user has no such knowledge base.
        """
        await self._knowledge_bases.require(self._scope(graph_id))
        return await self._documents.list(self._scope(graph_id), after, most, name)

    async def status(self, document_id: UUID) -> UploadStatus:
        """Return the status of a document's ingestion."""
        found = await self.statuses([document_id])
        if document_id not in found:
            raise not_found(document_id)
        return found[document_id]

    async def statuses(self, document_ids: Sequence[UUID]) -> dict[UUID, UploadStatus]:
        """Return the status of several documents; unknown ones are left out."""
        return await self._uploads.statuses(self._user_id, document_ids)

    async def text(self, document_id: UUID, start: int, end: int) -> str:
        """Return characters `start` to `end` of the document's text, as citations count them."""
        return await self._documents.text(
            await self._scope_of(document_id), document_id, start, end
        )

    async def boxes(self, document_id: UUID, start: int, end: int) -> list[PageBox]:
        """Return the positions of characters `start` to `end` on the pages of the file.

        There is one box for each line, in reading order; none if the file has no pages, or was ingested before boxes
        were stored.
        """
        scope = await self._scope_of(document_id)
        return await self._documents.boxes(scope, document_id, start, end)

    async def page_picture(self, document_id: UUID, number: int) -> PagePicture:
        """Return a page of the original file; its `draw` returns the picture as WebP.

        Args:
            document_id: the document.
            number: number of the page, from 1.

        Raises:
            PageNotFound: the settings switch pages off; raised by `draw`: the file has no such page.
            FileRejected: raised by `draw`: the page cannot be drawn.
        """
        scope, original = await self._original(document_id)

        async def read() -> bytes:
            version, size = original.version, original.size_bytes
            return await self._documents.original_part(scope, document_id, version, 0, size)

        return self._pictures.picture(
            self._user_id,
            document_id,
            original.sha256,
            number,
            filename=original.filename,
            read=read,
        )

    async def file(self, document_id: UUID) -> File:
        """Return the original file.

        Its parts raise DocumentNotFound if the document is replaced or deleted while they are read.

        Raises:
            DocumentNotFound: also if the document was imported as chunks, without a file.
        """
        scope, original = await self._original(document_id, head=_PART)
        parts = self._parts(scope, document_id, original)
        return File(original.filename, original.size_bytes, parts)

    async def _original(self, document_id: UUID, head: int = 64) -> tuple[Scope, Original]:
        """Return the scope and the original file of a document.

        Raises:
            DocumentNotFound: also if the document was imported as chunks, without a file.
        """
        scope = await self._scope_of(document_id)
        original = await self._documents.original(scope, document_id, head=head)
        if is_packed(original.head):
            raise DocumentNotFound(
                f"Document {document_id} was imported as chunks: there is no file of it.",
                next_step="Read its text, or export the knowledge base.",
                field="document_id",
            )
        return scope, original

    async def _parts(
        self, scope: Scope, document_id: UUID, original: Original
    ) -> AsyncIterator[bytes]:
        yield original.head
        for start in range(_PART, original.size_bytes, _PART):
            yield await self._documents.original_part(
                scope, document_id, original.version, start, _PART
            )

    async def retry(self, document_id: UUID) -> Registered:
        """Queue a document again whose ingestion failed.

        Raises:
            ConflictError: it is ready.
        """
        registered = await self._uploads.retry(await self._scope_of(document_id), document_id)
        await self._queue([registered.job_id] if registered.job_id else [])
        return registered

    async def cancel(self, document_id: UUID) -> None:
        """Stop the ingestion of a document.

        Raises:
            ConflictError: it is not being ingested.
        """
        await self._uploads.cancel(await self._scope_of(document_id), document_id)

    async def delete(self, document_id: UUID, name: str | None = None) -> str | None:
        """Delete a document with everything derived from it; a worker then refreshes the graph.

        Args:
            document_id: the document.
            name: the name to remove if files of the same bytes have other names; by default its own.

        Returns:
            The name under which the document stays, that of another file of the same bytes; None if it is deleted.
        """
        scope = await self._scope_of(document_id)
        stays_as = await self._documents.delete(scope, document_id, name)
        # More deletions may follow within a second.
        await self._turns.offer_refresh(scope, since=time.time(), wait=1.0)
        return stays_as

    async def _queue(self, jobs: Sequence[UUID]) -> None:
        """Wake a worker; if this fails, the workers' sweep finds the jobs."""
        if not jobs:
            return
        await self._jobs.hurry(self._user_id, jobs)
        for backlog in await self._jobs.backlog(self._user_id):
            await self._turns.offer_all(backlog)

    def _scope(self, graph_id: str) -> Scope:
        return Scope(self._user_id, graph_id)

    async def _scope_of(self, document_id: UUID) -> Scope:
        return self._scope(await self._documents.graph_of(self._user_id, document_id))
