"""The workflow as a LangGraph graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph.workflow import create_query_workflow as create_query_workflow

__all__ = ["create_query_workflow"]


def __getattr__(name: str) -> object:
    """Import the workflow when it is first asked for, so that `import graph.x` stays cheap."""
    if name == "create_query_workflow":
        from graph.workflow import create_query_workflow

        return create_query_workflow
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
