"""What HTTP adds to a search: the same search by Python, in the process over ASGI, and over TCP.

    python -m benchmarks.server [--passages 2000] [--clients 8] [--seconds 10]

Prints milliseconds by call (median), CPU milliseconds of this process, and requests a second over TCP
beside what the same number of Python calls at a time reach, as a ratio: both share one machine.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import cast

import httpx
import orjson
import uvicorn

from sextant.domain.settings import QuotaSettings, Settings
from sextant.evals.sets import parser_of
from sextant.retrievers.chunk_search.search import SearchRequest
from sextant.server.app import create_app
from sextant.server.lifespan import Serving

Call = Callable[[], Awaitable[object]]

QUERY = "付款节点与违约责任"
CALLS = 200


async def passages(number: int) -> AsyncIterator[bytes]:
    """Yield a knowledge base of contracts, all made up."""
    for place in range(number):
        text = f"第{place}条 付款节点：验收后{place % 90}日内付款，逾期按日万分之{place % 9}承担违约责任。"
        line = {"type": "chunk", "id": f"c{place}", "documentId": f"d{place // 100}", "text": text}
        if place % 100 == 0:
            yield orjson.dumps({"type": "document", "id": f"d{place // 100}", "title": "合同"})
        yield orjson.dumps(line)


async def timed(call: Call) -> tuple[float, float]:
    """Return median wall and mean CPU milliseconds of a call, after ten to warm up."""
    for _ in range(10):
        await call()
    spent, before = list[float](), _cpu()
    for _ in range(CALLS):
        started = time.perf_counter()
        await call()
        spent.append((time.perf_counter() - started) * 1000)
    return statistics.median(spent), (_cpu() - before) * 1000 / CALLS


async def throughput(call: Call, clients: int, seconds: float) -> tuple[float, float]:
    """Call a second by so many clients that ask on and on, and the 95th percentile in ms."""
    until, spent = time.perf_counter() + seconds, list[float]()

    async def client() -> None:
        while (started := time.perf_counter()) < until:
            await call()
            spent.append((time.perf_counter() - started) * 1000)

    await asyncio.gather(*(client() for _ in range(clients)))
    return len(spent) / seconds, statistics.quantiles(spent, n=20)[-1]


async def measure(folder: Path, number: int, clients: int, seconds: float) -> None:
    """Measure all of it over one store."""
    unlimited = QuotaSettings(requests_per_second=1e6, burst=1_000_000)
    settings = Settings(_env_file=None, data_dir=folder, database_url=None, quota=unlimited)
    app = create_app(settings)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", access_log=False))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.1)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    rag = cast("Serving", app.state.serving).rag
    await rag.import_graph(passages(number), "contracts")
    asked = {"query": QUERY, "graphId": "contracts", "limit": 10}
    transport = httpx.ASGITransport(app)
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as inside,
        httpx.AsyncClient(base_url=address, limits=httpx.Limits(max_connections=64)) as outside,
    ):
        calls: dict[str, Call] = {
            "Python": lambda: rag.search_chunks(SearchRequest(query=QUERY), "contracts"),
            "ASGI": lambda: inside.post("/search", json=asked),
            "TCP": lambda: outside.post("/search", json=asked),
            "TCP, /healthz (no search)": lambda: outside.get("/healthz"),
        }
        for name, call in calls.items():
            median, cpu = await timed(call)
            print(f"{name:28} {median:7.2f} ms   {cpu:7.2f} ms CPU")
        for name in ("Python", "TCP"):
            rate, late = await throughput(calls[name], clients, seconds)
            print(f"{name:28} {rate:7.1f} /s by {clients} clients, p95 {late:.0f} ms")
    server.should_exit = True
    await serving


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Read the options and measure."""
    parser = parser_of(__doc__)
    parser.add_argument("--passages", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sxt-") as folder:
        measuring = measure(Path(folder), options.passages, options.clients, options.seconds)
        asyncio.run(measuring)


if __name__ == "__main__":
    main()
