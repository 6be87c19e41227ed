"""Routes of answers, whole or as a resumable stream (docs/streaming.md), and of conversations (docs/conversations.md)."""

from __future__ import annotations

import re
import time
from datetime import datetime
from functools import partial
from typing import Annotated, Any, cast

import orjson
from fastapi import Header, Path, Query, Request, Response

from sextant.domain.answers import (
    Answer,
    Done,
    Event,
    Failed,
    Planned,
    ReportProgress,
    Retrieved,
    Status,
)
from sextant.domain.errors import DecisionNeeded, RunNotFound
from sextant.domain.scope import Principal
from sextant.domain.telemetry import milliseconds_since
from sextant.facade.questions import Options
from sextant.graph.threads import LONGEST_THREAD, Thread
from sextant.retrievers.cursor import ListingKey
from sextant.server.answers import (
    AnswerRequest,
    ResumeRequest,
    respond_with_answer,
    resume_stream,
    stream_answer,
)
from sextant.server.connections import MEDIA_TYPE, frame
from sextant.server.lifespan import serving_of
from sextant.server.openapi import problems
from sextant.server.problems import problem_fields
from sextant.server.routing import Reader, ReaderRag
from sextant.server.routing import router as new_router
from sextant.server.schemas import answers as bodies
from sextant.server.schemas.answers import answer_on_wire, on_wire

router = new_router("answers", prefix="/api/query")

_STREAM = {"description": "The answer; with `stream` or `Accept: text/event-stream` its events."}
_PENDING: dict[int | str, dict[str, Any]] = {
    202: {"description": "A person must decide before there is an answer.", "model": bodies.Pending}
}
_AGAIN = {"description": "The events, from the beginning or after `Last-Event-ID`."}

LastEventId = Annotated[
    str | None, Header(description="The last event that came: the stream goes on after it.")
]
RunId = Annotated[
    str,
    Path(
        alias="runId",
        description="What the ids of its events begin with.",
        max_length=64,
    ),
]


@router.post(
    "",
    response_model=bodies.QueryResponse,
    responses={200: _STREAM, **_PENDING, **problems(404, 409, 502)},
)
async def ask(
    request: Request,
    principal: Reader,
    question: bodies.QueryRequest,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
    last_event_id: LastEventId = None,
) -> Response:
    """Answer a question from a knowledge base, with citations."""
    if last_event_id:
        run_id, after = _last_event_of(last_event_id)
        run = serving_of(request).runs.find(run_id, principal.user_id)
        return resume_stream(request, run, after)
    streamed = question.stream or MEDIA_TYPE in accept
    return await _answer(
        request,
        principal,
        _read_request(question),
        _Trace(debug=question.debug),
        thread_id=question.thread_id or "",
        streamed=streamed,
        survive=question.resume,
    )


