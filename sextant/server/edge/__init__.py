"""The ASGI middleware before the routes: request ids, slots, body sizes, headers, methods, the time of statements.

HEAD, OPTIONS and `Allow` follow RFC 9110 (§9.3.2, §9.3.7, §10.2.1).
"""

from __future__ import annotations

import re
import sys
from typing import cast
from uuid import uuid4

from fastapi import FastAPI
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import Message, Receive, Scope, Send

from sextant.domain.errors import SextantError
from sextant.server.connections import Middleware
from sextant.server.edge.foreign import LibraryRoutes, has_path_of_ours, is_preflight
from sextant.server.edge.limits import BodyLimit, Slots, path_of
from sextant.server.lifespan import Serving
from sextant.server.observe.logs import RequestMeasurements, request_id
from sextant.server.observe.metrics import Metrics
from sextant.stores.postgresql.watched import limit_statements

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


# Streams have no HEAD: its end could stop what the stream reports on.
_STREAMS = "/events"


class Methods(Middleware):
    """Answers OPTIONS, serves HEAD as GET (the HTTP server drops the body), and completes `Allow`."""

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        routes = _routes(scope) if scope["method"] == "OPTIONS" else []
        # LangGraph answers other pages that ask for its own routes, such as agent-chat-ui for /info.
        if routes and (not is_preflight(scope) or has_path_of_ours(scope)):
            scope["route"] = routes[0]  # for metrics and logs
            methods = _methods_of(scope)
            await Response(status_code=204, headers={"Allow": methods})(scope, receive, send)
            return
        is_head = scope["method"] == "HEAD" and not scope["path"].endswith(_STREAMS)
        inner = {**scope, "method": "GET"} if is_head else scope

        async def answering(message: Message) -> None:
            if message["type"] == "http.response.start":
                if inner.get("route") is not None:  # for metrics and logs
                    scope["route"] = inner["route"]
                if message["status"] == 405:
                    MutableHeaders(scope=message)["Allow"] = _methods_of(scope)
            await send(message)

        await self.app(inner, receive, answering)


def _methods_of(scope: Scope) -> str:
    """Return the methods of a path for `Allow`; "" for an unknown path."""
    found = {method for route in _routes(scope) for method in route.methods or ()}
    if "GET" in found and not scope["path"].endswith(_STREAMS):
        found.add("HEAD")
    return ", ".join(sorted(found | {"OPTIONS"})) if found else ""


def _routes(scope: Scope) -> list[RouteContext]:
    """Return the routes that match a path, in their order."""
    app: FastAPI = scope["app"]
    path = path_of(scope)
    return [
        route
        for route in iter_route_contexts(app.routes)
        if route.methods and route.path is not None and compile_path(route.path)[0].match(path)
    ]


HEADER = "X-Request-Id"
# Safe in headers and logs.
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Pages load nothing from other hosts, so no text of a document can send data away (EchoLeak, CVE-2025-32711).
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
# As bytes: setting the headers one by one took a fifth of the time of a refusal.
_SENT_ID = b"x-request-id"
_SENT_HEADERS = [
    (name.lower().encode("latin-1"), value.encode("latin-1"))
    for name, value in (HEADERS | {"Cache-Control": "no-store"}).items()
]


class ResponseHeaders(Middleware):
    """Gives every request an id, and every response the security headers that it does not set itself.

    The id is in `request.state.request_id`, the context of the log, and the response.
    """

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        given = Headers(scope=scope).get(HEADER, "")
        id_ = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = id_

        async def answering(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [one for one in message["headers"] if one[0] != _SENT_ID]
                names = {name for name, _ in headers}
                headers += [one for one in _SENT_HEADERS if one[0] not in names]
                headers.append((_SENT_ID, id_.encode("latin-1")))
                message = {**message, "headers": headers}
            await send(message)

        token = request_id.set(id_)
        try:
            await self.app(scope, receive, answering)
        finally:
            request_id.reset(token)


class Starting(Middleware):
    """Stores the error of a failed start as `app.state.refused`, and shows its message instead of a traceback."""

    kinds = frozenset({"lifespan"})

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the application's life."""

        async def telling(message: Message) -> None:
            error = sys.exception()  # Starlette sends this message in its exception handler
            if message["type"] == "lifespan.startup.failed" and isinstance(error, SextantError):
                scope["app"].state.refused = error
                message = {**message, "message": str(error)}
            await send(message)

        await self.app(scope, receive, telling)


class BoundedStatements(Middleware):
    """Limits the time of each database statement of a request."""

    kinds = frozenset({"http", "websocket"})

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        settings = cast("Serving", scope["app"].state.serving).settings
        with limit_statements(settings.limits.answer_seconds):
            await self.app(scope, receive, send)
