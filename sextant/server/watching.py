"""Progress of documents for those who watch: one look at the database a second, shared by all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from uuid import UUID

from sextant.domain.errors import DocumentNotFound, Limited, Overloaded, SextantError
from sextant.domain.tasks import end
from sextant.facade.library import Library
from sextant.stores.work.uploads import UploadStatus

_log = logging.getLogger(__name__)

# At most this often does one look; the contract is an event at least every two seconds.
_LOOK_SECONDS = 1.0
_MOST_WATCHES = 1000
_MOST_PER_USER = 100
_INSTEAD = "Close some streams, or ask `GET /documents/{documentId}` now and then."


class Watch:
    """One watcher of one document; `end` gives its place back, at any time and any number of times."""

    def __init__(self, watching: Watching, user_id: str, first: UploadStatus) -> None:
        self.user_id = user_id
        self.document_id = first.document_id
        self._watching = watching
        self._first = first

    async def standings(self) -> AsyncIterator[UploadStatus]:
        """Yield where the document stands: now, and after every look, until its ingestion has ended.

        Raises:
            DocumentNotFound: it was deleted meanwhile.
        """
        standing = self._first
        yield standing
        while not standing.is_settled:
            standing = await self._watching.next_of(self.document_id)
            yield standing

    def end(self) -> None:
        """Nobody watches any more."""
        self._watching.forget(self)


class Watching:
    """Tells watchers of all users how far documents are.

    Args:
        library: the documents of a user.
    """

    def __init__(self, library: Callable[[str], Library]) -> None:
        self._library = library
        self._watches: set[Watch] = set()
        # None: it was looked for, and is not there.
        self._seen: dict[UUID, UploadStatus | None] = {}
        self._looked = asyncio.Condition()
        self._looking: asyncio.Task[None] | None = None

    def begin(self, user_id: str, first: UploadStatus) -> Watch:
        """Watch a document that stands where `first` says.

        Raises:
            Overloaded: there are as many watchers as there may be.
            Limited: as many of this user.
        """
        if len(self._watches) >= _MOST_WATCHES:
            raise Overloaded("Too many documents are watched at a time.", next_step=_INSTEAD)
        if sum(watch.user_id == user_id for watch in self._watches) >= _MOST_PER_USER:
            raise Limited("You watch too many documents at a time.", next_step=_INSTEAD)
        watch = Watch(self, user_id, first)
        self._watches.add(watch)
        return watch

    def forget(self, watch: Watch) -> None:
        """Look for this one no more."""
        self._watches.discard(watch)

    async def close(self) -> None:
        """Look no more for anybody."""
        if self._looking is not None:
            await end(self._looking)

    async def next_of(self, document_id: UUID) -> UploadStatus:
        """Return what the next look finds; raises DocumentNotFound if nothing."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        async with self._looked:
            await self._looked.wait()
            while document_id not in self._seen:  # a look that began before this watch did
                await self._looked.wait()
        standing = self._seen[document_id]
        if standing is None:
            raise DocumentNotFound(f"The document {document_id} was deleted.")
        return standing

    async def _look(self) -> None:
        """Look at all watched documents again and again, as long as there are any."""
        while self._watches:
            await asyncio.sleep(_LOOK_SECONDS)
            by_user: dict[str, list[UUID]] = {}
            for watch in self._watches:
                by_user.setdefault(watch.user_id, []).append(watch.document_id)
            try:
                seen = dict[UUID, UploadStatus | None]()
                for user_id, ids in by_user.items():
                    seen |= dict.fromkeys(ids)
                    seen |= await self._library(user_id).standings(ids)
            except SextantError as error:  # nothing new until the database is back
                _log.warning("the progress of documents cannot be reported: %s", error)
            else:
                async with self._looked:
                    self._seen = seen
                    self._looked.notify_all()