@router.post(
    "/resume",
    response_model=bodies.QueryResponse,
    responses={200: _STREAM, **_PENDING, **problems(404, 409, 502)},
)
async def resume_answer(
    request: Request,
    principal: Reader,
    body: bodies.ResumeBody,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Response:
    """Resume an answer that waits for a decision, or a report that was stopped."""
    decision = {"decisions": list(body.decisions)} if body.decisions else None
    return await _answer(
        request,
        principal,
        ResumeRequest("", Options(), body.thread_id, decision),
        _Trace(debug=body.debug),
        thread_id=body.thread_id,
        streamed=body.stream or MEDIA_TYPE in accept,
        survive=False,
    )


async def _answer(
    request: Request,
    principal: Principal,
    question: AnswerRequest,
    trace: _Trace,
    *,
    thread_id: str,
    streamed: bool,
    survive: bool,
) -> Response:
    """Return the answer, whole or as a stream, or the decision that it waits for."""
    if streamed:
        encode = partial(_frame_events, trace)
        run, response = stream_answer(
            request, principal, question, encode, keep=True, survive=survive
        )
        response.headers["Content-Location"] = f"{router.prefix}/{run.run_id}/events"
        return response

    def respond(answer: Answer) -> Response:
        body = answer_on_wire(answer, trace.steps)
        return Response(orjson.dumps(body), media_type="application/json")

    try:
        return await respond_with_answer(request, principal, question, respond, trace.note)
    except DecisionNeeded as stopped:
        pending = {"threadId": thread_id, "request": stopped.request}
        return Response(orjson.dumps(pending), 202, media_type="application/json")


@router.get("/{runId}/events", response_class=Response, responses={200: _AGAIN, **problems(404)})
async def answer_events(
    request: Request, principal: Reader, run_id: RunId, last_event_id: LastEventId = None
) -> Response:
    """Return the events of a streamed answer again, all or those after `Last-Event-ID`."""
    after = _last_event_of(last_event_id)[1] if last_event_id else 0
    run = serving_of(request).runs.find(run_id, principal.user_id)
    return resume_stream(request, run, after)


@router.delete("/{runId}", status_code=204, response_class=Response, responses=problems(404))
async def cancel_answer(request: Request, principal: Reader, run_id: RunId) -> None:
    """Stop a streamed answer; one that has ended stays as it is."""
    serving_of(request).runs.find(run_id, principal.user_id).stop()


def _read_request(body: bodies.QueryRequest) -> AnswerRequest:
    chosen = body.model_dump(by_alias=False, include={*Options.__annotations__})
    return AnswerRequest(
        body.query,
        cast("Options", chosen | {"filters": body.filters.as_json() if body.filters else None}),
    )


_EVENT_ID = re.compile(r"([0-9a-f]{32})-([0-9]{1,9})")


def _last_event_of(event_id: str) -> tuple[str, int]:
    """Return the run of an event, and the event's number there, from 1."""
    found = _EVENT_ID.fullmatch(event_id)
    if found is None:
        raise RunNotFound("No event has this id.", next_step="Ask the question again.")
    return found[1], int(found[2])


class _Trace:
    """The steps of a run with their times, for `debug`."""

    def __init__(self, *, debug: bool) -> None:
        self.steps: list[dict[str, Any]] | None = [] if debug else None
        self._began = time.perf_counter()

    def note(self, event: Event, _: str = "") -> bytes:
        """Note an event that is a step; return nothing to send."""
        if self.steps is not None and isinstance(
            event, Status | Retrieved | Planned | ReportProgress
        ):
            ms = round(milliseconds_since(self._began), 3)
            self.steps.append({"event": event.type, "ms": ms, **on_wire(event)})
        return b""


def _frame_events(trace: _Trace, event: Event, event_id: str) -> bytes:
    """Return an event as bytes."""
    trace.note(event)
    if isinstance(event, Done):
        return frame(event.type, answer_on_wire(event.answer, trace.steps), event_id)
    if isinstance(event, Failed):
        return frame(event.type, on_wire(event) | problem_fields(event), event_id)
    return frame(event.type, on_wire(event), event_id)


threads_router = new_router("threads", prefix="/api/threads")

ThreadId = Annotated[
    str,
    Path(alias="threadId", min_length=1, max_length=LONGEST_THREAD),
]


@threads_router.get("")
async def list_threads(
    rag: ReaderRag, options: Annotated[bodies.ThreadQuery, Query()]
) -> bodies.ThreadPage:
    """List the conversations of the caller, the latest first."""
    listing = ListingKey.of("threads", rag.user_id)
    after = None
    if last := listing.after(options.cursor or None, tuple[datetime, str]):
        last_at, thread_id = last
        after = Thread(thread_id, "", last_at, last_at)
    known = await rag.conversations().known(options.limit + 1, after)
    page, next_cursor = listing.page(
        known, options.limit, lambda one: [one.updated_at, one.thread_id]
    )
    return bodies.ThreadPage(threads=page, next_cursor=next_cursor)


@threads_router.get("/{threadId:path}", responses=problems(404))
async def get_thread(rag: ReaderRag, thread_id: ThreadId) -> bodies.TurnsBody:
    """Return the turns of a conversation, the oldest first."""
    turns = await rag.conversations().turns(thread_id)
    shown = tuple(map(bodies.TurnBody.from_domain, turns))
    return bodies.TurnsBody(thread_id=thread_id, turns=shown)


@threads_router.patch(
    "/{threadId:path}", status_code=204, response_class=Response, responses=problems(404)
)
async def rename_thread(rag: ReaderRag, thread_id: ThreadId, body: bodies.ThreadTitle) -> None:
    """Give a conversation another title."""
    await rag.conversations().rename(thread_id, body.title)


@threads_router.delete(
    "/{threadId:path}", status_code=204, response_class=Response, responses=problems(404)
)
async def forget_thread(rag: ReaderRag, thread_id: ThreadId) -> None:
    """Delete a conversation with all its turns, for good."""
    await rag.conversations().forget(thread_id)
