"""How long each stage of a document's ingestion takes, told to whoever measures it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sextant.domain.documents import JobStage
from sextant.domain.elapsed import milliseconds_since
from sextant.domain.telemetry import EventOutcome, StageRan, emit
from sextant.ingestion.progress import LaterStage, OnProgress, Progress

_ENDED = frozenset({JobStage.DONE, JobStage.FAILED})


class Stages:
    """Tells of a stage when the next one begins.

    Args:
        on_progress: hears of progress as well.
    """

    def __init__(self, on_progress: OnProgress) -> None:
        self._on_progress = on_progress
        self._stage: JobStage | LaterStage | None = None
        self._began = 0.0

    def report(self, progress: Progress) -> None:
        """Take note of how far a document is."""
        if progress.stage is not self._stage:
            self._end(EventOutcome.OK)
            if progress.stage not in _ENDED:
                self._stage, self._began = progress.stage, time.perf_counter()
        self._on_progress(progress)

    @asynccontextmanager
    async def timed(self) -> AsyncIterator[None]:
        """Report how the stage ended during which the block was left."""
        try:
            yield
        except asyncio.CancelledError:
            self._end(EventOutcome.CANCELLED)
            raise
        except Exception:
            self._end(EventOutcome.FAILED)
            raise
        self._end(EventOutcome.OK)

    def _end(self, outcome: EventOutcome) -> None:
        if self._stage is not None:
            emit(StageRan(self._stage, milliseconds_since(self._began), outcome))
            self._stage = None
