"""The OpenAPI document: FastAPI's own, with the errors of all routes and with examples.

`schemas/examples.json` has examples of path parameters by name, and of requests and answers by operation. Instead of
an answer it may name the operation that has the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any

import orjson
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from sextant.server.problems import MEDIA_TYPE
from sextant.server.schemas.wire import Problem

Responses = dict[int | str, dict[str, Any]]
# Returns the description of an error by its status.
Describe = Callable[[int], dict[str, Any]]

_PUBLIC = frozenset({"/", "/healthz", "/readyz"})
# Errors of every route that is not public.
_COMMON = (401, 403, 413, 422, 429, 500, 503, 504)
DESCRIPTIONS = {
    401: "No key or token, or an invalid one.",
    403: "The key lacks the permission.",
    404: "It does not exist, or it belongs to another user.",
    409: "Stored state and the request disagree.",
    413: "The body is larger than it may be.",
    415: "The body is of another type than this takes.",
    422: "A value is missing, unknown or out of its range; `field` names it.",
    429: "The caller's rate, runs or budget are used up; `Retry-After` says for how long.",
    500: "A fault of the server; the log has it under the request's id.",
    502: "A model's endpoint refuses, or answers what cannot be used.",
    503: "A dependency is down, or every slot is taken; `Retry-After` says when to try again.",
    504: "A step took longer than it may.",
}
_BY_FASTAPI = ("HTTPValidationError", "ValidationError")


def problems(*statuses: int) -> Responses:
    """Return `responses=` for the errors of a route that not every route has."""
    return {status: _problem(status) for status in statuses}


@cache
def examples() -> dict[str, dict[str, Any]]:
    """Return the examples: `parameters`, `requests`, `answers`."""
    read: dict[str, dict[str, Any]] = orjson.loads(
        (files("sextant.server.schemas") / "examples.json").read_bytes()
    )
    return read


def install(app: FastAPI, others: Mapping[str, Describe]) -> None:
    """Make `/openapi.json` this document.

    Args:
        app: the application.
        others: prefixes of paths whose errors have another shape, with their descriptions.
    """
    app.openapi = lambda: document_routes(app, others)  # type: ignore[method-assign]  # FastAPI's own way to extend it


def document_routes(app: FastAPI, others: Mapping[str, Describe]) -> dict[str, Any]:
    """Return the document; it is built once."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
        )
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas[Problem.__name__] = Problem.model_json_schema(by_alias=True)
        for name in _BY_FASTAPI:
            schemas.pop(name, None)
        for path, operation in operations(document):
            shapes = (shape for prefix, shape in others.items() if path.startswith(prefix))
            problem = next(shapes, _problem)
            responses = operation["responses"]
            statuses = () if path in _PUBLIC else _COMMON
            for status in (*statuses, *((415,) if "requestBody" in operation else ())):
                known = responses.get(str(status), {})
                if status == 422 or not known:  # FastAPI's own 422 is not ours
                    responses[str(status)] = problem(status)
            if path in _PUBLIC:
                responses.pop("422", None)
            _add_examples(operation)
        app.openapi_schema = document
    return app.openapi_schema


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every path with each of its operations."""
    for path, methods in document["paths"].items():
        for operation in methods.values():
            yield path, operation


def _add_examples(operation: dict[str, Any]) -> None:
    known, name = examples(), operation["operationId"]
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["example"] = known["parameters"][parameter["name"]]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        if kind != "multipart/form-data":
            content["example"] = known["requests"][name]
    answers = known["answers"].get(name, {})
    answers = known["answers"][answers] if isinstance(answers, str) else answers
    status = min(one for one in operation["responses"] if one.startswith("2"))
    for kind, example in answers.items():
        contents = operation["responses"][status].setdefault("content", {})
        contents.setdefault(kind, {"schema": {}})["example"] = example


def code_of(status: int) -> str:
    """Return the code in the example of a status."""
    return HTTPStatus(status).phrase.lower().replace(" ", "_").replace("-", "_")


def _problem(status: int) -> dict[str, Any]:
    phrase = HTTPStatus(status).phrase
    example = Problem(
        title=phrase,
        status=status,
        detail=DESCRIPTIONS.get(status, phrase),
        code=code_of(status),
        request_id="8f14e45fceea467f9d6e1f1c2f7a2c5b",
    )
    return {
        "description": DESCRIPTIONS.get(status, phrase),
        "content": {
            MEDIA_TYPE: {
                "schema": {"$ref": f"#/components/schemas/{Problem.__name__}"},
                "example": example.model_dump(by_alias=True, exclude_none=True),
            }
        },
    }
