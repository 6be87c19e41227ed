"""What becomes of batches that are being stored when one of them fails."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast
from unittest.mock import Mock
from uuid import uuid4

import numpy as np

from sextant.domain.documents import Chunk, Job, JobStage
from sextant.domain.errors import DatabaseUnavailable
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.ingestion.job_runner import JobRunner
from sextant.ingestion.parsing.blocks import Blocks, Paragraph
from sextant.ingestion.parsing.draft import draft, finish
from sextant.ingestion.parsing.hosts import ParserHosts
from sextant.models.protocols import Vectors


class Failing:
    """An embedder, and a store that fails once all batches are on their way."""

    store: object = None  # no small document comes

    def __init__(self) -> None:
        self.tried = 0

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), 3), np.float32)

    async def add_chunks(self, *_: object, **__: object) -> None:
        self.tried += 1
        await asyncio.sleep(0)
        raise DatabaseUnavailable(f"The database failed {self.tried} times.")


async def test_of_batches_that_fail_together_no_error_is_left_unread() -> None:
    unread = list[dict[str, Any]]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unread.append(context))
    store, settings = Failing(), Settings(_env_file=None)
    settings = settings.model_copy(
        update={"ingestion": settings.ingestion.model_copy(update={"embed_batch": 2})}
    )
    words = " ".join(f"It opens at nine on day {number}." for number in range(60))
    parsed = finish(draft(Blocks([Paragraph(words)]), "a.txt", 100), uuid4(), "v")
    chunks: tuple[Chunk, ...] = tuple(parsed.chunks)[:4]
    runner = JobRunner(
        cast("Any", store),
        Mock(),
        cast("Any", store),
        settings,
        None,
        extractor=None,
        hosts=ParserHosts(),
    )
    job = Job(uuid4(), Scope("ann", "g"), uuid4(), 1, "a.txt", JobStage.EMBED, 0, 0, 1)
    with suppress(DatabaseUnavailable):
        await runner._embed(job, replace(parsed, chunks=chunks), set(), lambda _: None)
    await asyncio.sleep(0.01)  # the other one fails, too
    gc.collect()
    assert (store.tried, unread) == (2, [])
