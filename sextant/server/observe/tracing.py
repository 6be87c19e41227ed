"""OpenTelemetry spans of requests, nodes, searches and stages of ingestion.

They are made with `SEXTANT_OBSERVE__TRACES=true` and the extra `otel`, and sent as OpenTelemetry's own variables say
(`OTEL_EXPORTER_OTLP_ENDPOINT`). They hold names and times, never questions or texts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from opentelemetry import propagate
from opentelemetry.trace import INVALID_SPAN, NoOpTracer, Span, SpanKind, Tracer
from starlette.types import Scope

from sextant.domain.errors import SettingsInvalid
from sextant.domain.system import install_extra
from sextant.domain.telemetry import (
    EventOutcome,
    NodeCompleted,
    SearchCompleted,
    StageRan,
    TelemetryEvent,
    subscribe,
)

_tracer: Tracer = NoOpTracer()


@asynccontextmanager
async def tracing(*, wanted: bool) -> AsyncIterator[None]:
    """Make spans while the block runs, and send the last ones at its end.

    Raises:
        SettingsInvalid: spans are wanted, and OpenTelemetry is not installed.
    """
    global _tracer  # noqa: PLW0603 - one tracer per process, as in OpenTelemetry
    if not wanted:
        yield
        return
    provider = await asyncio.to_thread(_provider)
    _tracer = provider.get_tracer("sextant")
    try:
        with subscribe(_as_span):
            yield
    finally:
        _tracer = NoOpTracer()
        await asyncio.to_thread(provider.shutdown)  # sends the last spans


@contextmanager
def request_span(scope: Scope) -> Iterator[Span]:
    """Provide the span of a request, within the trace of its caller (W3C Trace Context)."""
    if isinstance(_tracer, NoOpTracer):
        yield INVALID_SPAN
        return
    carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    with _tracer.start_as_current_span(
        scope["method"],
        context=propagate.extract(carrier),
        kind=SpanKind.SERVER,
        attributes={"http.request.method": scope["method"]},
    ) as span:
        yield span


def end_request_span(span: Span, route: str, status: int) -> None:
    """Note the route and the status."""
    span.update_name(route)
    span.set_attributes({"http.route": route, "http.response.status_code": status})


def _as_span(event: TelemetryEvent) -> None:
    """Record an event as a span that ends now, within the current span."""
    match event:
        case NodeCompleted(node=name, milliseconds=spent, outcome=outcome):
            _span(f"node {name}", spent, outcome, {"kb.attempt": event.attempt})
        case SearchCompleted(mode=name, timings=timings, outcome=outcome):
            lanes = {f"kb.lane.{lane}_ms": round(elapsed, 3) for lane, elapsed in timings.items()}
            _span(f"search {name}", timings["total"], outcome, lanes)
        case StageRan(stage=name, milliseconds=spent, outcome=outcome):
            _span(f"ingest {name}", spent, outcome, {})


def _span(
    name: str, milliseconds: float, outcome: EventOutcome, attributes: dict[str, Any]
) -> None:
    now = time.time_ns()
    span = _tracer.start_span(
        name,
        start_time=now - int(milliseconds * 1e6),
        attributes={"kb.outcome": outcome.value, **attributes},
    )
    span.end(now)


def _provider() -> Any:  # noqa: ANN401 - its type is that of an optional library
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SettingsInvalid(
            f"Traces are wanted, and OpenTelemetry is not installed: {error}.",
            next_step=f"{install_extra('otel')[:-1]}, or leave SEXTANT_OBSERVE__TRACES unset.",
            field="observe.traces",
        ) from error
    provider = TracerProvider(resource=Resource.create({"service.name": "sextant"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
