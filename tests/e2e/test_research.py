"""A report from the command line, stopped and resumed; and as a stream over HTTP."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply
from tests.e2e.conftest import Sextant
from tests.e2e.served import serving
from tests.integration.graph.test_research import (
    ARCHITECT,
    PASSAGES,
    QUESTION,
    RIVER,
    question_of,
    researcher,
)

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module", autouse=True)
def ingested(sextant: Sextant, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("arta") / "arta.md"
    file.write_text("".join(f"# {one.title}\n\n{one.text}\n\n" for one in PASSAGES))
    sextant("ingest", file, "--graph", "arta")


class Pausing:
    """Writes as a researcher does, the first section at once, the others when it is told to go on."""

    def __init__(self) -> None:
        self.written = list[str]()
        self.goes_on = False

    def __call__(self, request: ApiRequest) -> Reply | str:
        if request.wants_json:
            return researcher(request)
        self.written.append(question_of(request))
        if RIVER in self.written[-1] and not self.goes_on:
            return Reply("Wait", delay=600.0)
        return researcher(request)


@pytest_asyncio.fixture
async def model() -> AsyncIterator[tuple[Pausing, dict[str, str]]]:
    pausing = Pausing()
    async with ScriptedOpenAI(pausing) as endpoint:
        variables = {"SEXTANT_CHAT_MODEL": "scripted", "OPENAI_BASE_URL": endpoint.base_url}
        yield pausing, variables


async def run(
    environment: dict[str, str], folder: Path, *options: str
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "sextant", *options,
        cwd=folder, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def begin_report(
    environment: dict[str, str], folder: Path
) -> tuple[asyncio.subprocess.Process, list[str]]:
    """Ask for a report, and return what was said of it until its second section began."""
    options = ("-g", "arta", "-m", "naive", "-e", "high")
    process = await run(environment, folder, "ask", QUESTION, *options)
    assert process.stderr is not None
    told = list[str]()
    while (line := (await process.stderr.readline()).decode()) and "section 2 of" not in line:
        told.append(line)
    return process, told


@pytest.mark.parametrize("order", [signal.SIGINT, signal.SIGTERM])
async def test_a_report_that_was_stopped_at_the_terminal_goes_on(
    environment: dict[str, str],
    tmp_path: Path,
    model: tuple[Pausing, dict[str, str]],
    order: signal.Signals,
) -> None:
    pausing, variables = model
    environment = environment | variables
    process, told = await begin_report(environment, tmp_path)
    assert "A report on:" in told[0]
    assert any("model calls" in line for line in told)
    process.send_signal(order)
    _, rest = await process.communicate()
    assert "sextant ask --resume " in rest.decode(), rest.decode()
    name = rest.decode().partition("sextant ask --resume ")[2].split()[0]
    pausing.goes_on = True
    process = await run(environment, tmp_path, "ask", "--resume", name)
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert "The bridge of Arta was rebuilt in 1612 [1]." in out.decode()
    assert f"- {ARCHITECT}" in out.decode()
    assert pausing.written.count(QUESTION) == 1
    process = await run(environment, tmp_path, "ask", "--resume", name)
    _, err = await process.communicate()
    assert process.returncode != 0
    assert "nothing to decide or to resume" in err.decode()


async def test_a_report_whose_process_was_killed_goes_on_once_its_lease_is_over(
    environment: dict[str, str], tmp_path: Path, model: tuple[Pausing, dict[str, str]]
) -> None:
    pausing, variables = model
    environment = environment | variables | {"SEXTANT_INGESTION__JOB_STALE": "3"}
    process, _ = await begin_report(environment, tmp_path)
    process.kill()
    await process.wait()
    pausing.goes_on = True
    listed, _ = await (await run(environment, tmp_path, "chat", "--list")).communicate()
    name = next(word for word in listed.decode().split() if word.startswith("ask-"))
    said = "still being answered"
    while "still being answered" in said:
        process = await run(environment, tmp_path, "ask", "--resume", name)
        out, err = await process.communicate()
        said = err.decode()
    assert process.returncode == 0, said
    assert "The bridge of Arta was rebuilt in 1612 [1]." in out.decode()
    assert f"- {ARCHITECT}" in out.decode()


def read_events(text: str) -> list[tuple[str, dict[str, Any]]]:
    blocks = [block.splitlines() for block in text.split("\n\n") if "data: " in block]
    fields = [dict(line.split(": ", 1) for line in block if ": " in line) for block in blocks]
    return [(one["event"], json.loads(one["data"])) for one in fields]


def test_a_report_streams_over_http(environment: dict[str, str]) -> None:
    with serving(environment) as server:
        body = {"query": QUESTION, "graphId": "arta", "effort": "high", "stream": True}
        response = httpx.post(f"{server.address}/api/query", json=body, timeout=120)
        refused = httpx.post(f"{server.address}/api/query", json={**body, "effort": "extreme"})
    events = read_events(response.text)
    kinds = [kind for kind, _ in events]
    assert kinds.index("plan") < kinds.index("progress") < kinds.index("token")
    plan = next(data for kind, data in events if kind == "plan")
    assert plan["questions"]
    assert plan["calls"] == 0
    kind, answer = events[-1]
    assert kind == "done"
    assert (answer["effort"], answer["model"]) == ("high", "extractive")
    assert "".join(data["text"] for kind, data in events if kind == "token") == answer["answer"]
    assert refused.status_code == 422
