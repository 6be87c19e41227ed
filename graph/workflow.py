"""The workflow: analyze → route → retrieve → grade → refine (at most three times) → generate, or a report.

Nodes are plain functions of `(state, runtime)` in `nodes/`. Here they are wired together, and get their dependencies,
time limits and second tries.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from functools import partial, wraps
from typing import Any, Protocol, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphBubbleUp, NodeTimeoutError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import RetryPolicy

from sextant.domain.answers import Status, Usage, as_values
from sextant.domain.concurrency import run_sync
from sextant.domain.errors import SextantError
from sextant.domain.retrieval import LaneScore
from sextant.domain.settings import Settings
from sextant.domain.telemetry import EventOutcome, NodeCompleted, emit, milliseconds_since
from sextant.graph.dependencies import get_shared_dependencies
from sextant.graph.research import build_research, load_node
from sextant.graph.streaming import as_failed
from sextant.models.chat.call_limits import Allowance, allowing
from sextant.nodes.analyze import analyze, resolve_effort
from sextant.nodes.budget import budget_of, deadline, judging_budget
from sextant.nodes.context import Context, Dependencies, RunContext
from sextant.nodes.generate import generate
from sextant.nodes.grade import after_grade, grade
from sextant.nodes.refine import after_refine, refine
from sextant.nodes.retrieve import retrieve
from sextant.nodes.route import after_route, route
from sextant.nodes.state import InputState, OutputState, State, check_edits
from sextant.text.analysis import language_of_question


# Any: callers give mappings with the keys of Context and InputState, and get those of OutputState.
class Workflow(CompiledStateGraph[State, Any, Any, Any]):
    """The compiled state graph; callers without an event loop may use `invoke`."""

    def invoke(
        self,
        input: Any,  # noqa: A002, ANN401 - LangGraph's signature
        config: RunnableConfig | None = None,
        **options: Any,  # noqa: ANN401 - those of `ainvoke`
    ) -> Any:  # noqa: ANN401 - as `ainvoke`
        """Run `ainvoke` on a background event loop, since the nodes are asynchronous.

        It blocks the calling thread, which may have a running loop.
        """
        return run_sync(lambda: self.ainvoke(input, config, **options))


Update = dict[str, Any]
Resolve = Callable[[], Awaitable[Dependencies]]


class Node(Protocol):
    """A function of `nodes/`, which finds `RunContext` in its runtime."""

    @property
    def __name__(self) -> str: ...

    async def __call__(self, state: State, runtime: Runtime[RunContext]) -> Update:
        """Return what changes in the state."""
        ...


class _BoundNode(Protocol):
    """A node as LangGraph calls it."""

    async def __call__(self, state: State, *, runtime: Runtime[Context]) -> Update: ...


# Stops a routing mistake. The longest run takes 3 + 3 · 3 + 1 steps, since `limits.max_attempts` bounds the loop.
_MOST_STEPS = 40

# Seconds beyond the answer's time after which a node that hangs is stopped. Others keep to that time, and then finish
# with what they have, which may take a busy machine a while.
_GRACE = 60.0


def _is_transient(error: Exception) -> bool:
    return isinstance(error, SextantError) and error.retryable


_NO_CHOICES = Context()
_COSTS = ("calls", "prompt_tokens", "completion_tokens")

# `retrieve` gets a second try where a connection broke. Model calls have retries of their own, and the tokens of
# `generate` are already on the user's screen.
_TRIES = 2
_WRITING = frozenset({"generate", "write"})
_SECOND_TRY = RetryPolicy(max_attempts=_TRIES, initial_interval=0.2, retry_on=_is_transient)


def create_query_workflow(
    *,
    settings: Settings | None = None,
    dependencies: Dependencies | None = None,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    context: Context | None = None,
) -> Workflow:
    """Build the query workflow as a compiled LangGraph graph.

    Without `dependencies`, each event loop opens its own on the first run, and
    `sextant.graph.dependencies.close_shared_dependencies` closes them.

    Args:
        settings: for dependencies to be opened; by default from the environment and `.env`.
        dependencies: an open store and models, which stay the caller's to close.
        checkpointer: keeps conversations by `thread_id`, where wanted.
        context: the choices for runs that bring none of their own, such as those of a subagent.

    Returns:
        A graph to be run by `await workflow.ainvoke({"query": "…", "graph_id": "…"})`, or by `invoke`; `context`
        takes the fields of `sextant.nodes.context.Context`. The result has the keys of `OutputState`.
    """

    async def resolve() -> Dependencies:
        return dependencies or await get_shared_dependencies(settings)

    bound = partial(_bound, resolve, context or _NO_CHOICES)
    builder: StateGraph[State, Any, Any, Any] = StateGraph(
        State, context_schema=Context, input_schema=InputState, output_schema=OutputState
    )
    builder.add_node("analyze", bound(analyze))
    builder.add_node("route", bound(route))
    builder.add_node("retrieve", bound(retrieve, _TRIES), retry_policy=_SECOND_TRY)
    builder.add_node("grade", bound(grade))
    builder.add_node("refine", bound(refine))
    builder.add_node("generate", bound(generate))
    builder.add_node("research", build_research(bound))
    builder.add_node("compose", bound(load_node("compose", "write")))
    builder.add_edge(START, "analyze")
    builder.add_edge("analyze", "route")
    # Routes are read from the state, so that they hold for an edited state, too.
    builder.add_conditional_edges(
        "route", _route_after(after_route), {"complex": "retrieve", "simple or bypass": "generate"}
    )
    builder.add_edge("retrieve", "grade")
    builder.add_conditional_edges(
        "grade",
        _route_after(after_grade),
        {"enough": "generate", "weak": "refine", "report": "research"},
    )
    builder.add_conditional_edges(
        "refine",
        _route_after(after_refine),
        {"another query": "retrieve", "nothing new": "generate", "report": "research"},
    )
    builder.add_edge("research", "compose")
    builder.add_edge("generate", END)
    builder.add_edge("compose", END)
    if checkpointer is not None:  # LangGraph finds all other classes of the state by itself
        checkpointer = checkpointer.with_allowlist([(LaneScore.__module__, LaneScore.__name__)])
    compiled = builder.compile(checkpointer=checkpointer, name="sextant")
    parts = {name: part for name, part in vars(compiled).items() if name != "__orig_class__"}
    return Workflow(**parts).with_config(recursion_limit=_MOST_STEPS)  # as `Pregel.copy` does


def _bound(resolve: Resolve, default: Context, node: Node, tries: int = 1) -> _BoundNode:
    """Return `node` as LangGraph calls it: with dependencies, a status event, a time limit, costs, and failures as events.

    A failure is an event because LangGraph's server does not show the messages of exceptions. The time limit is ours
    because LangGraph's own takes two more tasks.
    """
    name = node.__name__

    async def run(state: State, *, runtime: Runtime[Context]) -> Update:
        runtime.stream_writer(as_values(Status(name, attempt=state.attempts)))
        started, outcome = time.perf_counter(), EventOutcome.FAILED
        try:
            # Within another graph a run without a context sees that graph's.
            choices = runtime.context if isinstance(runtime.context, Context) else default
            context = RunContext(choices, await resolve())
            effort = resolve_effort(state, context) if node is analyze else state.chosen_effort
            context = context.for_effort(effort)
            started = time.perf_counter()
            if node is not analyze:  # which says itself what is wrong with a question
                check_edits(state)
            state = _with_time(state, context)
            with allowing(_calls_left(node, state, context)) as allowance:
                work = node(state, cast("Any", runtime).override(context=context))
                result = await _in_time(name, _seconds_left(node, state, context), work)
        except SextantError as error:
            tried = runtime.execution_info.node_attempt if runtime.execution_info else tries
            if tried >= tries or not error.retryable:
                runtime.stream_writer(
                    as_values(as_failed(error, _language_of_failure(node, state, runtime)))
                )
            raise
        except GraphBubbleUp:
            outcome = EventOutcome.OK  # it waits for a person
            raise
        except asyncio.CancelledError:
            outcome = EventOutcome.CANCELLED
            raise
        else:
            outcome = EventOutcome.OK
            milliseconds = milliseconds_since(started)
            result = {"deadline": state.deadline} | result
            return _add_costs(result, name, state, milliseconds, allowance)
        finally:
            emit(NodeCompleted(name, milliseconds_since(started), state.attempts, outcome))

    return run


def _language_of_failure(node: Node, state: State, runtime: Runtime[Context]) -> str:
    """Return the language of a failure's message; before `analyze` is done the state has that of the last turn."""
    if node is not analyze:
        return state.language
    chosen = runtime.context.language if isinstance(runtime.context, Context) else "auto"
    last = state.messages[-1].text if state.messages else ""
    return language_of_question(state.query or last) if chosen == "auto" else chosen


