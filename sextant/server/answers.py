"""Answers over HTTP, whole or streamed, stopped when the client leaves; searches for passages over HTTP and MCP."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from pydantic.alias_generators import to_camel

from sextant.domain.answers import Answer, Effort, Event
from sextant.domain.errors import OptionInvalid, SextantError, speak_in
from sextant.domain.questions import in_range
from sextant.domain.retrieval import AUTO, ItemKind, Mode, Retrieval
from sextant.domain.scope import Principal
from sextant.domain.settings import BESIDE_ANSWER
from sextant.domain.telemetry import milliseconds_since
from sextant.domain.warnings import distinct, word_warnings
from sextant.facade import Sextant
from sextant.facade.questions import Options
from sextant.retrievers.chunk_search.search import MOST, ChunkSearchResponse
from sextant.retrievers.cursor import ListingKey
from sextant.retrievers.modes import constants_of
from sextant.server.connections import EventStream, while_connected
from sextant.server.lifespan import serving_of
from sextant.server.routing import rag_of
from sextant.server.runs import QUEUE, AnswerRun, Encode, Runs, send_nothing
from sextant.server.schemas.answers import SearchBody
from sextant.text.analysis import language_of_question

# Passages that these modes always rank: in fused rankings, and behind reports, the first passages depend on how many
# are ranked, so every page must be cut from the same ranking. `auto` may choose `global`.
_RANKED: Mapping[str | None, int] = dict.fromkeys((AUTO, Mode.GLOBAL, Mode.HYBRID), 100)


async def run_search(rag: Sextant, body: SearchBody) -> ChunkSearchResponse:
    """Return the best passages for a request, ranked by chunk search or by a mode.

    Raises:
        SextantError: as `Sextant.search` and `Sextant.search_chunks`.
    """
    with speak_in(language_of_question(body.query)):
        if body.mode is not None:
            return await _search_by_mode(rag, body)
        return await rag.search_chunks(body.request(), body.graph_id)


async def _search_by_mode(rag: Sextant, body: SearchBody) -> ChunkSearchResponse:
    """Return a page of a mode's ranking; the ranking is computed again for each page."""
    for field in ("ranking", "bm25_rerank"):
        if getattr(body, field) is not None:
            raise OptionInvalid(
                "A mode has its own ranking.", next_step="Leave one out.", field=to_camel(field)
            )
    started = time.perf_counter()
    options = body.model_dump(exclude={"cursor", "debug", "include_neighbors", "limit"})
    listing = ListingKey.of("search", rag.user_id, options)
    skip = in_range(listing.after(body.cursor, int), "cursor", most=MOST) if body.cursor else 0
    end = skip + body.limit
    found = await rag.search(
        body.query,
        graph_id=body.graph_id,
        mode=str(body.mode),
        limit=_RANKED.get(body.mode) or min(end + 1, MOST),
        filters=body.filters.as_json() if body.filters else None,
        rerank=body.rerank,
    )
    passages = [one for one in found.results if one.kind is ItemKind.CHUNK]
    chunks = await rag.chunks(body.graph_id)
    hits, more = await chunks.hits_of_mode(
        passages[skip:end], neighbors=body.include_neighbors, debug=body.debug
    )
    warnings = distinct([*found.coded_warnings, *more])
    return ChunkSearchResponse(
        results=hits,
        next_cursor=listing.cursor(end) if len(passages) > end else None,
        total=len(passages),
        search_time_ms=milliseconds_since(started),
        warnings=word_warnings(warnings, found.language),
        coded_warnings=tuple(warnings),
        debug=_debug(found, rag) if body.debug else None,
    )


