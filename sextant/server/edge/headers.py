"""Headers that keep a browser from doing with an answer what nobody meant it to."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Pages of ours load nothing from elsewhere, so that no text of a document can send data away
# (EchoLeak, CVE-2025-32711: the fetched image was the leak).
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
# As they are sent: putting them in one by one took a fifth of the time that a refusal takes.
_SENT = [
    (name.lower().encode("latin-1"), value.encode("latin-1"))
    for name, value in (HEADERS | {"Cache-Control": "no-store"}).items()
]


class SecurityHeaders:
    """Adds them to every response that does not say otherwise; answers are kept by no cache."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def answering(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message["headers"])
                said = {name for name, _ in headers}
                message = {
                    **message,
                    "headers": headers + [one for one in _SENT if one[0] not in said],
                }
            await send(message)

        await self._app(scope, receive, answering)
