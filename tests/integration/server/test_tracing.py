"""Traces, where they are wanted: OpenTelemetry's spans, and LangSmith's runs, at a loopback endpoint."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio
from langsmith import utils
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from sextant.testing.http import HttpRequest, HttpResponse, LoopbackServer
from tests.integration.own_database import short_folder
from tests.integration.server.served import Served, judging, serving_with

QUESTION = "Who owns the canary?"
CALLER = "4bf92f3577b34da6a3ce929d0e0e4736"


class Collector:
    """An endpoint that keeps what is sent to it, by path."""

    def __init__(self) -> None:
        self.server = LoopbackServer(self._keep)
        self.bodies: list[tuple[str, bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def spans(self) -> list[Span]:
        """Return the spans of OpenTelemetry that came."""
        requests = (
            ExportTraceServiceRequest.FromString(body)
            for path, body in self.bodies
            if path == "/v1/traces"
        )
        return [
            span
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    async def _keep(self, request: HttpRequest) -> HttpResponse:
        packed = request.headers.get("content-encoding") == "gzip"
        self.bodies.append(
            (request.path, gzip.decompress(request.body) if packed else request.body)
        )
        return HttpResponse(body=b"{}", headers={"content-type": "application/json"})


@pytest_asyncio.fixture
async def collector() -> AsyncIterator[Collector]:
    made = Collector()
    await made.server.start()
    yield made
    await made.server.stop()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


async def ask(served: Served, folder: Path, headers: dict[str, str] | None = None) -> None:
    """Ask a question about a document."""
    file = folder / "canary.md"
    file.write_text("# Canary\n\nThe canary has exactly one owner, Anna.\n")
    await served.app.state.serving.rag.ingest([file])
    served.script = judging("The canary has exactly one owner, Anna [1].")
    async with served.client(headers=headers) as client:
        answer = await client.post("/api/query", json={"query": QUESTION})
    assert answer.status_code == 200


async def test_spans_of_a_request_its_nodes_and_searches_are_sent(
    folder: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    async with serving_with(folder, observe={"traces": True}) as served:
        await ask(served, folder, {"traceparent": f"00-{CALLER}-00f067aa0ba902b7-01"})
    spans = [span for span in collector.spans() if span.trace_id.hex() == CALLER]
    [request] = [span for span in spans if span.name == "/api/query"]
    assert request.parent_span_id.hex() == "00f067aa0ba902b7"
    nodes = [span for span in spans if span.name.startswith("node ")]
    assert {span.name for span in nodes} >= {"node analyze", "node retrieve", "node generate"}
    assert any(span.name.startswith("search ") for span in spans)
    for span in nodes:
        assert request.start_time_unix_nano <= span.start_time_unix_nano
        assert span.end_time_unix_nano <= request.end_time_unix_nano
    sent = b"".join(body for _, body in collector.bodies)
    assert b"Anna" not in sent
    assert b"owns the" not in sent


async def test_without_the_setting_nothing_is_sent(
    folder: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    async with serving_with(folder) as served:
        await ask(served, folder)
    assert collector.bodies == []


async def test_langsmith_gets_the_runs_where_its_variables_are_set(
    folder: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "TRACING": "true",
        "ENDPOINT": collector.url,
        "API_KEY": "lsv2-any",
        "DISABLE_RUN_COMPRESSION": "true",
    }.items():
        monkeypatch.setenv(f"LANGSMITH_{name}", value)
    forget_variables()
    try:
        async with serving_with(folder) as served:
            await ask(served, folder)
            await collector.server.wait_until(lambda _: b"Anna" in runs_of(collector))
    finally:
        monkeypatch.undo()
        forget_variables()
    assert b"retrieve" in runs_of(collector)


def forget_variables() -> None:
    """LangSmith reads its variables once a process."""
    cast("Any", utils.get_env_var).cache_clear()


def runs_of(collector: Collector) -> bytes:
    return b"".join(body for path, body in collector.bodies if path.startswith("/runs"))
