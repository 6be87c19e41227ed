"""What callers are told while work goes on: how far a file is, or a stage of anything that takes long.

Also here: how long each stage of a document's ingestion takes, told to whoever measures it; A
part at a time of what is at hand.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from sextant.domain.documents import JobStage
from sextant.domain.telemetry import EventOutcome, StageRan, emit, milliseconds_since


class LaterStage(StrEnum):
    """What follows once the files are in, for the whole knowledge base."""

    DESCRIBE = "describe"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one file is: `done` of `total` chunks in stage `embed`; 0 of 0 where nothing counts.

    Of a later stage `filename` names what is worked on instead of a file.

    `note` says in words how it ended, where no result does.
    """

    filename: str
    stage: JobStage | LaterStage
    done: int = 0
    total: int = 0
    note: str = ""


OnProgress = Callable[[Progress], None]
OnStage = Callable[[str, int, int], None]
"""Called with the name of a stage, what is done of it, and how much there is (0: not known)."""
OnCount = Callable[[int, int], None]
"""Called with what is done and how much there is."""


def silent(*_: object) -> None:
    """Report to nobody."""


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


T = TypeVar("T")


def runs_of(items: Iterable[T], size: Callable[[T], int], budget: int) -> Iterator[list[T]]:
    """Yield items in their order, in runs that are together no larger than `budget`; one that is larger is alone."""
    run, total = list[T](), 0
    for item in items:
        if run and total + size(item) > budget:
            yield run
            run, total = [], 0
        run.append(item)
        total += size(item)
    if run:
        yield run
