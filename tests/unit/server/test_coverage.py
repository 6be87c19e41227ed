"""A server with a route that asks nobody for a key does not start."""

from __future__ import annotations

import pytest
from fastapi import APIRouter, Depends, FastAPI, WebSocket
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from sextant.domain.errors import SextantError
from sextant.domain.scope import Permission, Principal
from sextant.server.app import create_app
from sextant.server.routing import PUBLIC, Reader, Requires, require_guards


async def open_to_all() -> str:
    return "hello"


async def for_readers(principal: Reader) -> str:
    return principal.user_id


def test_the_application_has_a_guard_on_every_route() -> None:
    require_guards(create_app())


def test_a_route_without_a_guard_is_refused_by_name() -> None:
    app = create_app()
    app.get("/secrets/{name}")(open_to_all)
    with pytest.raises(SextantError, match=r"GET /secrets/\{name\}"):
        require_guards(app)


def test_a_router_in_a_router_is_looked_through() -> None:
    inner, outer, app = (
        APIRouter(),
        APIRouter(prefix="/outer"),
        FastAPI(docs_url=None, redoc_url=None),
    )
    inner.get("/open")(open_to_all)
    inner.get("/guarded")(for_readers)
    outer.include_router(inner, prefix="/inner")
    app.include_router(outer)
    with pytest.raises(SextantError, match="GET /outer/inner/open") as told:
        require_guards(app)
    assert "guarded" not in told.value.message


@pytest.mark.parametrize("kind", ["mount", "route", "websocket"])
def test_what_is_no_route_of_fastapi_has_no_guard(kind: str) -> None:
    app = FastAPI(docs_url=None, redoc_url=None)
    inner = Route("/inner", lambda _: PlainTextResponse("hello"))
    if kind == "mount":
        app.mount("/inner", Starlette(routes=[inner]))
    elif kind == "route":
        app.router.routes.append(inner)
    else:

        @app.websocket("/inner")
        async def talk(socket: WebSocket) -> None:
            await socket.close()

    with pytest.raises(SextantError, match="/inner"):
        require_guards(app)


def test_a_guard_may_stand_on_the_router_or_below_another_dependency() -> None:
    async def user(principal: Reader) -> str:
        return principal.user_id

    async def below(name: str = Depends(user)) -> str:
        return name

    router, app = (
        APIRouter(dependencies=[Depends(Requires(Permission.ADMIN))]),
        FastAPI(docs_url=None, redoc_url=None),
    )
    router.get("/router")(open_to_all)
    app.include_router(router)
    app.get("/below")(below)
    require_guards(app)


def test_only_a_guard_of_ours_counts() -> None:
    async def looks_like_one() -> Principal:
        return Principal("anybody", frozenset(Permission))

    app = FastAPI(docs_url=None, redoc_url=None)
    app.get("/inner", dependencies=[Depends(looks_like_one)])(open_to_all)
    with pytest.raises(SextantError, match="/inner"):
        require_guards(app)


def test_the_public_list_stays_short() -> None:
    assert {path for path in PUBLIC if path.startswith(("/api", "/v1", "/doc"))} == {
        "/docs",
        "/docs/reference.js",
        "/docs/reference.css",
    }
