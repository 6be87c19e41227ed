"""How requests are made from the OpenAPI document (`SCHEMATHESIS_HOOKS`): half of them meet what is there."""

from __future__ import annotations

import os
from typing import Any

import schemathesis

GRAPH = "rust"
# Ids that the server has given: made-up ones would all end in 404.
KNOWN = {
    name: os.environ[variable]
    for name, variable in (("documentId", "FUZZ_DOCUMENT"), ("entityId", "FUZZ_ENTITY"))
    if variable in os.environ
}


@schemathesis.serializer("application/x-ndjson")
def lines(_context: schemathesis.SerializationContext, value: Any) -> bytes:
    """JSON Lines are sent as the text that they are."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@schemathesis.hook
def map_query(_context: schemathesis.HookContext, query: Any) -> Any:
    """Every other request of a knowledge base is of one that is there."""
    return _of_a_graph(query)


@schemathesis.hook
def map_body(_context: schemathesis.HookContext, body: Any) -> Any:
    """The same for bodies."""
    return _of_a_graph(body)


@schemathesis.hook
def map_path_parameters(_context: schemathesis.HookContext, parameters: Any) -> Any:
    """Every other id is one that is there."""
    for name, known in KNOWN.items():
        if isinstance(parameters, dict) and _even(parameters.get(name)):
            parameters[name] = known
    return parameters


def _of_a_graph(values: Any) -> Any:
    if isinstance(values, dict) and _even(values.get("graphId", "")):
        values["graphId"] = GRAPH
    return values


def _even(value: object) -> bool:
    return isinstance(value, str) and sum(map(ord, value)) % 2 == 0
