"""Asking for an answer over HTTP, whatever its shape: whole or streamed, and stopped with its client."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from fastapi import Request, Response

from sextant.domain.answers import Answer
from sextant.domain.errors import SextantError
from sextant.domain.events import Event
from sextant.domain.retrieval import Mode
from sextant.facade import Sextant
from sextant.facade.asking import Options
from sextant.server.auth.caller import Principal
from sextant.server.routing.guards import rag_of
from sextant.server.run import QUEUE, AnswerRun, Encode, nothing
from sextant.server.runs import Runs
from sextant.server.serving import serving_of
from sextant.server.sse import EventStream, while_connected


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question with what is said beside it, as `Sextant.stream` takes them."""

    question: str
    options: Options

    def ask(self, rag: Sextant) -> AsyncGenerator[Event]:
        """Begin the answer."""
        return rag.stream(self.question, **self.options)


async def whole(
    request: Request,
    principal: Principal,
    asked: AnswerRequest,
    respond: Callable[[Answer], Response],
    note: Encode = nothing,
) -> Response:
    """Return the answer as `respond` puts it; stopped when the client leaves.

    Args:
        request: where it was asked.
        principal: who asks.
        asked: what.
        respond: makes the response.
        note: sees what happens meanwhile.

    Raises:
        Overloaded, Limited: there is no slot.
        ClientLeft: nobody waits for it any longer.
        SextantError: the answer failed.
    """
    rag = rag_of(request, principal)
    run = serving_of(request).runs.start(principal, lambda: asked.ask(rag), note)
    try:
        return respond(await while_connected(request.receive, run.answer()))
    finally:
        run.stop()


def stream_answer(
    request: Request,
    principal: Principal,
    asked: AnswerRequest,
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
        asked: what.
        encode: what is sent of its events.
        keep: have its events kept for whoever comes back.
        survive: go on when the client leaves.

    Raises:
        Overloaded, Limited: there is no slot.
    """
    runs, rag = serving_of(request).runs, rag_of(request, principal)
    run = runs.start(principal, lambda: asked.ask(rag), encode, keep=keep)

    async def begin() -> None:
        try:
            await _start_run(run, asked, rag, runs)
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


async def _start_run(run: AnswerRun, asked: AnswerRequest, rag: Sextant, runs: Runs) -> None:
    """Wait for what can be told; a model that thinks long must not hide that there is no graph."""
    begun = await run.begun(runs.settings.hold_seconds)
    graph = (rag.user_id, asked.options["graph_id"])
    if begun or run.node not in {"", QUEUE, "analyze"}:
        return
    if asked.options.get("mode") != Mode.BYPASS and graph not in runs.graphs:
        await rag.graph(asked.options["graph_id"])
        # A hundred questions at once shall not all look for it, while connections are scarce.
        runs.graphs.add(graph)
