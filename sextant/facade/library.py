"""All documents of a user, in whatever knowledge base: added, watched, retried, cancelled, deleted."""

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
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from sextant.stores.work.jobs import JobStore
from sextant.stores.work.queue import Turns, UploadStatus, UploadStore

# A page that took too long is not tried again for so many seconds; so many of them are remembered.
_REST_SECONDS, _REMEMBERED = 300.0, 1000


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page of a document; `draw` returns its picture as WebP. `etag` changes with the file and with the size."""

    etag: str
    draw: Callable[[], Awaitable[bytes]]


class PagePictures:
    """Draws pages, one at a time for each user, and keeps the pictures that were asked for last.

    Args:
        settings: `limits.page_edge`, `limits.page_cache_bytes` and those of parsing apply.
        hosts: the processes that draw.
    """

    def __init__(self, settings: Settings, hosts: ParserHosts) -> None:
        self._settings = settings
        self._hosts = hosts
        self._drawn = VersionedCache[tuple[UUID, int], str, bytes](
            settings.limits.page_cache_bytes, len
        )
        self._refused = VersionedCache[tuple[UUID, int], str, FileUnsafe](
            _REMEMBERED, lifetime=_REST_SECONDS
        )
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
        """Return a page of a document that the caller may see; nothing is read or drawn yet.

        Args:
            user_id: who asks.
            document_id: the document.
            sha256: of its file.
            number: of the page, from 1.
            filename: the file's name.
            read: returns its bytes.

        Raises:
            PageNotFound: the settings leave pages out.
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


# A graph waits a moment for further deletions before it follows.
_QUIET_SECONDS = 1.0
# A file is read in parts of so many bytes, so that a large one is never in memory.
_PART = 1 << 20
# So many bytes of it say whether it is a file or chunks that were imported.
_MARK = 64


@dataclass(frozen=True, slots=True)
class File:
    """The file that a document was made from, as it was given: its name, bytes in all, and they in parts."""

    filename: str
    size_bytes: int
    parts: AsyncIterator[bytes]


class Library:
    """The documents of one user, for those who let workers ingest.

    Whatever names a document raises DocumentNotFound where this user has none of that id.

    Args:
        database: where they are.
        user_id: whose.
        pictures: draws their pages; by default one of its own.
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
        """Store files and queue their ingestion; the knowledge base is made when it is new.

        The same bytes in a knowledge base are one document, however often they come.
        """
        registered = await self._documents.register_all(Scope(self._user_id, graph_id), uploads)
        await self._queue([one.job_id for one in registered if one.job_id])
        return registered

    async def get(self, document_id: UUID) -> tuple[Document, UploadStatus]:
        """Return a document, and where its ingestion stands."""
        status = await self.status(document_id)
        document = await self._documents.get(self._scope(status.graph_id), document_id)
        return document, status

    async def page(
        self, graph_id: str, after: tuple[datetime, UUID] | None, most: int
    ) -> list[Document]:
        """Return documents of a knowledge base, oldest first, after a time and an id.

        Raises:
            GraphNotFound: the user has no such knowledge base.
        """
        await self._knowledge_bases.require(self._scope(graph_id))
        return await self._documents.list(self._scope(graph_id), after, most)

    async def status(self, document_id: UUID) -> UploadStatus:
        """Return where the ingestion of a document stands."""
        found = await self.statuses([document_id])
        if document_id not in found:
            raise not_found(document_id)
        return found[document_id]

    async def statuses(self, document_ids: Sequence[UUID]) -> dict[UUID, UploadStatus]:
        """Return `standing` of several; documents that are not there are left out."""
        return await self._uploads.statuses(self._user_id, document_ids)

    async def text(self, document_id: UUID, start: int, end: int) -> str:
        """Return characters `start` to `end` of the text that citations refer to."""
        return await self._documents.text(
            await self._scope_of(document_id), document_id, start, end
        )

    async def boxes(self, document_id: UUID, start: int, end: int) -> list[PageBox]:
        """Return where characters `start` to `end` of that text stand on the pages of the file.

        One box for each line, in reading order; nothing where the file has no pages, or was ingested before
        boxes were stored.
        """
        scope = await self._scope_of(document_id)
        return await self._documents.boxes(scope, document_id, start, end)

    async def page_picture(self, document_id: UUID, number: int) -> PagePicture:
        """Return a page of the file that citations refer to; its `draw` returns the picture as WebP.

        Args:
            document_id: the document.
            number: of the page, from 1.

        Raises:
            PageNotFound: the settings leave pages out; `draw` raises it where the file has no such page.
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
        """Return the file that citations refer to, as it was given.

        Its parts raise DocumentNotFound where it is replaced or deleted while they are read.

        Raises:
            DocumentNotFound: also where a document was imported as chunks, without a file.
        """
        scope, original = await self._original(document_id, head=_PART)
        parts = self._parts(scope, document_id, original)
        return File(original.filename, original.size_bytes, parts)

    async def _original(self, document_id: UUID, head: int = _MARK) -> tuple[Scope, Original]:
        """Return the knowledge base and the file of a document.

        Raises:
            DocumentNotFound: also where a document was imported as chunks, without a file.
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
        """Queue a document again that could not be taken in.

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
        """Remove a document with everything that came from it; a worker then refreshes the graph.

        Args:
            document_id: the document.
            name: which of its names goes, where copies of its file have others; by default its own.

        Returns:
            The name under which it stays, that of another file of the same bytes; None where it is gone.
        """
        scope = await self._scope_of(document_id)
        stays_as = await self._documents.delete(scope, document_id, name)
        await self._turns.offer_refresh(scope, since=time.time(), wait=_QUIET_SECONDS)
        return stays_as

    async def _queue(self, jobs: Sequence[UUID]) -> None:
        """Wake a worker. If this broke off, the workers' own sweep would find the jobs."""
        if not jobs:
            return
        await self._jobs.hurry(self._user_id, jobs)
        for backlog in await self._jobs.backlog(self._user_id):
            await self._turns.offer_all(backlog)

    def _scope(self, graph_id: str) -> Scope:
        return Scope(self._user_id, graph_id)

    async def _scope_of(self, document_id: UUID) -> Scope:
        return self._scope(await self._documents.graph_of(self._user_id, document_id))
