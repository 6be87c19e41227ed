"""The project in `samples/agent/`, copied and served as its README says."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client

from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply, calling
from tests.e2e.conftest import SAMPLES, Sextant
from tests.e2e.studio import ROOT, developing

pytestmark = pytest.mark.e2e

QUESTION = "When is the memory of a value released?"
RELEASED = "When the owner goes out of scope"


def reply(request: ApiRequest) -> Reply | str:
    if request.messages[-1]["role"] == "user":
        return calling("kb_ask", query=QUESTION)
    return f"{RELEASED} [1]." if RELEASED in request.prompt else "I do not know."


async def test_a_copy_answers_from_the_documents(
    environment: dict[str, str], sextant: Sextant, tmp_path: Path
) -> None:
    sextant("ingest", SAMPLES / "documents" / "rust-ownership.md", "--graph", "template")
    folder = shutil.copytree(SAMPLES / "agent", tmp_path / "my-agent")
    async with ScriptedOpenAI(reply) as model:
        written = (folder / ".env.example").read_text().replace("API_KEY=", "API_KEY=any")
        written = written.replace("=default", "=template")
        (folder / ".env").write_text(f"{written}\nOPENAI_BASE_URL={model.base_url}\n")
        with developing(environment | {"PYTHONPATH": str(ROOT)}, folder) as address:
            client = get_client(url=address)
            asked: Any = {"messages": [{"role": "user", "content": QUESTION}]}
            done: Any = await client.runs.wait(None, "agent", input=asked)
    _, _, found, said = done["messages"]
    assert said["content"] == f"{RELEASED} [1]."
    assert found["artifact"]["citations"][0]["quote"].startswith(RELEASED)
