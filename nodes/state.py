"""The state that flows through the workflow: plain values only, since every step may be checkpointed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from domain.retrieval import RetrievedItem


@dataclass(kw_only=True)
class InputState:
    """What a caller gives. `mode` is one of the six modes or `auto`."""

    query: str = ""
    graph_id: str = "default"
    user_id: str | None = None
    mode: str = "auto"
    top_k: int | None = None
    filters: dict[str, Any] | None = None
    history: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    multimodal_content: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@dataclass(kw_only=True)
class OutputState:
    """What a caller gets; the shapes are those of `domain.answers`, as dicts."""

    answer: str = ""
    mode: str = ""
    citations: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    sources: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    graph_context: dict[str, Any] = field(default_factory=dict[str, Any])
    attempts: int = 0
    grounded: bool = False
    warnings: list[str] = field(default_factory=list[str])
    timings: dict[str, float] = field(default_factory=dict[str, float])
    model: str = ""
    usage: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(kw_only=True)
class State(InputState, OutputState):
    """Everything the nodes pass on.

    `analyze` resets the loop's fields at each turn, since a checkpointer carries them over.
    `attempts` counts refinement rounds (0..3); `searched` holds every query already run.
    """

    question: str = ""
    language: str = "en"
    complexity: str = "complex"
    reason: str = ""
    entities: list[str] = field(default_factory=list[str])
    keywords: list[str] = field(default_factory=list[str])
    searched: list[str] = field(default_factory=list[str])
    items: list[RetrievedItem] = field(default_factory=list[RetrievedItem])
    relevance: float = 0.0
    sufficient: bool = False
