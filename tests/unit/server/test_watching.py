"""What watchers of documents are told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast
from uuid import UUID, uuid4

import pytest

from sextant.domain.documents import DocumentStatus, JobStage
from sextant.domain.errors import DocumentNotFound
from sextant.facade.library import Library
from sextant.server import uploading
from sextant.server.uploading import Watching
from sextant.stores.work.queue import UploadStatus


def standing(document_id: UUID) -> UploadStatus:
    return UploadStatus(
        document_id, "g", "a.txt", DocumentStatus.PENDING, 0, uuid4(), JobStage.QUEUED,
        0, 0, 0, None, None, None,
    )  # fmt: skip


class SlowShelf:
    """Documents whose standings take until `answer` is set."""

    def __init__(self, *documents: UUID) -> None:
        self.documents = set(documents)
        self.asked, self.answer = asyncio.Event(), asyncio.Event()

    async def statuses(self, document_ids: Sequence[UUID]) -> dict[UUID, UploadStatus]:
        self.asked.set()
        await self.answer.wait()
        return {one: standing(one) for one in document_ids if one in self.documents}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "_LOOK_SECONDS", 0)


async def test_whoever_comes_while_a_look_is_under_way_is_told_by_the_next() -> None:
    """Its document was not among those looked for, and was said to be deleted."""
    first, second = uuid4(), uuid4()
    shelf = SlowShelf(first, second)
    watched = Watching(lambda _: cast("Library", shelf))
    watched.begin("u", standing(first))
    early = asyncio.create_task(watched.next_of(first))
    await shelf.asked.wait()
    watched.begin("u", standing(second))
    late = asyncio.create_task(watched.next_of(second))
    await asyncio.sleep(0)
    shelf.answer.set()
    async with asyncio.timeout(30):
        assert [(await early).document_id, (await late).document_id] == [first, second]
    await watched.close()


async def test_whoever_watches_a_document_that_is_deleted_is_told_so() -> None:
    gone = uuid4()
    shelf = SlowShelf()
    shelf.answer.set()
    watched = Watching(lambda _: cast("Library", shelf))
    watched.begin("u", standing(gone))
    with pytest.raises(DocumentNotFound):
        async with asyncio.timeout(30):
            await watched.next_of(gone)
    await watched.close()
