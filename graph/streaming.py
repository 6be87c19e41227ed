"""Runs the workflow and yields its events, for every stream that is served.

When a reader leaves, the server closes the generator here (`sextant.server.runs`), which cancels the workflow and its
call of the model.

Also here: `to_its_end`, which finishes work although its task is cancelled.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextvars import copy_context
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import anyio
from langchain_core.runnables import RunnableConfig
from langgraph.errors import NodeTimeoutError
from langgraph.types import Command, Durability, Interrupt
from pydantic import Field, TypeAdapter, ValidationError

from sextant.domain.answers import (
    Answer,
    Cited,
    Done,
    Event,
    Failed,
    Interrupted,
    Reset,
    Sources,
    Token,
)
from sextant.domain.concurrency import end
from sextant.domain.errors import UNFORESEEN, SextantError, TimedOut, Wording
from sextant.domain.questions import field_at
from sextant.nodes.context import Backpressure, Context
from sextant.text.analysis import language_of_question

if TYPE_CHECKING:
    from sextant.graph.workflow import Workflow

T = TypeVar("T")


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Finish `work`; a cancellation of the waiting task is raised afterwards.

    A scope of anyio shields from the cancellation of other scopes, not from `Task.cancel`.
    """
    doing = asyncio.create_task(work)
    stopped: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):
        while not doing.done():
            try:
                await asyncio.wait({doing})
            except asyncio.CancelledError as error:
                stopped = error
    if stopped is not None:
        raise stopped from doing.exception()
    return doing.result()


_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])
_ANSWER = TypeAdapter(Answer)

# Events that may wait for a slow reader before the run is held back, and the kinds that `generate` holds back.
_QUEUE = 64
_PACED = (Token, Cited, Reset, Sources)


def parse_event(data: Mapping[str, Any]) -> Event:
    """Return the event of one item of the graph's `custom` stream."""
    return _EVENT.validate_python(data)


async def stream_answer(
    graph: Workflow,
    question: Mapping[str, Any] | Command[Any] | None,
    *,
    context: Context | Mapping[str, Any] | None = None,
    config: RunnableConfig | None = None,
) -> AsyncGenerator[Event]:
    """Run `graph` and yield its events.

    The last event is `Done`, whose answer is the text and citations that were streamed, `Failed`, or `Interrupted` where
    a person must decide first. Closing the generator, or cancelling the task that reads it, stops the run and its model
    call. Use `contextlib.aclosing` around it.

    Args:
        graph: the workflow.
        question: the keys of `InputState`; or a decision, or None, to resume a run.
        context: the choices of the run.
        config: of LangGraph, with the `thread_id` of a conversation.
    """
    queue = asyncio.Queue[Event](_QUEUE)
    pace = Backpressure(_QUEUE)
    run_context = copy_context()
    run_context.run(pace.set)
    run = asyncio.create_task(_run(graph, question, context, config, queue), context=run_context)
    try:
        while True:
            event = await queue.get()
            if isinstance(event, _PACED):
                pace.read()
            yield event
            if isinstance(event, Done | Failed | Interrupted):
                return
    finally:
        if not run.done():  # the reader has left
            await to_its_end(end(run))


async def _run(
    graph: Workflow,
    question: Mapping[str, Any] | Command[Any] | None,
    context: Context | Mapping[str, Any] | None,
    config: RunnableConfig | None,
    queue: asyncio.Queue[Event],
) -> None:
    # In a task of its own: servers cancel a response through an anyio scope, under which
    # LangGraph's clean-up is cancelled before it starts and the model would stream on to its end.
    values: dict[str, Any] = {}
    interrupts: Sequence[Interrupt] = ()
    own: tuple[str, ...] | None = None
    given: Mapping[str, Any] = question if isinstance(question, Mapping) else {}
    question_text = str(given.get("query") or "")
    # A report is resumed from the last checkpoint of its own graph. All else keeps only the final checkpoint, which takes
    # a quarter of the time.
    in_parts: bool = given.get("effort") == "high" or not isinstance(question, Mapping)
    durability: Durability = "async" if in_parts else "exit"
    try:
        async for part in graph.astream(
            question,
            config,
            context=context,
            stream_mode=["custom", "values"],
            subgraphs=in_parts,
            durability=durability if graph.checkpointer else None,
            version="v2",
        ):
            # Within another graph the workflow itself has a namespace: that of the first part.
            own = part["ns"] if own is None else own
            if part["type"] == "custom":
                await queue.put(parse_event(part["data"]))
            elif part["type"] == "values" and part["ns"] == own:
                values, interrupts = cast("dict[str, Any]", part["data"]), part["interrupts"]
        if interrupts:
            await queue.put(Interrupted(interrupts[0].value))
            return
        await queue.put(Done(_ANSWER.validate_python(values)))
    except Exception as error:  # noqa: BLE001 - the edge: a stream ends with an event, not a traceback
        await queue.put(
            as_failed(error, values.get("language") or language_of_question(question_text))
        )


_log = logging.getLogger(__name__)


def as_failed(error: Exception, language: str = "en") -> Failed:
    """Return the event of a failure: the words of a `SextantError` in `language`, else that something broke."""
    if isinstance(error, SextantError):
        message, next_step = error.wording(language)
        detail = {"next_step": next_step, "field": error.field}
        return Failed(error.code, message, error.retryable, detail)
    if isinstance(error, NodeTimeoutError):
        return as_failed(
            TimedOut(
                f"The step {error.node} took longer than {error.timeout:g} s.",
                next_step="Ask again; `sextant doctor` shows what is slow or down.",
                translations={
                    "zh": Wording(
                        f"步骤 {error.node} 超过了 {error.timeout:g} 秒。",
                        "请再问一次；`sextant doctor` 会显示哪里慢或不可用。",
                    )
                },
            ),
            language,
        )
    if isinstance(error, ValidationError):
        fields = ", ".join(field_at(wrong["loc"]) for wrong in error.errors())
        return Failed(
            "option_invalid", f"The run's context cannot be used: {fields}.", retryable=False
        )
    _log.error("a run failed", exc_info=error)
    return Failed(SextantError.code, UNFORESEEN, retryable=False)
