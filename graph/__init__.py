"""The workflow as a LangGraph graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sextant.domain.system import load_lazily

if TYPE_CHECKING:
    from sextant.graph.workflow import create_query_workflow as create_query_workflow

__getattr__, __dir__, __all__ = load_lazily(
    __name__, {"sextant.graph.workflow": ["create_query_workflow"]}
)
