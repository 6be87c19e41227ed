"""A client that leaves stops its answer, and with it the model's; by whatever way it asked."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from sextant.testing.openai_server import ApiRequest, ReplyFunction
from sextant.testing.replies import Reply, endless, silent_after
from tests.integration.server.served import (
    GRAPH,
    QUESTION,
    Served,
    asking,
    first,
    judging,
    serving_with,
)


class Stuck:
    """A script that gives `reply` where `holds` is true, and tells that it was asked there."""

    def __init__(
        self, holds: Callable[[ApiRequest], bool], reply: Reply, otherwise: ReplyFunction
    ) -> None:
        self.asked = asyncio.Event()
        self._holds, self._reply, self._otherwise = holds, reply, otherwise

    def __call__(self, request: ApiRequest) -> Reply | str:
        if not self._holds(request):
            return self._otherwise(request)
        self.asked.set()
        return self._reply


def grading(request: ApiRequest) -> bool:
    return '"relevant"' in request.prompt


def answering(request: ApiRequest) -> bool:
    return not request.wants_json


PLACES: dict[str, Callable[[], Stuck]] = {
    "analysing": lambda: Stuck(lambda _: True, silent_after(0), judging("")),
    "grading": lambda: Stuck(grading, silent_after(0), judging("")),
    "before its first word": lambda: Stuck(answering, silent_after(0), judging("")),
    "in mid-answer": lambda: Stuck(answering, endless("one owner and "), judging("")),
}
CHAT = {"model": f"sextant:{GRAPH}", "messages": [{"role": "user", "content": QUESTION}]}
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "a stream": ("/api/query", asking()),
    "a whole answer": ("/api/query", asking(stream=False)),
    "a streamed chat": ("/v1/chat/completions", CHAT | {"stream": True}),
    "a chat": ("/v1/chat/completions", CHAT),
}


async def ask_and_leave_when(
    served: Served, path: str, body: dict[str, Any], asked: asyncio.Event
) -> None:
    async def ask() -> None:
        async with served.client() as client, client.stream("POST", path, json=body) as answer:
            async for _ in answer.aiter_raw():
                pass

    asking_ = asyncio.create_task(ask())
    async with asyncio.timeout(60):
        await asked.wait()
    asking_.cancel()
    await asyncio.wait({asking_})


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", REQUESTS)
async def test_leaving_cancels_the_models_call(served: Served, way: str, place: str) -> None:
    served.script = stuck = PLACES[place]()
    before = served.endpoint.disconnects
    await ask_and_leave_when(served, *REQUESTS[way], stuck.asked)
    await served.endpoint.wait_for_disconnects(before + 1)
    await served.endpoint.wait_for_streams(0)


async def test_leaving_after_some_of_the_answer_frees_its_slot(served: Served) -> None:
    served.script = judging(endless("one owner and "))
    before = served.endpoint.disconnects
    stream = ("POST", "/api/query")
    async with served.client() as client, client.stream(*stream, json=asking()) as answer:
        token, _ = await first(answer, "token")
        assert token.data["text"]
        run = served.runs.find(token.id.partition("-")[0], "local")
    await served.endpoint.wait_for_disconnects(before + 1)
    await run.over()
    assert served.runs.live == 0


async def test_a_client_that_reads_no_more_is_left_and_the_model_with_it(
    streaming_folder: Path,
) -> None:
    limits = {"runs": {"write_seconds": 0.2}, "limits": {"answer_tokens": 100_000_000}}
    async with serving_with(streaming_folder, **limits) as served:
        served.script = lambda _: Reply(tokens=["word " * 4000 + "end. "], endless=True)
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(0)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, ("127.0.0.1", int(served.base_url.rpartition(":")[2])))
            await loop.sock_sendall(client, _raw(asking(mode="bypass")))
            begun = b""
            while b"event: token" not in begun:
                begun += await loop.sock_recv(client, 1024)
            run = served.runs.find(begun.partition(b"\nid: ")[2][:32].decode(), "local")
            async with asyncio.timeout(60):
                await run.over()
            await served.endpoint.wait_for_disconnects()
            assert served.runs.live == 0


def _raw(body: dict[str, Any]) -> bytes:
    data = orjson.dumps(body)
    head = (
        "POST /api/query HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(data)}",
    )
    return "\r\n".join((*head, "", "")).encode() + data
