"""`sextant doctor` from outside: it measures the chat model, unless told not to."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply, as_json
from tests.integration.own_database import short_folder

pytestmark = pytest.mark.e2e


def reply(request: ApiRequest) -> Reply | str:
    if request.wants_json:
        return as_json({"colour": "yellow"})
    code = re.search(r"code word is (\w+)", request.prompt)
    return f"{' '.join(map(str, range(1, 31)))} {code[1] if code else 'yes'}"


async def run_doctor(folder: Path, endpoint: ScriptedOpenAI, *options: str) -> tuple[str, str]:
    """Return what the command prints, and what it says meanwhile."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "SEXTANT_DATA_DIR": str(folder),
        "OPENAI_BASE_URL": endpoint.base_url,
        "OPENAI_API_KEY": "k",
        "SEXTANT_CHAT_MODEL": "scripted",
    }
    command = [sys.executable, "-m", "sextant", "doctor", *options]
    ran = await asyncio.to_thread(
        subprocess.run, command, env=environment, capture_output=True, text=True, check=True
    )
    return ran.stdout, ran.stderr


async def test_the_doctor_measures_shows_progress_and_leaves_out_what_it_is_told() -> None:
    with short_folder() as folder:
        async with ScriptedOpenAI(reply) as endpoint:
            _, said = await run_doctor(folder, endpoint)
            assert "measuring with a prompt of 2,000 tokens" in said
            calls = len(endpoint.chat_requests)
            assert 2 <= calls <= 3

            printed, said = await run_doctor(folder, endpoint, "--json")
            assert "measuring" not in said
            [chat] = [one for one in json.loads(printed) if one["name"] == "chat model"]
            assert chat["measured"]["longest_prompt_read"] >= 2000
            before = len(endpoint.chat_requests)

            await run_doctor(folder, endpoint, "--no-measure")
            assert len(endpoint.chat_requests) == before + 1
        known = json.loads((folder / "endpoints.json").read_text())
    [models] = known.values()
    assert models["scripted"]["speed"]["shown"] > 0
