"""What watchers of documents are told."""

from __future__ import annotations

from typing import cast
from uuid import UUID, uuid4

import pytest

from sextant.domain.documents import DocumentStatus, JobStage
from sextant.domain.errors import DatabaseUnavailable, DocumentNotFound, Limited, Overloaded
from sextant.facade.library import Library
from sextant.server import uploading
from sextant.server.uploading import Watches
from sextant.stores.work.queue import UploadStatus


def standing(document_id: UUID, stage: JobStage = JobStage.QUEUED) -> UploadStatus:
    status = DocumentStatus.READY if stage is JobStage.DONE else DocumentStatus.PENDING
    return UploadStatus(
        document_id, "g", "a.txt", status, 0, uuid4(), stage,
        0, 0, 0, None, None, None,
    )  # fmt: skip


class Shelf:
    """Documents that stand where `answers` say, one after the other."""

    def __init__(self, *answers: JobStage | Exception) -> None:
        self.answers = list(answers)

    async def standing(self, document_id: UUID) -> UploadStatus:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return standing(document_id, answer)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "_LOOK_SECONDS", 0)


async def stages(*answers: JobStage | Exception) -> list[JobStage | None]:
    library = cast("Library", Shelf(*answers))
    watch = Watches().begin(library, "u", standing(uuid4()))
    return [status.stage async for status in watch.statuses()]


async def test_a_watch_goes_on_until_the_ingestion_has_ended() -> None:
    found = await stages(JobStage.EMBED, DatabaseUnavailable("gone"), JobStage.DONE)
    assert found == [JobStage.QUEUED, JobStage.EMBED, JobStage.DONE]


async def test_whoever_watches_a_document_that_is_deleted_is_told_so() -> None:
    with pytest.raises(DocumentNotFound):
        await stages(DocumentNotFound("gone"))


async def test_so_many_watch_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "_MOST_PER_USER", 1)
    monkeypatch.setattr(uploading, "_MOST_WATCHES", 2)
    watches, library = Watches(), cast("Library", Shelf())
    first = watches.begin(library, "ann", standing(uuid4()))
    with pytest.raises(Limited):
        watches.begin(library, "ann", standing(uuid4()))
    watches.begin(library, "bob", standing(uuid4()))
    with pytest.raises(Overloaded):
        watches.begin(library, "carol", standing(uuid4()))
    watches.end(first)
    watches.end(first)  # once is enough
    watches.begin(library, "carol", standing(uuid4()))
