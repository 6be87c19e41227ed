"""What the server takes on at a time, and how much a request may send."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Container
from contextlib import suppress
from typing import cast

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sextant.domain.errors import FileTooLarge, Overloaded, SextantError, TimedOut
from sextant.server.connections import Middleware
from sextant.server.lifespan import Serving
from sextant.server.problems import answer_to, answer_with, problem_of


class Slots(Middleware):
    """Answers 503 while all slots are taken, before the key is looked up or the body is read.

    A refusal here costs a fifth of one in the route (0.2 of 0.9 ms of CPU), where free slots are given out.

    Args:
        app: the application.
        questions: paths of questions.
        searches: paths of searches.
    """

    def __init__(self, app: ASGIApp, questions: Container[str], searches: Container[str]) -> None:
        super().__init__(app)
        self._questions = questions
        self._searches = searches

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            self._require_slot(scope)
        except Overloaded as error:
            if path_of(scope) in self._searches:
                # A short delay: 24 clients that retried at once, against `Retry-After`, took half of the
                # server's time with refusals (docs/speed.md).
                await asyncio.sleep(0.03)
            await answer_to(error, Request(scope))(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _require_slot(self, scope: Scope) -> None:
        if scope["method"] != "POST":
            return
        serving, path = cast("Serving", scope["app"].state.serving), path_of(scope)
        if path in self._searches:
            principal = serving.authenticator.known(HTTPConnection(scope))
            serving.searches.require_capacity(principal.quota_key if principal else None)
        # A client that resumes a stream takes no slot.
        elif path in self._questions and "last-event-id" not in Headers(scope=scope):
            serving.runs.require_slot()


def path_of(scope: Scope) -> str:
    """Return the path within this application, also where another one mounts it."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


MostBytes = Callable[[Scope], int]

_PATIENCE = 30.0  # seconds of waiting for a body in total
# Seconds to read on after a refusal: closing while the client sends resets the connection, and the
# response is lost (RFC 9112 §9.6).
_LINGERING = 2.0


class BodyLimit(Middleware):
    """Answers 413 as soon as a body is too large, and 408 if it comes too slowly; closes the connection.

    Args:
        app: the application.
        most: returns the most bytes of this request's body.
    """

    def __init__(self, app: ASGIApp, most: MostBytes) -> None:
        super().__init__(app)
        self._most = most

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        most = self._most(scope)
        length = Headers(scope=scope).get("content-length", "")
        is_number = length.isascii() and length.isdigit() and len(length) < 20
        if is_number and int(length) > most:
            await _refuse(most, scope, receive, send)
        else:
            await _Counted(self.app, most).serve(scope, receive, send)


class _Refused(Exception):
    """Ends the reading of a body; never leaves this module."""


class _Counted:
    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most
        self._seen = 0
        self._waited = 0.0
        self._whole = self._late = False
        self._started = False

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counting() -> Message:
            message = await (receive() if self._whole else self._in_time(receive))
            self._seen += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._seen > self._most:
                raise _Refused
            return message

        async def answering(message: Message) -> None:
            # The application's response to a broken body is not sent.
            if self._broken and not self._started:
                return
            self._started = True
            await send(message)

        try:
            await self._app(scope, counting, answering)
        except _Refused:
            if self._started:
                raise
        if self._late and not self._started:
            await _answer(TimedOut("The body takes too long."), 408, scope, receive, send)
        elif self._broken and not self._started:
            await _refuse(self._most, scope, receive, send)

    @property
    def _broken(self) -> bool:
        return self._late or self._seen > self._most

    async def _in_time(self, receive: Receive) -> Message:
        """Return the next part; the application's own time between parts does not count."""
        began = time.monotonic()
        try:
            # 500 bytes allow one more second.
            async with asyncio.timeout(_PATIENCE + self._seen / 500 - self._waited):
                return await receive()
        except TimeoutError:
            self._late = True
            raise _Refused from None
        finally:
            self._waited += time.monotonic() - began


async def _refuse(most: int, scope: Scope, receive: Receive, send: Send) -> None:
    error = FileTooLarge(
        f"The body has more than the {most} bytes that are taken here.",
        next_step="Send less at once; `sextant config` shows the limits.",
    )

    async def lingering(message: Message) -> None:
        if message["type"] == "http.response.body":
            await send({**message, "more_body": True})
            # Read what the client still sends, for a moment.
            with suppress(TimeoutError):
                async with asyncio.timeout(_LINGERING):
                    more = True
                    while more:
                        await asyncio.sleep(0)  # let other tasks and the timeout run
                        more = (await receive()).get("more_body", False)
            message = {"type": "http.response.body"}
        await send(message)

    await _answer(error, error.status, scope, receive, lingering)


async def _answer(
    error: SextantError, status: int, scope: Scope, receive: Receive, send: Send
) -> None:
    problem = problem_of(error, scope.get("state", {}).get("request_id"))
    problem = problem.model_copy(update={"status": status})
    # The body is not read to its end, so the connection cannot serve another request.
    headers = {"Connection": "close"}
    await answer_with(problem, scope["path"], headers)(scope, receive, send)
