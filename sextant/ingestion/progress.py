"""What callers are told while work goes on: how far a file is, or a stage of anything that takes long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sextant.domain.documents import JobStage


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
