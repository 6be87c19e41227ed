"""HTTP beneath the routes: bounded request heads, content types, lines of a body, server-sent events."""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle, Transport
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine
from typing import Any, TypeVar

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sextant.domain.errors import FileTooLarge


class Middleware:
    """Base of ASGI middleware that has `serve` handle what is of its `kinds`, and passes everything else on."""

    kinds = frozenset({"http"})

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve what arrives."""
        handle = self.serve if scope["type"] in self.kinds else self.app
        await handle(scope, receive, send)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the application's life (ASGI, lifespan protocol)."""
        raise NotImplementedError


def content_type_of(request: Request) -> str:
    """Return the body's type in lower case without parameters; "" if there is none (RFC 9110, 8.3)."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_json(request: Request) -> bool:
    """Return whether the body is JSON, such as `application/problem+json` (RFC 6839, 3.1)."""
    kind, _, suffix = content_type_of(request).partition("/")
    return kind == "application" and (suffix == "json" or suffix.endswith("+json"))


def is_encoded(request: Request) -> bool:
    """Return whether the body has a content encoding, which is not supported (RFC 9110, 8.4)."""
    return request.headers.get("content-encoding", "identity") != "identity"


async def lines_of(parts: AsyncIterable[bytes], longest: int) -> AsyncGenerator[bytes]:
    """Yield the lines of a body without their ends; at most one line and one part are in memory.

    Args:
        parts: the body as it arrives.
        longest: most bytes of a line.

    Raises:
        FileTooLarge: a line is longer.
    """
    pending = bytearray()
    number = 1
    async for part in parts:
        *ended, rest = part.split(b"\n")
        for piece in ended:
            pending += piece
            _check(pending, number, longest)
            yield bytes(pending)
            pending.clear()
            number += 1
        pending += rest
        _check(pending, number, longest)
    if pending:
        yield bytes(pending)


def _check(line: bytearray, number: int, longest: int) -> None:
    if len(line) > longest:
        raise FileTooLarge(
            f"Line {number} has more than {longest} bytes.",
            next_step="Cut the document; `sextant config` shows the limit as limits.file_bytes.",
        )


SECONDS = 30.0  # until a request's head is there
MOST_BYTES = 65_536  # of a request's head

_REFUSED = b"HTTP/1.1 %b\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class BoundedHead(HttpToolsProtocol):
    """Uvicorn's protocol with limits on the time and size of a request's head.

    Uvicorn (0.54 with httptools) waits without limit for the first byte and the last header, and keeps any number of
    headers and trailers, before any key is checked; so anyone could take all connections or the memory. Trailers and
    chunk extensions count as the head does. Statuses: RFC 6585 §5, RFC 9110 §15.5.9.
    """

    _timer: TimerHandle | None = None
    _bytes = 0

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        self._bytes += len(data)
        super().data_received(data)
        if self._bytes > MOST_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        """See httptools."""
        super().on_message_begin()
        if self._timer is None:
            self._expect()

    def on_headers_complete(self) -> None:
        """See httptools."""
        self._forget()
        served = self.app
        # A header has ": " after its name and CRLF after its value.
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > MOST_BYTES:  # it arrived in one read
            self.app = _too_large
        super().on_headers_complete()
        self.app = served

    def on_body(self, body: bytes) -> None:
        """See httptools."""
        self._bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """See httptools."""
        self._bytes = 0
        super().on_message_complete()

    def _expect(self) -> None:
        self._bytes = 0
        self._timer = self.loop.call_later(SECONDS, self._refuse, b"408 Request Timeout")

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def _answering(self) -> bool:
        """Return whether a response is being sent, so that no other may be written."""
        cycle = self.cycle
        return cycle is not None and cycle.response_started and not cycle.response_complete

    def _refuse(self, status: bytes) -> None:
        self._forget()
        if not self.transport.is_closing():
            if not self._answering:
                self.transport.write(_REFUSED % status)
            self.transport.close()


async def _too_large(_: Scope, __: Receive, send: Send) -> None:
    headers = [(b"connection", b"close"), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 431, "headers": headers})
    await send({"type": "http.response.body"})


T = TypeVar("T")

MEDIA_TYPE = "text/event-stream"
# A comment, which clients skip; it keeps proxies from closing the connection.
PING = b": ping\n\n"
# Keeps proxies from buffering a stream.
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class ClientLeft(Exception):
    """The client has disconnected."""


def frame(event: str, data: object, event_id: str) -> bytes:
    """Return one event; `data` is written as JSON on one line."""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (
        event_id.encode(),
        event.encode(),
        orjson.dumps(data),
    )


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, or cancel it when the client disconnects.

    Raises:
        ClientLeft: the client disconnected first.
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
    """A response that streams events.

    Args:
        parts: the bytes of the stream.
        write_seconds: seconds that sending one part may take.
        begin: awaited before the first byte; an error that it raises is answered with its own status.
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
