"""No route is public by accident: each demands a permission, or is named here.

(Onyx checks the same when it starts; RAGFlow and Dify had routes that asked nobody: reliability
anchors §1 and §3.)
"""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import FastAPI
from fastapi.routing import RouteContext, iter_route_contexts

from sextant.domain.errors import SextantError
from sextant.server.routing.guards import guards_of

# What anybody may ask: whether the server lives, its description, and the page that asks for a key.
PUBLIC = frozenset({
    "/", "/static/{version}/{name}", "/healthz", "/readyz", "/docs", "/docs/reference.js",
    "/docs/reference.css", "/openapi.json",
})  # fmt: skip


def require_guards(app: FastAPI) -> None:
    """Make sure that nothing is served to strangers but what is meant for them.

    Raises:
        SextantError: a route neither demands a permission nor is public; names all of them.
    """
    open_to_all = sorted(_find_unguarded(app))
    if open_to_all:
        raise SextantError(
            f"Routes without a guard: {', '.join(open_to_all)}.",
            next_step="Give each a `Reader`, `Writer` or `Admin` (sextant/server/routing/guards.py).",
        )


def _find_unguarded(app: FastAPI) -> Iterator[str]:
    for route in iter_route_contexts(app.routes):
        path = route.path or ""
        if path not in PUBLIC and not is_guarded(route):
            yield f"{'/'.join(sorted(route.methods or ())) or 'any'} {path}"


def is_guarded(route: RouteContext) -> bool:
    """Return whether a route demands a permission."""
    # What is mounted or no route of FastAPI's has none: such is public, or must not be there.
    dependant = getattr(route, "dependant", None)
    return dependant is not None and any(guards_of(dependant))
