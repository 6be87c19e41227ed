"""No statement to the database holds a request longer than an answer may take."""

from __future__ import annotations

from typing import cast

from starlette.types import ASGIApp, Receive, Scope, Send

from sextant.server.serving import Serving
from sextant.stores.postgresql.watched import limit_statements


class BoundedStatements:
    """Bounds each statement of a request, also where the server lets others in and is stuck over this one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        settings = cast("Serving", scope["app"].state.serving).settings
        with limit_statements(settings.limits.answer_seconds):
            await self._app(scope, receive, send)
