"""What the doctor says of those who see to what waits."""

from __future__ import annotations

import asyncio

from sextant import Sextant
from sextant.domain.settings import Settings
from sextant.facade.doctor import Examination, Health, examine
from sextant.facade.worker import working
from sextant.stores.documents.registration import Upload
from tests.integration.own_database import settings_over, short_folder


async def workers(settings: Settings) -> Examination:
    """Return what is found of workers."""
    return {one.name: one async for one in examine(settings)}["workers"]


async def test_documents_that_wait_without_a_worker_are_a_warning_until_one_comes() -> None:
    with short_folder() as folder:
        settings = settings_over(folder)
        async with Sextant.open(settings) as rag:
            assert (await workers(settings)).health is Health.OFF  # who ingests alone needs none

            upload = Upload("berths.txt", "berths.txt", "text/plain", b"Berth 7 is taken.")
            await rag.library().add([upload], "harbour")
            found = await workers(settings)
            assert (found.health, found.exit_code) == (Health.WARNING, 0)
            assert found.detail == "none at work; waiting: 1 document"
            assert "sextant worker" in found.next_step

            async with working(rag.worker()), asyncio.timeout(60):
                while (  # noqa: ASYNC110
                    await workers(settings)
                ).detail != "1 worker at work; nothing waits":
                    await asyncio.sleep(0.2)
