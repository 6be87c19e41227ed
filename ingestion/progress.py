"""How far the ingestion of a file is, as whoever started it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from domain.documents import JobStage


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one file is: `done` of `total` chunks in stage `embed`; 0 of 0 where nothing counts.

    `note` says in words how it ended, where no result does.
    """

    filename: str
    stage: JobStage
    done: int = 0
    total: int = 0
    note: str = ""


OnProgress = Callable[[Progress], None]
