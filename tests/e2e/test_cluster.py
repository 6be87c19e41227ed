"""Two servers and two workers over one PostgreSQL and one Neo4j, seen from outside.

Each process has a data folder of its own, as on machines of their own; what they share is reached by
`DATABASE_URL` and `NEO4J_URI`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import orjson
import psutil
import pytest
import pytest_asyncio
from pydantic import SecretStr

from sextant.domain.documents import JobStage
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.embedded.server import EmbeddedServer
from sextant.stores.postgresql.database import Database
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply, as_json
from tests.e2e.served import Served, serving
from tests.e2e.workers import IMPATIENT, ended, long_text, process_of, until, working
from tests.integration.own_database import short_folder
from tests.neo4j_server import Neo4jServer

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module")]

PATIENCE = 120.0
QUESTION = "What does the rule of the harbour say about lanterns?"
RULE = "The rule of the harbour says that every boat carries two green lanterns after sunset."
ANSWER = "Every boat carries two green lanterns after sunset [1]."
WORDS_BEFORE_THE_PAUSE = 4
SEARCHES, ROUNDS = 40, 5


@dataclass
class Model:
    """Answers from the rule; while it is held, it stops after a few words."""

    held: asyncio.Event | None = None

    def __call__(self, request: ApiRequest) -> Reply:
        """Return a judgement by the book, or the answer."""
        if request.wants_json:
            if '"relevant"' in request.prompt:
                return as_json({"relevant": [1], "sufficient": True})
            return as_json({"question": "", "keywords": ["harbour"]})
        if self.held is None:
            return Reply(ANSWER)
        return Reply(ANSWER, pause_after=WORDS_BEFORE_THE_PAUSE, resume=self.held)


@dataclass
class Cluster:
    """What runs, and how to reach it."""

    environment: dict[str, str]
    database: Database
    neo4j: Neo4jServer
    model: Model
    processes: ExitStack
    servers: list[Served] = field(default_factory=list[Served])

    async def serve(self, **more: str) -> Served:
        """Return one more server, with a data folder of its own, and with these settings if any."""
        folder = self.processes.enter_context(short_folder())
        # A model that never thinks: its answers are streamed at once.
        known = {self.environment["OPENAI_BASE_URL"]: {"scripted": False}}
        (folder / "endpoints.json").write_text(json.dumps(known))
        alone = self.environment | {"SEXTANT_DATA_DIR": str(folder)} | more
        # In a thread: the model's endpoint lives on this loop.
        server = await asyncio.to_thread(self.processes.enter_context, serving(alone))
        self.servers.append(server)
        return server


@pytest.fixture(scope="module")
def stores() -> Iterator[tuple[EmbeddedServer, Neo4jServer]]:
    """Yield one PostgreSQL and one Neo4j."""
    neo4j = Neo4jServer()
    with short_folder() as folder:
        postgres = EmbeddedServer.start(folder)
        try:
            neo4j.start()
            yield postgres, neo4j
        finally:
            neo4j.close()
            postgres.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cluster(
    environment: dict[str, str], stores: tuple[EmbeddedServer, Neo4jServer]
) -> AsyncIterator[Cluster]:
    """Yield two servers that ingest nothing by themselves."""
    postgres, neo4j = stores
    url = f"postgresql://postgres@/postgres?host={postgres.socket_dir}"
    settings = Settings(
        _env_file=None, database_url=SecretStr(url), neo4j_uri=None, data_dir=Path("unused")
    )
    model = Model()
    async with ScriptedOpenAI(model) as endpoint, await Database.open(settings) as database:
        shared = environment | IMPATIENT
        shared |= {
            "DATABASE_URL": url,
            "NEO4J_URI": neo4j.uri,
            # A busy machine is not a server that is gone, and one that is back is noticed soon.
            "SEXTANT_NEO4J_TIMEOUT": "20",
            "SEXTANT_NEO4J_PAUSE": "1",
            "SEXTANT_CHAT_MODEL": "scripted",
            "OPENAI_BASE_URL": endpoint.base_url,
            "OPENAI_API_KEY": "any",
            "SEXTANT_WORKER__IN_SERVER": "false",
        }
        with ExitStack() as processes:
            made = Cluster(shared, database, neo4j, model, processes)
            await asyncio.gather(made.serve(), made.serve())
            yield made
            for server in made.servers:
                server.stop()
            await asyncio.to_thread(processes.close)


@pytest.fixture
def graph() -> str:
    return f"graph-{uuid4().hex[:8]}"


async def upload(server: Served, graph: str, files: dict[str, bytes]) -> None:
    parts = [("files", (name, content, "text/plain")) for name, content in files.items()]
    async with httpx.AsyncClient(base_url=server.address, timeout=PATIENCE) as client:
        taken = await client.post("/documents", files=parts, data={"graphId": graph})
    assert taken.status_code == 202, taken.text


async def ask(server: Served, graph: str, **more: str) -> dict[str, Any]:
    body = {"query": QUESTION, "graphId": graph, "mode": "naive", **more}
    async with httpx.AsyncClient(base_url=server.address, timeout=PATIENCE) as client:
        answered = await client.post("/api/query", json=body)
    assert answered.status_code == 200, answered.text
    told: dict[str, Any] = answered.json()
    return told


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """Yield the events of a stream by their names."""
    name = ""
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, orjson.loads(line.removeprefix("data: "))


async def ingested(cluster: Cluster, server: Served, graph: str) -> None:
    """Let one worker take in the rule."""
    await upload(server, graph, {"harbour.txt": RULE.encode()})
    async with working(cluster.environment):
        await until(cluster.database, Scope("local", graph), lambda jobs: all(map(ended, jobs)))


async def repeated(
    ask_again: Callable[[], Awaitable[dict[str, Any]]], holds: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Return the first answer of which something holds."""
    async with asyncio.timeout(PATIENCE):
        while True:
            told: dict[str, Any] = await ask_again()
            if holds(told):
                return told
            await asyncio.sleep(0.2)


