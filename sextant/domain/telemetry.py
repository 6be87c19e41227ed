"""Events for metrics and traces: what ran, how long it took and how it ended.

An event never says whose data it worked on or what the question was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from sextant.domain.errors import InputError


class EventOutcome(StrEnum):
    """How something ended. `DEGRADED`: a configured part was missing; `CANCELLED`: the caller left."""

    OK = "ok"
    DEGRADED = "degraded"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class SearchCompleted:
    """A search ended, in one of the modes or of `chunks` or `entities`; `timings` are milliseconds by lane, and `total`.

    A search that a wrong request ended is not counted.
    """

    mode: str
    timings: Mapping[str, float]
    outcome: EventOutcome


@dataclass(frozen=True, slots=True)
class NodeCompleted:
    """A node of the workflow ended; `attempt` is the refinement round, from 0."""

    node: str
    milliseconds: float
    attempt: int
    outcome: EventOutcome


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A call of the chat model ended."""

    prompt_tokens: int
    completion_tokens: int
    outcome: EventOutcome


@dataclass(frozen=True, slots=True)
class CitationsDropped:
    """Citations were removed: `gone` from the store, or `unsupported` by their passage."""

    reason: str
    number: int


@dataclass(frozen=True, slots=True)
class StageRan:
    """A stage of a document's ingestion ended."""

    stage: str
    milliseconds: float
    outcome: EventOutcome


TelemetryEvent = SearchCompleted | NodeCompleted | ModelCalled | CitationsDropped | StageRan
Listener = Callable[[TelemetryEvent], None]

_listeners: list[Listener] = []


def emit(event: TelemetryEvent) -> None:
    """Pass an event to every subscriber of this process."""
    for listener in _listeners:
        listener(event)


@contextmanager
def subscribe(listener: Listener) -> Iterator[None]:
    """Call `listener` with every event while the block runs; it must be quick and must not raise."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@dataclass(slots=True)
class Search:
    """What is known of a search while it runs."""

    mode: str
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    degraded: bool = False


@contextmanager
def observe_search(mode: str) -> Iterator[Search]:
    """Emit `SearchCompleted` for the search in the block, also when it fails."""
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
