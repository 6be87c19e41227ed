"""Answers: whole, or as a stream of events that can be taken up again (docs/streaming.md)."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Path, Request, Response

from domain.errors import RunNotFound, SextantError
from domain.events import Done, Event, Retrieved, Status
from server.auth.principal import Principal, Reader, rag_of
from server.schemas.answers import QueryRequest, QueryResponse, answer_on_wire, on_wire
from server.schemas.wire import Problem
from server.serving import serving_of
from server.sse import MEDIA_TYPE, ClientLeft, EventStream, frame, while_connected
from sextant.facade import Sextant

router = APIRouter(prefix="/api/query", tags=["answers"])

_STREAM: dict[str, Any] = {
    "description": "The answer; with `stream` or `Accept: text/event-stream` its events.",
    "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (401, 403, 404, 413, 422, 429, 500, 502, 503, 504)
}

LastEventId = Annotated[
    str | None, Header(description="The last event that came: the stream goes on after it.")
]
RunId = Annotated[str, Path(description="What the ids of its events begin with.", max_length=64)]


@router.post("", response_model=QueryResponse, responses={200: _STREAM, **_PROBLEMS})
async def query(
    request: Request,
    principal: Reader,
    asked: QueryRequest,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
    last_event_id: LastEventId = None,
) -> Response:
    """Answer a question from a knowledge base, with citations."""
    if last_event_id:
        return _taken_up(request, principal, *_place_of(last_event_id))
    if asked.stream or MEDIA_TYPE in accept:
        return _streamed(request, principal, asked)
    return await _whole(request, principal, asked)


@router.get("/{run_id}/events", response_class=Response, responses={200: _STREAM, **_PROBLEMS})
async def events(
    request: Request, principal: Reader, run_id: RunId, last_event_id: LastEventId = None
) -> Response:
    """Read the events of a streamed answer again, all or those after `Last-Event-ID`."""
    after = _place_of(last_event_id)[1] if last_event_id else 0
    return _taken_up(request, principal, run_id, after)


@router.delete("/{run_id}", status_code=204, responses=_PROBLEMS)
async def cancel(request: Request, principal: Reader, run_id: RunId) -> None:
    """End a streamed answer that goes on without its client; nothing changes if it has ended."""
    serving_of(request).runs.find(run_id, principal.user_id).stop()


async def _whole(request: Request, principal: Principal, asked: QueryRequest) -> Response:
    trace, rag = _Trace(debug=asked.debug), rag_of(request, principal)
    run = serving_of(request).runs.start(principal.user_id, lambda: _ask(rag, asked), trace)
    try:
        answer = await while_connected(request.receive, run.answer())
    except ClientLeft:
        return Response(status_code=499)  # nobody will see it
    finally:
        run.stop()
    body = answer_on_wire(answer, trace.steps)
    return Response(orjson.dumps(body), media_type="application/json")


def _streamed(request: Request, principal: Principal, asked: QueryRequest) -> Response:
    runs, rag = serving_of(request).runs, rag_of(request, principal)
    frames = _Frames(debug=asked.debug)
    run = runs.start(principal.user_id, lambda: _ask(rag, asked), frames, keep=True)
    frames.run_id = run.run_id

    async def begin() -> None:
        try:
            begun = await run.begun(runs.settings.hold_seconds)
            if not begun and run.node in {"", "analyze"} and asked.mode != "bypass":
                await rag.graph(asked.graph_id)
        except SextantError:
            run.stop()
            raise

    def left() -> None:
        if not asked.resume:
            run.stop()

    return EventStream(
        begin,
        run.read(runs.settings.ping_seconds),
        on_left=left,
        write_seconds=runs.settings.write_seconds,
        headers={"Content-Location": f"/api/query/{run.run_id}/events"},
    )


def _taken_up(request: Request, principal: Principal, run_id: str, after: int) -> Response:
    runs = serving_of(request).runs
    run = runs.find(run_id, principal.user_id)

    async def begin() -> None:
        pass

    return EventStream(
        begin,
        run.read(runs.settings.ping_seconds, after),
        on_left=lambda: None,
        write_seconds=runs.settings.write_seconds,
    )


def _ask(rag: Sextant, asked: QueryRequest) -> AsyncGenerator[Event]:
    bounds = asked.filters
    filters = bounds.model_dump(mode="json", exclude_defaults=True) if bounds else None
    return rag.stream(
        asked.query,
        graph_id=asked.graph_id,
        mode=asked.mode,
        top_k=asked.top_k,
        history=[turn.model_dump() for turn in asked.history],
        filters=filters,
    )


_PLACE = re.compile(r"([0-9a-f]{32})-([0-9]{1,9})")


def _place_of(event_id: str) -> tuple[str, int]:
    """The run that an event is of, and its number there, from 1."""
    found = _PLACE.fullmatch(event_id)
    if found is None:
        raise RunNotFound("No event has this id.", next_step="Ask the question again.")
    return found[1], int(found[2])


class _Trace:
    """Notes, with `debug`, what a run did when; tells nobody meanwhile."""

    def __init__(self, *, debug: bool) -> None:
        self.steps: list[dict[str, Any]] | None = [] if debug else None
        self._began = time.perf_counter()

    def __call__(self, event: Event) -> bytes:
        """Nothing, of whatever happened."""
        if self.steps is not None and isinstance(event, Status | Retrieved):
            ms = round((time.perf_counter() - self._began) * 1000, 3)
            self.steps.append({"event": event.type, "ms": ms, **on_wire(event)})
        return b""


class _Frames:
    """Encodes a run's events, numbered from 1."""

    def __init__(self, *, debug: bool) -> None:
        self.run_id = ""
        self._number = 0
        self._trace = _Trace(debug=debug)

    def __call__(self, event: Event) -> bytes:
        """The event as it is sent."""
        self._trace(event)
        self._number += 1
        if isinstance(event, Done):
            data = answer_on_wire(event.answer, self._trace.steps)
        else:
            data = on_wire(event)
        return frame(event.type, data, f"{self.run_id}-{self._number}")
