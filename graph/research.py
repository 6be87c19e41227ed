"""The graph of a report: plan → confirm → search ⇄ find_gaps → outline → write.

It is a subgraph with checkpoints of its own, so that a report that was stopped goes on with the missing sections. Its
nodes are imported when a report is first made.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from sextant.nodes.context import Context, RunContext
from sextant.nodes.research.state import ResearchState, after_gaps
from sextant.nodes.state import State

Update = dict[str, Any]
_NODES = {
    "plan": "plan",
    "confirm": "plan",
    "search": "search",
    "find_gaps": "search",
    "outline": "outline",
    "write": "write",
}


class Bind(Protocol):
    """Gives a node its dependencies, its time and its costs."""

    def __call__(self, node: Any) -> Any:  # noqa: ANN401 - nodes of either state
        """Return the node as LangGraph calls it."""
        ...


def load_node(name: str, module: str) -> Any:  # noqa: ANN401 - a node of either state
    """Return a node that is imported when it first runs."""

    async def node(state: State, runtime: Runtime[RunContext]) -> Update:
        run = getattr(import_module(f"sextant.nodes.research.{module}"), name)
        update: Update = await run(state, runtime)
        return update

    node.__name__ = name
    return node


def build_research(bound: Bind) -> CompiledStateGraph[ResearchState, Context, Any, Any]:
    """Return the graph of a report, to be a node of the workflow.

    Args:
        bound: how the workflow binds its own nodes.
    """
    builder: Any = StateGraph(ResearchState, context_schema=Context)
    for name, module in _NODES.items():
        builder.add_node(name, bound(load_node(name, module)), input_schema=ResearchState)
    builder.add_edge(START, "plan")
    builder.add_edge("plan", "confirm")
    builder.add_edge("confirm", "search")
    builder.add_edge("search", "find_gaps")
    builder.add_conditional_edges(
        "find_gaps", after_gaps, {"another search": "search", "outline": "outline"}
    )
    builder.add_edge("outline", "write")
    builder.add_edge("write", END)
    compiled: CompiledStateGraph[ResearchState, Context, Any, Any] = builder.compile(
        name="research"
    )
    return compiled
