"""Pictures of the pages of documents: drawn when they are asked for, in a parser's process, and cached."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID
from weakref import WeakValueDictionary

from sextant.domain.errors import FileUnsafe, PageNotFound
from sextant.domain.settings import Settings
from sextant.domain.versioned_cache import VersionedCache
from sextant.ingestion.parsing.hosts import ParserHosts, draw_page

_AT_ONCE = 2  # pages drawn at a time, of different users: each takes a core
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
        self._drawing = asyncio.Semaphore(_AT_ONCE)
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
