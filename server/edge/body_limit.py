"""Request bodies have a largest size, counted as they come: a declared length is not believed."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.errors import FileTooLarge
from server.problems import answer_with, problem_of

MostBytes = Callable[[Scope], int]


class BodyLimit:
    """Answers 413 as soon as a body is larger than it may be, and closes the connection.

    Args:
        app: what is served.
        most: bytes that the body of this request may have.
    """

    def __init__(self, app: ASGIApp, most: MostBytes) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most(scope)
        if _declared(scope) > most:
            await _refuse(most, scope, receive, send)
        else:
            await _Counted(self._app, most).serve(scope, receive, send)


class _TooLarge(Exception):
    """Ends the reading of a body; never leaves this module."""


class _Counted:
    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most
        self._seen = 0
        self._started = False

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counting() -> Message:
            message = await receive()
            self._seen += len(message.get("body", b""))
            if self._seen > self._most:
                raise _TooLarge
            return message

        async def answering(message: Message) -> None:
            # What the application makes of the body that broke off is not the answer.
            if self._seen > self._most and not self._started:
                return
            self._started = True
            await send(message)

        try:
            await self._app(scope, counting, answering)
        except _TooLarge:
            if self._started:
                raise
        if self._seen > self._most and not self._started:
            await _refuse(self._most, scope, receive, send)


def _declared(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 20 else 0


async def _refuse(most: int, scope: Scope, receive: Receive, send: Send) -> None:
    error = FileTooLarge(
        f"The body has more than the {most} bytes that are taken here.",
        next_step="Send less at once; `sextant config` shows the limits.",
    )
    problem = problem_of(error, scope.get("state", {}).get("request_id"))
    # The rest of the body is not read, so the connection cannot serve another request.
    await answer_with(problem, {"Connection": "close"})(scope, receive, send)
