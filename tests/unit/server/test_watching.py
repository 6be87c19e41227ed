"""What watchers of documents are told."""

from __future__ import annotations

from contextlib import ExitStack
from typing import cast
from uuid import UUID, uuid4

import pytest

from sextant.domain.concurrency import Shares
from sextant.domain.documents import DocumentStatus, JobStage
from sextant.domain.errors import (
    DatabaseUnavailable,
    DocumentNotFound,
    Limited,
    Overloaded,
    Wording,
)
from sextant.facade.library import Library
from sextant.server import uploading
from sextant.server.uploading import watch
from sextant.stores.queue import UploadStatus


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

    async def status(self, document_id: UUID) -> UploadStatus:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return standing(document_id, answer)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "_LOOK_SECONDS", 0)


async def stages(*answers: JobStage | Exception) -> list[JobStage | None]:
    library = cast("Library", Shelf(*answers))
    return [status.stage async for status in watch(library, standing(uuid4()))]


async def test_a_watch_goes_on_until_the_ingestion_has_ended() -> None:
    found = await stages(JobStage.EMBED, DatabaseUnavailable("gone"), JobStage.DONE)
    assert found == [JobStage.QUEUED, JobStage.EMBED, JobStage.DONE]


async def test_whoever_watches_a_document_that_is_deleted_is_told_so() -> None:
    with pytest.raises(DocumentNotFound):
        await stages(DocumentNotFound("gone"))


def test_so_many_have_places_and_no_more() -> None:
    shares = Shares(1, Wording("yours"), total=2, all_taken=Wording("all"))
    first = ExitStack()
    first.enter_context(shares.slot("ann"))
    with pytest.raises(Limited), shares.slot("ann"):
        pass
    with shares.slot("bob"):
        with pytest.raises(Overloaded), shares.slot("carol"):
            pass
        first.close()
        with shares.slot("carol"):
            pass
    with shares.slot(None), shares.slot(None):  # who shares with nobody
        pass
