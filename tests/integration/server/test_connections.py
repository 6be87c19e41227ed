"""Connections over real TCP that never become a request."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import pytest_asyncio
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp

from sextant.server import connections
from sextant.server.connections import MOST_BYTES
from sextant.server.edge import limits as body_limit
from sextant.server.edge.limits import BodyLimit

HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest_asyncio.fixture
async def opened(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Streams]:
    """Yield a connection to a server that waits half a second for a head."""
    monkeypatch.setattr(connections, "SECONDS", 0.5)
    async with connected(PlainTextResponse("here")) as streams:
        yield streams


@asynccontextmanager
async def connected(app: ASGIApp) -> AsyncIterator[Streams]:
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http="sextant.server.connections:BoundedHead", log_config=None)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listening]))
    reader, writer = await asyncio.open_connection(*listening.getsockname())
    try:
        async with asyncio.timeout(60):
            yield reader, writer
    finally:
        writer.close()
        server.should_exit = True
        await serving


@pytest.mark.parametrize("sent", [b"", b"GET /", HEAD])
async def test_a_head_that_does_not_come_is_waited_for_no_longer(
    opened: Streams, sent: bytes
) -> None:
    reader, writer = opened
    writer.write(sent)
    assert (await reader.read()).startswith(b"HTTP/1.1 408 ")


async def test_headers_without_end_are_refused(opened: Streams) -> None:
    """They were kept, all of them, of a caller nobody knew."""
    reader, writer = opened
    writer.write(HEAD)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "SECONDS", 60)
        writer.write(b"x: y\r\n" * (MOST_BYTES // 6 + 1))
        assert (await reader.read()).startswith(b"HTTP/1.1 431 ")


async def test_many_short_headers_count_with_what_parts_them(opened: Streams) -> None:
    """Twice the bound was served where it came with one read."""
    reader, writer = opened
    writer.write(HEAD + b"x: y\r\n" * (MOST_BYTES // 6 + 1) + b"\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("body", [b"", b"content-length: 3\r\n\r\nabc"])
async def test_a_head_that_is_too_large_and_whole_is_refused_and_nothing_behind_it_served(
    opened: Streams, body: bytes
) -> None:
    """What came with one read was served, whatever its size."""
    reader, writer = opened
    large = HEAD + b"x: " + b"y" * MOST_BYTES + b"\r\n" + (body or b"\r\n")
    writer.write(large + HEAD + b"\r\n")
    answered = await reader.read()
    assert answered.startswith(b"HTTP/1.1 431 ")
    assert b"here" not in answered


async def test_whoever_sends_too_much_before_it_reads_is_told_so_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its connection was reset, and the answer lost with it."""
    monkeypatch.setattr(body_limit, "_LINGERING", 60)
    much = 20_000_000
    async with connected(BodyLimit(PlainTextResponse("here"), lambda _: 10)) as (reader, writer):
        writer.write(HEAD.replace(b"GET", b"POST") + b"content-length: %d\r\n\r\n" % much)
        writer.write(b"." * much)
        await writer.drain()
        answered = await reader.read()
    assert answered.startswith(b"HTTP/1.1 413 ")
    assert answered.endswith(b"}")


async def test_a_connection_serves_one_request_after_another(opened: Streams) -> None:
    reader, writer = opened
    for _ in range(3):
        writer.write(HEAD)
        writer.write(b"x: y\r\n" * 1000 + b"\r\n")
        assert (await reader.readuntil(b"here")).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("beside", [b"0\r\n" + b"x: y\r\n" * 20_000, b"1;" + b"x" * 100_000])
async def test_what_chunks_have_beside_their_bytes_is_bounded(
    opened: Streams, beside: bytes
) -> None:
    """Trailers were kept, all of them, of a caller nobody knew."""
    reader, writer = opened
    writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    await reader.readuntil(b"here")
    writer.write(beside)
    with suppress(
        ConnectionResetError
    ):  # what it has not read may end it sooner than the answer comes
        assert (await reader.read()).startswith(b"HTTP/1.1 431 ")


async def test_requests_sent_before_their_answers_are_all_served(opened: Streams) -> None:
    reader, writer = opened
    writer.write((HEAD + b"\r\n") * (2 * MOST_BYTES // len(HEAD)))
    for _ in range(2 * MOST_BYTES // len(HEAD)):
        await reader.readuntil(b"here")
