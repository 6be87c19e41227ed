"""What happens inside, told to whoever measures it: metrics and traces listen, nobody else knows them.

A happening says what it was, how long it took and how it ended; never whose it was or what was asked.
Without a listener, telling costs a look at an empty list.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from sextant.domain.errors import InputError


class EventOutcome(StrEnum):
    """How something ended. `DEGRADED`: with less than all that was configured; `CANCELLED`: not awaited."""

    OK = "ok"
    DEGRADED = "degraded"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class SearchCompleted:
    """A retrieval, in one of the modes, or of `chunks` or `entities`; milliseconds of each lane.

    `timings["total"]` is the whole of it. What the request itself is at fault for is no retrieval.
    """

    mode: str
    timings: Mapping[str, float]
    outcome: EventOutcome


@dataclass(frozen=True, slots=True)
class NodeCompleted:
    """A node of the workflow; `attempt` is the refinement round that it ran in, from 0."""

    node: str
    milliseconds: float
    attempt: int
    outcome: EventOutcome


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A call of the chat model and its tokens."""

    prompt_tokens: int
    completion_tokens: int
    outcome: EventOutcome


@dataclass(frozen=True, slots=True)
class CitationsDropped:
    """Citations that did not hold: `gone` from the store, or `unsupported` by their passage."""

    reason: str
    number: int


@dataclass(frozen=True, slots=True)
class StageRan:
    """A stage of a document's ingestion."""

    stage: str
    milliseconds: float
    outcome: EventOutcome


Happening = SearchCompleted | NodeCompleted | ModelCalled | CitationsDropped | StageRan
Listener = Callable[[Happening], None]

_listeners: list[Listener] = []


def emit(happening: Happening) -> None:
    """Let every listener of this process know."""
    for listener in _listeners:
        listener(happening)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have `listener` told of everything meanwhile; it must be quick and must not raise."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@dataclass(slots=True)
class Search:
    """What a retrieval tells of itself while it runs."""

    mode: str
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    degraded: bool = False


@contextmanager
def searching(mode: str) -> Iterator[Search]:
    """Tell of the retrieval that the block is, also when it fails."""
    search, started = Search(mode), time.perf_counter()
    try:
        yield search
    except InputError:
        raise
    except Exception:
        emit(
            SearchCompleted(
                search.mode, {"total": milliseconds_since(started)}, EventOutcome.FAILED
            )
        )
        raise
    if not _listeners:
        return
    outcome = EventOutcome.DEGRADED if search.degraded else EventOutcome.OK
    emit(
        SearchCompleted(
            search.mode, {**search.timings, "total": milliseconds_since(started)}, outcome
        )
    )


def milliseconds_since(started: float) -> float:
    """Return milliseconds since `started`, a moment of `time.perf_counter`."""
    return (time.perf_counter() - started) * 1000
