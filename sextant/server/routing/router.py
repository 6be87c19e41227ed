"""Routers whose routes read JSON strictly and have stable names."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.params import Form
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException

from sextant.server.bodies import is_encoded, is_json
from sextant.server.routing.guards import guards_of

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class _StrictRequest(Request):
    """JSON as RFC 8259 has it: no NaN, no Infinity, no lone surrogates, no endless nesting."""

    async def json(self) -> Any:  # noqa: ANN401 - whatever was sent
        if not hasattr(self, "_json"):
            self._json = orjson.loads(await self.body())
        return self._json


class Route(APIRoute):
    """A route that says 415 to a body of another kind than it takes, or of another coding."""

    def get_route_handler(self) -> Handler:
        """See FastAPI."""
        handle = super().get_route_handler()
        guards = list(guards_of(self.dependant))
        takes_json = self.body_field is not None and not isinstance(
            self.body_field.field_info, Form
        )

        async def handle_strictly(request: Request) -> Response:
            for guard in guards:  # nobody's body is read who may not ask
                await guard(request)
            if takes_json and not is_json(request):
                raise HTTPException(415, "This takes a body of the type application/json.")
            if takes_json and is_encoded(request):
                told = {"Accept-Encoding": "identity"}  # RFC 9110, 15.5.16
                raise HTTPException(415, "This takes a body without a Content-Encoding.", told)
            return await handle(_StrictRequest(request.scope, request.receive))

        return handle_strictly


def operation_id(route: APIRoute) -> str:
    """Return how clients that are made from the OpenAPI document call the route."""
    return to_camel(route.name)


def router(tag: str, *, prefix: str = "", in_schema: bool = True) -> APIRouter:
    """Return a router for one subject."""
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        include_in_schema=in_schema,
        route_class=Route,
        generate_unique_id_function=operation_id,
    )
