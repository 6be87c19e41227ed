"""The ASGI middleware before the routes: request ids, slots, body sizes, headers."""

from __future__ import annotations

import re
from typing import cast

from fastapi import FastAPI
from starlette.types import Scope

from sextant.server.edge.foreign import LibraryRoutes
from sextant.server.edge.headers import (
    BoundedStatements,
    Methods,
    ResponseHeaders,
    Starting,
)
from sextant.server.edge.limits import BodyLimit, Slots, path_of
from sextant.server.lifespan import Serving
from sextant.server.observe.logs import RequestMeasurements
from sextant.server.observe.metrics import Metrics

_IMPORT = re.compile(r"/api/graphs/.+/import")
_QUESTIONS = frozenset({"/api/query", "/v1/chat/completions"})

_SEARCHES = frozenset({"/search", "/api/knowledge/entities/search"})


def install(app: FastAPI, metrics: Metrics) -> None:
    """Add the middleware to `app`; a request passes the last one added first."""
    app.add_middleware(BoundedStatements)
    app.add_middleware(LibraryRoutes)
    app.add_middleware(Methods)
    app.add_middleware(BodyLimit, most=_most_bytes)
    app.add_middleware(Slots, questions=_QUESTIONS, searches=_SEARCHES)
    app.add_middleware(RequestMeasurements, metrics=metrics)
    app.add_middleware(ResponseHeaders)
    app.add_middleware(Starting)


def _most_bytes(scope: Scope) -> int:
    limits = cast("Serving", scope["app"].state.serving).settings.http
    path = path_of(scope)
    if _IMPORT.fullmatch(path):
        return limits.import_bytes
    if path in _QUESTIONS:
        return limits.question_bytes
    return limits.upload_bytes if path == "/documents" else limits.body_bytes
