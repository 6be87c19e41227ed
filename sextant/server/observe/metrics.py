"""Prometheus metrics of a server or worker.

No label has a user or a question: that would leak data, and make a series for each user.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import cast

import uvicorn
from fastapi import FastAPI, Request
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from sextant.domain.concurrency import FairSemaphore
from sextant.domain.errors import OptionInvalid, SettingsInvalid, SextantError
from sextant.domain.settings import Settings
from sextant.domain.system import is_loopback
from sextant.domain.telemetry import (
    CitationsDropped,
    EventOutcome,
    ModelCalled,
    NodeCompleted,
    SearchCompleted,
    StageRan,
    TelemetryEvent,
    subscribe,
)
from sextant.facade import Sextant
from sextant.server.connections import BoundedHead
from sextant.server.observe.readiness import DependencyState, ReadinessProbe
from sextant.server.observe.tracing import tracing
from sextant.server.runs import Runs
from sextant.stores.queue import queue_of

MEDIA_TYPE = CONTENT_TYPE_LATEST

# From a search out of memory (1 ms) to a large document (500 s).
_SECONDS = tuple(step * 10.0**power for power in range(-3, 3) for step in (1, 2.5, 5))


class Metrics:
    """Counts events; the gauges are set when the metrics are read."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        histogram = partial(Histogram, buckets=_SECONDS, registry=registry)
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
        self.requests = histogram(
            "kb_http_request_seconds",
            "Time to a response's last byte, by route template and status.",
            ("method", "route", "status"),
        )
        self.under_way = gauge("kb_http_requests_under_way", "Requests that are being answered.")
        self._retrieval = histogram(
            "kb_retrieval_request_seconds",
            "Time of a retrieval, in all (lane total) and by lane.",
            ("mode", "lane", "outcome"),
        )
        self._nodes = histogram(
            "kb_node_seconds", "Time of a node of the workflow.", ("node", "outcome")
        )
        self._rounds = histogram(
            "kb_refine_rounds", "Refinement rounds of an answer.", buckets=range(4)
        )
        self._calls = counter("kb_llm_calls", "Calls of the chat model.", ("outcome",))
        self._tokens = counter("kb_llm_tokens", "Tokens of the chat model.", ("kind",))
        self._dropped = counter(
            "kb_citations_dropped",
            "Citations that did not hold and were not shown.",
            ("reason",),
        )
        self._stages = histogram(
            "kb_ingest_stage_seconds",
            "Time of a stage of a document's ingestion.",
            ("stage", "outcome"),
        )
        self.queue = gauge("kb_ingest_queue", "Documents by the state of their job.", ("state",))
        self.queue_age = gauge(
            "kb_ingest_oldest_waiting_seconds", "How long the document waits that waits longest."
        )
        self.runs = gauge("kb_runs_under_way", "Answers under way.")
        self.searches = gauge(
            "kb_searches", "Searches that have a place, and those that wait for one.", ("state",)
        )
        self.dependency_up = gauge(
            "kb_dependency_up", "1: the dependency answers, 0: it does not.", ("name",)
        )

    def count(self, event: TelemetryEvent) -> None:
        """Count an event."""
        match event:
            case SearchCompleted(mode=mode, timings=timings, outcome=outcome):
                for lane, elapsed in timings.items():
                    self._retrieval.labels(mode, lane, outcome).observe(elapsed / 1000)
            case NodeCompleted(node=node, milliseconds=elapsed, attempt=attempt, outcome=outcome):
                self._nodes.labels(node, outcome).observe(elapsed / 1000)
                if node == "generate" and outcome is EventOutcome.OK:
                    self._rounds.observe(attempt)
            case ModelCalled(prompt_tokens=prompt, completion_tokens=completion, outcome=outcome):
                self._calls.labels(outcome).inc()
                self._tokens.labels("prompt").inc(prompt)
                self._tokens.labels("completion").inc(completion)
            case CitationsDropped(reason=reason, number=number):
                self._dropped.labels(reason).inc(number)
            case StageRan(stage=stage, milliseconds=elapsed, outcome=outcome):
                self._stages.labels(stage, outcome).observe(elapsed / 1000)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)


