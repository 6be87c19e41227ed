"""route: answer at once, or look into the documents first."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from domain.retrieval import Mode
from nodes.analyze import SIMPLE
from nodes.context import RunContext
from nodes.state import State


async def route(
    state: State,
    runtime: Runtime[RunContext],  # noqa: ARG001 - every node has the same signature
) -> Command[Literal["retrieve", "generate"]]:
    """Simple questions and `bypass` go straight to `generate`; all others to `retrieve`."""
    if state.complexity == SIMPLE or state.strategy == Mode.BYPASS:
        return Command(goto="generate", update={"strategy": Mode.BYPASS.value})
    return Command(goto="retrieve")
