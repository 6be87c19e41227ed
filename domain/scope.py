"""Whose data, and which knowledge base of theirs."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_USER = "local"
DEFAULT_GRAPH = "default"


@dataclass(frozen=True, slots=True)
class Scope:
    """The key that every store call carries: a tenant and one of its knowledge bases."""

    user_id: str = DEFAULT_USER
    graph_id: str = DEFAULT_GRAPH
