"""Measure streamed answers over TCP: a server process, a hundred clients, and a model with a steady pace.

    python -m benchmarks.streaming

Limits: 100 streams with the first event within 1.5 s at the 95th percentile and no token
lost; beyond the slots only 503 within 100 ms; the model's call cancelled within 1 s after its client
left; 2,000 tokens per CPU-second.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Self, cast

import orjson

from benchmarks.load.machines import Serving, environment, serving
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.evals.dataset import CorpusPassage
from sextant.evals.sets import load_corpus
from sextant.models.embedding import build_embedder
from sextant.stores.postgresql.database import Database
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply, as_json, endless

GRAPH = "bench"
# Different sentences: what a model repeats is left out of its answer.
FACTS = (
    "Each value has exactly one owner at a time",
    "The owner drops the value at the end of its scope",
    "A move hands the value over to another variable",
    "Many readers may borrow the value together",
    "One writer borrows the value alone",
    "The compiler refuses borrows that outlive their owner",
    "Memory is freed without a garbage collector",
    "Threads exchange values through channels",
)
PASSAGES = [
    CorpusPassage(f"p{n}", f"Rule {n}", f"Rule {n}. {'. '.join(FACTS)}.") for n in range(100)
]
QUESTIONS = [f"What does rule {n} say about owners of a value?" for n in range(20)]
TEXT = " ".join(f"{fact} [1]." for fact in FACTS)
STREAMS = 100
SLOTS = 128
PACE = 0.05  # seconds between two tokens of one stream
QUOTAS = {"SEXTANT_RUNS__CONCURRENT": str(SLOTS)}


@dataclass
class Model:
    """What the model answers, and how fast."""

    delay: float = 0.0
    answer: Reply | None = None

    def __call__(self, request: ApiRequest) -> Reply:
        """Return a judgement by the book, or the answer."""
        if request.wants_json:
            if '"relevant"' in request.prompt:
                return as_json({"relevant": [1, 2], "sufficient": True})
            return as_json({"question": "", "complexity": "complex", "keywords": ["owner"]})
        return self.answer or Reply(TEXT, delay=self.delay)


@dataclass
class Stream:
    """What one client saw, in seconds after it asked."""

    status: int = 0
    headed: float = 0.0
    first_event: float = 0.0
    first_token: float = 0.0
    body: bytes = b""
    tokens: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Asked:
    """What one client asks, and the key that it brings."""

    body: dict[str, Any]
    key: str | None = None


class Clients:
    """Clients in a process of their own, where nothing but answers keeps them waiting.

    In the process of the scripted model, refusals were read when the model had said its next words,
    and asyncio's own streams took 115 ms of CPU to ask 384 times.
    """

    def __init__(self) -> None:
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))

    async def __aenter__(self) -> Self:
        await self.ask(0, [])  # started
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._pool.shutdown)

    async def ask(self, port: int, asked: Sequence[Asked]) -> list[Stream]:
        """Return what they saw, all of them at once."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, _all_at_once, port, asked)


def _all_at_once(port: int, asked: Sequence[Asked]) -> list[Stream]:
    async def together() -> list[Stream]:
        return await asyncio.gather(*(ask(port, one.body, key=one.key) for one in asked))

    return asyncio.run(together())


class _Client(asyncio.Protocol):
    """Sends a request and notes what comes, and when; the seconds begin when it is sent."""

    def __init__(self, request: bytes, *, leave: bool) -> None:
        self.seen = Stream()
        self.over = asyncio.get_running_loop().create_future()
        self._request, self._leave = request, leave
        self._head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        self._transport = cast("asyncio.Transport", transport)
        self._started = time.perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        seen, now = self.seen, time.perf_counter() - self._started
        if not seen.status:
            self._head += data
            head, end, data = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            seen.headed, seen.status = now, int(head.split()[1])
        if not data:
            return
        seen.body += data
        seen.first_event = seen.first_event or now
        if not seen.first_token and b"event: token" in seen.body:
            seen.first_token = now
            if self._leave:
                self._transport.close()

    def connection_lost(self, _: Exception | None) -> None:
        """See asyncio."""
        if not self.over.done():
            self.over.set_result(None)


async def ask(
    port: int, body: dict[str, Any], *, leave: bool = False, key: str | None = None
) -> Stream:
    """Ask, and read to the end; or leave after the first token."""
    data = orjson.dumps(body)
    head = (
        "POST /api/query HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        "Connection: close",
        f"Content-Length: {len(data)}",
        *([f"Authorization: Bearer {key}"] if key else ()),
    )
    request = "\r\n".join((*head, "", "")).encode() + data
    loop = asyncio.get_running_loop()
    _, client = await loop.create_connection(
        lambda: _Client(request, leave=leave), "127.0.0.1", port
    )
    await client.over
    client.seen.tokens = tokens(client.seen.body)
    return client.seen


def tokens(body: bytes) -> list[str]:
    """Return the texts of the token events; each is whole within one line, whatever the chunks are."""
    lines = body.split(b"\n")
    return [
        orjson.loads(lines[at + 1].removeprefix(b"data: "))["text"]
        for at, line in enumerate(lines[:-1])
        if line == b"event: token"
    ]


