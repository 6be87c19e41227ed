"""Every request has an id: the caller's own where it is harmless, else a new one."""

from __future__ import annotations

import re
from uuid import uuid4

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sextant.server.observe.logs import request_id

HEADER = "X-Request-Id"
_SENT = b"x-request-id"
# It is written into headers and logs, so it holds nothing that means something there.
_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class RequestId:
    """Puts the id into `request.state.request_id`, the context of the log, and the response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        own = is_request_id(Headers(scope=scope).get(HEADER)) or uuid4().hex
        scope.setdefault("state", {})["request_id"] = own

        async def answering(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [one for one in message["headers"] if one[0] != _SENT]
                message = {**message, "headers": [*headers, (_SENT, own.encode("latin-1"))]}
            await send(message)

        token = request_id.set(own)
        try:
            await self._app(scope, receive, answering)
        finally:
            request_id.reset(token)


def is_request_id(given: str | None) -> str | None:
    """Return the id that a caller gave, if it is one."""
    return given if given is not None and _HARMLESS.fullmatch(given) else None
