"""Report the progress of files and stages, measure stages, and split work into batches."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from sextant.domain.documents import JobStage
from sextant.domain.telemetry import EventOutcome, StageRan, emit, milliseconds_since


class LaterStage(StrEnum):
    """A stage of a whole knowledge base after the files."""

    DESCRIBE = "describe"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a file: `done` of `total` chunks in stage `embed`, 0 of 0 in others.

    In a `LaterStage`, `filename` names the items; `note` is its outcome in words, or why a file waits.
    """

    filename: str
    stage: JobStage | LaterStage
    done: int = 0
    total: int = 0
    note: str = ""


OnProgress = Callable[[Progress], None]
OnStage = Callable[[str, int, int], None]
"""Called with the name of a stage, what is done, and the total (0: unknown)."""
OnCount = Callable[[int, int], None]
"""Called with what is done, and the total."""


def silent(*_: object) -> None:
    """Ignore all arguments."""


_ENDED = frozenset({JobStage.DONE, JobStage.FAILED})


class Stages:
    """Emit an event when a stage ends.

    Args:
        on_progress: called with all progress.
    """

    def __init__(self, on_progress: OnProgress) -> None:
        self._on_progress = on_progress
        self._stage: JobStage | LaterStage | None = None
        self._began = 0.0

    def report(self, progress: Progress) -> None:
        """Note the progress of a document, and pass it on."""
        if progress.stage is not self._stage:
            self._end(EventOutcome.OK)
            if progress.stage not in _ENDED:
                self._stage, self._began = progress.stage, time.perf_counter()
        self._on_progress(progress)

    @asynccontextmanager
    async def timed(self) -> AsyncIterator[None]:
        """Emit the event of the last stage when the block ends."""
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


T = TypeVar("T")


def runs_of(
    items: Iterable[T], size: Callable[[T], int], budget: int, most: int = sys.maxsize
) -> Iterator[list[T]]:
    """Yield items in order, in runs of at most `most` items and `budget` together; a larger item comes alone."""
    run, total = list[T](), 0
    for item in items:
        if run and (len(run) == most or total + size(item) > budget):
            yield run
            run, total = [], 0
        run.append(item)
        total += size(item)
    if run:
        yield run
