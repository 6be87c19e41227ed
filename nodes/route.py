"""route: answer at once, or search the documents first."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime

from sextant.domain.retrieval import Mode
from sextant.nodes.analyze import SIMPLE
from sextant.nodes.context import RunContext
from sextant.nodes.decisions import settle_names
from sextant.nodes.state import State


async def route(
    state: State,
    runtime: Runtime[RunContext],  # noqa: ARG001 - as nodes are called
) -> dict[str, Any]:
    """Send a simple question past the documents, whatever its mode; have a person choose what a name means.

    Raises:
        GraphInterrupt: a name may mean several things, and a person may be asked which.
    """
    if state.complexity == SIMPLE:
        return {"strategy": Mode.BYPASS.value}
    return settle_names(state) if state.meanings else {}


def after_route(state: State) -> Literal["complex", "simple or bypass"]:
    """Return whether the documents are searched."""
    return "simple or bypass" if state.strategy == Mode.BYPASS else "complex"