def _debug(found: Retrieval, rag: Sextant) -> dict[str, Any]:
    constants = constants_of(found.mode, rag.settings.retrieval, reranked="rerank" in found.timings)
    return {"mode": found.mode, "constants": constants, "timings": dict(found.timings)}


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question with its options, as `Sextant.stream` takes them."""

    question: str
    options: Options

    @property
    def language(self) -> str:
        """Return the language of errors."""
        return language_of_question(self.question)

    @property
    def effort(self) -> Effort:
        """Return the effort that was asked for."""
        return self.options.get("effort", "medium")

    def ask(self, rag: Sextant) -> AsyncGenerator[Event]:
        """Begin the answer."""
        return rag.stream(self.question, **self.options)


@dataclass(frozen=True, slots=True)
class ResumeRequest(AnswerRequest):
    """The decision that an answer waits for; None: a stopped report is resumed."""

    thread_id: str = ""
    decision: object = None

    @property
    def effort(self) -> Effort:
        """Return the highest effort, since the answer may be a report."""
        return "high"

    def ask(self, rag: Sextant) -> AsyncGenerator[Event]:
        """Go on with the answer."""
        return rag.resume(self.thread_id, self.decision)


def seconds_for(effort: Effort, rag: Sextant) -> float:
    """Return the time limit of a report; 0 for other answers."""
    return rag.settings.research.seconds + BESIDE_ANSWER if effort == "high" else 0.0


async def respond_with_answer(
    request: Request,
    principal: Principal,
    question: AnswerRequest,
    respond: Callable[[Answer], Response],
    note: Encode = send_nothing,
) -> Response:
    """Return the response for a whole answer; a client that leaves stops it.

    Args:
        request: of the client.
        principal: the caller.
        question: the question.
        respond: makes the response.
        note: called with each event.

    Raises:
        Overloaded, Limited: there is no slot.
        ClientLeft: the client left.
        SextantError: the answer failed.
    """
    rag = rag_of(request, principal)
    run = serving_of(request).runs.start(
        principal,
        lambda: question.ask(rag),
        note,
        language=question.language,
        seconds=seconds_for(question.effort, rag),
    )
    try:
        with speak_in(language_of_question(question.question)):
            return respond(await while_connected(request.receive, run.answer()))
    finally:
        run.stop()


def stream_answer(
    request: Request,
    principal: Principal,
    question: AnswerRequest,
    encode: Encode,
    *,
    keep: bool = False,
    survive: bool = False,
) -> tuple[AnswerRun, EventStream]:
    """Return the answer as a stream.

    The response begins with 200 at the first result, or after `hold_seconds`; an earlier failure is answered with its
    own status.

    Args:
        request: of the client.
        principal: the caller.
        question: the question.
        encode: encodes the events.
        keep: keep the events for a client that comes back.
        survive: go on when the client leaves.

    Raises:
        Overloaded, Limited: there is no slot.
    """
    runs, rag = serving_of(request).runs, rag_of(request, principal)
    run = runs.start(
        principal,
        lambda: question.ask(rag),
        encode,
        keep=keep,
        language=question.language,
        seconds=seconds_for(question.effort, rag),
    )

    async def begin() -> None:
        try:
            with speak_in(language_of_question(question.question)):
                await _start_run(run, question, rag, runs)
        except SextantError:
            run.stop()
            await run.over()  # the conversation is free for the next question
            raise

    def left() -> None:
        if not survive:
            run.stop()

    return run, EventStream(
        run.read(runs.settings.ping_seconds),
        write_seconds=runs.settings.write_seconds,
        begin=begin,
        on_left=left,
    )


def resume_stream(request: Request, run: AnswerRun, after: int) -> EventStream:
    """Return a run's stream from event `after` on; leaving this stream does not stop the run."""
    settings = serving_of(request).runs.settings
    return EventStream(run.read(settings.ping_seconds, after), write_seconds=settings.write_seconds)


async def _start_run(run: AnswerRun, request: AnswerRequest, rag: Sextant, runs: Runs) -> None:
    """Wait for the first result; where it takes long, check that the knowledge base exists."""
    begun = await run.begun(runs.settings.hold_seconds)
    if isinstance(request, ResumeRequest):
        return
    graph = (rag.user_id, request.options["graph_id"])
    if begun or run.node not in {"", QUEUE, "analyze"}:
        return
    if request.options.get("mode") != Mode.BYPASS and not runs.graphs.peek(graph):
        await rag.graph(request.options["graph_id"])
        # Cached, so that a hundred questions at once do not need a connection each.
        runs.graphs.put(graph, None, None)
