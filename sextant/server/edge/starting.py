"""Why the application does not start: what is at fault in a sentence, where starlette writes a traceback.

Settings that do not go together and a database that is away are for whoever starts the server to mend;
only what is at fault in the program is told with its stack.
"""

from __future__ import annotations

import sys

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sextant.domain.errors import SextantError


class Starting:
    """Passes everything on but the reason of a start that failed; keeps that as `app.state.refused`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the application's life (ASGI, lifespan protocol)."""
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return

        async def telling(message: Message) -> None:
            error = sys.exception()  # starlette sends this while it handles what was raised
            if message["type"] == "lifespan.startup.failed" and isinstance(error, SextantError):
                scope["app"].state.refused = error
                message = {**message, "message": str(error)}
            await send(message)

        await self._app(scope, receive, telling)
