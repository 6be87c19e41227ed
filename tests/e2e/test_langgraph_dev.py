"""`langgraph dev` as LangGraph Studio uses it: assistants, the context form, runs, streams."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from graph.streaming import parse_event
from tests.e2e.conftest import SAMPLES, Sextant

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
READY = "Application started up"
QUESTION = {"query": "糖尿病患者的主要症状是什么？", "graph_id": "studio"}


@pytest.fixture(scope="module")
def server(environment: dict[str, str], sextant: Sextant) -> Iterator[str]:
    """A running `langgraph dev` over one ingested sample; no key, no analytics, nothing fetched."""
    guide = SAMPLES / "documents" / "糖尿病诊疗指南.pdf"
    sextant("ingest", guide, "--graph", "studio", "--json").json()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGGRAPH_NO_VERSION_CHECK": "true",
        "LANGSMITH_TRACING": "false",
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    with subprocess.Popen(
        [*command, "--port", str(port), "--n-jobs-per-worker", "4"],
        cwd=ROOT,
        env=environment | quiet,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        told = []
        for line in process.stdout:
            told.append(line)
            if READY in line:
                break
        else:
            pytest.fail("langgraph dev did not start:\n" + "".join(told))
        # Its log must be read on, or the server would block on a full pipe.
        reader = threading.Thread(target=list, args=(process.stdout,))
        reader.start()
        yield f"http://127.0.0.1:{port}"
        os.killpg(process.pid, signal.SIGINT)
        reader.join()


@pytest.fixture
def client(server: str) -> LangGraphClient:
    return get_client(url=server)


async def run(client: LangGraphClient, **options: Any) -> list[tuple[str, Any]]:
    parts = client.runs.stream(None, "sextant", stream_mode=["custom", "values"], **options)
    return [(part.event, part.data) async for part in parts]


async def test_studio_finds_the_graph_and_its_context_form(client: LangGraphClient) -> None:
    [assistant] = await client.assistants.search()
    assert assistant["graph_id"] == "sextant"
    schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    form = schemas["context_schema"]
    assert form is not None
    assert set(form["properties"]) == {"mode", "top_k", "max_attempts", "language"}
    assert all(field["description"] for field in form["properties"].values())
    assert "bypass" in form["properties"]["mode"]["enum"]
    drawn = await client.assistants.get_graph(assistant["assistant_id"])
    names = [str(node["id"]) for node in drawn["nodes"]]
    assert names[1:-1] == ["analyze", "route", "retrieve", "grade", "refine", "generate"]


async def test_a_run_streams_events_and_ends_with_a_cited_answer(client: LangGraphClient) -> None:
    parts = await run(client, input=QUESTION, context={"top_k": 4})
    events = [parse_event(data) for kind, data in parts if kind == "custom"]
    assert {event.type for event in events} == {
        "status", "retrieval", "token", "citation", "sources"
    }  # fmt: skip
    result = [data for kind, data in parts if kind == "values"][-1]
    assert "".join(event.text for event in events if event.type == "token") == result["answer"]
    assert result["mode"] == "mix"
    assert result["citations"]
    assert result["sources"][0]["filename"] == "糖尿病诊疗指南.pdf"
    assert not [data for kind, data in parts if kind == "error"]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({}, "question_invalid"),
        ({"query": "Why?", "mode": "telepathy"}, "mode_not_available"),
        ({"query": "Why?", "graph_id": "nowhere"}, "graph_not_found"),
    ],
)
async def test_bad_input_is_told_with_its_code_and_next_step(
    client: LangGraphClient, asked: dict[str, Any], code: str
) -> None:
    parts = await run(client, input=asked)
    [failed] = [data for kind, data in parts if kind == "custom" and data["type"] == "error"]
    assert failed["code"] == code
    assert failed["detail"]["next_step"]
    assert parts[-1][0] == "error"


async def test_a_thread_keeps_its_state_and_starts_each_turn_afresh(
    client: LangGraphClient,
) -> None:
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread, "sextant", input=QUESTION)
    again = await client.runs.wait(thread, "sextant", input={"query": "你好"})
    assert isinstance(again, dict)
    assert (again["mode"], again["citations"], again["attempts"]) == ("bypass", [], 0)
    history = await client.threads.get_history(thread)
    assert len(history) > 2
