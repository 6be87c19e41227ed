"""Models are ways to answer: `sextant`, `sextant-mix`, `sextant-mix:handbooks`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sextant.domain.errors import NotFound
from sextant.domain.retrieval import AUTO, Mode
from sextant.domain.scope import DEFAULT_GRAPH

_NAME = "sextant"
_OWNER = "sextant"


class ModelNotFound(NotFound):
    """No model has this name; the code is OpenAI's own."""


def chosen_by(model: str, graph_id: str | None) -> tuple[str, str]:
    """Return the mode and the knowledge base that a model's name says.

    Args:
        model: `sextant`, then `-` and a mode if not `auto`, then `:` and a knowledge base if not the
            default one.
        graph_id: the request's own word for the knowledge base, which outranks the name's.

    Raises:
        ModelNotFound: the name is none of these.
    """
    name, _, graph = model.partition(":")
    base, _, mode = name.partition("-")
    if base != _NAME or (name != _NAME and mode not in list(Mode)):
        raise ModelNotFound(
            f"There is no model {model!r:.100}.",
            next_step=f"Models: {', '.join(names())}; a knowledge base follows after a colon.",
            field="model",
        )
    return mode or AUTO, graph_id or graph or DEFAULT_GRAPH


def names() -> list[str]:
    """Return the models for the default knowledge base."""
    return [_NAME, *(f"{_NAME}-{mode}" for mode in Mode)]


def models_response(graphs: Iterable[str]) -> list[dict[str, Any]]:
    """Return the models as the API lists them: those of the default knowledge base, one for each other."""
    others = [f"{_NAME}:{graph}" for graph in graphs if graph != DEFAULT_GRAPH]
    return [model_response(name) for name in (*names(), *others)]


def model_response(name: str) -> dict[str, Any]:
    """Return one model as the API describes it."""
    return {"id": name, "object": "model", "created": 0, "owned_by": _OWNER}
