"""How requests are made from the OpenAPI document (`SCHEMATHESIS_HOOKS`): half of them meet what is there."""

from __future__ import annotations

import os
from typing import Any

import hypothesis
import schemathesis

# Schemathesis aims at answers of 2xx. Of a route with few different requests Hypothesis then climbs for
# ever, trying again what it knows: 200 examples of each route never ended.
hypothesis.target = lambda observation, **_: observation

GRAPH = "rust"
# Ids that the server has given: made-up ones would all end in 404.
KNOWN = {
    name: os.environ[variable]
    for name, variable in (
        ("documentId", "FUZZ_DOCUMENT"),
        ("entityId", "FUZZ_ENTITY"),
        ("runId", "FUZZ_RUN"),
        ("threadId", "FUZZ_THREAD"),
    )
    if variable in os.environ
}


@schemathesis.serializer("application/x-ndjson")
def lines(_context: schemathesis.SerializationContext, value: Any) -> bytes:
    """Return JSON Lines are sent as the text that they are."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@schemathesis.hook
def map_query(context: schemathesis.HookContext, query: Any) -> Any:
    """Return every other request of a knowledge base is of one that is there, and of its first page.

    A query has no null, and a made-up cursor none that holds: either would end every request in 422.
    """
    if isinstance(query, dict):
        made_up = {"cursor"} if _even(query.get("cursor")) else set()
        query = {
            name: value
            for name, value in query.items()
            if value not in (None, "null") and name not in made_up
        }
        if context.operation and "graphId" in {one.name for one in context.operation.query}:
            return _of_a_graph(query)
    return query


@schemathesis.hook
def map_body(context: schemathesis.HookContext, body: Any) -> Any:
    """Return the same for bodies; OpenAI's have no knowledge base."""
    foreign = context.operation and context.operation.path.startswith("/v1/")
    return body if foreign else _of_a_graph(body)


@schemathesis.hook
def map_path_parameters(_context: schemathesis.HookContext, parameters: Any) -> Any:
    """Return every other id is one that is there."""
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
