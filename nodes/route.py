"""route: answer at once, or look into the documents first."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime

from sextant.domain.retrieval import Mode
from sextant.nodes.analyze import SIMPLE
from sextant.nodes.context import RunContext
from sextant.nodes.state import State


async def route(
    state: State,
    runtime: Runtime[RunContext],  # noqa: ARG001 - every node has the same signature
) -> dict[str, Any]:
    """Return a simple question needs no document, whatever mode was chosen for it."""
    return {"strategy": Mode.BYPASS.value} if state.complexity == SIMPLE else {}


def after_route(state: State) -> Literal["complex", "simple or bypass"]:
    """Return whether documents are looked into."""
    return "simple or bypass" if state.strategy == Mode.BYPASS else "complex"
