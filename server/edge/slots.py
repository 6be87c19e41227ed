"""A question that will find no slot is refused when its head is there."""

from __future__ import annotations

import asyncio
from collections.abc import Container
from typing import cast

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from domain.errors import Overloaded
from server.problems import answer_with, problem_of, request_id_of
from server.serving import Serving


class Slots:
    """Answers 503 while all slots are taken, before a key is looked at or a body read.

    That costs a tenth of what it does where the question would start, and whoever comes then is told
    soon. Who may have a slot is decided where it starts, as ever; kept on the way it is only for those
    whose key held lately, so that strangers, however many, take none from them.

    Args:
        app: what is served.
        questions: paths whose requests take a slot.
    """

    def __init__(self, app: ASGIApp, questions: Container[str]) -> None:
        self._app = app
        self._questions = questions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if not self._takes_a_slot(scope):
            await self._app(scope, receive, send)
            return
        serving = cast("Serving", scope["app"].state.serving)
        principal = serving.authenticator.known(HTTPConnection(scope))
        try:
            expected = serving.runs.expect(principal)
        except Overloaded as error:
            problem = problem_of(error, request_id_of(Request(scope)))
            await answer_with(problem)(scope, receive, send)
            return
        try:
            # Those who came at the same moment are refused before this one begins its work.
            await asyncio.sleep(0)
            await self._app(scope, receive, send)
        finally:
            expected.give_up()

    def _takes_a_slot(self, scope: Scope) -> bool:
        """Whoever comes back to an answer takes none."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return False
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        return path in self._questions and "last-event-id" not in Headers(scope=scope)