def _route_after(after: Callable[[State], str]) -> Callable[[State], str]:
    """Return the route after a node; an edited state is checked here, too, before any node sees it."""

    @wraps(after)
    def successor(state: State) -> str:
        check_edits(state)
        return after(state)

    return successor


def _with_time(state: State, run: RunContext) -> State:
    """Return the state with a deadline; a run that goes on from a checkpoint gets a new one."""
    return state if state.deadline else replace(state, deadline=deadline(run))


def _seconds_left(node: Node, state: State, run: RunContext) -> float:
    """Return the seconds that a node may take; `analyze`, which still sees the last turn's deadline, has all of them."""
    whole = run.deps.settings.limits.answer_seconds
    return _GRACE + (whole if node is analyze else max(0.0, budget_of(state, run).seconds))


async def _in_time(name: str, seconds: float, work: Awaitable[Update]) -> Update:
    """Await a node for at most `seconds`; a timeout from inside the node is passed on as it is."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await work
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise NodeTimeoutError(name, seconds, kind="run", run_timeout=seconds) from error


def _calls_left(node: Node, state: State, run: RunContext) -> int:
    """Return how many chat-model calls a node may make; nodes that do not write leave those of the answer."""
    # `analyze` still sees usage and passages of the last turn.
    begun = State() if node is analyze else state
    return (budget_of if node.__name__ in _WRITING else judging_budget)(begun, run).calls


def _add_costs(
    update: Update, name: str, state: State, milliseconds: float, allowance: Allowance
) -> Update:
    """Add the node's cost to the update's `timings` and `costs`; the rounds of one node add up.

    Nodes report their tokens, rerankers charge theirs to the allowance, which also counts all calls that were made.
    """
    timings, costs = (update.get(key, getattr(state, key)) for key in ("timings", "costs"))
    # An update with costs begins a turn; what was used before is the last turn's.
    used = {} if "costs" in update else state.usage
    now = update.get("usage", used)
    if allowance.made or update.get("usage"):
        now = asdict(Usage(**now) + allowance.charged)
        now["calls"] = used.get("calls", 0) + allowance.made
        update = update | {"usage": now}
    step = {key: now.get(key, 0) - used.get(key, 0) for key in _COSTS} | {
        "milliseconds": milliseconds
    }
    sums = costs.get(name, {})
    total = {key: round(sums.get(key, 0) + value, 3) for key, value in step.items()}
    return update | {
        "timings": timings | {name: total["milliseconds"]},
        "costs": costs | {name: total},
    }


graph = create_query_workflow()
"""The graph that `langgraph.json` exports; building it opens nothing."""
