"""Server-sent events: their bytes, and a response that notices when nobody reads it any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Callable, Coroutine
from typing import Any, TypeVar

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

T = TypeVar("T")

MEDIA_TYPE = "text/event-stream"
# A comment: every client skips it, and a proxy sees that the connection lives.
PING = b": ping\n\n"
# Proxies must not collect a stream before they pass it on.
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class ClientLeft(Exception):
    """Nobody reads the response any more."""


def frame(event: str, data: object, event_id: str) -> bytes:
    """Return one event; `data` is anything that orjson writes, and so has no line breaks."""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (
        event_id.encode(),
        event.encode(),
        orjson.dumps(data),
    )


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Do `work`, and stop it as soon as the client leaves.

    Raises:
        ClientLeft: it left first.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_client_left(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientLeft
        return working.result()
    finally:
        leaving.cancel()
        if not working.done():
            working.cancel()
            await asyncio.wait({working})


async def _client_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class EventStream(Response):
    """A stream of events, in parts that are sent as they come.

    Args:
        parts: the stream's bytes.
        write_seconds: time that one part may take to go out.
        begin: awaited before the first byte; what it raises is answered with its own status.
        on_left: called when the client left, or did not read for `write_seconds`.
    """

    media_type = MEDIA_TYPE

    def __init__(
        self,
        parts: AsyncIterable[bytes],
        *,
        write_seconds: float,
        begin: Callable[[], Coroutine[Any, Any, None]] | None = None,
        on_left: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(headers=_HEADERS)
        # The length is not known.
        del self.headers["content-length"]
        self._begin = begin
        self._parts = parts
        self._on_left = on_left
        self._write_seconds = write_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI
        """Send the stream."""
        over = False
        try:
            await while_connected(receive, self._send(send))
            over = True
        except (ClientLeft, OSError, TimeoutError):
            pass
        finally:
            if not over and self._on_left is not None:
                self._on_left()

    async def _send(self, send: Send) -> None:
        if self._begin is not None:
            await self._begin()
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        async for part in self._parts:
            await self._write(send, part, more=True)
        await self._write(send, b"", more=False)

    async def _write(self, send: Send, part: bytes, *, more: bool) -> None:
        async with asyncio.timeout(self._write_seconds):
            await send({"type": "http.response.body", "body": part, "more_body": more})