def asking(number: int, **more: object) -> dict[str, Any]:
    """Return the body of the request."""
    question = QUESTIONS[number % len(QUESTIONS)]
    return {"query": question, "graphId": GRAPH, "mode": "naive", "stream": True} | more


async def alone(server: Serving) -> None:
    """One stream at a time, with a model that answers at once."""
    seen = [await ask(server.port, asking(n)) for n in range(60)][20:]
    report("alone: first event", [one.first_event for one in seen], "-")
    report("alone: first token", [one.first_token for one in seen], "30 ms added")


async def together(server: Serving, model: Model, clients: Clients) -> None:
    """Run a hundred streams at once, each at the model's pace."""
    model.delay = PACE
    before, started = server.server.cpu(), time.perf_counter()
    seen = await clients.ask(server.port, [Asked(asking(n)) for n in range(STREAMS)])
    spent, lasted = server.server.cpu() - before, time.perf_counter() - started
    report(f"{STREAMS} at once: first event", [one.first_event for one in seen], "p95 1500 ms")
    report(f"{STREAMS} at once: first token", [one.first_token for one in seen], "-")
    lost = sum(one.status == 200 and "".join(one.tokens) != TEXT for one in seen)
    refused = sum(one.status != 200 for one in seen)
    number = sum(len(one.tokens) for one in seen)
    print(f"   answers with a token lost: {lost} of {STREAMS} (limit 0), refused: {refused}")
    print(
        f"   {number} tokens in {lasted:.1f} s, {spent:.1f} s CPU of the server, retrieval and all"
    )


async def flat_out(server: Serving, model: Model) -> None:
    """Eight streams of a model that has no pace: what a token costs."""
    model.delay, model.answer = (
        0.0,
        Reply(" ".join(f"Value {n} has exactly one owner." for n in range(96))),
    )
    before, started = server.server.cpu(), time.perf_counter()
    seen = await asyncio.gather(*(ask(server.port, asking(n, mode="bypass")) for n in range(8)))
    spent, lasted = server.server.cpu() - before, time.perf_counter() - started
    number, model.answer = sum(len(one.tokens) for one in seen), None
    print(
        f"   flat out: {number / spent:,.0f} tokens per CPU-second of the server (limit 2,000), "
        f"{number / lasted:,.0f} per second"
    )


async def overload(server: Serving, model: Model, clients: Clients) -> None:
    """Three times the slots at once: who is refused, and how soon."""
    model.delay = PACE
    seen = await clients.ask(server.port, [Asked(asking(n)) for n in range(3 * SLOTS)])
    refused = [one for one in seen if one.status != 200]
    kept = [one for one in seen if one.status == 200]
    statuses = {status: sum(one.status == status for one in seen) for status in (200, 429, 503)}
    report("overload: refusal, all at once", [one.headed for one in refused], "p95 100 ms")
    print(f"   statuses {statuses}, others {len(seen) - sum(statuses.values())} (limit 0)")
    lost = sum("".join(one.tokens) != TEXT for one in kept)
    print(f"   answers with a token lost among those served: {lost} (limit 0)")
    full = asyncio.create_task(clients.ask(server.port, [Asked(asking(n)) for n in range(SLOTS)]))
    await asyncio.sleep(3)
    late = [await ask(server.port, asking(n)) for n in range(40)]
    report("overload: refusal, one by one", [one.headed for one in late], "p95 100 ms")
    await full


async def leaving(server: Serving, model: Model, endpoint: ScriptedOpenAI) -> None:
    """How soon the model's call is cancelled when its client leaves."""
    model.answer, took = endless("one owner and "), []
    for number in range(20):
        gone = endpoint.disconnects + 1
        await ask(server.port, asking(number, mode="bypass"), leave=True)
        left = time.perf_counter()
        await endpoint.wait_for_disconnects(gone)
        took.append(time.perf_counter() - left)
    model.answer = None
    report("leaving: until the model's call is cancelled", took, "1000 ms")


def report(what: str, seconds: list[float], limit: str) -> None:
    """Print a line of percentiles."""
    if len(seconds) < 2:
        print(f"   {what}: {len(seconds)} measured")
        return
    p95 = quantiles(seconds, n=20)[-1]
    ms: Callable[[float], str] = lambda value: f"{value * 1000:.1f}"  # noqa: E731
    print(
        f"   {what}: p50 {ms(median(seconds))}, p95 {ms(p95)}, most {ms(max(seconds))} ms ({limit})",
        flush=True,
    )


async def main() -> None:
    """Everything in turn."""
    model = Model()
    with tempfile.TemporaryDirectory(prefix="sxt-") as name:
        folder = Path(name)
        settings = Settings(_env_file=None, data_dir=folder)
        async with await Database.open(settings) as database:
            scope = Scope(settings.user_id, GRAPH)
            await load_corpus(database, build_embedder(settings), scope, PASSAGES)
            async with (
                ScriptedOpenAI(model) as endpoint,
                serving(folder, environment(folder, endpoint) | QUOTAS) as server,
                Clients() as clients,
            ):
                await alone(server)
                await together(server, model, clients)
                await flat_out(server, model)
                await leaving(server, model, endpoint)
                await overload(server, model, clients)


if __name__ == "__main__":
    asyncio.run(main())
