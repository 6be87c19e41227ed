"""HEAD wherever there is GET, OPTIONS, and all methods of a path in `Allow` (RFC 9110 §9.3.2, §9.3.7, §10.2.1).

FastAPI answers HEAD and OPTIONS with 405, of which the first is what uptime monitors and
`wget --spider` ask with, and names in `Allow` the methods of one of a path's routes only. There are no
headers of CORS: pages of other sites may not ask.
"""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Streams: their heads say nothing, and whoever leaves one may stop what it tells of.
_STREAMS = "/events"


class Methods:
    """Answers OPTIONS, serves HEAD as GET, whose body the HTTP server leaves out, and completes `Allow`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "OPTIONS" and (routes := _routes(scope)):
            scope["route"] = routes[0]  # metrics and logs name it
            methods = _allowed_methods(scope)
            await Response(status_code=204, headers={"Allow": methods})(scope, receive, send)
            return
        asked_for_head = scope["method"] == "HEAD" and not scope["path"].endswith(_STREAMS)
        inner = {**scope, "method": "GET"} if asked_for_head else scope

        async def answering(message: Message) -> None:
            if message["type"] == "http.response.start":
                if inner.get("route") is not None:  # metrics and logs name it
                    scope["route"] = inner["route"]
                if message["status"] == 405:
                    MutableHeaders(scope=message)["Allow"] = _allowed_methods(scope)
            await send(message)

        await self._app(inner, receive, answering)


def _allowed_methods(scope: Scope) -> str:
    """Return the methods of a path; none where nothing is."""
    found = {method for route in _routes(scope) for method in route.methods or ()}
    if "GET" in found and not scope["path"].endswith(_STREAMS):
        found.add("HEAD")
    return ", ".join(sorted(found | {"OPTIONS"})) if found else ""


def _routes(scope: Scope) -> list[RouteContext]:
    """Return what a path may mean, as they are tried."""
    app: FastAPI = scope["app"]
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return [
        route
        for route in iter_route_contexts(app.routes)
        if route.methods and route.path is not None and compile_path(route.path)[0].match(path)
    ]
