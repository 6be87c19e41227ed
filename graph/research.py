"""The part of the workflow that makes a report: plan → search ⇄ find gaps → outline → write, section by section.

A graph of its own, with checkpoints below those of the run that it belongs to: a report that was stopped goes on behind
its last finished section. Its nodes are read from disk when a report is first made.
"""

from __future__ import annotations

from typing import Any, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from sextant.nodes.context import Context, RunContext
from sextant.nodes.research.state import ResearchState, after_gaps, after_write
from sextant.nodes.state import State

Update = dict[str, Any]


class Bind(Protocol):
    """Gives a node its dependencies, its time and its costs."""

    def __call__(self, node: Any) -> Any:  # noqa: ANN401 - nodes of either state
        """Return the node as LangGraph calls it."""
        ...


def build_research(bound: Bind) -> CompiledStateGraph[ResearchState, Context, Any, Any]:
    """Return the graph of a report, to be a node of the workflow.

    Args:
        bound: how the workflow binds its own nodes.
    """
    builder: Any = StateGraph(ResearchState, context_schema=Context)
    for node in (plan, confirm, search, find_gaps, outline, write):
        builder.add_node(node.__name__, bound(node), input_schema=ResearchState)
    builder.add_edge(START, "plan")
    builder.add_edge("plan", "confirm")
    builder.add_edge("confirm", "search")
    builder.add_edge("search", "find_gaps")
    builder.add_conditional_edges(
        "find_gaps", after_gaps, {"another search": "search", "outline": "outline"}
    )
    builder.add_edge("outline", "write")
    builder.add_conditional_edges("write", after_write, {"next section": "write", "done": END})
    compiled: CompiledStateGraph[ResearchState, Context, Any, Any] = builder.compile(
        name="research"
    )
    return compiled


async def plan(state: ResearchState, runtime: Runtime[RunContext]) -> Update:
    """Choose what the report asks."""
    from sextant.nodes.research import plan as module

    return await module.plan(state, runtime)


async def confirm(state: ResearchState, runtime: Runtime[RunContext]) -> Update:
    """Have a person agree to plan and cost."""
    from sextant.nodes.research import plan as module

    return await module.confirm(state, runtime)


async def search(state: ResearchState, runtime: Runtime[RunContext]) -> Update:
    """Search for all queries that are due."""
    from sextant.nodes.research import search as module

    return await module.search(state, runtime)


async def find_gaps(state: ResearchState, runtime: Runtime[RunContext]) -> Update:
    """Choose what is searched next."""
    from sextant.nodes.research import search as module

    return await module.find_gaps(state, runtime)


async def outline(state: ResearchState, runtime: Runtime[RunContext]) -> Update:
    """Order what was found into sections."""
    from sextant.nodes.research import outline as module

    return await module.outline(state, runtime)


async def write(state: ResearchState, runtime: Runtime[RunContext]) -> Update:
    """Write the next section."""
    from sextant.nodes.research import write as module

    return await module.write(state, runtime)


async def compose(state: State, runtime: Runtime[RunContext]) -> Update:
    """Join the sections to one answer."""
    from sextant.nodes.research import write as module

    return await module.compose(state, runtime)
