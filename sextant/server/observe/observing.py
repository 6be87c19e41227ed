"""What a running server or worker tells of itself: opened with it, closed with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

from fastapi import FastAPI, Request

from sextant.domain.errors import SextantError
from sextant.domain.fair_semaphore import FairSemaphore
from sextant.domain.telemetry import listening
from sextant.facade import Sextant
from sextant.server.observe.metrics import Metrics
from sextant.server.observe.readiness import DependencyState, ReadinessProbe
from sextant.server.observe.tracing import tracing
from sextant.server.runs import Runs
from sextant.stores.postgresql.overview import queue_of


@dataclass(frozen=True, slots=True)
class ObservedProcess:
    """The metrics of this process and the state of its dependencies; of what it serves, if it does."""

    rag: Sextant
    metrics: Metrics
    readiness: ReadinessProbe
    runs: Runs | None = None
    searches: FairSemaphore | None = None

    async def measured(self) -> bytes:
        """Return all metrics, with the gauges as they stand."""
        for one in await self.readiness.dependencies():
            if one.state is not DependencyState.OFF:
                up = one.state is not DependencyState.DOWN
                self.metrics.dependency_up.labels(one.name).set(up)
        try:
            queue = await queue_of(self.rag.database)
        except SextantError:
            self.metrics.forget_queue()
        else:
            self.metrics.queue.labels("waiting").set(queue.waiting)
            self.metrics.queue.labels("running").set(queue.running)
            self.metrics.queue.labels("failed").set(queue.failed)
            self.metrics.queue_age.set(queue.oldest_waiting_seconds)
        if self.runs is not None:
            self.metrics.runs.set(self.runs.live)
        if self.searches is not None:
            self.metrics.searches.labels("running").set(self.searches.taken)
            self.metrics.searches.labels("waiting").set(self.searches.waiting)
        return self.metrics.text()


@asynccontextmanager
async def observing(
    rag: Sextant, metrics: Metrics, runs: Runs | None = None, searches: FairSemaphore | None = None
) -> AsyncIterator[ObservedProcess]:
    """Count what happens in this process meanwhile, and trace it where that is wanted."""
    readiness = ReadinessProbe(rag.settings, rag.database, rag.embedder)
    async with tracing(wanted=rag.settings.observe.traces):
        with listening(metrics.happened):
            yield ObservedProcess(rag, metrics, readiness, runs, searches)


def observed_process(request: Request) -> ObservedProcess:
    """Return what watches the running server, for a route."""
    return cast("ObservedProcess", cast("FastAPI", request.app).state.observed)
