"""Measure a server under load: `python -m benchmarks.load`.

    python -m benchmarks.load [CHUNKS] [--seconds N] [--workers N] [--data FOLDER]

Without numbers: 10,000 chunks, about a minute. Figures to report are those of `100000`, about four
minutes, most of which builds the store; `--data` keeps it in a folder for the next run. Fifty tenants
by Zipf's law with a key each, questions spread evenly over large,
middle and small tenants, half of them outside the tenant's topics; vectors of questions are known to
the server's cache, and its chat model is a scripted one. Client, server and PostgreSQL share the
machine, so CPU is told for each: of idle cores it says what they can do, where wall times say who
else was there.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import median, quantiles
from types import TracebackType
from typing import Self

import orjson

from benchmarks.load import world
from benchmarks.load.machines import Serving, environment, serving
from benchmarks.quality.sets import parser_of
from benchmarks.streaming import PACE, Asked, Clients, Model, Stream, report
from sextant.domain.settings import Settings
from sextant.stores.postgresql.database import Database
from sextant.testing.openai_server import ScriptedOpenAI

CLIENTS, STREAMS = 8, 100
CORES = 2
_CODE = re.compile(rb'"code":"(\w+)"')


async def main(chunks: int, seconds: float, workers: int, folder: Path) -> None:
    """Build, then measure everything in turn."""
    model = Model()
    settings = Settings(_env_file=None, data_dir=folder, database_url=None, database_pool=2)
    async with await Database.open(settings) as database:
        started = time.perf_counter()
        made = await world.opened(database, chunks)
        say(
            f"{chunks} chunks of {world.TENANTS} tenants after {time.perf_counter() - started:.0f} s"
        )
        async with ScriptedOpenAI(model, vector=made.vector) as endpoint:
            variables = environment(folder, endpoint)
            variables["SEXTANT_EMBEDDING"] = f"openai:{world.SPACE}"
            async with serving(folder, variables, "--workers", str(workers)) as server:
                await searches(server, made, seconds)
                async with Clients() as clients:
                    await streams(server, made, model, clients)


async def searches(server: Serving, made: world.World, seconds: float) -> None:
    """`/search` at eight clients, then at three times as many."""
    memory("ready", server)
    requests = [request_of(question) for question in made.questions]
    await pressing(server.port, requests, CLIENTS, max(seconds / 2, 5))  # caches, plans
    before, own = server.cpu(), time.process_time()
    seen = await pressing(server.port, requests, CLIENTS, seconds)
    told(f"/search, {CLIENTS} clients", seen, "150 req/s, p95 100 ms")
    client = (time.process_time() - own) / seen.number
    serve, store = (
        (now - then) / seen.number for now, then in zip(server.cpu(), before, strict=True)
    )
    say(
        f"CPU a request: {ms(serve)} server + {ms(store)} PostgreSQL + {ms(client)} client; "
        f"{CORES} idle cores allow {CORES / (serve + store + client):.0f} req/s with this client, "
        f"{CORES / (serve + store):.0f} without"
    )
    much = await pressing(server.port, requests, 3 * CLIENTS, seconds / 2)
    told(f"/search, {3 * CLIENTS} clients", much, "only 200, 429, 503; p95 at most doubled")
    memory("after the searches", server)


async def streams(server: Serving, made: world.World, model: Model, clients: Clients) -> None:
    """Stream a hundred answers at once at a model's pace, then three hundred."""
    for number in range(world.TENANTS):  # as a server that has been used: graphs known, plans made
        await clients.ask(server.port, [asking(made, number)])
    model.delay = PACE
    before = server.cpu()
    seen = await clients.ask(server.port, [asking(made, number) for number in range(STREAMS)])
    spent = sum(server.cpu()) - sum(before)
    report(f"{STREAMS} streams: first event", [one.first_event for one in seen], "p95 1500 ms")
    number = sum(len(one.tokens) for one in seen)
    say(
        f"statuses {statuses(seen)} (all 200), a token lost in {lost(seen)} (0); CPU a stream of "
        f"{number / STREAMS:.0f} tokens: {ms(spent / STREAMS)}, server and PostgreSQL"
    )
    seen = await clients.ask(server.port, [asking(made, number) for number in range(3 * STREAMS)])
    refused = [one.headed for one in seen if one.status != 200]
    report(f"{3 * STREAMS} streams: refusal", refused, "p95 100 ms")
    say(f"statuses {statuses(seen)} (200, 429, 503), a token lost in {lost(seen)} (0)")
    memory("after the streams", server)


def request_of(question: world.Question) -> bytes:
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
    """One connection that is kept; cheap, since it shares two cores with the server that it measures."""

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


def asking(made: world.World, number: int) -> Asked:
    """Return a question that is answered as a stream."""
    question = made.questions[number % len(made.questions)]
    body = {"query": question.text, "graphId": "library", "mode": "naive", "stream": True}
    return Asked(body, question.key)


def lost(seen: list[Stream]) -> int:
    """Return streams whose tokens are not the answer that their last event tells."""
    return sum(one.status == 200 and not _whole(one.body) for one in seen)


def _whole(body: bytes) -> bool:
    said, name = "", b""
    for line in body.split(b"\n"):
        if line.startswith(b"event: "):
            name = line.removeprefix(b"event: ")
        elif line.startswith(b"data: "):
            data = orjson.loads(line.removeprefix(b"data: "))
            if name == b"token":
                said += data["text"]
            elif name == b"reset":
                said = ""
            elif name == b"done":
                return bool(data["answer"] == said)
    return False


def statuses(seen: list[Stream]) -> dict[str, int]:
    """Return how many of each, with the code of a refusal."""
    codes = (_CODE.search(one.body) if one.status != 200 else None for one in seen)
    return dict(
        Counter(
            f"{one.status} {code[1].decode()}" if code else str(one.status)
            for one, code in zip(seen, codes, strict=True)
        )
    )


def told(what: str, seen: Seen, limits: str) -> None:
    """Rate and times of requests."""
    good = seen.seconds.get(200, [])
    say(
        f"{what}: {len(good) / seen.lasted:.0f} req/s, p50 {ms(median(good))}, "
        f"p95 {ms(quantiles(good, n=20)[-1])}, statuses {dict(seen.statuses)} ({limits})"
    )
    refused = [one for status, all_of in seen.seconds.items() if status != 200 for one in all_of]
    if refused:
        report(f"{what}: refusal", refused, "p95 100 ms")


def memory(when: str, server: Serving) -> None:
    """Of the serving process."""
    say(f"resident, {when}: {server.server.resident():.0f} MB (300 MB without a local model)")


def ms(seconds: float) -> str:
    """Return milliseconds."""
    return f"{seconds * 1000:.1f} ms"


def say(sentence: str) -> None:
    """Print a line at once, with how busy the machine is."""
    print(f"   {sentence} [load {os.getloadavg()[0]:.0f}]", flush=True)


@contextmanager
def folder_of(given: Path | None) -> Iterator[Path]:
    """Provide the folder that was named, or one for this run."""
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="sxt-", ignore_cleanup_errors=True) as name:
        yield Path(name)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("chunks", type=int, nargs="?", default=10_000)
    parser.add_argument("--seconds", type=float, default=20.0, help="of searches")
    parser.add_argument("--workers", type=int, default=1, help="processes that serve")
    parser.add_argument("--data", type=Path, help="a folder that keeps the store")
    chosen = parser.parse_args()
    with folder_of(chosen.data) as place:
        asyncio.run(main(chosen.chunks, chosen.seconds, chosen.workers, place))