async def test_what_one_server_took_is_ingested_once_though_a_worker_dies_and_another_server_answers(
    cluster: Cluster, graph: str
) -> None:
    first, second = cluster.servers[:2]
    scope = Scope("local", graph)
    async with working(cluster.environment, 2):
        await upload(first, graph, {"long.txt": long_text(), "harbour.txt": RULE.encode()})
        jobs = await until(
            cluster.database, scope, lambda all_of: any(one.worker for one in all_of)
        )
        os.kill(process_of(next(one for one in jobs if one.worker)), signal.SIGKILL)
        jobs = await until(cluster.database, scope, lambda all_of: all(map(ended, all_of)))

    assert {job.stage for job in jobs} == {JobStage.DONE}
    assert sum(job.total for job in jobs) == await ChunkStore(cluster.database).count(scope)
    answer = await ask(second, graph)
    assert answer["answer"] == ANSWER
    assert [one["filename"] for one in answer["sources"]] == ["harbour.txt"]
    assert answer["citations"][0]["quote"] in RULE


def cpu_of(*roots: int) -> float:
    """Return seconds of CPU that these processes and their children have taken."""
    return sum(_cpu(one) for root in roots for one in _children_first(psutil.Process(root)))


def _children_first(process: psutil.Process) -> list[psutil.Process]:
    return [*reversed(process.children(recursive=True)), process]


def _cpu(process: psutil.Process) -> float:
    """Of one that ended meanwhile its parent, which is looked at after it, tells."""
    with suppress(psutil.NoSuchProcess):
        return float(sum(process.cpu_times()))
    return 0.0


async def search(servers: list[Served], graph: str, number: int) -> None:
    """Ask so many searches, of each server in turn."""
    body = {"query": QUESTION, "graphId": graph}
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        for at in range(number):
            server = servers[at % len(servers)]
            found = await client.post(f"{server.address}/search", json=body)
            assert found.json()["results"][0]["text"] == RULE


async def test_searches_cost_two_servers_together_what_they_cost_one(
    cluster: Cluster, stores: tuple[EmbeddedServer, Neo4jServer], graph: str
) -> None:
    """What the capacity model of docs/deployment.md adds up: CPU a search, whichever server has it."""
    both = cluster.servers[:2]
    await ingested(cluster, both[0], graph)
    postmaster = (stores[0].data_dir / "postgres" / "postmaster.pid").read_text("utf-8")
    processes = [*(server.process.pid for server in both), int(postmaster.split()[0])]
    costs = {1: list[float](), 2: list[float]()}
    async with working(cluster.environment, 2):
        await search(both, graph, 2 * SEARCHES)
        for _ in range(ROUNDS):
            for servers, spent in costs.items():
                before = cpu_of(*processes)
                await search(both[:servers], graph, SEARCHES)
                spent.append(cpu_of(*processes) - before)
    ratio = sum(costs[2]) / sum(costs[1])
    assert 0.5 < ratio < 2.0, costs


async def test_a_stopped_server_ends_its_streams_well_and_its_successor_knows_all(
    cluster: Cluster, graph: str
) -> None:
    server = await cluster.serve()
    await ingested(cluster, server, graph)
    cluster.model.held = asyncio.Event()
    body = {"query": QUESTION, "graphId": graph, "mode": "naive", "stream": True}
    said = ""
    async with (
        httpx.AsyncClient(base_url=server.address, timeout=PATIENCE) as client,
        client.stream("POST", "/api/query", json=body) as response,
    ):
        async for name, data in events(response):
            if name == "token":
                said += data["text"]
            if name == "token" and not cluster.model.held.is_set():
                server.stop()
                await closed(server)
                cluster.model.held.set()
        assert (name, data["answer"]) == ("done", ANSWER)
    cluster.model.held = None
    assert said == ANSWER
    assert await asyncio.to_thread(server.process.wait, PATIENCE) == 0

    successor = await cluster.serve()
    assert (await ask(successor, graph))["answer"] == ANSWER


async def closed(server: Served) -> None:
    """Wait until nobody new is let in."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                async with httpx.AsyncClient(base_url=server.address, timeout=PATIENCE) as client:
                    await client.get("/healthz")
            except httpx.ConnectError:
                return
            except httpx.TransportError:
                pass  # let in before, and put out
            await asyncio.sleep(0.1)


def _codes(answer: dict[str, Any]) -> set[str]:
    return {warning["code"] for warning in answer["codedWarnings"]}


async def test_without_neo4j_answers_go_on_and_say_so(cluster: Cluster, graph: str) -> None:
    server = await cluster.serve()

    async def locally() -> dict[str, Any]:
        return await ask(server, graph, mode="local")

    def by_neo4j(told: dict[str, Any]) -> bool:
        return not {"neo4j_unavailable", "neo4j_behind"} & _codes(told)

    # The worker that ingested it also brings Neo4j up to date.
    await upload(cluster.servers[0], graph, {"harbour.txt": RULE.encode()})
    async with working(cluster.environment):
        await until(cluster.database, Scope("local", graph), lambda jobs: all(map(ended, jobs)))
        whole = await repeated(locally, by_neo4j)
    cluster.neo4j.kill()
    try:
        narrow = await locally()
    finally:
        await asyncio.to_thread(cluster.neo4j.start)
    assert "neo4j_unavailable" in _codes(narrow)
    assert narrow["answer"] == whole["answer"] == ANSWER
    await repeated(locally, by_neo4j)