@dataclass(frozen=True, slots=True)
class ObservedProcess:
    """The metrics and dependencies of this process, and of a server its runs and searches."""

    rag: Sextant
    metrics: Metrics
    readiness: ReadinessProbe
    runs: Runs | None = None
    searches: FairSemaphore | None = None

    async def measured(self) -> bytes:
        """Return all metrics with current gauges."""
        for one in await self.readiness.dependencies():
            if one.state is not DependencyState.OFF:
                up = one.state is not DependencyState.DOWN
                self.metrics.dependency_up.labels(one.name).set(up)
        try:
            queue = await queue_of(self.rag.database)
        except SextantError:
            self.metrics.queue.clear()  # old figures would mislead
            self.metrics.queue_age.set(float("nan"))
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
    """Count the events of this process while the block runs, and trace them if configured."""
    readiness = ReadinessProbe(rag.settings, rag.database, rag.embedder)
    async with tracing(wanted=rag.settings.observe.traces):
        with subscribe(metrics.count):
            yield ObservedProcess(rag, metrics, readiness, runs, searches)


def observed_process(request: Request) -> ObservedProcess:
    """Return the metrics and dependencies of the running server."""
    return cast("ObservedProcess", cast("FastAPI", request.app).state.observed)


def is_scraper(request: Request, settings: Settings) -> bool:
    """Return whether the request has the token for metrics; False if none is configured."""
    token = settings.observe.metrics_token
    given = request.headers.get("authorization", "").encode()
    return bool(token) and hmac.compare_digest(
        given, f"Bearer {token.get_secret_value() if token else ''}".encode()
    )


@asynccontextmanager
async def serving_metrics(rag: Sextant, host: str, port: int) -> AsyncIterator[str]:
    """Serve only `/metrics` while the block runs; yield its address.

    Args:
        rag: the facade of the process.
        host: address to listen on.
        port: port to listen on; 0: any free one.

    Raises:
        SettingsInvalid: other machines can reach the address, and there is no token.
        OptionInvalid: the address cannot be listened on.
    """
    settings = rag.settings
    if settings.observe.metrics_token is None and not is_loopback(host):
        raise SettingsInvalid(
            f"Without a token, metrics are given to this machine only, and not on {host or '*'}.",
            next_step="Set SEXTANT_OBSERVE__METRICS_TOKEN, or leave --metrics-host out.",
            field="metrics-host",
        )
    try:
        listening = socket.create_server((host, port), reuse_port=False)
    except (OSError, OverflowError) as error:
        raise OptionInvalid(
            f"Nothing can listen on {host}:{port}: {error}.",
            next_step="Name another --metrics-port; every worker of a machine needs its own.",
            field="metrics-port",
        ) from error
    async with observing(rag, Metrics()) as observed:

        async def metrics(request: Request) -> Response:
            if settings.observe.metrics_token is not None and not is_scraper(request, settings):
                return PlainTextResponse("Metrics have a token of their own.\n", status_code=401)
            return Response(await observed.measured(), media_type=MEDIA_TYPE)

        server = _WorkerMetrics(
            uvicorn.Config(
                Starlette(routes=[Route("/metrics", metrics)]),
                http=BoundedHead,
                lifespan="off",
                log_config=None,
                server_header=False,
                timeout_graceful_shutdown=1,
            )
        )
        serving = asyncio.create_task(server.serve([listening]))
        try:
            yield f"http://{host}:{listening.getsockname()[1]}/metrics"
        finally:
            server.should_exit = True
            await serving


class _WorkerMetrics(uvicorn.Server):
    """A server that leaves signals to its process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """See uvicorn."""
        yield
