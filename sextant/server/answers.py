"""Asking for an answer over HTTP, whatever its shape: whole or streamed, and stopped with its client.

Also here: searching passages, over HTTP and by the tools for agents alike.
"""

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
from sextant.server.runs import QUEUE, AnswerRun, Encode, Runs, nothing
from sextant.server.schemas.answers import SearchBody
from sextant.text.characters import language_of

# Passages that these rank whatever the page: of two rankings joined, and behind reports, of which a longer
# ranking has more, the first passages depend on how many are asked for. `auto` may choose `global`.
_RANKED: Mapping[str | None, int] = dict.fromkeys((AUTO, Mode.GLOBAL, Mode.HYBRID), 100)


async def run_search(rag: Sextant, body: SearchBody) -> ChunkSearchResponse:
    """Return the passages that fit a request best, ranked by their metadata or as a mode does.

    Raises:
        What `Sextant.search` and `Sextant.search_chunks` raise.
    """
    with speak_in(language_of(body.query)):
        if body.mode is not None:
            return await _by_mode(rag, body)
        return await rag.search_chunks(body.request(), body.graph_id)


async def _by_mode(rag: Sextant, body: SearchBody) -> ChunkSearchResponse:
    """Return a search ranked as a mode ranks; each page is cut from a ranking that is made again."""
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
        filters=body.filters.model_dump(exclude_defaults=True) if body.filters else None,
        rerank=body.rerank,
    )
    passages = [one for one in found.results if one.kind is ItemKind.CHUNK]
    chunks = await rag.chunks(body.graph_id)
    hits, more = await chunks.shown(
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
    """A question with what is said beside it, as `Sextant.stream` takes them."""

    question: str
    options: Options

    @property
    def language(self) -> str:
        """Return the language in which to tell what went wrong with the answer."""
        return language_of(self.question)

    @property
    def effort(self) -> Effort:
        """Return how much may be done."""
        return self.options.get("effort", "medium")

    def ask(self, rag: Sextant) -> AsyncGenerator[Event]:
        """Begin the answer."""
        return rag.stream(self.question, **self.options)


@dataclass(frozen=True, slots=True)
class ResumeRequest(AnswerRequest):
    """A decision on what an answer stopped for; None: a report is resumed, wherever it was stopped."""

    thread_id: str = ""
    decision: object = None

    @property
    def effort(self) -> Effort:
        """Return the highest: what is resumed may be a report."""
        return "high"

    def ask(self, rag: Sextant) -> AsyncGenerator[Event]:
        """Go on with the answer."""
        return rag.resume(self.thread_id, self.decision)


def seconds_for(effort: Effort, rag: Sextant) -> float:
    """Return the time that a run of its own gets; 0: that of an ordinary answer."""
    return rag.settings.research.seconds + BESIDE_ANSWER if effort == "high" else 0.0


async def whole(
    request: Request,
    principal: Principal,
    question: AnswerRequest,
    respond: Callable[[Answer], Response],
    note: Encode = nothing,
) -> Response:
    """Return the answer as `respond` puts it; stopped when the client leaves.

    Args:
        request: where it was asked.
        principal: who asks.
        question: what.
        respond: makes the response.
        note: sees what happens meanwhile.

    Raises:
        Overloaded, Limited: there is no slot.
        ClientLeft: nobody waits for it any longer.
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
        with speak_in(language_of(question.question)):
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

    It begins with 200 when there is something to tell, or after `hold_seconds`: a failure until then,
    of what was asked, of a dependency or of retrieval, has its own status.

    Args:
        request: where it was asked.
        principal: who asks.
        question: what.
        encode: what is sent of its events.
        keep: have its events kept for whoever comes back.
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
            with speak_in(language_of(question.question)):
                await _start_run(run, question, rag, runs)
        except SextantError:
            run.stop()
            await run.over()  # whoever asks again at once finds the conversation free
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
    """Return the rest of a run's stream, from part `after` on, for a client that came back.

    Whoever began the run decides about its end, not who leaves here.
    """
    settings = serving_of(request).runs.settings
    return EventStream(run.read(settings.ping_seconds, after), write_seconds=settings.write_seconds)


async def _start_run(run: AnswerRun, request: AnswerRequest, rag: Sextant, runs: Runs) -> None:
    """Wait for what can be told; a model that thinks long must not hide that there is no graph."""
    begun = await run.begun(runs.settings.hold_seconds)
    if isinstance(request, ResumeRequest):
        return
    graph = (rag.user_id, request.options["graph_id"])
    if begun or run.node not in {"", QUEUE, "analyze"}:
        return
    if request.options.get("mode") != Mode.BYPASS and not runs.graphs.peek(graph):
        await rag.graph(request.options["graph_id"])
        # A hundred questions at once shall not all look for it, while connections are scarce.
        runs.graphs.put(graph, None, None)
