"""A stream of events is sent as it comes, and stops when nobody reads it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import orjson
import pytest
from starlette.types import Message

from sextant.server.connections import ClientLeft, EventStream, frame, while_connected

Receive = Callable[[], Awaitable[Message]]


def receiving(*kinds: str) -> Receive:
    """Return what a server hears of its client: messages of these kinds, then nothing more."""
    messages = iter(kinds)

    async def receive() -> Message:
        kind = next(messages, None)
        if kind is None:
            await asyncio.Event().wait()
        return {"type": kind}

    return receive


async def parts(*given: bytes) -> AsyncIterator[bytes]:
    for part in given:
        yield part


async def endless() -> AsyncIterator[bytes]:
    yield b"one"
    await asyncio.Event().wait()


def test_a_frame_has_an_id_a_name_and_its_data_on_one_line() -> None:
    framed = frame("token", {"text": "一\n二"}, "7-1")
    head, data = framed.removesuffix(b"\n\n").split(b"\ndata: ")
    assert head == b"id: 7-1\nevent: token"
    assert b"\n" not in data
    assert orjson.loads(data) == {"text": "一\n二"}


async def test_work_goes_on_while_the_client_only_sends_and_gives_its_result() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    assert await while_connected(receiving("http.request", "http.request"), work()) == "done"


async def test_work_is_stopped_to_its_end_when_the_client_leaves() -> None:
    cleaned = list[str]()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append("up")

    with pytest.raises(ClientLeft):
        await while_connected(receiving("http.request", "http.disconnect"), work())
    assert cleaned == ["up"]


async def test_what_work_raises_is_raised() -> None:
    async def work() -> None:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - any
        await while_connected(receiving(), work())


async def served(stream: EventStream, receive: Receive, *, stuck: bool = False) -> list[Message]:
    """Return what was sent of a stream; `stuck`: by a connection that takes the head and no more."""
    sent = list[Message]()

    async def send(message: Message) -> None:
        if stuck and message["type"] == "http.response.body":
            await asyncio.Event().wait()
        sent.append(message)

    await stream({"type": "http"}, receive, send)
    return sent


async def test_a_stream_that_is_read_to_its_end_is_sent_part_by_part() -> None:
    left = list[str]()
    stream = EventStream(
        parts(b"one", b"two"), on_left=lambda: left.append("left"), write_seconds=60
    )
    head, *bodies = await served(stream, receiving())
    assert head["status"] == 200
    assert dict(head["headers"])[b"content-type"].startswith(b"text/event-stream")
    assert b"content-length" not in dict(head["headers"])
    assert [(one["body"], one["more_body"]) for one in bodies] == [
        (b"one", True),
        (b"two", True),
        (b"", False),
    ]
    assert left == []


@pytest.mark.parametrize(
    ("heard", "stuck", "seconds"),
    [(["http.disconnect"], False, 60), ([], True, 0.01)],
    ids=["the client leaves", "the client reads nothing"],
)
async def test_whoever_makes_a_stream_hears_that_nobody_reads_it(
    heard: list[str], stuck: bool, seconds: float
) -> None:
    left = list[str]()
    stream = EventStream(endless(), on_left=lambda: left.append("left"), write_seconds=seconds)
    await served(stream, receiving(*heard), stuck=stuck)
    assert left == ["left"]


async def test_what_cannot_begin_is_no_stream_and_its_error_is_the_callers() -> None:
    async def refused() -> None:
        raise LookupError

    left, sent = list[str](), list[Message]()

    async def send(message: Message) -> None:
        sent.append(message)

    stream = EventStream(
        endless(), begin=refused, on_left=lambda: left.append("left"), write_seconds=60
    )
    with pytest.raises(LookupError):
        await stream({"type": "http"}, receiving(), send)
    assert (sent, left) == ([], ["left"])
