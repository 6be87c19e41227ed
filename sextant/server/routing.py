"""Guards of routes, and routers that read JSON strictly."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends, FastAPI, Path, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.params import Form
from fastapi.routing import APIRoute, RouteContext, iter_route_contexts
from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException

from sextant.domain.errors import Forbidden, OptionInvalid, SextantError
from sextant.domain.scope import Permission, Principal
from sextant.facade import Sextant
from sextant.server.connections import is_encoded, is_json, while_connected
from sextant.server.lifespan import serving_of
from sextant.server.problems import OPENAI_PATHS, accepted_language


async def principal_of(request: Request) -> Principal:
    """Return the caller; without a login this is the local user.

    Raises:
        Unauthorised: the request has no valid key or token.
        Forbidden: there is no login, and the request does not come from this machine.
        Limited: the caller has sent too many requests.
    """
    known: Principal | None = getattr(request.state, "principal", None)
    if known is None:
        serving = serving_of(request)
        known = await serving.authenticator.authenticate(request)
        if known.login:
            serving.rates.count(known.quota_key)
        request.state.principal = known
    return known


@dataclass(frozen=True, slots=True)
class Requires:
    """A dependency that admits only callers with `permission`."""

    permission: Permission

    async def __call__(self, request: Request) -> Principal:
        """Return the caller, or raise Forbidden or an error of `principal_of`."""
        principal = await principal_of(request)
        if self.permission not in principal.permissions:
            raise Forbidden(
                f"This key may not do that: it lacks the permission {self.permission.value!r}.",
                next_step="Ask whoever runs the server for a key with this permission "
                f"(`sextant keys create --scope {self.permission.value}`).",
            )
        return principal


def _rag_for(permission: Permission) -> Callable[..., Coroutine[Any, Any, Sextant]]:
    """Return a dependency that gives the knowledge bases of a caller with `permission`."""

    async def rag(
        request: Request,
        principal: Principal = Depends(Requires(permission)),  # noqa: B008 - FastAPI's form
    ) -> Sextant:
        return rag_of(request, principal)

    return rag


async def _language(request: Request) -> str:
    return accepted_language(request)


Reader = Annotated[Principal, Depends(Requires(Permission.READ))]
ReaderRag = Annotated[Sextant, Depends(_rag_for(Permission.READ))]
WriterRag = Annotated[Sextant, Depends(_rag_for(Permission.INGEST))]
AdminRag = Annotated[Sextant, Depends(_rag_for(Permission.ADMIN))]
Language = Annotated[str, Depends(_language)]


def guards_of(dependant: Dependant) -> Iterator[Requires]:
    """Yield the guards among the dependencies of a route."""
    if isinstance(dependant.call, Requires):
        yield dependant.call
    for needed in dependant.dependencies:
        yield from guards_of(needed)


def rag_of(request: Request, principal: Principal) -> Sextant:
    """Return the knowledge bases of the caller."""
    return serving_of(request).rag.as_user(principal.user_id)


def search_turn(request: Request, principal: Principal) -> AbstractAsyncContextManager[None]:
    """Return a slot for a search; the wait for it ends when the client leaves.

    Raises:
        Overloaded: no slot was free in time.
        ClientLeft: the client left.
    """
    patience = partial(while_connected, request.receive)
    return serving_of(request).searches.slot(principal.quota_key, patience)


# Paths without a guard.
PUBLIC = frozenset({
    "/", "/static/{version}/{name}", "/healthz", "/readyz", "/docs", "/docs/reference.js",
    "/docs/reference.css", "/openapi.json",
})  # fmt: skip


def require_guards(app: FastAPI) -> None:
    """Check that every route that is not in `PUBLIC` has a guard.

    Raises:
        SextantError: some have none; names them.
    """
    open_to_all = sorted(_find_unguarded(app))
    if open_to_all:
        raise SextantError(
            f"Routes without a guard: {', '.join(open_to_all)}.",
            next_step="Give each a `Reader` or a `ReaderRag`, `WriterRag` or `AdminRag` (sextant/server/routing.py).",
        )


def _find_unguarded(app: FastAPI) -> Iterator[str]:
    for route in iter_route_contexts(app.routes):
        path = route.path or ""
        if path not in PUBLIC and not is_guarded(route):
            yield f"{'/'.join(sorted(route.methods or ())) or 'any'} {path}"


def is_guarded(route: RouteContext) -> bool:
    """Return whether a route demands a permission; mounted applications and plain routes do not."""
    dependant = getattr(route, "dependant", None)
    return dependant is not None and any(guards_of(dependant))


DocumentId = Annotated[UUID, Path(alias="documentId")]


Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class _StrictRequest(Request):
    """JSON as RFC 8259 has it: no NaN, no Infinity, no lone surrogates, no endless nesting."""

    async def json(self) -> Any:  # noqa: ANN401 - whatever was sent
        if not hasattr(self, "_json"):
            self._json = orjson.loads(await self.body())
        return self._json


class Route(APIRoute):
    """A route that refuses a body of another content type or with a content encoding, and stray parameters of its URL."""

    def get_route_handler(self) -> Handler:
        """See FastAPI."""
        handle = super().get_route_handler()
        guards = list(guards_of(self.dependant))
        takes_json = self.body_field is not None and not isinstance(
            self.body_field.field_info, Form
        )
        # What counts nowhere is refused: `POST /documents?graphId=hr` would store into `default`, and
        # `DELETE /documents/{id}?nam=copy.md` delete more than a name. Models of parameters see to it themselves;
        # clients of OpenAI's API and of MCP, and scrapers, may add parameters of their own.
        parameters = self.dependant.query_params
        is_strict = (
            bool(guards)
            and self.include_in_schema
            and not self.path.startswith((OPENAI_PATHS, "/metrics"))
            and not any(
                isinstance(one.field_info.annotation, type(BaseModel)) for one in parameters
            )
        )
        known = [one.alias for one in parameters]

        async def handle_strictly(request: Request) -> Response:
            for guard in guards:  # before the body is read
                await guard(request)
            stray = [name for name in request.query_params if name not in known]
            if is_strict and stray:
                raise OptionInvalid(
                    f"`{stray[0]}` is no parameter of this URL.",
                    next_step=f"It takes: {', '.join(known)}."
                    if known
                    else "It takes none; send the fields of a body in the body.",
                    field=stray[0],
                )
            if takes_json and not is_json(request):
                raise HTTPException(415, "This takes a body of the type application/json.")
            if takes_json and is_encoded(request):
                headers = {"Accept-Encoding": "identity"}  # RFC 9110, 15.5.16
                raise HTTPException(415, "This takes a body without a Content-Encoding.", headers)
            return await handle(_StrictRequest(request.scope, request.receive))

        return handle_strictly


def operation_id(route: APIRoute) -> str:
    """Return the operation's name for clients generated from the OpenAPI document."""
    return to_camel(route.name)


def router(tag: str, *, prefix: str = "", in_schema: bool = True) -> APIRouter:
    """Return a router for the routes of one subject."""
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        include_in_schema=in_schema,
        route_class=Route,
        generate_unique_id_function=operation_id,
    )
