"""A small HTTP/1.1 server on asyncio streams, for scripted endpoints on the loopback interface.

It is for tests only: it trusts its clients, reads bodies by Content-Length, and serves one request at a
time on each connection. It notices immediately when a client disconnects.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import ClassVar, Self, cast

import orjson

_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests"}


class CutConnection(Exception):
    """Raised by a body to cut the connection in the middle of the response."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A received request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> object:
        """Return the body, parsed as JSON."""
        return orjson.loads(self.body)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response; `body` is complete, or an iterator of parts that are sent one by one."""

    status: int = 200
    body: bytes | AsyncIterator[bytes] = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Handler = Callable[[HttpRequest], Awaitable[HttpResponse]]


class _Connection(asyncio.StreamReaderProtocol):
    """asyncio's stream protocol with an event for the client's disconnect."""

    def __init__(
        self, serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    ) -> None:
        self.client_left = asyncio.Event()
        super().__init__(asyncio.StreamReader(), serve)

    def eof_received(self) -> bool | None:
        self.client_left.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.client_left.set()
        super().connection_lost(exc)


class LoopbackServer:
    """Serve `handler` on a free port of 127.0.0.1, and count clients that disconnect early.

    Attributes:
        accepted: the number of connections.
        disconnects: the number of connections closed by the client before its response was complete.
        open_responses: the number of current responses.
    """

    def __init__(self, handler: Handler) -> None:
        self.accepted = 0
        self.disconnects = 0
        self.open_responses = 0
        self._handler = handler
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._changed = asyncio.Condition()

    @property
    def port(self) -> int:
        """Return the port it listens on."""
        assert self._server is not None, "not started"  # noqa: S101 - misuse by a test
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def start(self) -> None:
        """Start listening."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self._accept), "127.0.0.1", 0)

    async def stop(self) -> None:
        """Stop listening and cut every connection."""
        if self._server is None:
            return
        self._server.close()
        for writer in self._connections.values():
            writer.transport.abort()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    async def wait_until(self, holds: Callable[[LoopbackServer], bool]) -> None:
        """Wait until `holds` returns true; it is called whenever a count changes.

        Raises:
            TimeoutError: it is not true within a minute.
        """
        async with asyncio.timeout(60.0), self._changed:  # enough for a busy machine
            await self._changed.wait_for(lambda: holds(self))

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - asyncio runs this callback in a task
        self._connections[task] = writer
        self.accepted += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._serve_one(reader, writer):
                    pass
        finally:
            del self._connections[task]
            # Abort, not close: a client that stopped reading must not hold the server.
            writer.transport.abort()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return False if the connection has ended."""
        request = await _read_request(reader)
        if request is None:
            return False
        await self._count(responses=1)
        answer = asyncio.ensure_future(self._answer(request, writer))
        connection = cast(_Connection, writer.transport.get_protocol())
        disconnect = asyncio.ensure_future(connection.client_left.wait())
        try:
            await asyncio.wait({answer, disconnect}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                await self._count(disconnects=1)
                return False
            return await answer
        except ConnectionError:
            await self._count(disconnects=1)
            return False
        finally:
            answer.cancel()
            disconnect.cancel()
            await asyncio.gather(answer, disconnect, return_exceptions=True)
            await self._count(responses=-1)

    async def _count(self, *, responses: int = 0, disconnects: int = 0) -> None:
        async with self._changed:
            self.open_responses += responses
            self.disconnects += disconnects
            self._changed.notify_all()

    async def _answer(self, request: HttpRequest, writer: asyncio.StreamWriter) -> bool:
        try:
            await _write_response(await self._handler(request), writer)
        except CutConnection:
            return False
        return True


class LoopbackEndpoint(ABC):
    """A server on the loopback interface while its `async with` lasts; a subclass answers the requests."""

    base_path: ClassVar[str] = ""

    def __init__(self) -> None:
        self._server = LoopbackServer(self._handle)

    async def __aenter__(self) -> Self:
        """Start listening."""
        await self._server.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening, and cut open connections."""
        await self._server.stop()

    @property
    def base_url(self) -> str:
        """Return the base URL for clients."""
        return f"http://127.0.0.1:{self._server.port}{self.base_path}"

    async def wait_for_disconnects(self, number: int = 1) -> None:
        """Wait until `number` clients in all have disconnected early; raise TimeoutError after a minute."""
        await self._server.wait_until(lambda server: server.disconnects >= number)

    @abstractmethod
    async def _handle(self, http: HttpRequest) -> HttpResponse:
        """Answer a request."""


async def _read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, path, _version = first.split(" ")
    pairs = (line.split(":", 1) for line in lines)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return HttpRequest(method, path, headers, body)


async def _write_response(response: HttpResponse, writer: asyncio.StreamWriter) -> None:
    content = response.body if isinstance(response.body, bytes) else None
    framing = (
        {"content-length": str(len(content))}
        if content is not None
        else {"transfer-encoding": "chunked"}
    )
    headers = {"content-type": "application/json", **framing, **response.headers}
    lines = [f"HTTP/1.1 {response.status} {_REASONS.get(response.status, 'Scripted')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
    if isinstance(response.body, bytes):
        writer.write(response.body)
    else:
        async for part in response.body:
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
    await writer.drain()
