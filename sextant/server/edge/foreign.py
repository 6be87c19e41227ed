"""Access to LangGraph's own routes when `langgraph dev` mounts this application.

Some of these routes do not authenticate, or change the data of all users. So only the routes listed here can be
reached; others, also those that a later version adds, are 404.
"""

from __future__ import annotations

from typing import cast

from fastapi.routing import iter_route_contexts
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.routing import BaseRoute, Match, Mount
from starlette.types import Receive, Scope, Send

from sextant.domain.errors import Forbidden, OptionInvalid, SextantError
from sextant.domain.scope import Permission
from sextant.server.connections import Middleware
from sextant.server.lifespan import Serving
from sextant.server.problems import answer_to, answer_to_http
from sextant.server.routing import is_guarded

# Studio is a page of LangSmith that talks to a server on the developer's machine.
STUDIO_PAGES = frozenset({"https://smith.langchain.com", "https://eu.smith.langchain.com"})

# Routes outside LangGraph's login with the permission that each requires; None: public.
_PERMISSIONS: dict[str, Permission | None] = {
    "/ok": None,
    "/docs": None,
    "/openapi.json": None,
    "/info": Permission.READ,
    "/metrics": Permission.ADMIN,
}
# First segments of the paths behind LangGraph's login (`sextant.server.studio`).
_STORE, _NAMESPACE = "store", "namespace_prefix"
_BEHIND_LOGIN = frozenset({"assistants", "threads", "runs", _STORE})
# The root path of LangGraph's in-process client, which no request over HTTP can set.
_IN_PROCESS = "/noauth"


class LibraryRoutes(Middleware):
    """Passes requests on to our own routes, and to those of LangGraph that are listed."""

    kinds = frozenset({"http", "websocket"})

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            await _require_allowed(scope)
        except (SextantError, HTTPException) as error:
            await _refuse(error, scope, receive, send)
            return
        try:
            await self.app(scope, receive, send)
        except (KeyError, TypeError) as error:
            if _first_segment(scope) != _STORE:
                raise
            # LangGraph's store needs this field, and its schema does not require it.
            field = error.args[0] if isinstance(error, KeyError) and error.args else _NAMESPACE
            missing = OptionInvalid(
                f"`{field}` is missing, or of another type.",
                next_step=f"Send `{_NAMESPACE}` as a list of strings; an empty one names all items of yours.",
            )
            await _refuse(missing, scope, receive, send)


async def _refuse(
    error: SextantError | HTTPException, scope: Scope, receive: Receive, send: Send
) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    request = Request(scope)
    answer = (
        answer_to(error, request)
        if isinstance(error, SextantError)
        else await answer_to_http(request, error)
    )
    await answer(scope, receive, send)


def _first_segment(scope: Scope) -> str:
    path: str = scope.get("path", "")
    return path.split("/")[1] if "/" in path else ""


async def _require_allowed(scope: Scope) -> None:
    """Admit a request to a route of ours, or to a listed one if the caller has its permission.

    Raises:
        HTTPException: the route is not listed, or our route takes other methods.
        Unauthorised, Forbidden, Limited, DependencyError: as `Authenticator.authenticate`.
    """
    app = scope["app"]
    is_alone = len(app.router.routes) == len(app.state.sextant_routes)
    if is_alone or scope.get("root_path") == _IN_PROCESS or is_preflight(scope):
        return
    route, other_methods = _find_route(scope)
    if route is None or _is_ours(route, scope):
        return
    if any(_is_ours(one, scope) for one in other_methods):
        raise HTTPException(405)  # LangGraph must not answer at our paths
    path: str = getattr(route, "path", "")
    if isinstance(route, Mount) and not path:
        if _first_segment(scope) not in _BEHIND_LOGIN:
            raise HTTPException(404)
        # Checked here, because LangGraph's login turns other failures, such as of the database, into a 500.
        await _require_permission(scope, Permission.READ)
    elif path not in _PERMISSIONS:
        raise HTTPException(404)
    elif (permission := _PERMISSIONS[path]) is not None:
        await _require_permission(scope, permission)


def _find_route(scope: Scope) -> tuple[BaseRoute | None, list[BaseRoute]]:
    """Return the route that the router will choose, and those that match except for the method."""
    others = list[BaseRoute]()
    for route in scope["app"].router.routes:
        match, _ = route.matches(scope)
        if match is Match.FULL:
            return route, others
        if match is Match.PARTIAL:
            others.append(route)
    return (others[0] if others else None), others


def _is_ours(route: BaseRoute, scope: Scope) -> bool:
    """Return whether a route is one of ours, or a later one with a guard."""
    return any(route is one for one in scope["app"].state.sextant_routes) or all(
        map(is_guarded, iter_route_contexts([route]))
    )


def has_path_of_ours(scope: Scope) -> bool:
    """Return whether a route of ours has the request's path, also for other methods only."""
    route, others = _find_route(scope)
    return any(_is_ours(one, scope) for one in (route, *others) if one is not None)


async def _require_permission(scope: Scope, permission: Permission) -> None:
    serving = cast("Serving", scope["app"].state.serving)
    principal = await serving.authenticator.authenticate(HTTPConnection(scope), STUDIO_PAGES)
    if principal.login:
        serving.rates.count(principal.quota_key)
    if permission not in principal.permissions:
        raise Forbidden(f"This key lacks the permission {permission.value!r}.")


def is_preflight(scope: Scope) -> bool:
    """Return whether the request is a CORS preflight, which LangGraph answers before any route."""
    headers = Headers(scope=scope)
    return (
        scope.get("method") == "OPTIONS"
        and "origin" in headers
        and "access-control-request-method" in headers
    )
