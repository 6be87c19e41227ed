"""A cheap client, since it shares two cores with the server that it measures."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from types import TracebackType
from typing import Self

import orjson

from benchmarks.load.world import Question


def request_of(question: Question) -> bytes:
    """Return a search, as it goes over the wire."""
    body = orjson.dumps({"query": question.text, "graphId": "library"})
    head = (
        "POST /search HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Authorization: Bearer {question.key}",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join((*head, "", "")).encode() + body


class Client:
    """One connection that is kept."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._writer.close()

    async def send(self, request: bytes) -> tuple[int, bytes]:
        """Return status and body of the response."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        _, _, rest = head.lower().partition(b"content-length:")
        body = await self._reader.readexactly(int(rest.split(b"\r\n", 1)[0]))
        return int(head[9:12]), body


@dataclass
class Seen:
    """What clients saw: seconds of each response by status."""

    seconds: dict[int, list[float]] = field(default_factory=dict[int, list[float]])
    lasted: float = 0.0

    def note(self, status: int, seconds: float) -> None:
        """One response."""
        self.seconds.setdefault(status, []).append(seconds)

    @property
    def statuses(self) -> Counter[int]:
        """Return how many of each."""
        return Counter({status: len(seconds) for status, seconds in self.seconds.items()})

    @property
    def number(self) -> int:
        """Return responses in all."""
        return self.statuses.total()


async def pressing(port: int, requests: list[bytes], clients: int, seconds: float) -> Seen:
    """Return clients that ask one thing after another, for so long."""
    seen, todo, started = Seen(), cycle(requests), time.perf_counter()
    await asyncio.gather(*(_ask(port, todo, seen, started + seconds) for _ in range(clients)))
    seen.lasted = time.perf_counter() - started
    return seen


async def _ask(port: int, todo: Iterator[bytes], seen: Seen, until: float) -> None:
    async with Client(port) as client:
        while (began := time.perf_counter()) < until:
            status, _ = await client.send(next(todo))
            seen.note(status, time.perf_counter() - began)
