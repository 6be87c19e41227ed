"""A question that will find no slot, or a search no place, is refused when its head is there."""

from __future__ import annotations

import asyncio
from collections.abc import Container
from typing import cast

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from sextant.domain.errors import Overloaded
from sextant.server.auth.caller import Principal
from sextant.server.lifespan import Serving
from sextant.server.problems import answer_to
from sextant.server.runs import Expected

# Seconds until a search is refused: of 24 clients who ask at once again half of the server's time was
# refusing them (docs/speed.md), and 100 ms are allowed.
_MOMENT = 0.03


class Slots:
    """Answers 503 while all slots are taken, before a key is looked up or a body read.

    That costs a tenth of what it does where the question would start, and whoever comes then is told
    soon. Who may have a slot is decided where it starts, as ever; kept on the way it is only for those
    whose key held when it was last looked up or whose token holds, so that strangers, however many, take
    none from them. A search keeps nothing on its way: it is refused where it would be the last of too many
    who wait for a place. That is told after a moment, so that clients who ask again at once, against
    `Retry-After`, do not take the time of those who are served.

    Args:
        app: what is served.
        questions: paths whose requests take a slot.
        searches: paths whose requests take a place.
    """

    def __init__(self, app: ASGIApp, questions: Container[str], searches: Container[str]) -> None:
        self._app = app
        self._questions = questions
        self._searches = searches

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            expected = self._expected(scope)
        except Overloaded as error:
            if _path(scope) in self._searches:
                await asyncio.sleep(_MOMENT)
            await answer_to(error, Request(scope))(scope, receive, send)
            return
        if expected is None:
            await self._app(scope, receive, send)
            return
        try:
            # Those who came at the same moment are refused before this one begins its work.
            await asyncio.sleep(0)
            await self._app(scope, receive, send)
        finally:
            expected.give_up()

    def _expected(self, scope: Scope) -> Expected | None:
        """Return what is kept for the request meanwhile, if anything.

        Raises:
            Overloaded: there is no room for it.
        """
        if scope["type"] != "http" or scope["method"] != "POST":
            return None
        path = _path(scope)
        if path in self._searches:
            serving, principal = _asking(scope)
            serving.searches.require_capacity(principal.quota_key if principal else None)
        # Whoever comes back to an answer takes no slot.
        elif path in self._questions and "last-event-id" not in Headers(scope=scope):
            serving, principal = _asking(scope)
            return serving.runs.expect(
                principal, serving.authenticator.brought(HTTPConnection(scope))
            )
        return None


def _path(scope: Scope) -> str:
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def _asking(scope: Scope) -> tuple[Serving, Principal | None]:
    """Return what serves, and who asks, as far as that can be said at once."""
    serving = cast("Serving", scope["app"].state.serving)
    return serving, serving.authenticator.known(HTTPConnection(scope))
